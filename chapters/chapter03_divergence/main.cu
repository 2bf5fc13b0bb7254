#include "book/finished_sum.hpp"
#include "book/sum.hpp"
#include "kernels.cuh"
#include "legacy.cuh"

namespace {

// begin run-mixed
/// chapter03::mixed with so many kinds of work.
book::Variant mixed(unsigned paths) {
  return {
      .name = "mixed" + std::to_string(paths),
      .region = "mixed-paths",
      .kernel = book::kernel(chapter03::mixed),
      .axes = book::at_large_n(),
      .counters = paths == 32 ? book::Counters::kLessArbitration : book::Counters::kExact,
      .launch = book::launch<book::Sum>([paths](const auto& l) {
        chapter03::mixed<<<l.grid, l.block>>>(l.in, l.partial, l.n, paths);
      }),
  };
}
// end run-mixed

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter03_divergence", "What a warp does at a branch",
                        "the shared wavefronts of strided beside those of smem"};

  const auto interleaved = [](const book::Sum::Launch& l) {
    chapter02::interleaved<<<l.grid, l.block>>>(l.in, l.partial, l.n);
  };
  book::Variant before{
      .name = "interleaved",
      .from = "chapter02_smem",
      .region = "interleaved-modulo",
      .kernel = book::kernel(chapter02::interleaved),
      .launch = book::launch<book::Sum>(interleaved),
  };
  chapter.add(before);
  const auto mask = [](const book::Sum::Launch& l) {
    chapter03::interleaved_mask<<<l.grid, l.block>>>(l.in, l.partial, l.n);
  };
  const book::Variant rung{
      .name = "interleaved_mask",
      .region = "interleaved-mask",
      .kernel = book::kernel(chapter03::interleaved_mask),
      .launch = book::launch<book::Sum>(mask),
  };
  chapter.add(rung);
  chapter.add({
      .name = "strided",
      .region = "strided-index",
      .kernel = book::kernel(chapter03::strided),
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter03::strided<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  chapter.add({
      .name = "smem",
      .from = "chapter02_smem",
      .region = "smem-loop",
      .kernel = book::kernel(chapter02::smem),
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter02::smem<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  chapter.add(book::family({"paths", {1, 2, 4, 8, 16, 32}}, mixed));
  chapter.add({
      .name = "sorted32",
      .region = "sorted-paths",
      .kernel = book::kernel(chapter03::sorted),
      .params = {{"paths", 32u}},
      .axes = book::at_large_n(),
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter03::sorted<<<l.grid, l.block>>>(l.in, l.partial, l.n, 32); }),
  });
  before.axes = {};  // swept in its own chapter
  chapter.add(book::finished(before, interleaved));
  chapter.add(book::finished(rung, mask));
  chapter.add({
      .name = "in_step_classic",
      .region = "in-step-classic",
      .kernel = book::kernel(chapter03::legacy::in_step_classic),
      .blocks = book::powers_of_two(),
      .legacy = true,
      .findings = {"racecheck"},
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter03::legacy::in_step_classic<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });

  return chapter.run(argc, argv);
}
