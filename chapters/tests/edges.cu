// Chapter 8's kernels where they could go wrong unseen, as the variants of a chapter of their own,
// so that the matrix checks them like any kernel: launched twice with one ticket, at addresses that
// are no multiple of 16, and with the values for which a word has just room.
#include <algorithm>
#include <limits>

#include "../chapter08_multi_pass/kernels.cuh"
#include "book/input.hpp"
#include "book/whole_sum.hpp"

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

/// n times one value.
template <int Value>
class Equal : public Wide {
 protected:
  void fill_in(int* data, std::size_t n, std::uint64_t, book::Fill) const override {
    const std::vector<int> values(n, Value);
    BOOK_CUDA(cudaMemcpy(data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  }
  std::int64_t sum_of(std::size_t n, std::uint64_t) const override {
    return static_cast<std::int64_t>(n) * Value;
  }
};

constexpr int kLowest = std::numeric_limits<int>::min();
constexpr int kHighest = std::numeric_limits<int>::max();

/// One launch of whole, or two with the same ticket and word: a block for every `share` threads'
/// elements, or as many as a word can count.
template <class P, class Out, unsigned Launches = 1>
book::Variant<P> whole(std::string name, unsigned share) {
  return {
      .name = std::move(name),
      .from = "chapter08_multi_pass",
      .region = "whole-sum",
      .kernel = book::kernel(chapter08::whole<Out>),
      .grid =
          [share](std::size_t n, unsigned block) {
            const std::size_t needed = std::max<std::size_t>(1, n / (std::size_t{share} * block));
            return static_cast<unsigned>(std::min<std::size_t>(needed, chapter08::kMostBlocks));
          },
      .launch =
          [](const typename P::Launch& l) {
            const unsigned block = (l.block + 31) / 32 * 32;  // it takes whole warps
            for (unsigned k = 0; k < Launches; ++k) {
              chapter08::whole<<<l.grid, block>>>(l.in, l.partial, l.ticket, l.word, l.out, l.n);
            }
          },
  };
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"edges", "Whole sums where they could go wrong"};

  chapter.add<Wide>(whole<Wide, long long, 2>("twice", 4));
  chapter.add<Narrow>(whole<Narrow, unsigned, 2>("twice32", 4));
  chapter.add<Skewed<long long, 1>>(whole<Skewed<long long, 1>, long long>("skewed1", 4));
  chapter.add<Skewed<long long, 2>>(whole<Skewed<long long, 2>, long long>("skewed2", 8));
  chapter.add<Skewed<unsigned, 3>>(whole<Skewed<unsigned, 3>, unsigned>("skewed3", 1));
  chapter.add<Equal<kLowest>>(whole<Equal<kLowest>, long long>("lowest", 4));
  chapter.add<Equal<kHighest>>(whole<Equal<kHighest>, long long>("highest", 4));
  chapter.add<Equal<-1>>(whole<Equal<-1>, long long>("minus_one", 1));

  return chapter.run(argc, argv);
}
