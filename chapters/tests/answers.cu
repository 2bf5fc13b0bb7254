// The exercises' answers that are code, as the variants of a chapter of their own, so that the
// matrix checks them like any kernel.
#include "../chapter01_gmem/answers.cuh"
#include "../chapter02_smem/answers.cuh"
#include "../chapter03_divergence/answers.cuh"
#include "../chapter05_unroll4/answers.cuh"
#include "../chapter06_dynamic_smem/answers.cuh"
#include "../chapter10_coalescing/answers.cuh"
#include "book/sum.hpp"

int main(int argc, char** argv) {
  book::Chapter chapter{"answers", "The exercises' answers"};
  using Launch = book::Sum::Launch;

  chapter.add<book::Sum>({
      .name = "gmem_by_three",
      .from = "chapter01_gmem",
      .region = "answer-by-three",
      .kernel = book::kernel(chapter01::answers::gmem_by_three),
      .destroys_input = true,
      .launch =
          [](const Launch& l) {
            chapter01::answers::gmem_by_three<<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  });
  chapter.add<book::Sum>({
      .name = "smem_chunk",
      .from = "chapter02_smem",
      .region = "answer-chunk",
      .kernel = book::kernel(chapter02::answers::smem_chunk),
      .grid = book::resident_grid,
      .launch =
          [](const Launch& l) {
            chapter02::answers::smem_chunk<<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  });
  chapter.add<book::Sum>({
      .name = "mixed_as_data",
      .from = "chapter03_divergence",
      .region = "answer-pattern",
      .kernel = book::kernel(chapter03::answers::mixed_as_data),
      .params = {{"paths", 32u}},
      .launch =
          [](const Launch& l) {
            chapter03::answers::mixed_as_data<<<l.grid, l.block>>>(l.in, l.partial, l.n, 32);
          },
  });
  chapter.add<book::Sum>({
      .name = "warp_first",
      .from = "chapter03_divergence",
      .region = "answer-warp-first",
      .kernel = book::kernel(chapter03::answers::warp_first),
      .launch =
          [](const Launch& l) {
            chapter03::answers::warp_first<<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  });
  chapter.add<book::Sum>({
      .name = "unrolled_stride",
      .from = "chapter05_unroll4",
      .region = "answer-unrolled-stride",
      .kernel = book::kernel(chapter05::answers::unrolled_stride<8>),
      .grid = book::resident_grid,
      .launch =
          [](const Launch& l) {
            chapter05::answers::unrolled_stride<8><<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  });
  chapter.add<book::Sum>({
      .name = "warp_slots",
      .from = "chapter06_dynamic_smem",
      .region = "answer-warp-slots",
      .kernel = book::kernel(chapter06::answers::warp_slots),
      .blocks = book::powers_of_two(),
      .factor = 4,
      .shared_bytes = [](unsigned block) { return (block + 31) / 32 * sizeof(int); },
      .launch =
          [](const Launch& l) {
            chapter06::answers::warp_slots<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial,
                                                                                l.n);
          },
  });
  chapter.add<book::Sum>({
      .name = "wide_sum",
      .from = "chapter10_coalescing",
      .region = "answer-wide-sum",
      .kernel = book::kernel(chapter10::answers::wide_sum),
      .factor = 4,
      .launch =
          [](const Launch& l) {
            chapter10::answers::wide_sum<<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  });

  return chapter.run(argc, argv);
}
