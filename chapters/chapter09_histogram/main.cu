#include <algorithm>

#include "histogram.cuh"
#include "kernels.cuh"
#include "legacy.cuh"

namespace {

using chapter09::Data;
using chapter09::Histogram;
using chapter09::kBins;
using chapter09::Reading;

using Kernel = void (*)(const unsigned char*, unsigned*, std::size_t);

// begin full-grid
/// Blocks for `threads` threads on each SM, or as many as fit; and no more than n bytes need.
template <class... Args>
auto grid_of(void (*kernel)(Args...), unsigned bytes_a_load, std::size_t (*shared_bytes)(unsigned),
             unsigned threads = 2048) {
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
                    book::grid_for(n, block, bytes_a_load));
  };
}
// end full-grid

std::size_t no_copy(unsigned) {
  return 0;
}
std::size_t copy_a_warp(unsigned block) {
  return (block + 31) / 32 * kBins * sizeof(unsigned);
}
std::size_t copy_a_lane(unsigned) {
  return 32 * kBins * sizeof(unsigned);
}

/// How one of the kernels is launched.
struct Method {
  const char* name;
  const char* region;
  unsigned bytes_a_load;
  std::size_t (*shared_bytes)(unsigned);
  unsigned threads = 2048;  ///< on each SM
};

// begin run-count
/// A kernel on one kind of data.
template <Kernel Count, class P>
book::Variant<P> counting(const Method& m, const std::string& data) {
  return {
      .name = std::string(m.name) + "_" + data,
      .region = m.region,
      .kernel = book::kernel(Count),
      .grid = grid_of(Count, m.bytes_a_load, m.shared_bytes, m.threads),
      .shared_bytes = m.shared_bytes,
      .params = {{"method", std::string(m.name)}, {"data", data}},
      .launch =
          [](const typename P::Launch& l) {
            BOOK_CUDA(cudaMemsetAsync(l.bins, 0, kBins * sizeof(unsigned)));
            Count<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.bins, l.n);
          },
  };
}
// end run-count

constexpr Method kGlobal{"global", "bins-in-global", 1, no_copy};
constexpr Method kMerged{"merged", "bins-merged", 1, no_copy};
constexpr Method kShared{"shared", "bins-in-shared", 1, no_copy};
constexpr Method kWide{"wide", "bins-wide", 16, no_copy};
constexpr Method kWarps{"warps", "bins-per-warp", 16, copy_a_warp};
constexpr Method kLanes{"lanes", "bins-per-lane", 16, copy_a_lane, 1024};

template <Data D>
void add_methods(book::Chapter& chapter) {
  using namespace chapter09;
  using P = Histogram<D>;
  const std::string data = word(D);
  // In global memory 2^28 atomics take so long that no sweep does. Profilers look at one kind of
  // data, and where lanes may meet at two.
  const auto add = [&](book::Variant<P> v, bool sized, bool shaped, bool meets = false) {
    v.sized = sized;
    v.shaped = shaped;
    v.profiled = D == Data::kUniform || (meets && D == Data::kEqual);
    chapter.add<P>(std::move(v));
  };
  add(counting<count_global, P>(kGlobal, data), false, false, true);
  add(counting<count_merged, P>(kMerged, data), false, false, true);
  add(counting<count_shared, P>(kShared, data), false, true);
  add(counting<count_wide, P>(kWide, data), false, true, true);
  add(counting<count_per_warp, P>(kWarps, data), false, true);
  add(counting<count_per_lane<4>, P>(kLanes, data), true, true);
  // begin histogram-by-cub
  book::Variant<P> cub{
      .name = "cub_" + data,
      .region = "histogram-by-cub",
      .blocks = book::any_block(256, 256),  // CUB chooses for itself
      .grid = [](std::size_t, unsigned) { return 0u; },
      .params = {{"method", std::string("cub")}, {"data", data}},
      .launch =
          [](const typename P::Launch& l) {
            book::cub_histogram(l.storage, l.storage_bytes, l.in, l.bins, l.n);
          },
  };
  // end histogram-by-cub
  cub.profiled = false;  // CUB's own business
  chapter.add<P>(std::move(cub));
}

