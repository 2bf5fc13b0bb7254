#include <string>
#include <utility>
#include <vector>

#include "book/finished_sum.hpp"
#include "book/sum.hpp"
#include "kernels.cuh"
#include "problem.cuh"

namespace {

using book::Point;
using chapter04::Product;
using chapter04::Sharing;
using chapter04::Strides;
using chapter04::Widths;

constexpr std::size_t kWalkers = std::size_t{1} << 14;

/// How many threads walk.
const book::Sizes kWalks{.usual = {std::size_t{1} << 22},
                         .usual_embedded = kWalkers,
                         .most = std::size_t{1} << 30,
                         .most_embedded = kWalkers};
const std::vector<Point> kWalksCounted{{kWalkers, 256}};
constexpr Point kWalksChecked{kWalkers - 3, 256};

// begin run-walk
book::Variant stride(unsigned words) {
  return {
      .name = "stride" + std::to_string(words),
      .region = "stride-walk",
      .kernel = book::kernel(chapter04::stride_walk),
      .sizes = kWalks,
      .axes = {},
      .counted = kWalksCounted,
      .checked = kWalksChecked,
      .launch = book::launch<Strides>([words](const auto& l) {
        chapter04::stride_walk<<<l.grid, l.block>>>(l.out, l.n, words);
      }),
  };
}
// end run-walk

template <class T>
book::Variant width(const std::string& name, chapter04::Sharing sharing) {
  return {
      .name = name + std::to_string(sizeof(T)),
      .region = "width-walk",
      .kernel = book::kernel(chapter04::width_walk<T>),
      .sizes = kWalks,
      .axes = {},
      .counted = kWalksCounted,
      .checked = kWalksChecked,
      .launch = book::launch<Widths>([sharing](const auto& l) {
        chapter04::width_walk<T><<<l.grid, l.block>>>(l.out, l.n, sharing);
      }),
  };
}

/// The same for words of several widths.
template <class... Words>
std::vector<book::Variant> widths(const char* name, Sharing sharing) {
  return book::family_of_types<Words...>(
      "width", [=](auto word) { return width<typename decltype(word)::type>(name, sharing); });
}

using ProductKernel = void (*)(const float*, float*, unsigned);

book::Variant product(std::string name, std::string region, ProductKernel kernel,
                      std::vector<std::size_t> usual = {2048, 4096}) {
  return {
      .name = std::move(name),
      .region = std::move(region),
      .kernel = book::kernel(kernel),
      .blocks = book::any_block(1024, 1024),
      .grid = [](std::size_t n, unsigned) { return Product::across(n) * Product::across(n); },
      // Rows of A, of which 225 each stay below 2^24.
      .sizes = book::Sizes{.usual = std::move(usual),
                           .usual_embedded = 256,
                           .most = 16384,
                           .most_embedded = 512},
      .axes = {},
      .counted = {{2048, 1024}, {256, 1024}},
      .checked = Point{253, 1024},
      .launch = book::launch<Product>(
          [kernel](const auto& l) { kernel<<<l.grid, l.block>>>(l.a, l.c, l.n); }),
  };
}

}  // namespace

int main(int argc, char** argv) {
  using book::Sum;
  book::Chapter chapter{"chapter04_bank_conflicts", "Shared memory has 32 banks",
                        "the page's figure of time against stride, and the table of tiles"};

  chapter.add({
      .name = "strided",
      .from = "chapter03_divergence",
      .region = "strided-index",
      .kernel = book::kernel(chapter03::strided),
      .launch = book::launch<Sum>(
          [](const auto& l) { chapter03::strided<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  chapter.add({
      .name = "strided_padded",
      .region = "strided-padded",
      .kernel = book::kernel(chapter04::strided_padded),
      .launch = book::launch<Sum>([](const auto& l) {
        chapter04::strided_padded<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  const auto smem = [](const Sum::Launch& l) {
    chapter02::smem<<<l.grid, l.block>>>(l.in, l.partial, l.n);
  };
  const book::Variant rung{
      .name = "smem",
      .from = "chapter02_smem",
      .region = "smem-loop",
      .kernel = book::kernel(chapter02::smem),
      .launch = book::launch<Sum>(smem),
  };
  chapter.add(rung);

  std::vector<std::size_t> strides;
  for (unsigned words = 1; words <= 33; ++words) strides.push_back(words);
  chapter.add(book::family({"stride", strides}, stride));

  chapter.add(
      widths<unsigned char, unsigned short, unsigned, uint2, uint4>("width", Sharing::kNone));
  chapter.add(widths<unsigned, uint2, uint4>("pairs", Sharing::kPairs));
  chapter.add(widths<unsigned, uint2, uint4>("twos", Sharing::kTwos));
  chapter.add(widths<unsigned, uint2, uint4>("halves", Sharing::kHalves));
  chapter.add(widths<unsigned, uint2, uint4>("all", Sharing::kAll));

  using namespace chapter04;
  using Volatile = volatile float;
  chapter.add(product("tile", "tile-product", chapter04::product<Plain>));
  chapter.add(product("tile_padded", "tile-product", chapter04::product<Padded>));
  chapter.add(product("tile_padded4", "tile-product", chapter04::product<PaddedBy4>));
  chapter.add(product("tile_swizzled", "tile-product", chapter04::product<Swizzled>));
  chapter.add(product("tile_swizzled4", "tile-vectors", product_by_4<SwizzledBy4>));
  // Slow, and of interest for its counts.
  chapter.add(
      product("tile_as_written", "tile-product", chapter04::product<Plain, Volatile>, {2048}));
  chapter.add(product("tile_padded_as_written", "tile-product",
                      chapter04::product<Padded, Volatile>, {2048}));

  chapter.add(book::finished(
      {
          .name = "interleaved_mask",
          .from = "chapter03_divergence",
          .region = "interleaved-mask",
          .kernel = book::kernel(chapter03::interleaved_mask),
          .axes = {},
          .launch = {},
      },
      [](const auto& l) {
        chapter03::interleaved_mask<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }));
  chapter.add(book::finished(rung, smem));

  // begin run-tile-misaligned
  book::Variant misaligned =  // fault: rows of 33 words, and loads of four of them
      product("tile_misaligned", "tile-vectors", product_by_4<Padded>, {2048});
  // end run-tile-misaligned
  misaligned.legacy = true;
  misaligned.findings = {"memcheck"};
  misaligned.compared = false;  // the embedded device stops it
  chapter.add(std::move(misaligned));

  return chapter.run(argc, argv);
}
