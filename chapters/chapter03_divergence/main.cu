#include "book/sum.hpp"
#include "kernels.cuh"
#include "legacy.cuh"

namespace {

using Launch = book::Sum::Launch;

// begin run-mixed
/// chapter03::mixed with so many kinds of work.
book::Variant<book::Sum> mixed(unsigned paths) {
  return {
      .name = "mixed" + std::to_string(paths),
      .region = "mixed-paths",
      .kernel = book::kernel(chapter03::mixed),
      .params = {{"paths", paths}},
      .launch =
          [paths](const Launch& l) {
            chapter03::mixed<<<l.grid, l.block>>>(l.in, l.partial, l.n, paths);
          },
  };
}
// end run-mixed

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter03_divergence", "What a warp does at a branch",
                        "the shared wavefronts of strided beside those of smem"};

  chapter.add<book::Sum>({
      .name = "interleaved",
      .region = "interleaved-modulo",
      .kernel = book::kernel(chapter03::interleaved),
      .launch =
          [](const Launch& l) {
            chapter03::interleaved<<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  });
  chapter.add<book::Sum>({
      .name = "interleaved_mask",
      .region = "interleaved-mask",
      .kernel = book::kernel(chapter03::interleaved_mask),
      .launch =
          [](const Launch& l) {
            chapter03::interleaved_mask<<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  });
  chapter.add<book::Sum>({
      .name = "strided",
      .region = "strided-index",
      .kernel = book::kernel(chapter03::strided),
      .launch =
          [](const Launch& l) { chapter03::strided<<<l.grid, l.block>>>(l.in, l.partial, l.n); },
  });
  chapter.add<book::Sum>({
      .name = "smem",
      .from = "chapter02_smem",
      .region = "smem-loop",
      .kernel = book::kernel(chapter02::smem),
      .launch = [](const Launch& l) { chapter02::smem<<<l.grid, l.block>>>(l.in, l.partial, l.n); },
  });
  for (const unsigned paths : {1u, 2u, 4u, 8u, 16u, 32u}) chapter.add<book::Sum>(mixed(paths));
  chapter.add<book::Sum>({
      .name = "sorted32",
      .region = "sorted-paths",
      .kernel = book::kernel(chapter03::sorted),
      .params = {{"paths", 32u}},
      .launch =
          [](const Launch& l) { chapter03::sorted<<<l.grid, l.block>>>(l.in, l.partial, l.n, 32); },
  });
  chapter.add<book::Sum>({
      .name = "in_step_classic",
      .region = "in-step-classic",
      .kernel = book::kernel(chapter03::legacy::in_step_classic),
      .blocks = book::powers_of_two(),
      .legacy = true,
      .findings = {"racecheck"},
      .launch =
          [](const Launch& l) {
            chapter03::legacy::in_step_classic<<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  });

  return chapter.run(argc, argv);
}
