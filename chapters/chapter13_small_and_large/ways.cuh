/// \file
/// The chapter's variants. Each is a finished sum of a problem P, a book::WholeSum<Sum>.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "book/cub_sum.hpp"
#include "book/whole_sum.hpp"
#include "launches.cuh"

namespace chapter13 {

/// Elements that are few, and those that are many.
inline const std::vector<std::size_t> kFew = [] {
  std::vector<std::size_t> sizes = book::powers(8, 20);
  sizes.insert(sizes.begin(), {1, 32});
  return sizes;
}();
inline const std::vector<std::size_t> kMany = book::powers(20, 30);
inline const std::vector<std::size_t> kAll = [] {
  std::vector<std::size_t> sizes = kFew;
  sizes.insert(sizes.end(), kMany.begin() + 1, kMany.end());
  return sizes;
}();

/// What needs clusters, dependent launches or bulk copies.
constexpr int kHopper = 90;

inline unsigned sm_count() {
  int device = 0;
  int count = 0;
  BOOK_CUDA(cudaGetDevice(&device));
  BOOK_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return static_cast<unsigned>(count);
}
inline std::size_t up(std::size_t a, std::size_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

inline book::Variant variant(const std::string& name, const char* region) {
  book::Variant v{.name = name, .region = region, .launch = {}};
  v.blocks = book::whole_warps();
  v.axes = {{"n", kFew}};
  v.counters = book::Counters::kLessArbitration;  // its warps store their sums at once, and meet
  return v;
}

// --- Few elements -------------------------------------------------------------------------------

template <class P>
book::Variant warp_alone() {
  book::Variant v = variant("one_warp", "warp-alone");
  v.kernel = book::kernel(one_warp);
  v.blocks = book::any_block(32, 32);
  v.grid = book::one_block;
  v.axes = {{"n", {1, 32, 256, 512, 1024, 2048, 4096, 8192, 16384}}};
  v.launch = book::launch<P>([](const auto& l) { one_warp<<<1, 32>>>(l.in, l.out, l.n); });
  return v;
}

// begin run-block-alone
template <class P>
book::Variant block_alone() {
  book::Variant v = variant("one_block", "block-alone");
  v.kernel = book::kernel(one_block);
  v.axes.push_back({"block"});
  v.grid = book::one_block;
  v.launch = book::launch<P>([](const auto& l) { one_block<<<1, l.block>>>(l.in, l.out, l.n); });
  return v;
}
// end run-block-alone

/// The first pass's grid: work for each thread, and no more blocks than the one block behind it can
/// add up quickly.
inline unsigned grid_of_first(std::size_t n, unsigned block) {
  const std::size_t blocks = up(n, std::size_t{4} * kLoads * block);
  return static_cast<unsigned>(std::min<std::size_t>(blocks, 4 * sm_count()));
}

/// Both passes, the second behind the first as `How` says; or a graph of them.
template <class P, Second How>
book::Variant in_two(const std::string& name, bool graph) {
  using L = P::Launch;
  book::Variant v = variant(name, "pass-of-two");
  v.capability = How == Second::kDependent ? kHopper : 0;
  v.grid = grid_of_first;
  v.launch = graph ? book::launch<P>(as_graph<L>(two_passes<How>))
                   : book::launch<P>([](const L& l) { two_passes<How>(l, nullptr); });
  return v;
}

// begin run-cluster
/// One cluster of so many blocks.
template <class P, class Kernel>
book::Variant cluster_alone(const std::string& name, const char* region, Kernel* kernel,
                            unsigned blocks) {
  book::Variant v = variant(name + "_" + std::to_string(blocks), region);
  v.kernel = book::kernel(kernel);
  v.block = 512;
  v.params = {{"cluster", std::int64_t{blocks}}};
  v.axes.push_back({"cluster", {blocks}});
  v.capability = kHopper;
  v.grid = [kernel, blocks](std::size_t, unsigned) {
    if (blocks > 8) allow_large_clusters(kernel);
    return blocks;
  };
  v.launch = book::launch<P>([kernel](const auto& l) {
    launch_with(cluster_of(l.grid), l.grid, l.block, nullptr, kernel, l.in, l.out, l.n);
  });
  return v;
}
// end run-cluster

// begin run-few-blocks
/// As many blocks as have a vector for each thread, or the most that a word can count.
inline unsigned grid_of_few(std::size_t n, unsigned block) {
  return static_cast<unsigned>(
      std::min<std::size_t>(up(n, std::size_t{4} * block), chapter08::kMostBlocks));
}

template <class P>
book::Variant handed_over() {
  book::Variant v = variant("few_blocks", "hand-in-few");
  v.kernel = book::kernel(few_blocks);
  v.axes.push_back({"block"});
  v.grid = grid_of_few;
  v.launch = book::launch<P>(
      [](const auto& l) { few_blocks<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n); });
  return v;
}
// end run-few-blocks

// --- Few and many -------------------------------------------------------------------------------

/// Chapter 8's whole: every block hands its sum in.
template <class P>
book::Variant handed_in() {
  book::Variant v = variant("whole", "whole-sum");
  v.from = "chapter08_multi_pass";
  v.kernel = book::kernel(chapter08::whole<long long>);
  v.grid = [](std::size_t n, unsigned block) {
    return book::resident_grid(up(n, std::size_t{4} * chapter08::kLoads), block);
  };
  v.axes = {{"n", kAll}, {"block"}};
  v.profiled = false;  // chapter 8 has it
  v.launch = book::launch<P>(
      [](const auto& l) { chapter08::whole<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n); });
  return v;
}

