#include "book/finished_sum.hpp"
#include "book/sum.hpp"
#include "kernels.cuh"
#include "legacy.cuh"

namespace {

/// The sizes that the page compares.
const book::Axis kSizes{"n", {std::size_t{1} << 16, std::size_t{1} << 24, std::size_t{1} << 28}};

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter01_gmem", "One sum, in global memory",
                        "chapter02_smem: the same tree where memory is near"};

  // begin run-gmem
  chapter.add({
      .name = "gmem",
      .region = "gmem-loop",
      .kernel = book::kernel(chapter01::gmem),
      .destroys_input = true,
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter01::gmem<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  // end run-gmem
  chapter.add({
      .name = "gmem_unrolled",
      .region = "gmem-unrolled",
      .kernel = book::kernel(chapter01::gmem_unrolled),
      .blocks = book::powers_of_two(),
      .destroys_input = true,
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter01::gmem_unrolled<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  chapter.add({
      .name = "gmem_early_exit",
      .region = "gmem-early-exit",
      .kernel = book::kernel(chapter01::gmem_early_exit),
      .blocks = book::whole_warps(),
      .destroys_input = true,
      .axes = {kSizes, {"block"}},
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter01::gmem_early_exit<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  // begin run-gmem-interleaved
  const auto interleaved = [](const book::Sum::Launch& l) {
    chapter01::gmem_interleaved<<<l.grid, l.block>>>(l.in, l.partial, l.n);
  };
  const book::Variant rung{
      .name = "gmem_interleaved",
      .region = "gmem-interleaved",
      .kernel = book::kernel(chapter01::gmem_interleaved),
      .destroys_input = true,
      .axes = {kSizes},
      .launch = book::launch<book::Sum>(interleaved),
  };
  chapter.add(rung);
  chapter.add(book::finished(rung, interleaved));
  // end run-gmem-interleaved
  chapter.add({
      .name = "gmem_classic",
      .region = "gmem-classic",
      .kernel = book::kernel(chapter01::legacy::gmem_classic),
      .blocks = book::powers_of_two(),
      .destroys_input = true,
      .legacy = true,
      .findings = {"memcheck"},
      .launch = book::launch<book::Sum>([](const auto& l) {
        const auto n = static_cast<unsigned>(l.n);
        chapter01::legacy::gmem_classic<<<l.grid, l.block>>>(l.in, l.partial, n);
      }),
  });

  return chapter.run(argc, argv);
}
