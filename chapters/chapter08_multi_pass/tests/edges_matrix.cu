// Chapter 8's kernels where they could go wrong unseen, as the variants of a chapter of their own,
// so that the matrix checks them like any kernel: launched twice with the same words, at addresses
// that are no multiple of 16, with the least and the greatest values (also per thread), with as
// many blocks as can be counted, and with halves of a sum that come to their ends in different
// blocks. Under `legacy`, sums in several passes that go wrong on purpose: the check has to say so.
#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "../kernels.cuh"
#include "../problem.cuh"
#include "book/finished_sum.hpp"
#include "book/whole_sum.hpp"
#include "edges_kernels.cuh"
#include "edges_take_home.cuh"

namespace {

using Wide = book::WholeSum<long long>;
using Narrow = book::WholeSum<unsigned>;

/// The sum of all elements but the first Skip: from an address that is no multiple of 16.
template <class Out, unsigned Skip>
class Skewed : public book::WholeSum<Out> {
 public:
  typename book::WholeSum<Out>::Launch launch(const book::Shape& shape) const {
    auto l = book::WholeSum<Out>::launch(shape);
    const auto skip = std::min<std::size_t>(l.n, Skip);
    l.in += skip;
    l.n -= skip;
    return l;
  }

 protected:
  std::int64_t sum_of(std::size_t n, std::uint64_t seed) const override {
    std::int64_t sum = book::WholeSum<Out>::sum_of(n, seed);
    for (std::size_t i = 0; i < std::min<std::size_t>(n, Skip); ++i) {
      sum -= book::input_value(seed, i);
    }
    return sum;
  }
};

/// One value again and again, and 0 behind the first Most of them.
template <int Value, std::size_t Most>
struct AtMost {
  __host__ __device__ int operator()(std::size_t position) const {
    return position < Most ? Value : 0;
  }
};
template <int Value, std::size_t Most = ~std::size_t{0}>
class Equal : public Wide {
 protected:
  void fill_in(book::Array<int>& in, std::uint64_t) const override {
    in.fill(AtMost<Value, Most>{});
  }
  std::int64_t sum_of(std::size_t n, std::uint64_t) const override {
    return static_cast<std::int64_t>(std::min(n, Most)) * Value;
  }
};
/// As many as are sure to fit one_word's 54 bits.
constexpr std::size_t kInOneWord = std::size_t{1} << 22;

/// Edges that need no large n.
const book::Sizes kFew{
    .usual = {4097}, .usual_embedded = 4097, .most = 131071, .most_embedded = 131071};

/// The rare case of hand_in, made on purpose: another block is last at one half than at the other.
///
/// \tparam Own   chapter 8's hand_in, or the one to take home
/// \tparam Zero  the first half to come to its end has the total 0
template <class Own, bool LowFirst, bool Zero = false>
class Apart : public book::Problem {
 public:
  struct Launch {
    unsigned long long* words;
    long long* out;
  };
  Launch launch(const book::Shape&) const { return {words_.data(), out_.data()}; }
  static constexpr long long kFirst = Zero ? 7ll << 32 : -7'000'000'000'123;
  static constexpr long long kSecond = 0x7fff'ffff'ffff;

  std::size_t device_bytes(const book::Shape&) const override { return 32; }
  void prepare(const book::Shape&, std::uint64_t, book::Fill) override {
    words_ = book::Buffer<unsigned long long>(3);
    out_ = book::Buffer<long long>(1);
  }
  void poison() override {
    words_.copy_from(
        std::vector{(kLow << 16) + (LowFirst ? 2 : 1),
                    (static_cast<unsigned long long>(kHigh) << 16) + (LowFirst ? 1 : 2), 0ull});
    out_.copy_from(std::vector<long long>{-1});
  }
  book::Verdict check() override {
    const long long low = kLow + lower(kFirst) + (LowFirst ? 0 : lower(kSecond));
    const long long high = kHigh + (kFirst >> 32) + (LowFirst ? kSecond >> 32 : 0);
    const long long found = out_.to_host(1)[0];
    const bool cleared = words_.to_host(3)[LowFirst ? 1 : 0] == 0 && words_.to_host(3)[2] == 0;
    return {found == low + high * (1ll << 32) && cleared, "halves met at " + std::to_string(found)};
  }
  book::UsefulBytes useful_bytes(const book::Shape&) const override { return {}; }

