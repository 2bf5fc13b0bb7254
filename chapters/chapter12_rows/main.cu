// What becomes of each row of a table, and which threads see to it.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <bit>
#include <cub/device/device_segmented_reduce.cuh>
#include <string>
#include <utility>
#include <vector>

#include "book/chapter.hpp"
#include "legacy.cuh"
#include "ways.cuh"

namespace {

using namespace chapter12;

using Columns = std::vector<std::size_t>;
/// The rows' lengths: of one element, of a vector, up to a vocabulary and beyond.
const Columns kColumns{1, 2, 4, 16, 32, 256, 1024, 4096, 8192, 32768, 50257, 131072, 1 << 20};
/// Those of which profilers look at every method that takes them.
const Columns kCounted{32, 4096, 32768};

/// Elements of a table on the embedded device.
constexpr std::size_t kFew = std::size_t{1} << 16;

Columns between(std::size_t least, std::size_t most) {
  Columns chosen = kColumns;
  std::erase_if(chosen, [&](std::size_t c) { return c < least || c > most; });
  return chosen;
}

/// Threads per block for rows of this length: 32 elements per thread, if that is from `least` to
/// 1024 threads.
unsigned threads_for(std::size_t columns, std::size_t least) {
  return static_cast<unsigned>(std::bit_floor(std::clamp<std::size_t>(columns / 32, least, 1024)));
}

/// A method over the lengths of rows, swept over those n.
template <class Make>
void over(book::Chapter& chapter, const Columns& columns, const std::vector<std::size_t>& sizes,
          const Make& make) {
  chapter.add(book::family({"columns", columns}, [&](unsigned length) {
    book::Variant v = make(Form{.columns = length});
    const bool shown = length == columns.front() || std::ranges::count(kCounted, length) > 0;
    v.name += '_';
    v.name += std::to_string(length);
    v.axes = {{"n", sizes}};
    if (!v.sizes) {  // on the embedded device a row at least, and few of them
      v.sizes = book::Sizes{
          .usual_embedded = std::max(kFew, std::size_t{length}),
          .most = std::size_t{1} << 30,
          .most_embedded = length > 1024 ? std::max(kFew, std::size_t{length}) + 1 : kFew};
    }
    const unsigned block = v.blocks.nearest(v.block.value_or(256));
    v.counted = {{std::size_t{1} << 24, block}, {std::size_t{1} << 16, block}};
    v.profiled = v.profiled && shown;
    return v;
  }));
}

/// A classic mistake; the program that runs it by name says what is wrong with its result.
template <class What, class Queue>
void add_legacy(book::Chapter& chapter, const std::string& name, const Form& form,
                const Queue& queue, const Way& way = kBlock) {
  book::Variant v = on<What>(name, way, form, queue);
  v.name = name;
  v.region = name;
  std::ranges::replace(v.region, '_', '-');
  v.axes = {};
  v.counted = {{std::size_t{1} << 16, 256}};
  v.legacy = true;
  chapter.add(std::move(v));
}

// begin rows-by-cub
/// Where a row begins.
struct BeginOfRow {
  std::size_t columns;
  __host__ __device__ std::size_t operator()(std::size_t row) const { return row * columns; }
};
/// CUB's sum of segments, which may be of any length: it is told where each begins and ends.
void rows_by_cub(const Launch& l) {
  const auto begins = thrust::make_transform_iterator(
      thrust::make_counting_iterator(std::size_t{0}), BeginOfRow{l.columns});
  std::size_t bytes = 0;
  const auto queue = [&](void* storage) {
    return cub::DeviceSegmentedReduce::Sum(storage, bytes, l.in, l.out,
                                           static_cast<std::int64_t>(l.rows), begins, begins + 1);
  };
  BOOK_CUDA(queue(nullptr));
  if (bytes > l.told_bytes) throw book::Error(book::ExitCode::kCudaError, "CUB wants more memory");
  BOOK_CUDA(queue(l.told));
}
// end rows-by-cub

book::Variant sum_cub(const Form& form) {
  Way way = kBlock;
  way.name = "cub";
  way.region = "rows-by-cub";
  way.blocks = book::any_block(256, 256);  // CUB chooses for itself
  book::Variant v = on<SumOfRow>("sum", way, form, rows_by_cub);
  v.grid = book::library_grid;
  v.compared = false;
  v.profiled = false;
  return v;
}

book::Variant with_block(book::Variant v, unsigned block) {
  v.block = block;
  return v;
}

/// Three tables' worth of elements, for the map of which method wins where.
const std::vector<std::size_t> kAll{1u << 20, 1u << 24, 1u << 28};
const std::vector<std::size_t> kSmall{1u << 20, 1u << 24};
const std::vector<std::size_t> kTwo{1u << 24, 1u << 28};

void add_sums(book::Chapter& chapter) {
  const auto of_thread = [](const Form& f) {
    book::Variant v = on<SumOfRow>("sum", kThread, f, rows_by_thread<Sum>);
    // Whatever n and block: there is always one that takes them.
    if (f.columns == 1) v.sizes = book::Sizes{.usual_embedded = kFew};
    return v;
  };
  // Up to 2^24 rows: as many results as elements, and the host looks at each.
  over(chapter, between(1, 2), kSmall, of_thread);
  over(chapter, between(1, 2), kSmall, sum_lanes);
  over(chapter, between(4, 256), kAll, of_thread);
  over(chapter, between(4, 256), kAll,
       [](const Form& f) { return on<SumOfRow>("sum", kWide, f, rows_by_wide_thread<Sum>); });
  over(chapter, between(4, 4096), kAll, sum_lanes);
  over(chapter, between(256, 1 << 20), kAll, [](const Form& f) {
    return with_block(on<SumOfRow>("sum", kBlock, f, rows_by_block<Sum>),
                      threads_for(f.columns, 128));
  });
  over(chapter, between(8192, 1 << 20), kAll,
       [](const Form& f) { return on<SumOfRow>("sum", kBlocks, f, rows_by_blocks<Sum>); });
  over(chapter, between(4, 1 << 20), kAll, sum_cub);
}

/// Another total, of short rows and of long ones.
template <class Total, class What>
void add_total(book::Chapter& chapter, const std::string& method) {
  over(chapter, {32}, kTwo, [&](const Form& f) {
    return on<What>(method, of_team(f.columns), f, rows_by_team<Total>(f.columns));
  });
  over(chapter, {4096}, kTwo, [&](const Form& f) {
    return with_block(on<What>(method, kBlock, f, rows_by_block<Total>), 128);
  });
}

void add_normalised(book::Chapter& chapter) {
  over(chapter, {32}, kTwo, copied);
  const auto in_lanes = [](book::Variant v, const Form& f) {
    return with_block(std::move(v), f.columns == 256 ? 128 : 256);
  };
  over(chapter, between(4, 1024), kTwo,
       [&](const Form& f) { return in_lanes(softmax_lanes(f), f); });
  over(chapter, between(1024, 32768), kTwo, softmax_block);
  over(chapter, between(4096, 1 << 20), kTwo,
       [](const Form& f) { return with_block(softmax_online(f), threads_for(f.columns, 256)); });
  over(chapter, between(131072, 1 << 20), kTwo, softmax_blocks);
  over(chapter, between(4, 1024), kTwo,
       [&](const Form& f) { return in_lanes(layer_norm_lanes(f), f); });
  over(chapter, between(1024, 32768), kTwo, layer_norm_block);
  over(chapter, between(32768, 1 << 20), kTwo,
       [](const Form& f) { return with_block(layer_norm_online(f), 512); });
}

void add_column_sums(book::Chapter& chapter) {
  over(chapter, {4096}, kTwo, column_warps);
  over(chapter, between(4, 131072), kTwo,
       [](const Form& f) { return with_block(column_sum(f), f.columns <= 8192 ? 512 : 256); });
}

void add_legacy_ones(book::Chapter& chapter) {
  using namespace legacy;
  const Form numbers{.columns = 2000};
  const Form special{.columns = 2000, .data = Data::kSpecial};
  const Form large{.columns = 2000, .data = Data::kLarge};
  add_legacy<MaximumOfRow>(chapter, "maximum_from_zero", special, rows_by_block<MaximumFromZero>);
  add_legacy<MaximumOfRow>(chapter, "maximum_without_nan", special,
                           rows_by_block<MaximumWithoutNan>);
  add_legacy<ArgmaxOfRow>(chapter, "argmax_any_tie", special, rows_by_block<ArgmaxAnyTie>);
  add_legacy<MomentsOfRow>(chapter, "moments_added_up", numbers, rows_by_block<MomentsAddedUp>);
  add_legacy<MomentsOfRow>(chapter, "moments_of_squares", {.columns = 2000, .data = Data::kOffset},
                           rows_by_block<MomentsOfSquares>);
  add_legacy<SumOfRow>(chapter, "row_of_one_block", numbers, [](const Launch& l) {
    if (l.grid > 0) row_of_one_block<<<l.grid, l.block>>>(l.in, l.out, l.columns);
  });
  add_legacy<SoftmaxOfRow>(chapter, "softmax_without_maximum", large, [](const Launch& l) {
    if (l.grid > 0) softmax_without_maximum<<<l.grid, l.block>>>(l.in, l.out, l.columns);
  });
  add_legacy<SoftmaxOfRow>(chapter, "softmax_masked", special, [](const Launch& l) {
    if (l.grid > 0) softmax_masked<<<l.grid, l.block>>>(l.in, l.out, l.columns);
  });
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter12_rows",
                        "What becomes of each row of a table, and who adds it up",
                        "--sweep n, and the page's map of rows and columns",
                        {.n = kAll, .blocks = {}}};
  add_sums(chapter);
  add_total<Maximum, MaximumOfRow>(chapter, "maximum");
  add_total<Argmax, ArgmaxOfRow>(chapter, "argmax");
  add_total<Moments, MomentsOfRow>(chapter, "moments");
  add_normalised(chapter);
  add_column_sums(chapter);
  add_legacy_ones(chapter);
  return chapter.run(argc, argv);
}
