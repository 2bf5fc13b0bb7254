#include <algorithm>

#include "book/cub_sum.hpp"
#include "book/finished_sum.hpp"
#include "book/whole_sum.hpp"
#include "kernels.cuh"
#include "legacy.cuh"
#include "problem.cuh"
#include "take_home.cuh"

namespace {

using Wide = book::WholeSum<long long>;
using Narrow = book::WholeSum<unsigned>;
using chapter08::Ramp;
using chapter08::Small;

unsigned attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  BOOK_CUDA(cudaGetDevice(&device));
  BOOK_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return static_cast<unsigned>(value);
}

/// At most `most` blocks per SM, none without work of its own, and no more than a word can count.
unsigned blocks(std::size_t n, unsigned block, unsigned most) {
  const std::size_t needed = n / block + (n % block != 0 ? 1 : 0);
  const std::size_t here = std::size_t{attribute(cudaDevAttrMultiProcessorCount)} * most;
  return static_cast<unsigned>(std::min({needed, here, std::size_t{chapter08::kMostBlocks}}));
}

/// The grid of what walks over its input an element at a time: four blocks per SM.
unsigned four_per_sm(std::size_t n, unsigned block) {
  return blocks(n, block, 4);
}

// begin grid-that-fits
/// The same, or as many as are on the device at once where that is less.
unsigned fits_at_once(std::size_t n, unsigned block) {
  int per_sm = 0;
  BOOK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, chapter08::grid_sync,
                                                          static_cast<int>(block), 0));
  return blocks(n, block, std::min(4u, static_cast<unsigned>(per_sm)));
}
// end grid-that-fits

// begin grid-of-tiles
/// One tile per block, and no more blocks than are on the device at once: then they walk on.
unsigned tile_per_block(std::size_t n, unsigned block) {
  constexpr std::size_t kPerThread = std::size_t{4} * chapter08::kLoads;
  return book::resident_grid(n / kPerThread + (n % kPerThread != 0 ? 1 : 0), block);
}
// end grid-of-tiles

// begin run-passes
/// The same kernel again, each pass on what the one before has left.
void all_passes(const Wide::Launch& l) {
  long long* out = l.grid == 1 ? l.out : l.partial;
  chapter08::sum_pass<<<l.grid, l.block>>>(l.in, out, l.n);

  std::size_t left = l.grid;
  while (left > 1) {
    const long long* in = out;
    const unsigned grid = book::grid_for(left, l.block, chapter08::kPerThread);
    out = grid == 1 ? l.out : out + left;
    chapter08::sum_pass<<<grid, l.block>>>(in, out, left);
    left = grid;
  }
}
// end run-passes

unsigned long long* bits_of(long long* sum) {
  return reinterpret_cast<unsigned long long*>(sum);
}

// begin run-handed-in
/// handed_in<Loads> as a finished sum.
template <unsigned Loads>
book::Variant handed_in() {
  return book::as_finished({
      .name = "handed_in" + std::to_string(Loads),
      .region = "handed-in",
      .kernel = book::kernel(chapter08::handed_in<Loads>),
      .blocks = book::whole_warps(),
      .factor = 4 * Loads,
      .counters = book::Counters::kLessArbitration,  // its warps store their sums at once, and meet
      .launch = book::launch<Small>([](const auto& l) {
        chapter08::handed_in<Loads><<<l.grid, l.block>>>(l.in, l.word, l.out, l.n);
      }),
  });
}
// end run-handed-in

// begin run-take-home
/// The kernel to take home, as a reader calls it.
template <class In, class Out, class Input>
book::Variant take_home_sum(const char* name) {
  return {
      .name = name,
      .region = "take-home-sum",
      .kernel = book::kernel(take_home::sum_kernel<In, Out>),
      .blocks = book::any_block(take_home::kThreads, take_home::kThreads),  // it has its own
      .grid =
          [](std::size_t n, unsigned) {
            unsigned blocks = 0;
            BOOK_CUDA(take_home::grid_for<In>(n, &blocks));
            return blocks;
          },
      .axes = {{"n"}},
      .counters = book::Counters::kLessArbitration,  // as whole
      .launch = book::launch<chapter08::TakeHome<In, Out, Input>>([](const auto& l) {
        BOOK_CUDA(take_home::sum(l.in, l.n, l.out, l.workspace, l.workspace_bytes));
      }),
  };
}
// end run-take-home