/// count_per_lane with another number of loads under way.
template <unsigned Loads>
book::Variant<Histogram<Data::kUniform>> loads() {
  auto v = counting<chapter09::count_per_lane<Loads>, Histogram<Data::kUniform>>(kLanes, "uniform");
  v.name = "lanes" + std::to_string(Loads);
  v.params = {{"loads", Loads}};
  v.sized = false;
  v.profiled = false;
  return v;
}

/// Atomics of a warp, `stride` words apart, by an addition that the compiler knows or doesn't.
template <bool Known>
book::Variant<chapter09::Meeting> meeting(const char* name, unsigned stride) {
  return {
      .name = name,
      .region = "atomics-meet",
      .kernel = book::kernel(chapter09::meet<Known>),
      .grid = grid_of(chapter09::meet<Known>, 1, no_copy, 1024),
      .params = {{"stride", stride}, {"known", Known}},
      .sized = false,
      .launch =
          [stride](const chapter09::Meeting::Launch& l) {
            chapter09::meet<Known><<<l.grid, l.block>>>(l.sums, l.n, stride, 1);
          },
  };
}

/// A faulty kernel, on uniform data.
template <Kernel Count>
book::Variant<Histogram<Data::kUniform>> faulty(const char* name, const char* region,
                                                std::vector<std::string> findings) {
  auto v = counting<Count, Histogram<Data::kUniform>>({name, region, 1, no_copy}, "uniform");
  v.name = name;
  v.legacy = true;
  v.findings = std::move(findings);
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter09_histogram",
                        "How often does each value occur?",
                        "the page's figure of time by method and kind of data",
                        {.first_n = std::size_t{1} << 18}};
  namespace legacy = chapter09::legacy;

  add_methods<Data::kUniform>(chapter);
  add_methods<Data::kBell>(chapter);
  add_methods<Data::kMostly>(chapter);
  add_methods<Data::kEqual>(chapter);

  using Shifted = Histogram<Data::kUniform, 3>;
  auto shifted = counting<chapter09::count_per_lane<4>, Shifted>(kLanes, "shifted");
  shifted.sized = false;
  chapter.add<Shifted>(std::move(shifted));
  chapter.add<Histogram<Data::kUniform>>(loads<1>());
  chapter.add<Histogram<Data::kUniform>>(loads<2>());
  chapter.add<Histogram<Data::kUniform>>(loads<8>());

  chapter.add<Reading>({
      .name = "read",
      .region = "read-bytes",
      .kernel = book::kernel(chapter09::add_bytes<4>),
      .grid = grid_of(chapter09::add_bytes<4>, 16, no_copy, 1024),
      .params = {{"method", std::string("read")}},
      .launch =
          [](const Reading::Launch& l) {
            chapter09::add_bytes<4><<<l.grid, l.block>>>(l.in, l.sums, l.n);
          },
  });
  chapter.add<chapter09::Meeting>(meeting<true>("meet_apart", 1));
  chapter.add<chapter09::Meeting>(meeting<true>("meet_bank", 32));
  chapter.add<chapter09::Meeting>(meeting<false>("meet_word_add", 0));
  chapter.add<chapter09::Meeting>(meeting<true>("meet_word", 0));

  using Uniform = Histogram<Data::kUniform>;
  chapter.add<Uniform>(faulty<legacy::classic_256>("classic_256", "classic-256", {}));
  chapter.add<Uniform>(faulty<legacy::no_barrier>("no_barrier", "no-barrier", {}));
  chapter.add<Uniform>(faulty<legacy::no_atomic>("no_atomic", "no-atomic", {"racecheck"}));

  return chapter.run(argc, argv);
}
