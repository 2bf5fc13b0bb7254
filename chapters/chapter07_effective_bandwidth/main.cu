#include <algorithm>

#include "answers.cuh"
#include "book/cub_sum.hpp"
#include "book/finished_sum.hpp"
#include "book/sum.hpp"
#include "book/whole_sum.hpp"
#include "kernels.cuh"
#include "legacy.cuh"
#include "problem.cuh"

namespace {

using book::Cache;
using book::Sum;
using chapter07::kScale;
using chapter07::Roof;
using chapter07::Stream;
using WholeSum = book::WholeSum<long long>;
using Rung = void (*)(const int*, int*, std::size_t);

/// The instance of a kernel template for a block size; null where there is none.
template <template <unsigned> class Kernel>
Rung instance(unsigned block) {
  switch (block) {
    case 1: return Kernel<1>::get();
    case 2: return Kernel<2>::get();
    case 4: return Kernel<4>::get();
    case 8: return Kernel<8>::get();
    case 16: return Kernel<16>::get();
    case 32: return Kernel<32>::get();
    case 64: return Kernel<64>::get();
    case 128: return Kernel<128>::get();
    case 256: return Kernel<256>::get();
    case 512: return Kernel<512>::get();
    case 1024: return Kernel<1024>::get();
    default: return nullptr;
  }
}
template <unsigned Block>
struct Complete {
  static Rung get() { return chapter05::complete<Block>; }
};
template <unsigned Block>
struct Many {
  static Rung get() { return chapter07::many<Block>; }
};

int sm_count() {
  int device = 0;
  int count = 0;
  BOOK_CUDA(cudaGetDevice(&device));
  BOOK_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

constexpr unsigned kSpineBlock = 256;  // as in the chapters before, whose rungs it follows
const book::Axis kSizes{"n", {std::size_t{1} << 20, std::size_t{1} << 24, std::size_t{1} << 28}};
const std::vector<book::Point> kCounted{{std::size_t{1} << 24, kSpineBlock},
                                        {std::size_t{1} << 20, kSpineBlock},
                                        {std::size_t{1} << 16, kSpineBlock},
                                        {std::size_t{1} << 28, kSpineBlock}};

/// wide<Loads> as a variant.
template <unsigned Loads>
book::Variant wide() {
  return {
      .name = "wide" + std::to_string(Loads),
      .region = "wide-by-warps",
      .kernel = book::kernel(chapter07::wide<Loads>),
      .blocks = book::whole_warps(),
      .block = kSpineBlock,
      .factor = 4 * Loads,
      .axes = {kSizes, {"block"}},
      .counters = book::Counters::kLessArbitration,  // its warps store their sums at once, and meet
      .counted = kCounted,
      .launch = book::launch<Sum>(
          [](const auto& l) { chapter07::wide<Loads><<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  };
}

/// The same as a finished sum.
template <unsigned Loads>
book::Variant wide_sum() {
  return book::finished(wide<Loads>(), [](const Sum::Launch& l) {
    chapter07::wide<Loads><<<l.grid, l.block>>>(l.in, l.partial, l.n);
  });
}

// begin run-many
/// A grid for `many`: no more blocks than have something to do, and no fewer than keep a block's
/// sum within an int.
unsigned grid_of_many(std::size_t n, unsigned block, std::size_t wanted) {
  const unsigned most = book::grid_for(n, block, 2);
  const unsigned least = book::grid_for(n, 1, Sum::kMaxElementsPerBlock);
  return std::max(static_cast<unsigned>(std::min<std::size_t>(wanted, most)), least);
}
unsigned as_many_as_fit(std::size_t n, unsigned block) {
  return grid_of_many(n, block, book::resident_grid(n, block));
}
// end run-many

/// The methods are compared as kernels over blocks; as finished sums, at the other chapters' block.
const std::vector<book::Axis> kSumsAxes{{"n"}, {"block", {256}}};

/// One of the seven methods: where it is taught, what it launches.
struct Method {
  std::string number;
  std::string from;
  std::string region;
  std::function<Rung(unsigned block)> kernel;
  std::size_t factor;  ///< elements per thread; 0 for as many as it takes
  book::Blocks blocks;

  unsigned grid(std::size_t n, unsigned block) const {
    return factor > 0 ? book::grid_for(n, block, factor) : as_many_as_fit(n, block);
  }
};

std::vector<Method> seven_methods() {
  const auto one = [](Rung kernel) { return [kernel](unsigned) { return kernel; }; };
  const book::Blocks any = book::any_block();
  const book::Blocks powers = book::powers_of_two();
  return {
      {"1", "chapter02_smem", "interleaved-modulo", one(chapter02::interleaved), 1, any},
      {"2", "chapter03_divergence", "strided-index", one(chapter03::strided), 1, any},
      {"3", "chapter02_smem", "smem-loop", one(chapter02::smem), 1, any},
      {"4", "chapter05_unroll4", "first-add", one(chapter05::first_add), 2, any},
      {"5", "chapter05_unroll4", "last-warp-sync", one(chapter05::last_warp_sync), 4, powers},
      {"6", "chapter05_unroll4", "complete-unroll", instance<Complete>, 4, powers},
      {"7", "", "many-elements", instance<Many>, 0, powers},
  };
}

/// The method's kernel alone, as every chapter before has timed it: one partial sum per block.
book::Variant partial(const Method& m) {
  return {
      .name = "reduce" + m.number,
      .from = m.from,
      .region = m.region,
      .kernel = [m](unsigned block) { return reinterpret_cast<const void*>(m.kernel(block)); },
      .blocks = m.blocks,
      .grid = [m](std::size_t n, unsigned block) { return m.grid(n, block); },
      .launch = book::launch<Sum>(
          [m](const auto& l) { m.kernel(l.block)<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  };
}

// begin run-finish
/// The method's kernel and then, whichever it is, the same kernel for the rest.
book::Variant finished(const Method& m) {
  return {
      .name = "sum" + m.number,
      .from = m.from,
      .region = m.region,
      .blocks = m.blocks,
      .grid = [m](std::size_t n, unsigned block) { return m.grid(n, block); },
      .axes = kSumsAxes,
      .profiled = m.number == "7",  // the others' kernels are looked at as reduce1 to reduce6
      .launch = book::launch<WholeSum>([m](const auto& l) {
        m.kernel(l.block)<<<l.grid, l.block>>>(l.in, l.rung, l.n);
        const unsigned blocks =
            std::min(book::grid_for(l.grid, 512, 8), book::resident_grid(l.grid, 512));
        chapter07::finish<<<blocks, 512>>>(l.rung, l.grid, l.out, l.word, l.ticket);
      }),
  };
}
// end run-finish

/// reduce7 on so many blocks, or with the cache in such a state.
book::Variant seventh(std::string name) {
  book::Variant v = partial(seven_methods().back());
  v.name = std::move(name);
  v.profiled = false;
  return v;
}

// begin run-grids
book::Variant blocks_per_sm(unsigned blocks) {
  book::Variant v = seventh("grid" + std::to_string(blocks));
  v.grid = [blocks](std::size_t n, unsigned block) {
    return grid_of_many(n, block, static_cast<std::size_t>(blocks) * sm_count());
  };
  v.axes = {{"block", {128, 256, 512, 1024}}};  // smaller ones leave places empty on an SM
  return v;
}

/// As the classic program launched it: a block for every `block` elements, so that half of the
/// blocks find two elements per thread, and the other half none.
book::Variant one_element_per_thread() {
  book::Variant v = seventh("reduce7_one_each");
  v.axes = {{"n", {std::size_t{1} << 28}}, {"block", {256}}};
  v.grid = [](std::size_t n, unsigned block) { return book::grid_for(n, block); };
  return v;
}
// end run-grids

book::Variant with_cache(std::string name, Cache cache) {
  book::Variant v = seventh(std::move(name));
  v.params = {{"cache", std::string(book::to_string(cache))}};
  v.axes = kSumsAxes;
  v.timing = {.cache = cache};
  v.fixed_cache = true;
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  // 128 threads per block, as Harris had; sizes from the first of the classic nine.
  book::Chapter chapter{"chapter07_effective_bandwidth",
                        "How close to what the memory can give",
                        "--sweep n: the nine sizes, and the L2 step",
                        {.block = 128,
                         .n = book::powers(17, 30),
                         // A chapter about the memory's throughput wants launches that no cache
                         // can hold, too.
                         .counted = {{std::size_t{1} << 24, 128},
                                     {std::size_t{1} << 24, 256},
                                     {std::size_t{1} << 20, 256},
                                     {std::size_t{1} << 28, 128},
                                     {std::size_t{1} << 16, 128},
                                     {std::size_t{1} << 16, 256}}}};

  for (const Method& m : seven_methods()) chapter.add(partial(m));
  for (const Method& m : seven_methods()) chapter.add(finished(m));
  // begin run-cub
  chapter.add({
      .name = "sum_cub",
      .region = "run-cub",
      .grid = book::library_grid,  // CUB's own business, as is the block
      .axes = kSumsAxes,
      .compared = false,  // ptxas merges shared loads of its kernel that PTX has apart
      .launch = book::launch<WholeSum>(
          [](const auto& l) { book::cub_sum(l.storage, l.storage_bytes, l.in, l.out, l.n); }),
  });
  // end run-cub
  chapter.add(book::family({"blocks_an_sm", {1, 2, 4, 8, 16, 32, 64, 128}}, blocks_per_sm));
  chapter.add(one_element_per_thread());
  chapter.add(with_cache("reduce7_warm", Cache::kWarm));
  chapter.add(with_cache("reduce7_after_write", Cache::kDirty));

  chapter.add({
      .name = "many_wide",
      .region = "answer-many-wide",
      .kernel = book::kernel(chapter07::answers::many_wide),
      .grid = book::resident_grid,
      .axes = {kSizes, {"block"}},
      .launch = book::launch<Sum>([](const auto& l) {
        chapter07::answers::many_wide<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  chapter.add(
      book::family<2, 4>("loads", [](auto loads) { return wide<decltype(loads)::value>(); }));
  chapter.add(book::finished(
      {
          .name = "by_warps8",
          .from = "chapter05_unroll4",
          .region = "sums-by-warp",
          .kernel = book::kernel(chapter05::by_warps<8>),
          .blocks = book::whole_warps(),
          .block = kSpineBlock,
          .factor = 8,
          .axes = {},
          .launch = {},
      },
      [](const auto& l) { chapter05::by_warps<8><<<l.grid, l.block>>>(l.in, l.partial, l.n); }));
  chapter.add(
      book::family<2, 4>("loads", [](auto loads) { return wide_sum<decltype(loads)::value>(); }));

  // Smaller blocks could not be started fast enough to keep the memory busy.
  const book::Blocks roof_blocks = book::powers_of_two(256);
  const std::vector<book::Axis> roof_sizes{{"n", book::powers(27, 28)}};
  chapter.add({
      .name = "read",
      .region = "roof-read",
      .kernel = book::kernel(chapter07::read),
      .blocks = roof_blocks,
      .factor = 8,
      .axes = roof_sizes,
      .launch = book::launch<Stream<Roof::kRead>>(
          [](const auto& l) { chapter07::read<<<l.grid, l.block>>>(l.x, l.out, l.n); }),
  });
  chapter.add({
      .name = "copy",
      .region = "roof-copy",
      .kernel = book::kernel(chapter07::copy),
      .blocks = roof_blocks,
      .axes = roof_sizes,
      .launch = book::launch<Stream<Roof::kCopy>>(
          [](const auto& l) { chapter07::copy<<<l.grid, l.block>>>(l.x, l.out, l.n); }),
  });
  chapter.add({
      .name = "triad",
      .region = "roof-triad",
      .kernel = book::kernel(chapter07::triad),
      .blocks = roof_blocks,
      .axes = roof_sizes,
      .launch = book::launch<Stream<Roof::kTriad>>([](const auto& l) {
        chapter07::triad<<<l.grid, l.block>>>(l.x, l.y, l.out, l.n, kScale);
      }),
  });

  // The seventh with 128 in the template, whatever the block: meant for a block of 128.
  chapter.add({
      .name = "reduce7_classic",
      .region = "many-classic",
      .kernel = book::kernel(chapter07::legacy::many_classic<128>),
      .blocks = book::powers_of_two(64),
      .shared_bytes = [](unsigned block) { return block * sizeof(int); },
      .legacy = true,
      .findings = {"memcheck", "racecheck"},
      .compared = false,  // the embedded device stops it
      .launch = book::launch<Sum>([](const auto& l) {
        chapter07::legacy::many_classic<128>
            <<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, static_cast<unsigned>(l.n));
      }),
  });

  return chapter.run(argc, argv);
}