 private:
  static constexpr unsigned long long kLow = Zero ? 0 : 0x1'8000'0001;  // two halves of 32 bits
  static constexpr long long kHigh = -5;
  static long long lower(long long sum) { return sum & 0xffffffff; }
  book::Buffer<unsigned long long> words_;
  book::Buffer<long long> out_;
};
struct OfChapter8 {
  static void hand_in(long long sum, unsigned long long* words, long long* out) {
    chapter08::edges::one_of_three<<<3, 1>>>(sum, words, out);
  }
  static void all_at_once(unsigned block, long long sum, unsigned long long* words,
                          long long* out) {
    chapter08::edges::all_at_once<<<2, block>>>(sum, words, out);
  }
};
struct ToTakeHome {
  static void hand_in(long long sum, unsigned long long* words, long long* out) {
    take_home::edges::one_of_three<<<3, 1>>>(sum, words, out);
  }
  static void all_at_once(unsigned block, long long sum, unsigned long long* words,
                          long long* out) {
    take_home::edges::all_at_once<<<2, block>>>(sum, words, out);
  }
};

template <class Own, bool LowFirst, bool Zero = false>
book::Variant apart(std::string name) {
  using P = Apart<Own, LowFirst, Zero>;
  return {
      .name = std::move(name),
      .from = "chapter08_multi_pass",
      .region = "two-words",
      .grid = [](std::size_t, unsigned) { return 3u; },
      .launch = book::launch<P>([](const auto& l) {
        Own::hand_in(P::kFirst, l.words, l.out);
        Own::hand_in(P::kSecond, l.words, l.out);
      }),
  };
}

/// The same case by chance, within one launch, as the race check needs it: two blocks hand in at
/// once, in blocks of 1 to kOften threads, so that with lanes apart each launch takes turns of its
/// own and in some of them the halves cross.
template <class Own>
class Crossing : public book::Problem {
 public:
  static constexpr std::size_t kOften = 64;
  static constexpr long long kSum = -7'000'000'000'123;
  struct Launch {
    unsigned long long* words;
    long long* out;
  };
  Launch launch(const book::Shape&) const { return {words_.data(), out_.data()}; }

  std::size_t device_bytes(const book::Shape&) const override { return 24 + 8 * kOften; }
  void prepare(const book::Shape&, std::uint64_t, book::Fill) override {
    words_ = book::Buffer<unsigned long long>(3);
    out_ = book::Buffer<long long>(kOften);
  }
  void poison() override {
    words_.copy_from(std::vector<unsigned long long>(3, 0));
    out_.copy_from(std::vector<long long>(kOften, -1));
  }
  book::Verdict check() override {
    for (const long long found : out_.to_host(kOften)) {
      if (found != 2 * kSum) return {false, "two blocks came to " + std::to_string(found)};
    }
    return {words_.to_host(3) == std::vector<unsigned long long>(3, 0), "halves that cross"};
  }
  book::UsefulBytes useful_bytes(const book::Shape&) const override { return {}; }

