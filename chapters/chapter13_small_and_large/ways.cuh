/// \file
/// The chapter's variants. Each is a finished sum of a problem P, a book::WholeSum.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "book/cub_sum.hpp"
#include "book/whole_sum.hpp"
#include "launches.cuh"

namespace chapter13 {

/// What a problem's launch leaves: a sum of 64 bits, or one of 32.
template <class P>
using SumOf = std::remove_pointer_t<decltype(P::Launch::out)>;
template <class P>
constexpr bool kIsWide = sizeof(SumOf<P>) == 8;

/// Elements that are few, and those that are many.
inline const std::vector<std::size_t> kFew = book::powers(0, 20);
inline const std::vector<std::size_t> kMany = book::powers(20, 30);

/// What needs clusters, dependent launches or bulk copies.
constexpr int kHopper = 90;

inline unsigned attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  BOOK_CUDA(cudaGetDevice(&device));
  BOOK_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return static_cast<unsigned>(value);
}
inline unsigned sm_count() {
  return attribute(cudaDevAttrMultiProcessorCount);
}
inline std::size_t up(std::size_t a, std::size_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// A variant of a finished sum. `32` in its name says that it adds in 32 bits, as in chapter 8.
///
/// \param shape  what tells it from others of that name
template <class P>
book::Variant variant(const std::string& name, const char* region, const std::string& shape = "") {
  const std::string bits = kIsWide<P> ? "" : "32";
  book::Variant v{
      .name = name + bits + (shape.empty() ? "" : "_" + shape), .region = region, .launch = {}};
  v.blocks = book::whole_warps();
  v.axes = {{"n", kFew}};
  v.counters = book::Counters::kLessArbitration;  // its warps store their sums at once, and meet
  return v;
}

// --- Few elements -------------------------------------------------------------------------------

template <class P>
book::Variant warp_alone() {
  book::Variant v = variant<P>("one_warp", "warp-alone");
  static constexpr auto kKernel = one_warp<SumOf<P>, 4>;
  v.kernel = book::kernel(kKernel);
  v.blocks = book::any_block(32, 32);
  v.grid = book::one_block;
  v.axes = {{"n", book::powers(0, 14)}};
  v.launch = book::launch<P>([](const auto& l) { kKernel<<<1, 32>>>(l.in, l.out, l.n); });
  return v;
}

// begin run-block-alone
template <class P, unsigned Loads>
book::Variant block_alone() {
  book::Variant v = variant<P>("one_block", "block-alone", std::to_string(Loads));
  static constexpr auto kKernel = one_block<SumOf<P>, Loads>;
  v.kernel = book::kernel(kKernel);
  v.params = {{"loads", std::int64_t{Loads}}};
  v.grid = book::one_block;
  v.launch = book::launch<P>([](const auto& l) { kKernel<<<1, l.block>>>(l.in, l.out, l.n); });
  return v;
}
// end run-block-alone

/// The first pass's grid: a vector or more for each thread, and no more blocks than there are SMs
/// for, which the one block behind has to add up.
inline unsigned grid_of_first(std::size_t n, unsigned block) {
  const std::size_t blocks = up(n, std::size_t{4} * kPassLoads * block);
  return static_cast<unsigned>(std::min<std::size_t>(blocks, 4 * sm_count()));
}

/// Both passes, the second behind the first as `How` says; or a graph of them.
template <class P, Second How>
book::Variant in_two(const std::string& name, bool graph) {
  using L = P::Launch;
  book::Variant v = variant<P>(name, "pass-of-two");
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
  book::Variant v = variant<P>(name, region, std::to_string(blocks));
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
/// As many blocks as have work for each thread, or the most that a word can count.
template <unsigned Loads>
unsigned grid_of_few(std::size_t n, unsigned block) {
  return static_cast<unsigned>(
      std::min<std::size_t>(up(n, std::size_t{4} * Loads * block), chapter08::kMostBlocks));
}
inline const book::Sizes kFewSizes{.most = kMostOfFew, .most_embedded = kMostOfFew};

template <class P, unsigned Loads>
book::Variant handed_over() {
  book::Variant v = variant<P>("few_blocks", "hand-in-few", std::to_string(Loads));
  static constexpr auto kKernel = few_blocks<SumOf<P>, Loads>;
  v.kernel = book::kernel(kKernel);
  v.params = {{"loads", std::int64_t{Loads}}};
  v.sizes = kFewSizes;
  v.grid = grid_of_few<Loads>;
  v.launch = book::launch<P>(
      [](const auto& l) { kKernel<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n); });
  return v;
}
// end run-few-blocks

// begin run-few-clusters
template <class P, unsigned Size>
book::Variant few_of_clusters() {
  book::Variant v = variant<P>("few_clusters", "clusters-together", std::to_string(Size));
  static constexpr auto kKernel = few_clusters<SumOf<P>, 1>;
  v.kernel = book::kernel(kKernel);
  v.params = {{"cluster", std::int64_t{Size}}};
  v.sizes = kFewSizes;
  v.capability = kHopper;
  v.grid = [](std::size_t n, unsigned block) {  // whole clusters
    const auto most = static_cast<std::size_t>(chapter08::kMostBlocks / Size);
    return static_cast<unsigned>(std::min(up(n, std::size_t{4} * block * Size), most) * Size);
  };
  v.launch = book::launch<P>([](const auto& l) {
    launch_with(cluster_of(Size), l.grid, l.block, nullptr, kKernel, l.in, l.word, l.out, l.n,
                Size);
  });
  return v;
}
// end run-few-clusters

// --- Few and many -------------------------------------------------------------------------------

/// Chapter 8's whole: every block hands its sum in.
template <class P>
book::Variant handed_in() {
  book::Variant v = variant<P>("whole", "whole-sum");
  v.from = "chapter08_multi_pass";
  v.kernel = book::kernel(chapter08::whole<SumOf<P>>);
  v.grid = [](std::size_t n, unsigned block) {
    return book::resident_grid(up(n, std::size_t{4} * chapter08::kLoads), block);
  };
  v.axes = {{"n", book::powers(0, 30)}, {"block"}};
  v.profiled = false;  // chapter 8 has it
  v.launch = book::launch<P>(
      [](const auto& l) { chapter08::whole<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n); });
  return v;
}

