/// \file
/// The sum of 1, 2, 3, …, for which 32 bits are soon too few; the climb's last sums; and the sums
/// of the kernel to take home.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "book/cub_sum.hpp"
#include "book/finished_sum.hpp"
#include "book/reference.hpp"
#include "book/whole_sum.hpp"
#include "take_home.cuh"

namespace chapter08 {

/// 1, 2, 3, … (and after 2^31 - 1 from 0 on again, so that it stays an int).
struct Rising {
  __host__ __device__ int operator()(std::size_t position) const {
    return static_cast<int>((position + 1) & 0x7fffffff);
  }
};

/// 1 + 2 + … + n.
template <class Out>
class Ramp : public book::WholeSum<Out> {
 protected:
  void fill_in(book::Array<int>& in, std::uint64_t) const override { in.fill(Rising{}); }
  std::int64_t sum_of(std::size_t n, std::uint64_t) const override {
    constexpr std::size_t kPeriod = std::size_t{1} << 31;
    const auto triangle = [](std::size_t m) { return static_cast<std::int64_t>(m * (m + 1) / 2); };
    return static_cast<std::int64_t>(n / kPeriod) * triangle(kPeriod - 1) + triangle(n % kPeriod);
  }
};

/// The finished sum's input, for what needs more than scratch memory for it: words to hand in by,
/// or CUB's storage.
class Small : public book::WholeSum<unsigned> {
 public:
  void accept(const book::Shape& shape) const override { book::accept_small(shape.n); }

 protected:
  void fill_in(book::Array<int>& in, std::uint64_t seed) const override {
    in.fill(book::SmallInput{seed});
  }
  std::int64_t sum_of(std::size_t n, std::uint64_t seed) const override {
    return book::sum_of_small_input(n, seed);
  }
};

/// Elements of 64 bits: 1 to 256, each 2^24 + 1 times over, so that both halves of every sum
/// matter.
struct LongInput {
  std::uint64_t seed = 0;
  __host__ __device__ long long operator()(std::size_t position) const {
    return (book::input_value(seed, position) + 1ll) * ((1ll << 24) + 1);
  }
};

/// Floats: whole numbers from 1 to 8 with either sign, as often the one as the other. Their sums
/// wander about 0, up to a few hundred thousand for 2^30 of them, and a float is exact up to 2^24.
/// So no addition rounds, in whatever order, and a sum is right only if it is equal to the host's.
struct FloatInput {
  std::uint64_t seed = 0;
  __host__ __device__ float operator()(std::size_t position) const {
    const int value = book::input_value(seed, position);
    const int sign = 1 - ((value & 8) >> 2);  // no branch, which the host would mispredict
    return static_cast<float>(sign * (1 + (value & 7)));
  }
};

/// The host's sum of n elements of an input.
template <class Input>
std::int64_t host_sum(std::size_t n, std::uint64_t seed) {
  return book::sum_of<Input>(n, seed);
}
template <>
inline std::int64_t host_sum<LongInput>(std::size_t n, std::uint64_t seed) {
  return (book::sum_of_input(n, seed) + static_cast<std::int64_t>(n)) * ((1ll << 24) + 1);
}

/// n values of Input in, one Out out, compared exactly; with a workspace for take_home::sum, and
/// with CUB's storage. Useful bytes: all elements read, one Out written.
template <class In, class Out, class Input>
class TakeHome : public book::Problem {
 public:
  struct Launch {
    const In* in;
    std::size_t n;
    Out* out;
    void* workspace;
    std::size_t workspace_bytes;
    void* storage;
    std::size_t storage_bytes;
  };
  Launch launch(const book::Shape& shape) const {
    return {in_.data(),         shape.n,         out_.data(),     workspace_.data(),
            workspace_.bytes(), storage_.data(), storage_.bytes()};
  }

  std::size_t device_bytes(const book::Shape& shape) const override {
    return shape.n * sizeof(In) + sizeof(Out) + workspace_bytes() + book::cub_sum_bytes(shape.n);
  }
  void accept(const book::Shape& shape) const override {
    if constexpr (sizeof(Out) == sizeof(int) && std::is_integral_v<Out>) {
      book::accept_small(shape.n);
    }
  }
  void prepare(const book::Shape& shape, std::uint64_t seed, book::Fill fill) override {
    const bool same_input = filled_ && shape.n == in_.size() && seed == seed_;
    seed_ = seed;
    in_.resize(shape.n, fill);
    out_.resize(1, fill);
    storage_.grow(book::cub_sum_bytes(shape.n));
    workspace_.grow(workspace_bytes());
    BOOK_CUDA(take_home::clear_workspace(workspace_.data(), workspace_.bytes()));
    if (same_input) return;
    expected_ = static_cast<Out>(host_sum<Input>(shape.n, seed));
    restore();
    filled_ = true;
  }
  void release() override {
    in_.release();
    out_.release();
    workspace_ = {};
    storage_ = {};
    filled_ = false;
  }
  void restore() override { in_.fill(Input{seed_}); }
  void poison() override {
    out_.poison(kNoSum);
    // A partial sum that no block wrote must not be right by being left over. As a float it is NaN.
    const std::vector<unsigned char> partial(workspace_.bytes() - kWordBytes, 0xff);
    BOOK_CUDA(cudaMemcpy(workspace_.data() + kWordBytes, partial.data(), partial.size(),
                         cudaMemcpyHostToDevice));
  }
  book::Verdict check() override {
    const Out found = out_.to_host()[0];
    std::string text = "sum is " + std::to_string(found);
    if (found != expected_) return {false, text + ", expected " + std::to_string(expected_)};
    const std::vector<unsigned char> words = workspace_.to_host(kWordBytes);
    const bool clear = std::ranges::all_of(words, [](unsigned char byte) { return byte == 0; });
    if (!clear) text += ", but the workspace isn't clear for the next launch";
    return {clear, text};
  }
  book::UsefulBytes useful_bytes(const book::Shape& shape) const override {
    return {.read = shape.n * sizeof(In), .written = sizeof(Out)};
  }

 private:
  /// No sum of these inputs that fits the memory.
  static constexpr Out kNoSum = static_cast<Out>(-0x7bad0bad);
  static constexpr std::size_t kWordBytes = take_home::kWords * sizeof(unsigned long long);

  static std::size_t workspace_bytes() {
    std::size_t bytes = 0;
    BOOK_CUDA(take_home::workspace_bytes(&bytes));
    return bytes;
  }

  book::Array<In> in_;
  book::Array<Out> out_;
  book::Buffer<unsigned char> workspace_, storage_;
  std::uint64_t seed_ = 0;
  Out expected_ = 0;
  bool filled_ = false;
};

}  // namespace chapter08
