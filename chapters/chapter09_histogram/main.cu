#include <algorithm>

#include "book/chapter.hpp"
#include "kernels.cuh"
#include "legacy.cuh"
#include "problem.cuh"

namespace {

using chapter09::Data;
using chapter09::Histogram;
using chapter09::kBins;
using chapter09::Reading;

using Kernel = void (*)(const unsigned char*, unsigned*, std::size_t);

// begin full-grid
/// Blocks for `threads` threads on each SM, or as many as fit; and no more than n bytes need.
template <class... Args>
auto grid_of(void (*kernel)(Args...), unsigned bytes_per_load,
             std::size_t (*shared_bytes)(unsigned), unsigned threads = 2048) {
  return [=](std::size_t n, unsigned block) {
    int device = 0;
    int sm_count = 0;
    int fit = 0;
    BOOK_CUDA(cudaGetDevice(&device));
    BOOK_CUDA(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
    BOOK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, static_cast<int>(block),
                                                            shared_bytes(block)));
    const unsigned blocks = std::min(static_cast<unsigned>(fit), threads / block);
    return std::min(static_cast<unsigned>(sm_count) * blocks,
                    book::grid_for(n, block, bytes_per_load));
  };
}
// end full-grid

std::size_t no_copy(unsigned) {
  return 0;
}
std::size_t copy_per_warp(unsigned block) {
  return sizeof(unsigned) * kBins * ((block + 31) / 32);
}
std::size_t copy_per_lane(unsigned) {
  return sizeof(unsigned) * kBins * 32;
}

/// How one of the kernels is launched.
struct Method {
  const char* name;
  const char* region;
  unsigned bytes_per_load;
  std::size_t (*shared_bytes)(unsigned);
  unsigned threads = 2048;  ///< on each SM
};

// begin run-count
/// A kernel on one kind of data.
template <Kernel Count, class P>
book::Variant counting(const Method& m, const std::string& data) {
  return {
      .name = std::string(m.name) + "_" + data,
      .region = m.region,
      .kernel = book::kernel(Count),
      .grid = grid_of(Count, m.bytes_per_load, m.shared_bytes, m.threads),
      .shared_bytes = m.shared_bytes,
      .params = {{"method", std::string(m.name)}, {"data", data}},
      .launch = book::launch<P>([](const auto& l) {
        BOOK_CUDA(cudaMemsetAsync(l.bins, 0, kBins * sizeof(unsigned)));
        Count<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.bins, l.n);
      }),
  };
}
// end run-count

constexpr Method kGlobal{"global", "bins-in-global", 1, no_copy};
constexpr Method kMerged{"merged", "bins-merged", 1, no_copy};
constexpr Method kShared{"shared", "bins-in-shared", 1, no_copy};
constexpr Method kWide{"wide", "bins-wide", 16, no_copy};
constexpr Method kWarps{"warps", "bins-per-warp", 16, copy_per_warp};
constexpr Method kLanes{"lanes", "bins-per-lane", 16, copy_per_lane, 1024};

template <Data D>
void add_methods(book::Chapter& chapter) {
  using namespace chapter09;
  using P = Histogram<D>;
  const std::string data = word(D);
  // Profilers look at one kind of data, and where lanes may meet at two.
  const bool apart = D == Data::kUniform;
  const bool meets = apart || D == Data::kEqual;
  const std::vector<book::Axis> both{{"n"}, {"block"}};
  const std::vector<book::Axis> swept = meets ? both : book::at_large_n();
  const auto add = [&](book::Variant v, std::vector<book::Axis> axes, bool profiled) {
    v.axes = std::move(axes);
    v.profiled = profiled;
    chapter.add(std::move(v));
  };
  // In global memory 2^28 atomics take so long that no sweep does.
  add(counting<count_global, P>(kGlobal, data), {}, meets);
  add(counting<count_merged, P>(kMerged, data), {}, meets);
  add(counting<count_shared, P>(kShared, data), book::at_large_n(), apart);
  add(counting<count_wide, P>(kWide, data), {{"block", {256, 1024}}}, meets);
  add(counting<count_per_warp, P>(kWarps, data), book::at_large_n(), apart);
  add(counting<count_per_lane<4>, P>(kLanes, data), swept, apart);
  // begin histogram-by-cub
  book::Variant cub{
      .name = "cub_" + data,
      .region = "histogram-by-cub",
      .blocks = book::any_block(256, 256),  // CUB chooses for itself
      .grid = book::library_grid,
      .params = {{"method", std::string("cub")}, {"data", data}},
      .launch = book::launch<P>([](const auto& l) {
        book::cub_histogram(l.storage, l.storage_bytes, l.in, l.bins, l.n);
      }),
  };
  // end histogram-by-cub
  cub.axes = swept;
  cub.profiled = false;  // CUB's own business
  chapter.add(std::move(cub));
}

