// The sum of few numbers, where the launch is everything, and of many, where memory is.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../chapter00_timing/problem.cuh"
#include "book/cub_sum.hpp"
#include "book/whole_sum.hpp"
#include "launches.cuh"

namespace {

using namespace chapter13;
using chapter00::Nothing;

/// The sum of 64 bits, and the one of 32.
using Wide = book::WholeSum<long long>;
using Narrow = book::WholeSum<unsigned>;
template <class Sum>
constexpr bool kIsWide = sizeof(Sum) == 8;

/// Elements that are few, and those that are many.
const std::vector<std::size_t> kFew = book::powers(0, 20);
const std::vector<std::size_t> kMany = book::powers(20, 30);

/// What needs clusters, dependent launches or bulk copies.
constexpr int kHopper = 90;

unsigned attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  BOOK_CUDA(cudaGetDevice(&device));
  BOOK_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return static_cast<unsigned>(value);
}
unsigned sm_count() {
  return attribute(cudaDevAttrMultiProcessorCount);
}
std::size_t up(std::size_t a, std::size_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// A variant of a finished sum. `32` in its name says that it adds in 32 bits, as in chapter 8.
///
/// \param shape  what tells it from others of that name
template <class Sum>
book::Variant variant(const std::string& name, const char* region, const std::string& shape = "") {
  const std::string bits = kIsWide<Sum> ? "" : "32";
  book::Variant v{
      .name = name + bits + (shape.empty() ? "" : "_" + shape), .region = region, .launch = {}};
  v.blocks = book::whole_warps();
  v.axes = {{"n", kFew}};
  v.counters = book::Counters::kLessArbitration;  // its warps store their sums at once, and meet
  return v;
}
template <class Sum, class Queue>
book::Launch launch_of(Queue queue) {
  return book::launch<book::WholeSum<Sum>>(std::move(queue));
}

/// Both sums, one after the other.
template <class Make>
void add_both(book::Chapter& chapter, const Make& make) {
  chapter.add(make(std::type_identity<long long>{}));
  chapter.add(make(std::type_identity<unsigned>{}));
}

// --- Few elements -------------------------------------------------------------------------------

/// A launch of nothing, however it is launched.
template <class Queue>
book::Variant empty(const std::string& name, Queue queue) {
  book::Variant v{.name = name, .region = "empty-kernel", .launch = {}};
  v.from = "chapter00_timing";
  v.grid = book::one_block;
  v.axes = {};
  v.profiled = false;
  v.launch = book::launch<Nothing>(std::move(queue));
  return v;
}
using NoLaunch = Nothing::Launch;

void add_empty(book::Chapter& chapter) {
  chapter.add(empty("empty", [](const NoLaunch& l) { chapter00::empty<<<l.grid, l.block>>>(); }));
  chapter.add(
      empty("empty_twice", [](const NoLaunch& l) { two_empty<Second::kOrdinary>(l, nullptr); }));
  chapter.add(empty("empty_graph", as_graph<NoLaunch>(two_empty<Second::kOrdinary>)));
  book::Variant dependent = empty(
      "empty_dependent", [](const NoLaunch& l) { two_empty<Second::kDependent>(l, nullptr); });
  dependent.capability = kHopper;
  chapter.add(std::move(dependent));
  for (const unsigned blocks : {2u, 8u, 16u}) {
    book::Variant cluster = empty("empty_cluster" + std::to_string(blocks), [](const NoLaunch& l) {
      launch_with(cluster_of(l.grid), l.grid, l.block, nullptr, chapter00::empty);
    });
    cluster.grid = [blocks](std::size_t, unsigned) {
      if (blocks > 8) allow_large_clusters(chapter00::empty);
      return blocks;
    };
    cluster.capability = kHopper;
    chapter.add(std::move(cluster));
  }
}

template <class Sum>
book::Variant warp_alone() {
  book::Variant v = variant<Sum>("one_warp", "warp-alone");
  static constexpr auto kKernel = one_warp<Sum, 4>;
  v.kernel = book::kernel(kKernel);
  v.blocks = book::any_block(32, 32);
  v.grid = book::one_block;
  v.axes = {{"n", book::powers(0, 14)}};
  v.launch = launch_of<Sum>([](const auto& l) { kKernel<<<1, 32>>>(l.in, l.out, l.n); });
  return v;
}

// begin run-block-alone
template <class Sum, unsigned Loads>
book::Variant block_alone() {
  book::Variant v = variant<Sum>("one_block", "block-alone", std::to_string(Loads));
  static constexpr auto kKernel = one_block<Sum, Loads>;
  v.kernel = book::kernel(kKernel);
  v.params = {{"loads", std::int64_t{Loads}}};
  v.grid = book::one_block;
  v.launch = launch_of<Sum>([](const auto& l) { kKernel<<<1, l.block>>>(l.in, l.out, l.n); });
  return v;
}
// end run-block-alone

/// The first pass's grid: a vector or more for each thread, and no more blocks than there are SMs
/// for, which the one block behind has to add up.
unsigned grid_of_first(std::size_t n, unsigned block) {
  const std::size_t blocks = up(n, std::size_t{4} * kPassLoads * block);
  return static_cast<unsigned>(std::min<std::size_t>(blocks, 4 * sm_count()));
}

template <class Sum, class Queue>
book::Variant in_two(const std::string& name, Queue queue) {
  book::Variant v = variant<Sum>(name, "pass-of-two");
  v.grid = grid_of_first;
  v.launch = launch_of<Sum>(std::move(queue));
  return v;
}

template <class Sum>
void add_two_passes(book::Chapter& chapter) {
  using L = book::WholeSum<Sum>::Launch;
  chapter.add(
      in_two<Sum>("two_launches", [](const L& l) { two_passes<Second::kOrdinary>(l, nullptr); }));
  chapter.add(in_two<Sum>("two_in_graph", as_graph<L>(two_passes<Second::kOrdinary>)));
  book::Variant dependent =
      in_two<Sum>("two_dependent", [](const L& l) { two_passes<Second::kDependent>(l, nullptr); });
  dependent.capability = kHopper;
  chapter.add(std::move(dependent));
  book::Variant both =
      in_two<Sum>("two_dependent_in_graph", as_graph<L>(two_passes<Second::kDependent>));
  both.capability = kHopper;
  chapter.add(std::move(both));
}

// begin run-cluster
/// One cluster of so many blocks.
template <class Sum, class Kernel>
book::Variant cluster_alone(const std::string& name, const char* region, Kernel* kernel,
                            unsigned blocks) {
  book::Variant v = variant<Sum>(name, region, std::to_string(blocks));
  v.kernel = book::kernel(kernel);
  v.block = 512;
  v.params = {{"cluster", std::int64_t{blocks}}};
  v.axes.push_back({"cluster", {blocks}});
  v.capability = kHopper;
  v.grid = [kernel, blocks](std::size_t, unsigned) {
    if (blocks > 8) allow_large_clusters(kernel);
    return blocks;
  };
  v.launch = launch_of<Sum>([kernel](const auto& l) {
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
const book::Sizes kFewSizes{.most = kMostOfFew, .most_embedded = kMostOfFew};

template <class Sum, unsigned Loads>
book::Variant handed_over() {
  book::Variant v = variant<Sum>("few_blocks", "hand-in-few", std::to_string(Loads));
  static constexpr auto kKernel = few_blocks<Sum, Loads>;
  v.kernel = book::kernel(kKernel);
  v.params = {{"loads", std::int64_t{Loads}}};
  v.sizes = kFewSizes;
  v.grid = grid_of_few<Loads>;
  v.launch =
      launch_of<Sum>([](const auto& l) { kKernel<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n); });
  return v;
}
// end run-few-blocks

// begin run-few-clusters
template <class Sum, unsigned Size>
book::Variant few_of_clusters() {
  book::Variant v = variant<Sum>("few_clusters", "clusters-together", std::to_string(Size));
  static constexpr auto kKernel = few_clusters<Sum, 1>;
  v.kernel = book::kernel(kKernel);
  v.params = {{"cluster", std::int64_t{Size}}};
  v.sizes = kFewSizes;
  v.capability = kHopper;
  v.grid = [](std::size_t n, unsigned block) {  // whole clusters
    const auto most = static_cast<std::size_t>(chapter08::kMostBlocks / Size);
    return static_cast<unsigned>(std::min(up(n, std::size_t{4} * block * Size), most) * Size);
  };
  v.launch = launch_of<Sum>([](const auto& l) {
    launch_with(cluster_of(Size), l.grid, l.block, nullptr, kKernel, l.in, l.word, l.out, l.n,
                Size);
  });
  return v;
}
// end run-few-clusters

template <class Sum>
void add_few(book::Chapter& chapter) {
  chapter.add(block_alone<Sum, 1>());
  chapter.add(block_alone<Sum, 2>());
  chapter.add(block_alone<Sum, 4>());
  chapter.add(block_alone<Sum, 8>());
  chapter.add(handed_over<Sum, 1>());
  chapter.add(handed_over<Sum, 2>());
  chapter.add(handed_over<Sum, 4>());
  chapter.add(few_of_clusters<Sum, 2>());
  chapter.add(few_of_clusters<Sum, 4>());
  chapter.add(few_of_clusters<Sum, 8>());
}

template <class Sum>
void add_clusters(book::Chapter& chapter) {
  for (const unsigned blocks : {2u, 4u, 8u, 16u}) {
    chapter.add(cluster_alone<Sum>("cluster", "cluster-alone", one_cluster<Sum, 4>, blocks));
    chapter.add(cluster_alone<Sum>("sent", "cluster-by-mail", sent_to_one<Sum, 4>, blocks));
  }
}

// --- Few and many -------------------------------------------------------------------------------

/// Chapter 8's whole: every block hands its sum in.
template <class Sum>
book::Variant handed_in() {
  book::Variant v = variant<Sum>("whole", "whole-sum");
  v.from = "chapter08_multi_pass";
  v.kernel = book::kernel(chapter08::whole<Sum>);
  v.grid = [](std::size_t n, unsigned block) {
    return book::resident_grid(up(n, std::size_t{4} * chapter08::kLoads), block);
  };
  v.axes = {{"n", book::powers(0, 30)}, {"block"}};
  v.profiled = false;  // chapter 8 has it
  v.launch = launch_of<Sum>(
      [](const auto& l) { chapter08::whole<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n); });
  return v;
}

template <class Sum>
book::Variant by_cub() {
  book::Variant v = variant<Sum>("cub", kIsWide<Sum> ? "cub-64" : "cub-32");
  v.from = "chapter08_multi_pass";
  v.blocks = book::any_block(256, 256);  // it has its own, whatever is asked for
  v.grid = book::library_grid;
  v.axes = {{"n", book::powers(0, 30)}};
  v.profiled = false;
  v.launch = launch_of<Sum>([](const auto& l) {
    using In = std::conditional_t<kIsWide<Sum>, int, unsigned>;
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
template <class Sum, Team Of, unsigned Bytes, unsigned Stages>
book::Variant ring() {
  static constexpr bool kPerWarp = Of == Team::kWarp;
  static constexpr auto kKernel = [] {
    if constexpr (kPerWarp)
      return warp_rings<Sum, Bytes, Stages>;
    else
      return block_ring<Sum, Bytes, Stages>;
  }();
  const std::string shape = std::to_string(Stages) + "x" + std::to_string(Bytes);
  book::Variant v = variant<Sum>(kPerWarp ? "warp_rings" : "block_ring",
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
  v.launch = launch_of<Sum>([](const auto& l) {
    kKernel<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.word, l.out, l.n);
  });
  return v;
}
// end run-rings

template <Team Of, unsigned Bytes, unsigned Stages>
void add_ring(book::Chapter& chapter) {
  add_both(chapter,
           [](auto type) { return ring<typename decltype(type)::type, Of, Bytes, Stages>(); });
}

// begin run-loads
template <class Sum, unsigned Loads>
book::Variant by_loads() {
  book::Variant v = variant<Sum>("loads", "many-loads", std::to_string(Loads));
  static constexpr auto kKernel = loads<Sum, Loads>;
  v.kernel = book::kernel(kKernel);
  v.params = {{"loads", std::int64_t{Loads}}};
  v.blocks.high = 512;
  v.axes = {{"n", kMany}, {"block"}, {"loads", {Loads}}};
  v.grid = [](std::size_t n, unsigned block) {
    const std::size_t here = std::size_t{sm_count()} * fit(kKernel, block, 0);
    return static_cast<unsigned>(std::min(up(n, std::size_t{4} * Loads * block), here));
  };
  v.launch =
      launch_of<Sum>([](const auto& l) { kKernel<<<l.grid, l.block>>>(l.in, l.word, l.out, l.n); });
  return v;
}
// end run-loads

template <class Sum>
void add_loads(book::Chapter& chapter) {
  chapter.add(by_loads<Sum, 2>());
  chapter.add(by_loads<Sum, 4>());
  chapter.add(by_loads<Sum, 8>());
  chapter.add(by_loads<Sum, 16>());
}

void add_rings(book::Chapter& chapter) {
  add_ring<Team::kWarp, 2048, 2>(chapter);
  add_ring<Team::kWarp, 2048, 4>(chapter);
  add_ring<Team::kWarp, 4096, 2>(chapter);
  add_ring<Team::kWarp, 4096, 4>(chapter);
  add_ring<Team::kWarp, 8192, 2>(chapter);
  add_ring<Team::kWarp, 8192, 4>(chapter);
  add_ring<Team::kBlock, 16384, 4>(chapter);
  add_ring<Team::kBlock, 16384, 8>(chapter);
  add_ring<Team::kBlock, 32768, 4>(chapter);
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter13_small_and_large",
                        "The sum of few numbers, and of many",
                        "--sweep n: the launch, then the memory",
                        {.n = book::powers(0, 30)}};
  add_empty(chapter);
  add_both(chapter, [](auto type) { return warp_alone<typename decltype(type)::type>(); });
  add_few<long long>(chapter);
  add_few<unsigned>(chapter);
  add_two_passes<long long>(chapter);
  add_two_passes<unsigned>(chapter);
  add_clusters<long long>(chapter);
  add_clusters<unsigned>(chapter);
  add_both(chapter, [](auto type) { return handed_in<typename decltype(type)::type>(); });
  add_both(chapter, [](auto type) { return by_cub<typename decltype(type)::type>(); });
  add_loads<long long>(chapter);
  add_loads<unsigned>(chapter);
  add_rings(chapter);
  return chapter.run(argc, argv);
}
