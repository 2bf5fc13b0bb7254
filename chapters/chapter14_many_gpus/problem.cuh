/// \file
/// An array that lies on several GPUs, its sum, and what every launch over them has.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../chapter11_floats/grids.cuh"
#include "../chapter11_floats/problem.cuh"
#include "book/array.hpp"
#include "book/buffer.hpp"
#include "book/device.hpp"
#include "book/problem.hpp"
#include "book/reference.hpp"
#include "gpus.cuh"
#include "kernels.cuh"

namespace chapter14 {

/// Where the sum is to be when a launch is done.
enum class Ends { kOnFirst, kOnAll };
/// What a launch does.
enum class Does {
  kAll,       ///< each GPU's sum, and their sum
  kLastStep,  ///< their sum alone: each GPU's is there
};

/// What one of this process's GPUs has.
template <class Element>
struct Part {
  const Gpu* gpu;              ///< its stream is for all that it does
  unsigned number;             ///< of the GPU, among all that take part
  const Element* in;           ///< its share of the array, in its memory …
  std::size_t n;               ///< … which may be empty
  unsigned grid;               ///< blocks for that: one at least
  unsigned long long* handed;  ///< three words for its blocks to hand in by
  chapter11::Exact* state;     ///< for exact sums of floats
  Word* words;                 ///< kWords: what it has to hand over
  Word* totals;                ///< kWords: the sums of all GPUs' words
  Word* host;                  ///< the words, in pinned memory of the host
  float* rounded;              ///< of floats
};

/// An array of `n` elements, consecutive shares of which lie on `gpus` GPUs, each on a GPU of this
/// process or, of several processes, on that of each.
///
/// \tparam Element  int or float
/// \tparam Words    64-bit words that a GPU hands over
template <class Element, unsigned Words>
class Spread : public book::Problem {
 public:
  static constexpr unsigned kWords = Words;

  /// What a launch needs.
  struct Launch {
    static constexpr unsigned kWords = Words;
    unsigned gpus, block;
    std::size_t shared_bytes;
    std::span<const Part<Element>> parts;  ///< of this process: GPU 0's first, if it has that
    Word* slots;                           ///< Words of each GPU, in GPU 0's memory …
    unsigned* flags;                       ///< … and a flag of each: 0 before and after
    Word* meeting;                         ///< three words there by which GPUs or blocks hand in
    Word* host_total;                      ///< Words in pinned memory
    const Spread* problem;

    Gpus& all() const { return Gpus::here(); }
    unsigned here() const { return static_cast<unsigned>(parts.size()); }
  };
  Launch launch(const book::Shape& shape) const {
    return {.gpus = gpus_,
            .block = shape.block,
            .shared_bytes = shape.shared_bytes,
            .parts = parts_,
            .slots = bits(slots_),
            .flags = flags_.data(),
            .meeting = meeting_.data(),
            .host_total = host_.get(),
            .problem = this};
  }

  Spread(unsigned gpus, Ends ends, Does does) : gpus_(gpus), ends_(ends), does_(does) {}

  /// Of the largest of the shares as they are without a measurement, which there is only later:
  /// `prepare` takes others where they fit, else these.
  std::size_t device_bytes(const book::Shape& shape) const override {
    const std::vector<Share> shares = split_up(shape.n, false);
    return bytes_of(std::ranges::max(shares, {}, &Share::n));
  }
  /// The driver asks the current GPU, or that of each rank, whether there is room.
  void accept(const book::Shape& shape) const override {
    const std::vector<Share> shares = split_up(shape.n, false);
    for (unsigned g = 1; g < gpus_ && !ranks(); ++g) {
      if (has_room(g, shares[g])) continue;
      throw book::bad_argument("GPU " + std::to_string(g) + " has too little memory free for " +
                               "its share of n = " + std::to_string(shape.n));
    }
  }