/// count_per_lane with another number of loads in flight.
template <unsigned Loads>
book::Variant loads() {
  auto v = counting<chapter09::count_per_lane<Loads>, Histogram<Data::kUniform>>(kLanes, "uniform");
  v.name = "lanes" + std::to_string(Loads);
  v.params = {};
  v.axes = book::at_large_n();
  v.profiled = false;
  return v;
}

/// Atomics of a warp, Stride words apart, of an amount that the compiler knows or doesn't.
template <bool Known, unsigned Stride>
book::Variant meeting(const char* name) {
  return {
      .name = name,
      .region = "atomics-meet",
      .kernel = book::kernel(chapter09::meet<Known>),
      .grid = grid_of(chapter09::meet<Known>, 1, no_copy, 1024),
      .params = {{"stride", Stride}, {"known", Known}},
      .axes = book::at_large_n(),
      .launch = book::launch<chapter09::Meeting<Stride>>([](const auto& l) {
        chapter09::meet<Known><<<l.grid, l.block>>>(l.sums, l.n, Stride, 1);
      }),
  };
}

/// A faulty kernel, on uniform data.
template <Kernel Count>
book::Variant faulty(const char* name, const char* region, std::vector<std::string> findings) {
  auto v = counting<Count, Histogram<Data::kUniform>>({name, region, 1, no_copy}, "uniform");
  v.name = name;
  v.legacy = true;
  v.findings = std::move(findings);
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{
      "chapter09_histogram",
      "How often does each value occur?",
      "the page's figure of time by method and kind of data",
      {.n = book::powers(18, 30),
       .counted = {
           {std::size_t{1} << 24, 256}, {std::size_t{1} << 20, 256}, {std::size_t{1} << 16, 256}}}};
  namespace legacy = chapter09::legacy;

  add_methods<Data::kUniform>(chapter);
  add_methods<Data::kBell>(chapter);
  add_methods<Data::kMostly>(chapter);
  add_methods<Data::kEqual>(chapter);

  using Shifted = Histogram<Data::kUniform, 3>;
  auto shifted = counting<chapter09::count_per_lane<4>, Shifted>(kLanes, "shifted");
  shifted.axes = book::at_large_n();
  chapter.add(std::move(shifted));
  chapter.add(
      book::family<1, 2, 8>("loads", [](auto count) { return loads<decltype(count)::value>(); }));

  chapter.add({
      .name = "read",
      .region = "read-bytes",
      .kernel = book::kernel(chapter09::add_bytes<4>),
      .grid = grid_of(chapter09::add_bytes<4>, 16, no_copy, 1024),
      .params = {{"method", std::string("read")}},
      .launch = book::launch<Reading>(
          [](const auto& l) { chapter09::add_bytes<4><<<l.grid, l.block>>>(l.in, l.sums, l.n); }),
  });
  chapter.add(meeting<true, 1>("meet_apart"));
  chapter.add(meeting<true, 32>("meet_bank"));
  chapter.add(meeting<false, 0>("meet_word_add"));
  chapter.add(meeting<true, 0>("meet_word"));

  using Uniform = Histogram<Data::kUniform>;
  chapter.add(faulty<legacy::classic_256>("classic_256", "classic-256", {}));
  chapter.add(faulty<legacy::no_barrier>("no_barrier", "no-barrier", {}));
  chapter.add(faulty<legacy::no_atomic>("no_atomic", "no-atomic", {"racecheck"}));

  return chapter.run(argc, argv);
}
