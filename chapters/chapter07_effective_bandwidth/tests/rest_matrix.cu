// Chapter 7's wide loads from addresses that are no multiple of 16, and `finish` with blocks of any
// size, with several of them, and with the least and the greatest values, as the variants of a
// chapter of their own: the matrix checks them like any kernel.
#include <algorithm>
#include <limits>

#include "../kernels.cuh"
#include "book/whole_sum.hpp"

namespace {

using Wide = book::WholeSum<long long>;

/// n times one value.
template <int Value>
class Equal : public Wide {
 protected:
  void fill_in(book::Array<int>& in, std::uint64_t) const override {
    in.fill(book::Constant<int>{Value});
  }
  std::int64_t sum_of(std::size_t n, std::uint64_t) const override {
    return static_cast<std::int64_t>(n) * Value;
  }
};

/// `finish` alone, twice with the same words, with up to `blocks` blocks.
template <int Value>
book::Variant finish(std::string name, unsigned blocks) {
  return {
      .name = std::move(name),
      .from = "chapter07_effective_bandwidth",
      .region = "finish-sum",
      .kernel = book::kernel(chapter07::finish),
      .blocks = book::any_block(1, 512),
      .grid = [blocks](std::size_t n,
                       unsigned block) { return std::min(blocks, book::grid_for(n, block)); },
      .launch = book::launch<Equal<Value>>([](const auto& l) {
        for (unsigned k = 0; k < 2; ++k) {
          chapter07::finish<<<l.grid, l.block>>>(l.in, l.n, l.out, l.word, l.ticket);
        }
      }),
  };
}

/// An input whose first Skip elements aren't added.
template <std::size_t Skip>
class Skewed : public Wide {
 protected:
  std::int64_t sum_of(std::size_t n, std::uint64_t seed) const override {
    std::int64_t sum = Wide::sum_of(n, seed);
    for (std::size_t i = 0; i < std::min(n, Skip); ++i) sum -= book::input_value(seed, i);
    return sum;
  }
};

/// wide<2> from the element Skip on, and `finish` for the rest.
template <std::size_t Skip>
book::Variant wide() {
  return {
      .name = "wide_skewed" + std::to_string(Skip),
      .from = "chapter07_effective_bandwidth",
      .region = "wide-by-warps",
      .kernel = book::kernel(chapter07::wide<2>),
      .factor = 8,
      .launch = book::launch<Skewed<Skip>>([](const auto& l) {
        const auto skip = std::min(l.n, Skip);
        const unsigned block = (l.block + 31) / 32 * 32;  // it takes whole warps
        chapter07::wide<2><<<l.grid, block>>>(l.in + skip, l.rung, l.n - skip);
        chapter07::finish<<<1, 512>>>(l.rung, l.grid, l.out, l.word, l.ticket);
      }),
  };
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"rest", "Wide loads and the rest of a sum where they could go wrong"};

  chapter.add(finish<std::numeric_limits<int>::min()>("finish_lowest", 3));
  chapter.add(finish<std::numeric_limits<int>::max()>("finish_highest", 3));
  chapter.add(finish<-1>("finish_many", 256));
  chapter.add(wide<1>());
  chapter.add(wide<2>());
  chapter.add(wide<3>());

  return chapter.run(argc, argv);
}