  void prepare(const book::Shape& shape, std::uint64_t seed, book::Fill fill) override {
    const bool same_input = filled_ && shape.n == n_ && seed == seed_;
    n_ = shape.n;
    seed_ = seed;
    fill_ = fill;
    if (!same_input) shares_ = fitting_shares(shape.n, fill == book::Fill::kKernel);
    place(shape, fill);
    if (same_input) return;
    expect();
    restore();
    if (does_ == Does::kLastStep) poison();
    wait();
    filled_ = true;
  }
  void release() override {
    memory_.clear();
    parts_.clear();
    slots_.release();
    flags_ = {};
    meeting_ = {};
    filled_ = false;
  }
  void restore() override {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const OnDevice there(parts_[i].gpu->device);
      fill_in(memory_[i]->in, shares_[parts_[i].number].first);
    }
  }
  void poison() override {
    slots_.poison(kNoWord);
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const OnDevice there(parts_[i].gpu->device);
      memory_[i]->totals.poison(kNoWord);
      memory_[i]->rounded.poison(kNoFloat);
      if (does_ == Does::kAll) memory_[i]->words.poison(kNoWord);
      if (does_ == Does::kLastStep) write_words(i);
      std::fill_n(parts_[i].host, Words, static_cast<Word>(kNoWord));
    }
    std::fill_n(host_.get(), Words, static_cast<Word>(kNoWord));
    // NCCL connects at a first call, which is not to wait for a stream that the driver holds.
    if (ranks() && !std::exchange(aligned_once_, Gpus::made_communicators(gpus_) != nullptr))
      align();
    wait();
  }
  book::Verdict check() override {
    std::string text;
    bool agrees = true;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const OnDevice there(parts_[i].gpu->device);
      const bool whole = ends_ == Ends::kOnAll || parts_[i].number == 0;
      const book::Verdict found = whole ? check_total(i) : check_own(i);
      if (i == 0 || !found.agrees) text = found.message;
      if (!found.agrees && parts_[i].number > 0) {
        text.insert(0, "on GPU " + std::to_string(parts_[i].number) + " the ");
      }
      agrees = found.agrees;
      if (!agrees) break;
    }
    if (const std::string left = left_behind(); agrees && !left.empty()) {
      return {false, text + ", but the next launch begins with " + left};
    }
    return {agrees, text + uneven()};
  }
  book::UsefulBytes useful_bytes(const book::Shape& shape) const override {
    if (does_ == Does::kLastStep) {
      return {.read = std::size_t{gpus_} * Words * sizeof(Word), .written = Words * sizeof(Word)};
    }
    return {.read = shape.n * sizeof(Element), .written = sizeof(Word)};
  }

  // begin wait-in-time
  /// Waits for all of this process's GPUs, looking after NCCL and the other ranks meanwhile.
  void wait() override {
    for (const Part<Element>& part : parts_) {
      const OnDevice there(part.gpu->device);
      const std::string who = "GPU " + std::to_string(part.number);
      wait_until([&part] { return cudaStreamQuery(part.gpu->stream); }, who);
      wait_until([] { return cudaStreamQuery(nullptr); }, who);
    }
  }
  void wait_for(cudaEvent_t event) override {
    wait_until([event] { return cudaEventQuery(event); }, "GPU 0");
  }
  // end wait-in-time
  void empty_other_caches() override {
    if (!ranks()) Gpus::here().empty_other_caches(gpus_);
  }
  void align() override {
    Communicators* const made = Gpus::made_communicators(gpus_);
    if (made == nullptr) return;
    made->group("ncclAllReduce", [this](const Nccl& nccl, std::size_t, ncclComm_t comm) {
      return nccl.AllReduce(aligned_.data(), aligned_.data(), 1, kNcclUint64, kNcclSum, comm,
                            nullptr);
    });
  }

  /// What went wrong where nothing could be thrown: on a thread of the runtime's.
  void failed(std::exception_ptr why) const {
    const std::scoped_lock lock(mutex_);
    failed_ = std::move(why);
  }

 protected:
  static constexpr long long kNoWord = static_cast<long long>(0xbad0bad0bad0bad0);
  static constexpr float kNoFloat = -0x1.bad0bap+99f;

  /// What a GPU has.
  struct Memory {
    book::Array<Element> in;
    book::Array<long long> words, totals;
    book::Array<float> rounded;
    book::Buffer<unsigned long long> handed;
    book::Buffer<chapter11::Exact> state;
  };

  /// Which shares the GPUs have: for tests to choose others.
  virtual std::vector<Share> split_up(std::size_t n, bool may_measure) const {
    return split(n, Gpus::here().weights(gpus_, may_measure));
  }
  /// Blocks for a share, on the current device.
  virtual unsigned grid_of(std::size_t n, unsigned block) const = 0;
  /// Writes the elements from position `first` on.
  virtual void fill_in(book::Array<Element>& in, std::size_t first) const = 0;
  /// Computes what is expected of all shares.
  virtual void expect() = 0;
  /// Compares GPU i's total with it, or what it has handed over.
  virtual book::Verdict check_total(std::size_t i) = 0;
  virtual book::Verdict check_own(std::size_t i) = 0;
  /// Puts there what GPU i would have to hand over.
  virtual void write_words(std::size_t i) = 0;

  std::uint64_t seed() const { return seed_; }
  const std::vector<Share>& shares() const { return shares_; }
  const std::vector<Part<Element>>& parts() const { return parts_; }
  Memory& memory(std::size_t i) { return *memory_[i]; }
  unsigned gpus() const { return gpus_; }

 private:
  static Word* bits(const book::Array<long long>& words) {
    return reinterpret_cast<Word*>(words.data());
  }

  /// What a GPU with that share needs at most.
  std::size_t bytes_of(const Share& share) const {
    return (share.n + 1) * sizeof(Element) + std::size_t{gpus_ + 4} * Words * sizeof(Word) +
           sizeof(chapter11::Exact);
  }
  /// Whether this process's GPU g has that free, and as much more as the driver leaves free.
  bool has_room(unsigned g, const Share& share) const {
    constexpr std::size_t kSpare = std::size_t{64} << 20;
    const OnDevice there(Gpus::here()[g].device);
    return book::free_device_bytes() >= bytes_of(share) + kSpare;
  }
  /// The shares by the GPUs' speeds; where one has no room for its own, those by which the driver
  /// has planned. All ranks decide alike.
  std::vector<Share> fitting_shares(std::size_t n, bool may_measure) {
    std::vector<Share> planned = split_up(n, false);
    std::vector<Share> wanted = split_up(n, may_measure);
    if (wanted == planned) return planned;
    memory_.clear();  // which makes room
    parts_.clear();
    bool room = true;
    for (unsigned g = 0; g < (ranks() ? 1 : gpus_); ++g) {
      room = room && has_room(g, wanted[ranks() ? ranks()->rank() : g]);
    }
    if (ranks()) room = ranks()->largest(room ? 0 : 1) == 0;
    return room ? wanted : planned;
  }

  void place(const book::Shape& shape, book::Fill fill) {
    Gpus& all = Gpus::here();
    const unsigned here = ranks() ? 1 : gpus_;
    slots_.resize(std::size_t{gpus_} * Words, fill);
    flags_.grow(gpus_);
    meeting_.grow(3);
    flags_.copy_from(std::vector<unsigned>(gpus_));
    meeting_.copy_from(std::vector<Word>(3));
    if (aligned_.size() == 0) {
      aligned_ = book::Buffer<Word>(1);
      aligned_.copy_from(std::vector<Word>(1));
    }
    if (!host_) {
      void* pinned = nullptr;
      BOOK_CUDA(cudaHostAlloc(&pinned, std::size_t{gpus_ + 1} * Words * sizeof(Word),
                              cudaHostAllocPortable));
      host_.reset(static_cast<Word*>(pinned));
    }
    memory_.resize(here);
    parts_.clear();
    for (unsigned i = 0; i < here; ++i) {
      const Gpu& gpu = all[i];
      const OnDevice there(gpu.device);
      if (!memory_[i]) memory_[i] = std::make_unique<Memory>();
      Memory& m = *memory_[i];
      const unsigned number = ranks() ? ranks()->rank() : i;
      const std::size_t n = shares_[number].n;
      m.in.resize(n, fill);
      m.words.resize(Words, fill);
      m.totals.resize(Words, fill);
      m.rounded.resize(1, fill);
      m.handed.grow(3);
      m.handed.copy_from(std::vector<unsigned long long>(3));
      m.state.grow(1);
      chapter11::Exact state{};
      state.ticket = kNoneIsLast;
      m.state.copy_from(std::vector<chapter11::Exact>{state});
      parts_.push_back({.gpu = &gpu,
                        .number = number,
                        .in = m.in.data(),
                        .n = n,
                        .grid = std::max(grid_of(n, shape.block), 1u),
                        .handed = m.handed.data(),
                        .state = m.state.data(),
                        .words = bits(m.words),
                        .totals = bits(m.totals),
                        .host = host_.get() + std::size_t{1 + i} * Words,
                        .rounded = m.rounded.data()});
    }
  }

  /// What should be clear, and isn't; empty where all is.
  std::string left_behind() {
    for (const unsigned flag : flags_.to_host(gpus_)) {
      if (flag != 0) return "a flag that is " + std::to_string(flag);
    }
    for (const Word word : meeting_.to_host(3)) {
      if (word != 0) return "word " + std::to_string(word);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const OnDevice there(parts_[i].gpu->device);
      for (const Word word : memory_[i]->handed.to_host(3)) {
        if (word != 0) return "word " + std::to_string(word);
      }
      const chapter11::Exact state = memory_[i]->state.to_host(1)[0];
      const auto zero = [](unsigned long long digit) { return digit == 0; };
      if (!std::ranges::all_of(state.digit, zero) || state.special != 0 ||
          state.ticket != kNoneIsLast) {
        return "digits or a ticket";
      }
    }
    return "";
  }

  /// ", shares 60 % and 40 %", where they are not alike.
  std::string uneven() const {
    std::size_t least = n_;
    std::size_t most = 0;
    for (const Share& share : shares_) {
      least = std::min(least, share.n);
      most = std::max(most, share.n);
    }
    if (most - least <= 1 || n_ == 0) return "";
    std::string text = ", shares of";
    for (const Share& share : shares_) {
      const double percent = 100 * static_cast<double>(share.n) / static_cast<double>(n_);
      text += " " + std::to_string(std::lround(percent)) + " %";
    }
    return text;
  }

  /// Asks again until it is done. Throws Error where it, NCCL or a rank has failed, or time is up;
  /// then what GPUs still wait for is given to them, so that they end.
  template <class Query>
  void wait_until(const Query& query, const std::string& who) {
    const Deadline deadline;
    Communicators* const nccl = Gpus::made_communicators(gpus_);
    auto looked = std::chrono::steady_clock::now();
    try {
      for (cudaError_t status = query(); status != cudaSuccess; status = query()) {
        if (status != cudaErrorNotReady) BOOK_CUDA(status);
        static_cast<void>(cudaGetLastError());  // which isn't an error
        const auto now = std::chrono::steady_clock::now();
        if (now - looked < std::chrono::milliseconds(1)) continue;
        looked = now;
        if (nccl != nullptr) nccl->look();
        if (ranks()) ranks()->look_around();
        if (deadline.over()) {
          throw book::Error(book::ExitCode::kCudaError, who + " is not done " + Deadline::text());
        }
      }
      const std::scoped_lock lock(mutex_);
      if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
    } catch (const book::Error&) {
      give_up(nccl);
      throw;
    }
  }
  /// Ends what would wait for ever: NCCL's kernels, and one that waits for flags.
  void give_up(Communicators* nccl) {
    if (nccl != nullptr) nccl->abort();
    const OnDevice first(Gpus::here()[0].device);
    cudaStream_t aside = nullptr;
    const std::vector<unsigned> raised(gpus_, 1);
    if (cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking) != cudaSuccess) return;
    static_cast<void>(cudaMemcpyAsync(flags_.data(), raised.data(), gpus_ * sizeof(unsigned),
                                      cudaMemcpyHostToDevice, aside));
    static_cast<void>(cudaStreamSynchronize(aside));
    static_cast<void>(cudaStreamDestroy(aside));
  }

  struct FreeHost {
    void operator()(Word* words) const { static_cast<void>(cudaFreeHost(words)); }
  };

  unsigned gpus_;
  Ends ends_;
  Does does_;
  std::vector<std::unique_ptr<Memory>> memory_;  // of this process's GPUs
  std::vector<Part<Element>> parts_;
  std::vector<Share> shares_;  // of all
  book::Array<long long> slots_;
  book::Buffer<unsigned> flags_;
  book::Buffer<Word> meeting_, aligned_;
  std::unique_ptr<Word, FreeHost> host_;
  std::size_t n_ = 0;
  std::uint64_t seed_ = 0;
  book::Fill fill_ = book::Fill::kKernel;
  bool filled_ = false, aligned_once_ = false;
  mutable std::mutex mutex_;
  mutable std::exception_ptr failed_;
};