/// CUB's sum of the same, added in the same type.
template <class T, class Input>
book::Variant cub_of_same(const char* name) {
  return {
      .name = name,
      .region = "cub-same",
      .blocks = book::any_block(256, 256),
      .grid = book::library_grid,
      .axes = {{"n"}},
      .profiled = false,
      .launch = book::launch<chapter08::TakeHome<T, T, Input>>(
          [](const auto& l) { book::cub_sum(l.storage, l.storage_bytes, l.in, l.out, l.n); }),
  };
}

void launch_whole(const Wide::Launch& l) {
  chapter08::whole<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n);
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{
      "chapter08_multi_pass",
      "Until one value is left",
      "the page's figure of times against n, and the ratio to CUB's",
      {.counted = {
           {std::size_t{1} << 24, 256}, {std::size_t{1} << 20, 256}, {std::size_t{1} << 16, 256}}}};

  chapter.add({
      .name = "passes",
      .region = "sum-pass",
      .kernel = book::kernel(chapter08::sum_pass<int>),
      .factor = chapter08::kPerThread,
      .launch = book::launch<Wide>(all_passes),
  });
  // begin run-atomic-thread
  chapter.add({
      .name = "atomic_thread",
      .region = "atomic-thread",
      .kernel = book::kernel(chapter08::atomic_thread),
      .grid = four_per_sm,
      .axes = {{"n"}},
      .launch = book::launch<Wide>([](const auto& l) {
        BOOK_CUDA(cudaMemsetAsync(l.out, 0, sizeof *l.out));  // there must be a sum to add to
        chapter08::atomic_thread<<<l.grid, l.block>>>(l.in, bits_of(l.out), l.n);
      }),
  });
  // end run-atomic-thread
  chapter.add({
      .name = "atomic_block",
      .region = "atomic-block",
      .kernel = book::kernel(chapter08::atomic_block),
      .grid = four_per_sm,
      .axes = {{"n"}},
      .launch = book::launch<Wide>([](const auto& l) {
        BOOK_CUDA(cudaMemsetAsync(l.out, 0, sizeof *l.out));
        chapter08::atomic_block<<<l.grid, l.block>>>(l.in, bits_of(l.out), l.n);
      }),
  });
  chapter.add({
      .name = "last_block",
      .region = "last-block",
      .kernel = book::kernel(chapter08::last_block),
      .grid = four_per_sm,
      .launch = book::launch<Wide>([](const auto& l) {
        chapter08::last_block<<<l.grid, l.block>>>(l.in, l.partial, l.ticket, l.out, l.n);
      }),
  });
  // begin run-grid-sync
  chapter.add({
      .name = "grid_sync",
      .region = "grid-sync",
      .kernel = book::kernel(chapter08::grid_sync),
      .grid = fits_at_once,
      .axes = {{"n"}},
      .counters = book::Counters::kNone,  // it looks at its barrier as often as it takes
      .launch = book::launch<Wide>([](const auto& l) {
        auto [in, partial, out, n] = std::tuple{l.in, l.partial, l.out, l.n};
        void* arguments[] = {&in, &partial, &out, &n};
        BOOK_CUDA(cudaLaunchCooperativeKernel(chapter08::grid_sync, l.grid, l.block, arguments, 0,
                                              nullptr));
      }),
  });
  // end run-grid-sync
  chapter.add({
      .name = "one_word",
      .region = "one-word",
      .kernel = book::kernel(chapter08::one_word),
      .grid = four_per_sm,
      .axes = {{"n"}},
      .launch = book::launch<Wide>([](const auto& l) {
        chapter08::one_word<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n);
      }),
  });
  // begin run-whole
  chapter.add({
      .name = "whole",
      .region = "whole-sum",
      .kernel = book::kernel(chapter08::whole<long long>),
      .blocks = book::whole_warps(),
      .grid = tile_per_block,
      // Its warps store their sums at the same moment, and meet.
      .counters = book::Counters::kLessArbitration,
      .launch = book::launch<Wide>(launch_whole),
  });
  // end run-whole
  // begin cub-64
  chapter.add({
      .name = "cub",
      .region = "cub-64",
      .blocks = book::any_block(256, 256),  // it has its own, whatever is asked for
      .grid = book::library_grid,
      .axes = {{"n"}},
      .profiled = false,
      .launch = book::launch<Wide>(
          [](const auto& l) { book::cub_sum(l.storage, l.storage_bytes, l.in, l.out, l.n); }),
  });
  // end cub-64
  chapter.add({
      .name = "whole32",
      .region = "whole-sum",
      .kernel = book::kernel(chapter08::whole<unsigned>),
      .blocks = book::whole_warps(),
      .grid = tile_per_block,
      .axes = {{"n"}},
      .counters = book::Counters::kLessArbitration,
      .launch = book::launch<Narrow>(
          [](const auto& l) { chapter08::whole<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n); }),
  });
  // begin cub-32
  chapter.add({
      .name = "cub32",
      .region = "cub-32",
      .blocks = book::any_block(256, 256),  // it has its own, whatever is asked for
      .grid = book::library_grid,
      .axes = {{"n"}},
      .profiled = false,
      .launch = book::launch<Narrow>([](const auto& l) {
        const auto* in = reinterpret_cast<const unsigned*>(l.in);
        book::cub_sum(l.storage, l.storage_bytes, in, l.out, l.n);
      }),
  });
  // end cub-32
  chapter.add({
      .name = "ramp",
      .region = "whole-sum",
      .kernel = book::kernel(chapter08::whole<long long>),
      .blocks = book::whole_warps(),
      .grid = tile_per_block,
      .axes = {},
      .profiled = false,
      .launch = book::launch<Ramp<long long>>(launch_whole),
  });
  chapter.add(book::finished(
      {
          .name = "wide4",
          .from = "chapter07_effective_bandwidth",
          .region = "wide-by-warps",
          .kernel = book::kernel(chapter07::wide<4>),
          .blocks = book::whole_warps(),
          .factor = 16,
          .axes = {},
          .launch = {},
      },
      [](const auto& l) { chapter07::wide<4><<<l.grid, l.block>>>(l.in, l.partial, l.n); }));
  chapter.add(
      book::family<2, 4>("loads", [](auto loads) { return handed_in<decltype(loads)::value>(); }));
  chapter.add(book::as_finished({
      .name = "whole",
      .region = "whole-sum",
      .kernel = book::kernel(chapter08::whole<unsigned>),
      .blocks = book::whole_warps(),
      .grid = tile_per_block,
      .profiled = false,  // as whole32
      .launch = book::launch<Small>(
          [](const auto& l) { chapter08::whole<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n); }),
  }));
  chapter.add(book::as_finished({
      .name = "cub",
      .region = "cub-32",
      .blocks = book::any_block(256, 256),
      .grid = book::library_grid,
      .profiled = false,
      .launch = book::launch<Small>([](const auto& l) {
        const auto* in = reinterpret_cast<const unsigned*>(l.in);
        book::cub_sum(l.storage, l.storage_bytes, in, l.out, l.n);
      }),
  }));
  using chapter08::FloatInput;
  using chapter08::LongInput;
  chapter.add(take_home_sum<int, long long, book::Input>("take_home"));
  chapter.add(take_home_sum<long long, long long, LongInput>("take_home_long"));
  chapter.add(cub_of_same<long long, LongInput>("cub_long"));
  chapter.add(take_home_sum<float, float, FloatInput>("take_home_float"));
  chapter.add(cub_of_same<float, FloatInput>("cub_float"));
  book::Variant in_32_bits = take_home_sum<int, int, book::SmallInput>("take_home");
  in_32_bits.profiled = false;  // as take_home
  chapter.add(book::as_finished(std::move(in_32_bits)));
  chapter.add({
      .name = "ramp_int",
      .region = "in-int",
      .kernel = book::kernel(chapter08::legacy::in_int),
      .grid = book::one_block,
      .legacy = true,
      .launch = book::launch<Ramp<int>>(
          [](const auto& l) { chapter08::legacy::in_int<<<1, l.block>>>(l.in, l.out, l.n); }),
  });
  chapter.add({
      .name = "no_fence",
      .region = "no-fence",
      .kernel = book::kernel(chapter08::legacy::no_fence),
      .grid = four_per_sm,
      .legacy = true,
      .launch = book::launch<Wide>([](const auto& l) {
        chapter08::legacy::no_fence<<<l.grid, l.block>>>(l.in, l.partial, l.ticket, l.out, l.n);
      }),
  });
  // begin run-stale
  chapter.add({
      .name = "stale",
      .region = "stale-sums",
      .kernel = book::kernel(chapter08::legacy::stale),
      .grid = four_per_sm,
      .legacy = true,
      .launch = book::launch<Wide>([](const auto& l) {
        BOOK_CUDA(cudaMemsetAsync(l.partial, 0, l.grid * sizeof *l.partial));
        chapter08::legacy::stale<<<l.grid, l.block>>>(l.in, l.partial, l.ticket, l.out, l.n);
      }),
  });
  // end run-stale

  return chapter.run(argc, argv);
}
