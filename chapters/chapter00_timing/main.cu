#include "../chapter02_smem/kernels.cuh"
#include "../chapter05_unroll4/kernels.cuh"
#include "book/sum.hpp"
#include "debug.hpp"
#include "kernels.cuh"
#include "problem.cuh"

namespace {

using book::Cache;
using book::Clock;
using chapter00::Nothing;
using chapter00::Ring;

/// One way to measure chapter02's smem.
book::Variant smem(std::string name, book::Timing timing) {
  return {
      .name = std::move(name),
      .from = "chapter02_smem",
      .region = "smem-loop",
      .kernel = book::kernel(chapter02::smem),
      .params = {{"cache", std::string(book::to_string(timing.cache))}},
      .timing = timing,
      .fixed_cache = true,
      .axes = {{"n"}},
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter02::smem<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  };
}

/// One way to measure chapter05's unroll<8>, a kernel near the roof.
book::Variant fast(std::string name, book::Timing timing) {
  return {
      .name = std::move(name),
      .from = "chapter05_unroll4",
      .region = "unroll-factor",
      .kernel = book::kernel(chapter05::unroll<8>),
      .factor = 8,
      .params = {{"cache", std::string(book::to_string(timing.cache))}},
      .timing = timing,
      .fixed_cache = true,
      .axes = {{"n"}},
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter05::unroll<8><<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  };
}

/// A chase through the ring with the cache as given.
book::Variant chase(std::string name, Cache cache) {
  return {
      .name = std::move(name),
      .region = "pointer-chase",
      .kernel = book::kernel(chapter00::chase),
      .blocks = book::any_block(1, 1),
      .grid = book::one_block,
      .params = {{"hops", Ring::kHops}, {"cache", std::string(book::to_string(cache))}},
      .timing = {.cache = cache},
      .fixed_cache = true,
      .launch = book::launch<Ring>(
          [](const auto& l) { chapter00::chase<<<1, 1>>>(l.next, l.last, Ring::kHops); }),
  };
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter00_timing", "How to measure, and how not to",
                        "chapter01_gmem: the first kernel worth timing"};

  // First of all, or it would not be the first launch.
  book::Variant first = smem("first_launch", {.clock = Clock::kHost, .first_launch = true});
  first.axes = {};  // of a sweep's launches only one would be the first
  chapter.add(std::move(first));
  book::Variant host = smem("host_clock", {.clock = Clock::kHost});
  host.axes = {{"n", {1u << 10, 1u << 16, 1u << 26, 1u << 27, 1u << 28}}};
  chapter.add(std::move(host));
  book::Variant debug = smem("debug_build", {});
  debug.kernel = debug_smem;
  debug.launch = book::launch<book::Sum>(launch_debug_smem);
  debug.axes = {};         // slow, and at one size it has made its point
  debug.compared = false;  // what -G makes of it is another program with each toolkit
  chapter.add(std::move(debug));
  chapter.add(smem("after_write", {.cache = Cache::kDirty}));
  book::Variant after_read = smem("after_read", {.cache = Cache::kCold});
  after_read.axes.push_back({"block", {64}});  // beside empty_blocks
  chapter.add(std::move(after_read));
  chapter.add(smem("warm", {.cache = Cache::kWarm}));
  chapter.add(fast("fast_after_write", {.cache = Cache::kDirty}));
  chapter.add(fast("fast_after_read", {.cache = Cache::kCold}));
  chapter.add(fast("fast_warm", {.cache = Cache::kWarm}));
  book::Variant empty{
      .name = "empty_launch",
      .region = "empty-kernel",
      .kernel = book::kernel(chapter00::empty),
      .grid = book::one_block,
      .axes = {},
      .launch =
          book::launch<Nothing>([](const auto& l) { chapter00::empty<<<l.grid, l.block>>>(); }),
  };
  chapter.add(empty);
  empty.name = "empty_blocks";  // as many blocks as a kernel with one element per thread has
  empty.grid = {};
  empty.axes = {{"n", {1u << 28}}, {"block", {32, 64, 128}}};
  chapter.add(empty);
  chapter.add(chase("pointer_chase", Cache::kCold));
  chapter.add(chase("pointer_chase_l2", Cache::kWarm));

  return chapter.run(argc, argv);
}