/// Integers: the book's input, and a 64-bit sum, compared exactly.
class Ints : public Spread<int, 1> {
 public:
  using Spread::Spread;

 protected:
  unsigned grid_of(std::size_t n, unsigned block) const override {
    constexpr std::size_t kPerThread = std::size_t{4} * chapter08::kLoads;
    // No more than words can count, with the blocks of all GPUs at the same ones.
    return std::min(book::resident_grid(n / kPerThread + (n % kPerThread != 0 ? 1 : 0), block),
                    65535u / kMostGpus);
  }
  void fill_in(book::Array<int>& in, std::size_t first) const override {
    in.fill(book::Input{seed(), 1, first});
  }
  /// The sum of the first n elements.
  virtual std::int64_t sum_of(std::size_t n) const { return book::sum_of_input(n, seed()); }
  void expect() override {
    own_.clear();
    for (const Share& share : shares()) {
      own_.push_back(sum_of(share.first + share.n) - sum_of(share.first));
    }
    total_ = 0;
    for (const std::int64_t each : own_) total_ += each;
  }
  book::Verdict check_total(std::size_t i) override {
    return compare(memory(i).totals.to_host()[0], total_);
  }
  book::Verdict check_own(std::size_t i) override {
    const std::int64_t found = memory(i).words.to_host()[0];
    // Where blocks hand in to GPU 0 no other has a sum.
    return found == kNoWord ? book::Verdict{true, "no sum"}
                            : compare(found, own_[parts()[i].number]);
  }
  void write_words(std::size_t i) override {
    const std::int64_t own = own_[parts()[i].number];
    BOOK_CUDA(cudaMemcpy(memory(i).words.data(), &own, sizeof own, cudaMemcpyHostToDevice));
  }

