#include "book/finished_sum.hpp"
#include "book/sum.hpp"
#include "kernels.cuh"
#include "legacy.cuh"
#include "problem.cuh"

namespace {

using chapter06::allow;
using chapter06::Limits;
using chapter06::Moments;

constexpr std::size_t kKiB = 1024;

std::size_t ints(unsigned block) {
  return block * sizeof(int);  // bytes: the launch does not know what the kernel keeps there
}

// begin run-ask
/// dynamic_unroll with far more shared memory than it needs, so that fewer blocks fit an SM.
template <unsigned Factor = 4>
book::Variant ask(unsigned kib) {
  return {
      .name = "ask" + std::to_string(kib) + "k",
      .region = "dynamic-unroll",
      .kernel = book::kernel(chapter06::dynamic_unroll<Factor>),
      .factor = Factor,
      .shared_bytes = [kib](unsigned) { return kib * kKiB; },
      .axes = book::at_large_n(),
      .launch = book::launch<book::Sum>([](const auto& l) {
        allow(chapter06::dynamic_unroll<Factor>, l.shared_bytes);
        chapter06::dynamic_unroll<Factor>
            <<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
      }),
  };
}
// end run-ask

/// typed_sum<T> as a variant.
template <class T>
book::Variant typed(const char* name) {
  return {
      .name = name,
      .region = "typed-sum",
      .kernel = book::kernel(chapter06::typed_sum<T>),
      .shared_bytes = [](unsigned block) { return block * sizeof(T); },
      .axes = book::at_large_n(),
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter06::typed_sum<T><<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
      }),
  };
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter06_dynamic_smem", "Shared memory of a size given at launch",
                        "the page's figure of shared bytes, occupancy and time"};

  chapter.add({
      .name = "smem",
      .from = "chapter02_smem",
      .region = "smem-loop",
      .kernel = book::kernel(chapter02::smem),
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter02::smem<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  // begin run-dynamic-smem
  chapter.add({
      .name = "dynamic_smem",
      .region = "dynamic-smem",
      .kernel = book::kernel(chapter06::dynamic_smem),
      .shared_bytes = ints,
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter06::dynamic_smem<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
      }),
  });
  // end run-dynamic-smem
  chapter.add({
      .name = "unroll4",
      .from = "chapter05_unroll4",
      .region = "unroll-factor",
      .kernel = book::kernel(chapter05::unroll<4>),
      .factor = 4,
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter05::unroll<4><<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  chapter.add({
      .name = "dynamic_unroll4",
      .region = "dynamic-unroll",
      .kernel = book::kernel(chapter06::dynamic_unroll<4>),
      .factor = 4,
      .shared_bytes = ints,
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter06::dynamic_unroll<4><<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
      }),
  });
  chapter.add(book::family({"shared_kib", {32, 48, 64, 96, 227}}, ask<>));
  book::Variant fewer_threads = ask<16>(96);
  fewer_threads.name = "ask96k_unroll16";
  chapter.add(std::move(fewer_threads));
  const auto dynamic_by_warps = [](const book::Sum::Launch& l) {
    chapter06::dynamic_by_warps<8><<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
  };
  const book::Variant rung{
      .name = "dynamic_by_warps8",
      .region = "dynamic-by-warps",
      .kernel = book::kernel(chapter06::dynamic_by_warps<8>),
      .blocks = book::whole_warps(),
      .factor = 8,
      .shared_bytes = [](unsigned block) { return block / 32 * sizeof(int); },
      .axes = {{"n", {std::size_t{1} << 20, std::size_t{1} << 24, std::size_t{1} << 28}},
               {"block"}},
      .counters = book::Counters::kLessArbitration,  // its warps store their sums at once, and meet
      .launch = book::launch<book::Sum>(dynamic_by_warps),
  };
  chapter.add(rung);
  chapter.add(typed<int>("typed_int"));
  chapter.add(typed<long long>("typed_long"));
  chapter.add({
      .name = "moments",
      .region = "two-arrays",
      .kernel = book::kernel(chapter06::moments),
      .shared_bytes = chapter06::moments_bytes,
      .axes = book::at_large_n(),
      .launch = book::launch<Moments>([](const auto& l) {
        chapter06::moments<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.sums, l.squares, l.n);
      }),
  });
  chapter.add({
      .name = "limits",
      .region = "both-ends",
      .grid = book::one_block,
      .findings = {"memcheck"},  // which reports every call that is refused
      .axes = book::at_large_n(),
      .launch = book::launch<Limits>([](const auto& l) {
        chapter06::both_ends<<<1, l.block, l.bytes>>>(l.out,
                                                      static_cast<unsigned>(l.bytes / sizeof(int)));
      }),
  });
  chapter.add(book::finished(
      {
          .name = "by_warps8",
          .from = "chapter05_unroll4",
          .region = "sums-by-warp",
          .kernel = book::kernel(chapter05::by_warps<8>),
          .blocks = book::whole_warps(),
          .factor = 8,
          .axes = {},
          .launch = {},
      },
      [](const auto& l) { chapter05::by_warps<8><<<l.grid, l.block>>>(l.in, l.partial, l.n); }));
  chapter.add(book::finished(rung, dynamic_by_warps));
  // begin run-too-few-bytes
  chapter.add({
      .name = "too_few_bytes",
      .region = "dynamic-smem",
      .kernel = book::kernel(chapter06::dynamic_smem),
      .shared_bytes = [](unsigned block) -> std::size_t { return block; },  // fault: elements
      .legacy = true,
      .findings = {"memcheck"},
      .compared = false,  // the embedded device stops it
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter06::dynamic_smem<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
      }),
  });
  // end run-too-few-bytes
  chapter.add({
      .name = "ints_first",
      .region = "ints-first",
      .kernel = book::kernel(chapter06::legacy::ints_first),
      .blocks = book::any_block(255, 255),  // an even one hides the fault
      .shared_bytes = chapter06::moments_bytes,
      .legacy = true,
      .findings = {"memcheck"},
      .compared = false,
      .launch = book::launch<Moments>([](const auto& l) {
        chapter06::legacy::ints_first<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.sums, l.squares,
                                                                           l.n);
      }),
  });

  return chapter.run(argc, argv);
}