 private:
  book::Buffer<unsigned long long> words_;
  book::Buffer<long long> out_;
};

template <class Own>
book::Variant crossing(std::string name) {
  using P = Crossing<Own>;
  return {
      .name = std::move(name),
      .from = "chapter08_multi_pass",
      .region = "two-words",
      .blocks = book::any_block(1, 1),
      .grid = [](std::size_t, unsigned) { return 2u; },
      .sizes = kFew,
      .launch = book::launch<P>([](const auto& l) {
        for (unsigned k = 0; k < P::kOften; ++k) {
          Own::all_at_once(k + 1, P::kSum, l.words, l.out + k);
        }
      }),
  };
}

/// An input behind Skip zeroes.
template <class Input, std::size_t Skip>
struct Behind {
  std::uint64_t seed = 0;
  __host__ __device__ auto operator()(std::size_t position) const {
    auto value = Input{seed}(position);
    if constexpr (Skip > 0) {
      if (position < Skip) value = 0;
    }
    return value;
  }
};

/// The kernel to take home, twice with the same workspace, on `blocks` blocks and from an address
/// that may be no multiple of 16.
template <class In, class Out, class Input, std::size_t Skip>
book::Variant take_home_on(unsigned blocks, std::string name) {
  return {
      .name = std::move(name),
      .from = "chapter08_multi_pass",
      .region = "take-home-kernel",
      .kernel = book::kernel(take_home::sum_kernel<In, Out>),
      .blocks = book::any_block(take_home::kThreads, take_home::kThreads),
      .grid = [blocks](std::size_t, unsigned) { return blocks; },
      .sizes = kFew,
      .launch =
          book::launch<chapter08::TakeHome<In, Out, Behind<Input, Skip>>>([blocks](const auto& l) {
            const auto skip = std::min<std::size_t>(l.n, Skip);
            auto* words = static_cast<unsigned long long*>(l.workspace);
            for (unsigned k = 0; k < 2; ++k) {
              take_home::sum_kernel<In, Out>
                  <<<blocks, take_home::kThreads>>>(l.in + skip, l.n - skip, words, l.out);
            }
          }),
  };
}

/// A kernel of chapter 8 that adds in 64 bits, on values that 32 bits can't hold two of: few
/// blocks, so that threads and blocks have several each.
template <int Value, class Launch>
book::Variant extreme(std::string name, const char* region, Launch launch) {
  return {
      .name = std::move(name),
      .from = "chapter08_multi_pass",
      .region = region,
      .grid = [](std::size_t n,
                 unsigned block) { return std::min(3u, book::grid_for(n, block, 2)); },
      .sizes = kFew,
      .launch = book::launch<Equal<Value>>(launch),
  };
}

/// All of chapter 8's sums in 64 bits but those that have edges of their own here.
template <int Value>
void add_extremes(book::Chapter& chapter, const std::string& end) {
  using L = Wide::Launch;
  const auto bits = [](long long* sum) { return reinterpret_cast<unsigned long long*>(sum); };
  chapter.add(extreme<Value>("atomic_thread" + end, "atomic-thread", [bits](const L& l) {
    BOOK_CUDA(cudaMemsetAsync(l.out, 0, sizeof *l.out));
    chapter08::atomic_thread<<<l.grid, l.block>>>(l.in, bits(l.out), l.n);
  }));
  chapter.add(extreme<Value>("atomic_block" + end, "atomic-block", [bits](const L& l) {
    BOOK_CUDA(cudaMemsetAsync(l.out, 0, sizeof *l.out));
    chapter08::atomic_block<<<l.grid, l.block>>>(l.in, bits(l.out), l.n);
  }));
  chapter.add(extreme<Value>("last_block" + end, "last-block", [](const L& l) {
    chapter08::last_block<<<l.grid, l.block>>>(l.in, l.partial, l.ticket, l.out, l.n);
  }));
  chapter.add(extreme<Value>("grid_sync" + end, "grid-sync", [](const L& l) {
    auto [in, partial, out, n] = std::tuple{l.in, l.partial, l.out, l.n};
    void* arguments[] = {&in, &partial, &out, &n};
    BOOK_CUDA(
        cudaLaunchCooperativeKernel(chapter08::grid_sync, l.grid, l.block, arguments, 0, nullptr));
  }));
  book::Variant passes = extreme<Value>("passes" + end, "sum-pass", [](const L& l) {
    chapter08::sum_pass<<<l.grid, l.block>>>(l.in, l.partial, l.n);
    const long long* in = l.partial;
    long long* out = l.partial + l.grid;
    unsigned left = l.grid;
    for (bool more = true; more;) {
      const unsigned grid = book::grid_for(left, l.block, chapter08::kPerThread);
      more = grid > 1;
      chapter08::sum_pass<<<grid, l.block>>>(in, more ? out : l.out, left);
      left = grid;
      in = out;
      out += grid;
    }
  });
  passes.grid = {};
  passes.factor = chapter08::kPerThread;
  chapter.add(std::move(passes));
}

constexpr int kLowest = std::numeric_limits<int>::min();
constexpr int kHighest = std::numeric_limits<int>::max();

/// One launch of whole, or two with the same words: a block for every `share` threads'
/// elements, or as many as can be counted.
template <class P, class Out, unsigned Launches = 1>
book::Variant whole(std::string name, unsigned share) {
  return {
      .name = std::move(name),
      .from = "chapter08_multi_pass",
      .region = "whole-sum",
      .kernel = book::kernel(chapter08::whole<Out>),
      .grid =
          [share](std::size_t n, unsigned block) {
            const std::size_t threads = (block + 31) / 32 * 32;
            const std::size_t needed = std::max<std::size_t>(1, n / (share * threads));
            return static_cast<unsigned>(std::min<std::size_t>(needed, 65535));
          },
      .launch = book::launch<P>([](const auto& l) {
        const unsigned block = (l.block + 31) / 32 * 32;  // it takes whole warps
        for (unsigned k = 0; k < Launches; ++k) {
          chapter08::whole<<<l.grid, block>>>(l.in, l.word, l.out, l.n);
        }
      }),
  };
}

/// handed_in<4> from an address that is no multiple of 16.
template <unsigned Skip>
book::Variant handed_in_skewed() {
  return {
      .name = "handed_in_skewed" + std::to_string(Skip),
      .from = "chapter08_multi_pass",
      .region = "handed-in",
      .kernel = book::kernel(chapter08::handed_in<4>),
      .grid = [](std::size_t n, unsigned block) { return book::grid_for(n, block, 16); },
      .launch = book::launch<Skewed<unsigned, Skip>>([](const auto& l) {
        const unsigned block = (l.block + 31) / 32 * 32;  // it takes whole warps
        chapter08::handed_in<4><<<l.grid, block>>>(l.in, l.word, l.out, l.n);
      }),
  };
}

/// one_word, twice with the same word: so few blocks that each thread has several elements.
template <class P>
book::Variant one_word(std::string name) {
  return {
      .name = std::move(name),
      .from = "chapter08_multi_pass",
      .region = "one-word",
      .kernel = book::kernel(chapter08::one_word),
      .grid =
          [](std::size_t n, unsigned block) {
            const std::size_t needed = std::max<std::size_t>(1, n / (std::size_t{4} * block));
            return static_cast<unsigned>(std::min<std::size_t>(needed, chapter08::kMostBlocks));
          },
      .launch = book::launch<P>([](const auto& l) {
        for (unsigned k = 0; k < 2; ++k) {
          chapter08::one_word<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n);
        }
      }),
  };
}