 private:
  static book::Verdict compare(std::int64_t found, std::int64_t wanted) {
    std::string text = "sum is " + std::to_string(found);
    if (found != wanted) text += ", expected " + std::to_string(wanted);
    return {found == wanted, text};
  }

  std::vector<std::int64_t> own_;
  std::int64_t total_ = 0;
};

/// An input from a position on.
template <class Input>
struct From {
  Input input;
  std::size_t first;
  __host__ __device__ float operator()(std::size_t position) const {
    return input(first + position);
  }
};

/// Floats, and their exact sum, rounded once: compared with the host's bit by bit.
template <class Input>
class Floats : public Spread<float, kExactWords> {
 public:
  using Spread::Spread;

 protected:
  unsigned grid_of(std::size_t n, unsigned block) const override;
  void fill_in(book::Array<float>& in, std::size_t first) const override {
    in.fill(From<Input>{Input{seed()}, first});
  }
  void expect() override {
    const Share& last = shares().back();
    nearest_ = chapter11::exact_sum<Input>(last.first + last.n, seed()).nearest();
  }
  book::Verdict check_total(std::size_t i) override {
    const float found = memory(i).rounded.to_host()[0];
    char text[64];
    std::snprintf(text, sizeof text, "sum is %.9g", static_cast<double>(found));
    const bool same = std::isnan(nearest_) ? std::isnan(found)
                                           : std::bit_cast<std::uint32_t>(found) ==
                                                 std::bit_cast<std::uint32_t>(nearest_);
    if (same) return {true, text, 0.0};
    std::string wrong = text;
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(nearest_));
    return {false, wrong + ", and the float nearest to the exact sum " + text};
  }
  book::Verdict check_own(std::size_t) override { return {true, "words"}; }
  void write_words(std::size_t) override {}

 private:
  float nearest_ = 0;
};

}  // namespace chapter14