template <class P>
book::Variant by_cub() {
  book::Variant v = variant<P>("cub", kIsWide<P> ? "cub-64" : "cub-32");
  v.from = "chapter08_multi_pass";
  v.blocks = book::any_block(256, 256);  // it has its own, whatever is asked for
  v.grid = book::library_grid;
  v.axes = {{"n", book::powers(0, 30)}};
  v.profiled = false;
  v.launch = book::launch<P>([](const auto& l) {
    using In = std::conditional_t<kIsWide<P>, int, unsigned>;
    book::cub_sum(l.storage, l.storage_bytes, reinterpret_cast<const In*>(l.in), l.out, l.n);
  });
  return v;
}

// --- Many elements ------------------------------------------------------------------------------

/// Shared memory that a block has for its rings: what an SM has, less what the kernels keep
/// besides.
constexpr unsigned kRingBytes = 224 * 1024;

template <class Kernel>
unsigned fit(Kernel* kernel, unsigned block, std::size_t shared_bytes) {
  int an_sm = 0;
  BOOK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared_bytes)));
  BOOK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&an_sm, kernel, static_cast<int>(block),
                                                          shared_bytes));
  return static_cast<unsigned>(an_sm);
}

/// A ring of so many stages of so many bytes for each `Team` of a block: a warp, or all of it.
enum class Team { kWarp, kBlock };

// begin run-rings
template <class P, Team Of, unsigned Bytes, unsigned Stages>
book::Variant ring() {
  static constexpr bool kPerWarp = Of == Team::kWarp;
  static constexpr auto kKernel = [] {
    if constexpr (kPerWarp)
      return warp_rings<SumOf<P>, Bytes, Stages>;
    else
      return block_ring<SumOf<P>, Bytes, Stages>;
  }();
  const std::string shape = std::to_string(Stages) + "x" + std::to_string(Bytes);
  book::Variant v = variant<P>(kPerWarp ? "warp_rings" : "block_ring",
                               kPerWarp ? "rings-of-warps" : "ring-of-block", shape);
  v.kernel = book::kernel(kKernel);
  v.blocks = kPerWarp ? book::Blocks{.low = 32,
                                     .high = std::min(kRingBytes / (Bytes * Stages), 32u) * 32,
                                     .multiple_of = 32}
                      : book::Blocks{.low = 64, .multiple_of = 32};
  v.params = {{"bytes", std::int64_t{Bytes}}, {"stages", std::int64_t{Stages}}};
  v.axes = {{"n", kMany}, {"block"}, {"bytes", {Bytes}}, {"stages", {Stages}}};
  v.capability = kHopper;
  v.shared_bytes = [](unsigned block) -> std::size_t {
    return std::size_t{Bytes} * Stages * (kPerWarp ? block / 32 : 1);
  };
  v.grid = [](std::size_t n, unsigned block) {  // what is there at once, and has work
    const unsigned rings = kPerWarp ? block / 32 : 1;
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
// end run-rings

// begin run-loads
template <class P, unsigned Loads>
book::Variant by_loads() {
  book::Variant v = variant<P>("loads", "many-loads", std::to_string(Loads));
  static constexpr auto kKernel = loads<SumOf<P>, Loads>;
  v.kernel = book::kernel(kKernel);
  v.params = {{"loads", std::int64_t{Loads}}};
  v.blocks.high = 512;
  v.axes = {{"n", kMany}, {"block"}, {"loads", {Loads}}};
  v.grid = [](std::size_t n, unsigned block) {
    const std::size_t here = std::size_t{sm_count()} * fit(kKernel, block, 0);
    return static_cast<unsigned>(std::min(up(n, std::size_t{4} * Loads * block), here));
  };
  v.launch = book::launch<P>(
      [](const auto& l) { kKernel<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n); });
  return v;
}
// end run-loads

}  // namespace chapter13