/// A sum in passes that goes wrong.
template <class Pass>
book::Variant wrong(std::string name, Pass pass) {
  book::Variant v = book::finished({.name = std::move(name),
                                    .from = "chapter08_multi_pass",
                                    .region = "sums-by-warp",
                                    .blocks = book::whole_warps(),
                                    .factor = 4,
                                    .legacy = true,
                                    .launch = {}},
                                   pass);
  return v;
}

/// The right pass.
void four_each(const book::Sum::Launch& l) {
  chapter05::by_warps<4><<<l.grid, l.block>>>(l.in, l.partial, l.n);
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"edges", "Whole sums where they could go wrong"};

  chapter.add(whole<Wide, long long, 2>("twice", 4));
  chapter.add(whole<Narrow, unsigned, 2>("twice32", 4));
  chapter.add(whole<Wide, long long>("tiles_in_turn", 64));
  chapter.add(whole<Narrow, unsigned>("tiles_in_turn32", 64));
  chapter.add(whole<Skewed<long long, 1>, long long>("skewed1", 4));
  chapter.add(whole<Skewed<long long, 2>, long long>("skewed2", 8));
  chapter.add(whole<Skewed<unsigned, 3>, unsigned>("skewed3", 1));
  chapter.add(whole<Equal<kLowest>, long long>("lowest", 4));
  chapter.add(whole<Equal<kHighest>, long long>("highest", 4));
  chapter.add(whole<Equal<-1>, long long>("minus_one", 1));
  chapter.add(one_word<Equal<kLowest, kInOneWord>>("one_word_lowest"));
  chapter.add(one_word<Equal<kHighest, kInOneWord>>("one_word_highest"));
  chapter.add(handed_in_skewed<1>());
  chapter.add(handed_in_skewed<2>());
  chapter.add(handed_in_skewed<3>());
  chapter.add(wrong("nothing_lost", four_each));
  chapter.add(wrong("last_block_lost", [](book::Sum::Launch l) {
    if (l.grid > 1) --l.grid;
    four_each(l);
  }));
  chapter.add(wrong("last_pass_lost", [](const book::Sum::Launch& l) {
    if (l.grid > 1) four_each(l);
  }));
  chapter.add(wrong("last_value_lost", [](book::Sum::Launch l) {
    if (l.grid == 1) --l.n;
    four_each(l);
  }));
  chapter.add(apart<OfChapter8, true>("low_half_first"));
  chapter.add(apart<OfChapter8, false>("high_half_first"));
  chapter.add(apart<OfChapter8, true, true>("first_half_0"));
  chapter.add(apart<ToTakeHome, true>("take_home_low_first"));
  chapter.add(apart<ToTakeHome, false>("take_home_high_first"));
  chapter.add(apart<ToTakeHome, true, true>("take_home_first_0"));
  chapter.add(crossing<OfChapter8>("halves_cross"));
  chapter.add(crossing<ToTakeHome>("take_home_cross"));
  using book::SmallInput;
  using chapter08::FloatInput;
  chapter.add(take_home_on<int, long long, book::Input, 1>(1, "take_home_alone"));
  chapter.add(take_home_on<int, long long, book::Input, 2>(3, "take_home_skewed2"));
  chapter.add(take_home_on<int, int, SmallInput, 3>(2, "take_home_skewed3"));
  chapter.add(take_home_on<float, float, FloatInput, 1>(2, "take_home_turns"));
  chapter.add(take_home_on<float, float, FloatInput, 0>(300, "take_home_300"));
  add_extremes<kLowest>(chapter, "_lowest");
  add_extremes<kHighest>(chapter, "_highest");

  return chapter.run(argc, argv);
}
