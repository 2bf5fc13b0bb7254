#include <string>
#include <utility>

#include "answers.cuh"
#include "book/finished_sum.hpp"
#include "book/sum.hpp"
#include "kernels.cuh"
#include "legacy.cuh"

namespace {

using Kernel = void (*)(const int*, int*, std::size_t);

/// The instance of chapter05::complete for a block size; null where there is none.
Kernel complete_for(unsigned block) {
  switch (block) {
    case 1: return chapter05::complete<1>;
    case 2: return chapter05::complete<2>;
    case 4: return chapter05::complete<4>;
    case 8: return chapter05::complete<8>;
    case 16: return chapter05::complete<16>;
    case 32: return chapter05::complete<32>;
    case 64: return chapter05::complete<64>;
    case 128: return chapter05::complete<128>;
    case 256: return chapter05::complete<256>;
    case 512: return chapter05::complete<512>;
    case 1024: return chapter05::complete<1024>;
    default: return nullptr;
  }
}

/// unroll<Factor> as a variant: one template, five rungs of the sweep.
template <unsigned Factor>
book::Variant unroll() {
  return {
      .name = "unroll" + std::to_string(Factor),
      .region = "unroll-factor",
      .kernel = book::kernel(chapter05::unroll<Factor>),
      .factor = Factor,
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter05::unroll<Factor><<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  };
}

/// The sizes at which first passes with sums by warp are looked at.
const book::Axis kSizes{"n", {std::size_t{1} << 20, std::size_t{1} << 24, std::size_t{1} << 28}};

/// by_warps<Factor> as a variant.
template <unsigned Factor>
book::Variant by_warps() {
  return {
      .name = "by_warps" + std::to_string(Factor),
      .region = "sums-by-warp",
      .kernel = book::kernel(chapter05::by_warps<Factor>),
      .blocks = book::whole_warps(),
      .factor = Factor,
      .axes = {kSizes, {"block"}},
      .counters = book::Counters::kLessArbitration,  // its warps store their sums at once, and meet
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter05::by_warps<Factor><<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  };
}

// begin run-to-the-end
/// A rung's kernel, launched again on its partial sums until one value is left.
book::Variant finished(book::Variant rung, Kernel kernel) {
  return book::finished(std::move(rung), [kernel](const book::Sum::Launch& l) {
    kernel<<<l.grid, l.block>>>(l.in, l.partial, l.n);
  });
}
// end run-to-the-end

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter05_unroll4", "More work for every thread",
                        "--sweep block, and the page's figure of bytes in flight"};

  chapter.add({
      .name = "smem",
      .from = "chapter02_smem",
      .region = "smem-loop",
      .kernel = book::kernel(chapter02::smem),
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter02::smem<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  const book::Variant first_add{
      .name = "first_add",
      .region = "first-add",
      .kernel = book::kernel(chapter05::first_add),
      .factor = 2,
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter05::first_add<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  };
  chapter.add(first_add);
  chapter.add(book::family<1, 2, 4, 8, 16>(
      "unroll", [](auto factor) { return unroll<decltype(factor)::value>(); }));
  chapter.add({
      .name = "halving",
      .region = "halving-tree",
      .kernel = book::kernel(chapter05::halving),
      .blocks = book::powers_of_two(),
      .factor = 4,
      .axes = {kSizes, {"block"}},
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter05::halving<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  const book::Variant last_warp_sync{
      .name = "last_warp_sync",
      .region = "last-warp-sync",
      .kernel = book::kernel(chapter05::last_warp_sync),
      .blocks = book::powers_of_two(),
      .factor = 4,
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter05::last_warp_sync<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  };
  chapter.add(last_warp_sync);
  chapter.add({
      .name = "last_warp_shuffle",
      .region = "last-warp-shuffle",
      .kernel = book::kernel(chapter05::last_warp_shuffle),
      .blocks = book::powers_of_two(),
      .factor = 4,
      .axes = book::at_large_n(),
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter05::last_warp_shuffle<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  // begin run-complete
  chapter.add({
      .name = "complete",
      .region = "complete-unroll",
      .kernel = [](unsigned block) { return reinterpret_cast<const void*>(complete_for(block)); },
      .blocks = book::powers_of_two(),
      .factor = 4,
      .launch = book::launch<book::Sum>(
          [](const auto& l) { complete_for(l.block)<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  // end run-complete
  chapter.add(by_warps<4>());
  chapter.add(by_warps<8>());
  chapter.add({
      .name = "unrolled_stride",
      .region = "answer-unrolled-stride",
      .kernel = book::kernel(chapter05::answers::unrolled_stride<8>),
      .grid = book::resident_grid,
      .axes = {kSizes, {"block"}},
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter05::answers::unrolled_stride<8><<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });

  chapter.add(finished({.name = "smem",
                        .from = "chapter02_smem",
                        .region = "smem-loop",
                        .kernel = book::kernel(chapter02::smem),
                        .axes = {},
                        .launch = {}},
                       chapter02::smem));
  chapter.add(finished(first_add, chapter05::first_add));
  chapter.add(finished(unroll<4>(), chapter05::unroll<4>));
  chapter.add(finished(last_warp_sync, chapter05::last_warp_sync));
  chapter.add(finished(by_warps<4>(), chapter05::by_warps<4>));
  chapter.add(finished(by_warps<8>(), chapter05::by_warps<8>));

  chapter.add({
      .name = "last_warp_classic",
      .region = "last-warp-classic",
      .kernel = book::kernel(chapter05::legacy::last_warp_classic),
      .blocks = book::powers_of_two(),
      .factor = 2,
      .shared_bytes = [](unsigned block) { return block * sizeof(int); },
      .legacy = true,
      .findings = {"memcheck", "racecheck"},
      .launch = book::launch<book::Sum>([](const auto& l) {
        const auto n = static_cast<unsigned>(l.n);
        chapter05::legacy::last_warp_classic<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial,
                                                                                  n);
      }),
  });
  chapter.add({
      .name = "unroll4_classic",
      .region = "unroll4-classic",
      .kernel = book::kernel(chapter05::legacy::unroll4_classic),
      .blocks = book::powers_of_two(),
      .factor = 4,
      .legacy = true,
      .findings = {"memcheck", "racecheck"},
      .launch = book::launch<book::Sum>([](const auto& l) {
        const auto n = static_cast<unsigned>(l.n);
        chapter05::legacy::unroll4_classic<<<l.grid, l.block>>>(l.in, l.partial, n);
      }),
  });

  return chapter.run(argc, argv);
}
