#include "../chapter01_gmem/kernels.cuh"
#include "book/finished_sum.hpp"
#include "book/sum.hpp"
#include "kernels.cuh"
#include "legacy.cuh"

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter02_smem", "The tree moves into shared memory",
                        "chapter03_divergence: which threads should add"};

  chapter.add({
      .name = "gmem",
      .from = "chapter01_gmem",
      .region = "gmem-loop",
      .kernel = book::kernel(chapter01::gmem),
      .destroys_input = true,
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter01::gmem<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  // begin run-smem
  chapter.add({
      .name = "smem",
      .region = "smem-loop",
      .kernel = book::kernel(chapter02::smem),
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter02::smem<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  // end run-smem
  chapter.add({
      .name = "smem_unrolled",
      .region = "smem-unrolled",
      .kernel = book::kernel(chapter02::smem_unrolled),
      .blocks = book::powers_of_two(),
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter02::smem_unrolled<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  // begin run-stride
  chapter.add({
      .name = "smem_stride",
      .region = "smem-stride",
      .kernel = book::kernel(chapter02::smem_stride),
      .grid = book::resident_grid,  // as many blocks as the device holds at once, and no more
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter02::smem_stride<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  // end run-stride
  // begin run-interleaved
  const auto interleaved = [](const book::Sum::Launch& l) {
    chapter02::interleaved<<<l.grid, l.block>>>(l.in, l.partial, l.n);
  };
  const book::Variant rung{
      .name = "interleaved",
      .region = "interleaved-modulo",
      .kernel = book::kernel(chapter02::interleaved),
      .axes = {{"n", {std::size_t{1} << 16, std::size_t{1} << 24, std::size_t{1} << 28}}},
      .launch = book::launch<book::Sum>(interleaved),
  };
  chapter.add(rung);
  // end run-interleaved
  chapter.add(book::finished(
      {
          .name = "gmem_interleaved",
          .from = "chapter01_gmem",
          .region = "gmem-interleaved",
          .kernel = book::kernel(chapter01::gmem_interleaved),
          .destroys_input = true,
          .axes = {},
          .launch = {},
      },
      [](const auto& l) {
        chapter01::gmem_interleaved<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }));
  chapter.add(book::finished(rung, interleaved));
  chapter.add({
      .name = "smem_classic",
      .region = "smem-classic",
      .kernel = book::kernel(chapter02::legacy::smem_classic),
      .blocks = book::powers_of_two(),
      .legacy = true,
      .findings = {"memcheck", "racecheck"},
      .launch = book::launch<book::Sum>([](const auto& l) {
        const auto n = static_cast<unsigned>(l.n);
        chapter02::legacy::smem_classic<<<l.grid, l.block>>>(l.in, l.partial, n);
      }),
  });
  chapter.add({
      .name = "stride_classic",
      .region = "stride-classic",
      .kernel = book::kernel(chapter02::legacy::stride_classic),
      .blocks = book::powers_of_two(),
      .grid = book::resident_grid,
      .legacy = true,
      .counters = book::Counters::kLessArbitration,
      .launch = book::launch<book::Sum>([](const auto& l) {
        const auto n = static_cast<unsigned>(l.n);
        chapter02::legacy::stride_classic<<<l.grid, l.block>>>(l.in, l.partial, n);
      }),
  });

  return chapter.run(argc, argv);
}