template <class P>
book::Variant by_cub() {
  book::Variant v = variant("cub", "cub-64");
  v.from = "chapter08_multi_pass";
  v.blocks = book::any_block(256, 256);  // it has its own, whatever is asked for
  v.grid = book::library_grid;
  v.axes = {{"n", kAll}};
  v.profiled = false;
  v.launch = book::launch<P>(
      [](const auto& l) { book::cub_sum(l.storage, l.storage_bytes, l.in, l.out, l.n); });
  return v;
}

// --- Many elements ------------------------------------------------------------------------------

/// Blocks of a kernel that an SM takes at once, with so much shared memory for each.
template <class Kernel>
unsigned fit(Kernel* kernel, unsigned block, std::size_t shared_bytes) {
  int an_sm = 0;
  BOOK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared_bytes)));
  BOOK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&an_sm, kernel, static_cast<int>(block),
                                                          shared_bytes));
  return static_cast<unsigned>(an_sm);
}

inline std::string shape_of(unsigned stages, unsigned bytes) {
  return "_" + std::to_string(stages) + "x" + std::to_string(bytes);
}

// begin run-rings
/// A ring per warp, and as many blocks as are there at once and have work.
template <class P, unsigned Stages, unsigned Bytes>
book::Variant rings_of_warps(unsigned usual_block = 256) {
  static constexpr auto kKernel = warp_rings<Bytes, Stages>;
  constexpr unsigned kMostShared =
      224 * 1024;  // what an SM has, less what the kernel keeps besides
  book::Variant v = variant("warp_rings" + shape_of(Stages, Bytes), "rings-of-warps");
  v.kernel = book::kernel(kKernel);
  v.blocks = book::Blocks{
      .low = 32, .high = std::min(kMostShared / (Bytes * Stages), 32u) * 32, .multiple_of = 32};
  v.block = usual_block;
  v.axes = {{"n", kMany}};
  v.capability = kHopper;
  v.shared_bytes = [](unsigned block) { return std::size_t{Bytes} * Stages * (block / 32); };
  v.grid = [](std::size_t n, unsigned block) {
    const unsigned rings = block / 32;
    const std::size_t pieces = up(n, Bytes / sizeof(int));
    const std::size_t here =
        std::size_t{sm_count()} * fit(kKernel, block, std::size_t{Bytes} * Stages * rings);
    return static_cast<unsigned>(std::min(up(pieces, rings), here));
  };
  v.launch = book::launch<P>([](const auto& l) {
    kKernel<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.word, l.out, l.n);
  });
  return v;
}

/// One ring per SM: so its bytes are all that an SM has in flight.
template <class P, unsigned Stages, unsigned Bytes>
book::Variant ring_of_block() {
  static constexpr auto kKernel = block_ring<Bytes, Stages>;
  book::Variant v = variant("block_ring" + shape_of(Stages, Bytes), "ring-of-block");
  v.kernel = book::kernel(kKernel);
  v.blocks = book::Blocks{.low = 64, .multiple_of = 32};
  v.block = 288;
  v.params = {{"stages", std::int64_t{Stages}}};
  v.axes = {{"n", kMany}, {"stages", {Stages}}};
  v.capability = kHopper;
  // It doesn't follow the lanes' reads through __syncwarp to their warp's one arrival. At the size
  // where it looks, the other rings have no stage to fill again.
  if constexpr (Stages == 1) v.findings = {"racecheck"};
  v.shared_bytes = [](unsigned) { return std::size_t{Bytes} * Stages; };
  v.grid = [](std::size_t n, unsigned block) {
    fit(kKernel, block, std::size_t{Bytes} * Stages);
    return static_cast<unsigned>(std::min<std::size_t>(up(n, Bytes / sizeof(int)), sm_count()));
  };
  v.launch = book::launch<P>([](const auto& l) {
    kKernel<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.word, l.out, l.n);
  });
  return v;
}
// end run-rings

// begin run-loads
template <class P>
book::Variant by_loads() {
  book::Variant v = variant("loads", "many-loads");
  v.kernel = book::kernel(loads);
  v.blocks.high = 512;
  v.axes = {{"n", kMany}};
  v.grid = [](std::size_t n, unsigned block) {
    const std::size_t here = std::size_t{sm_count()} * fit(loads, block, 0);
    return static_cast<unsigned>(std::min(up(n, std::size_t{32} * block), here));
  };
  v.launch =
      book::launch<P>([](const auto& l) { loads<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n); });
  return v;
}
// end run-loads

}  // namespace chapter13
