// The kernels of chapter 12, which has no page and no recording yet: until it has, this is its
// main.cu.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cub/device/device_segmented_reduce.cuh>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "book/chapter.hpp"
#include "facts.hpp"
#include "launches.cuh"
#include "problem.cuh"

namespace {

using namespace chapter12;

/// The rows' lengths at which the methods are compared.
const std::vector<std::size_t> kColumns{1,    2,    4,    8,    16,    32,    33,     256,    1001,
                                        1024, 4096, 8191, 8192, 32768, 50257, 131072, 1 << 20};
/// The largest n on the embedded device, which has no hurry: a row of every length at least.
std::size_t embedded_most(std::size_t columns) {
  return columns <= 1024 ? 4097 : columns < 65537 ? 65537 : columns + 1;
}

/// Roundings of an element that one of `team` threads adds up, whose sums then meet in a tree.
double depth(std::size_t length, std::size_t team) {
  return static_cast<double>(up(length, std::max<std::size_t>(team, 1))) + 24;
}

/// A way to share rows out to threads: its name, region, blocks, grid, and depth.
struct Way {
  std::string name, region;
  book::Blocks blocks = book::whole_warps();
  std::function<std::size_t(std::size_t rows, std::size_t columns, unsigned block)> grid;
  std::function<double(const book::Shape&, std::size_t, std::size_t)> depth;
};

Way of_thread() {
  return {"thread", "rows-by-thread", book::any_block(),
          [](std::size_t rows, std::size_t, unsigned block) { return up(rows, block); },
          [](const book::Shape&, std::size_t, std::size_t columns) { return depth(columns, 1); }};
}
Way of_lanes(unsigned lanes, unsigned rows_each, std::string name, std::string region) {
  return {
      std::move(name), std::move(region), book::whole_warps(),
      [=](std::size_t rows, std::size_t, unsigned block) {
        return up(rows, std::size_t{block / lanes} * rows_each);
      },
      [=](const book::Shape&, std::size_t, std::size_t columns) { return depth(columns, lanes); }};
}
Way of_block(std::string name, std::string region) {
  return {std::move(name), std::move(region), book::whole_warps(),
          [](std::size_t rows, std::size_t, unsigned) { return rows; },
          [](const book::Shape& s, std::size_t, std::size_t columns) {
            return depth(columns, s.block);
          }};
}
Way of_blocks() {
  return {"blocks", "rows-by-blocks", book::whole_warps(),
          [](std::size_t rows, std::size_t columns, unsigned block) {
            return rows * pieces_of(rows, columns, block);
          },
          [](const book::Shape& s, std::size_t rows, std::size_t columns) {
            const std::size_t pieces = s.grid / rows;
            return depth(columns, pieces * s.block) + depth(pieces, s.block);
          }};
}

/// A variant on a table of that form.
template <class What, class Queue>
book::Variant on(const std::string& method, const Way& way, Form form, const Queue& queue) {
  form.depth = way.depth;
  book::Variant v{.name = method + "_" + way.name, .region = way.region, .launch = {}};
  v.blocks = way.blocks;
  v.grid = [form, way](std::size_t n, unsigned block) {
    const std::size_t blocks = way.grid(form.rows_of(n), form.columns_of(n), block);
    return book::grid_for(blocks, 1);
  };
  v.axes = {{"n"}};
  v.counters = book::Counters::kLessArbitration;
  v.launch = book::launch(std::make_shared<Rows<What>>(form), queue);
  return v;
}

/// A method over the lengths of rows.
template <class Make>
void over_columns(book::Chapter& chapter, std::size_t least, std::size_t most, const Make& make) {
  std::vector<std::size_t> columns;
  std::ranges::copy_if(kColumns, std::back_inserter(columns),
                       [&](std::size_t c) { return c >= least && c <= most; });
  chapter.add(book::family({"columns", columns}, [&](unsigned length) {
    book::Variant v = make(Form{.columns = length});
    v.name += "_" + std::to_string(length);
    const unsigned block = v.blocks.nearest(256);  // the tables beside these have the others
    v.blocks = book::any_block(block, block);
    v.sizes = book::Sizes{.most = std::size_t{1} << 30, .most_embedded = embedded_most(length)};
    return v;
  }));
}

/// A variant of one table, which is no part of any comparison.
book::Variant beside(book::Variant v, const std::string& table, std::size_t most = 4097) {
  v.name += "_" + table;
  v.axes = {};
  v.sizes = book::Sizes{.most = std::size_t{1} << 28, .most_embedded = most};
  v.profiled = false;
  return v;
}

Way lanes(unsigned count) {
  return of_lanes(count, kRows, count == 32 ? "warp" : "lanes" + std::to_string(count),
                  "rows-by-lanes");
}
const Way kThread = of_thread();
const Way kBlock = of_block("block", "rows-by-block");
const Way kBlocks = of_blocks();

/// Tables that a total has to get right, whichever way.
template <class Total, class What>
void add_hard_ones(book::Chapter& chapter, const std::string& method) {
  const auto add = [&](const std::string& table, const Form& form, std::size_t most) {
    const auto on_form = [&](const Way& way, const auto& queue) {
      chapter.add(beside(on<What>(method, way, form, queue), table, most));
    };
    on_form(kThread, rows_by_thread<Total>);
    on_form(lanes(8), rows_by_lanes<Total, 8>);
    on_form(lanes(32), rows_by_lanes<Total, 32>);
    on_form(kBlock, rows_by_block<Total>);
    on_form(kBlocks, rows_by_blocks<Total>);
  };
  add("one", {.columns = 1}, 65);
  add("empty", {.columns = 0}, 33);
  add("odd", {.columns = 33}, 1025);
  add("special", {.columns = 100, .data = Data::kSpecial}, 4097);
  add("skewed", {.columns = 64, .skew = 1}, 1025);
  add("row", {.rows = 1}, 4097);
  add("eleven", {.rows = 11, .data = Data::kSpecial}, 4097);
}

/// What the threads of a block keep: at least as many as it takes for a row.
Way in_registers(Way way, std::size_t columns) {
  way.blocks.low =
      static_cast<unsigned>(std::max<std::size_t>(up(columns, std::size_t{kKept} * 32) * 32, 32));
  return way;
}
/// Several blocks per row, all there at once.
Way together() {
  return {"blocks",
          "softmax-by-blocks",
          {.low = 32, .high = 512, .multiple_of = 32},
          [](std::size_t rows, std::size_t columns, unsigned block) {
            return std::min(cooperative_grid<float>(rows, columns, block),
                            cooperative_grid<float4>(rows, columns, block));
          },
          [](const book::Shape& s, std::size_t, std::size_t columns) {
            const std::size_t pieces = kept_pieces_of(columns, s.block);
            return depth(columns, pieces * s.block) + depth(pieces, s.block);
          }};
}

book::Variant softmax_lanes(const Form& form) {
  const Way few = of_lanes(4, 1, "lanes4", "softmax-by-lanes");
  const Way many = of_lanes(32, 1, "warp", "softmax-by-lanes");
  if (form.columns <= 32) return on<SoftmaxOfRow>("softmax", few, form, softmaxes_by_lanes<4, 8>);
  if (form.columns <= 256)
    return on<SoftmaxOfRow>("softmax", many, form, softmaxes_by_lanes<32, 8>);
  return on<SoftmaxOfRow>("softmax", many, form, softmaxes_by_lanes<32, 32>);
}
book::Variant softmax_block(const Form& form) {
  const Way way = in_registers(of_block("block", "softmax-by-block"), form.columns);
  return on<SoftmaxOfRow>("softmax", way, form, softmaxes_by_block);
}
book::Variant softmax_online(const Form& form) {
  return on<SoftmaxOfRow>("softmax", of_block("online", "softmax-online"), form, softmaxes_online);
}
book::Variant softmax_blocks(const Form& form) {
  book::Variant v = on<SoftmaxOfRow>("softmax", together(), form, softmaxes_by_blocks);
  v.counters = book::Counters::kNone;  // it looks for the others' words as often as it takes
  return v;
}
book::Variant layer_norm_lanes(const Form& form) {
  const Way few = of_lanes(4, 1, "lanes4", "layer-norm-by-lanes");
  const Way many = of_lanes(32, 1, "warp", "layer-norm-by-lanes");
  if (form.columns <= 32)
    return on<LayerNormOfRow>("layer_norm", few, form, layer_norms_by_lanes<4, 8>);
  if (form.columns <= 256)
    return on<LayerNormOfRow>("layer_norm", many, form, layer_norms_by_lanes<32, 8>);
  return on<LayerNormOfRow>("layer_norm", many, form, layer_norms_by_lanes<32, 32>);
}
book::Variant layer_norm_block(const Form& form) {
  const Way way = in_registers(of_block("block", "layer-norm"), form.columns);
  return on<LayerNormOfRow>("layer_norm", way, form, layer_norms);
}
book::Variant layer_norm_online(const Form& form) {
  return on<LayerNormOfRow>("layer_norm", of_block("online", "layer-norm-online"), form,
                            layer_norms_online);
}

Way down_columns() {
  return {"sum", "sums-of-columns", book::whole_warps(),
          [](std::size_t rows, std::size_t columns, unsigned block) {
            return slices_of(rows, columns, block) * up(columns, 32);
          },
          [](const book::Shape& s, std::size_t rows, std::size_t columns) {
            const std::size_t slices = s.grid / up(columns, 32);
            const unsigned warps = s.block / 32;
            return depth(rows, slices * warps) + depth(slices, warps) + 2.0 * warps;
          }};
}
book::Variant column_sum(const Form& form) {
  return on<SumOfColumn>("column", down_columns(), form, sums_of_columns<8>);
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

void add_comparisons(book::Chapter& chapter) {
  over_columns(chapter, 1, 33,
               [](const Form& f) { return on<SumOfRow>("sum", kThread, f, rows_by_thread<Sum>); });
  over_columns(chapter, 4, 256, [](const Form& f) {
    return on<SumOfRow>("sum", lanes(8), f, rows_by_lanes<Sum, 8>);
  });
  over_columns(chapter, 32, 8192, [](const Form& f) {
    return on<SumOfRow>("sum", lanes(32), f, rows_by_lanes<Sum, 32>);
  });
  over_columns(chapter, 256, 1 << 20,
               [](const Form& f) { return on<SumOfRow>("sum", kBlock, f, rows_by_block<Sum>); });
  over_columns(chapter, 4096, 1 << 20,
               [](const Form& f) { return on<SumOfRow>("sum", kBlocks, f, rows_by_blocks<Sum>); });
  over_columns(chapter, 1, 1 << 20, sum_cub);
  over_columns(chapter, 1, 1024, softmax_lanes);
  over_columns(chapter, 1024, 32768, softmax_block);
  over_columns(chapter, 1024, 1 << 20, softmax_online);
  over_columns(chapter, 32768, 1 << 20, softmax_blocks);
  over_columns(chapter, 1, 1024, layer_norm_lanes);
  over_columns(chapter, 256, 32768, layer_norm_block);
  over_columns(chapter, 32768, 1 << 20, layer_norm_online);
  over_columns(chapter, 1, 131072, column_sum);
}

void add_hard_ones(book::Chapter& chapter) {
  // Whatever n and block: there is always one that takes them.
  chapter.add(beside(on<SumOfRow>("sum", kThread, {.columns = 5}, rows_by_thread<Sum>), "five",
                     std::size_t{1} << 28));
  add_hard_ones<Sum, SumOfRow>(chapter, "sum");
  add_hard_ones<Maximum, MaximumOfRow>(chapter, "maximum");
  add_hard_ones<Argmax, ArgmaxOfRow>(chapter, "argmax");
  add_hard_ones<Moments, MomentsOfRow>(chapter, "moments");

  using Make = book::Variant (*)(const Form&);
  const auto add = [&](std::initializer_list<Make> makers, const std::string& table,
                       const Form& form, std::size_t most) {
    for (const Make make : makers) chapter.add(beside(make(form), table, most));
  };
  const auto registers = {softmax_lanes, softmax_block, layer_norm_lanes, layer_norm_block};
  const auto any_length = {softmax_online, softmax_blocks, layer_norm_online, column_sum};
  for (const auto& makers : {registers, any_length}) {
    add(makers, "one", {.columns = 1}, 65);
    add(makers, "special_few", {.columns = 20, .data = Data::kSpecial}, 257);
    add(makers, "special", {.columns = 244, .data = Data::kSpecial}, 4097);
    add(makers, "special_odd", {.columns = 371, .data = Data::kSpecial}, 4097);
    add(makers, "offset", {.columns = 100, .data = Data::kOffset}, 1025);
    add(makers, "skewed", {.columns = 64, .skew = 3}, 1025);
  }
  add(any_length, "row", {.rows = 1}, 4097);
  add(any_length, "eleven", {.rows = 11, .data = Data::kSpecial}, 4097);
  add({softmax_blocks}, "long_row", {.rows = 1}, 65537);  // in three pieces at most, or in 65
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
    row_of_one_block<<<l.grid, l.block>>>(l.in, l.out, l.columns);
  });
  add_legacy<SoftmaxOfRow>(chapter, "softmax_without_maximum", large, [](const Launch& l) {
    softmax_without_maximum<<<l.grid, l.block>>>(l.in, l.out, l.columns);
  });
  add_legacy<SoftmaxOfRow>(chapter, "softmax_masked", special, [](const Launch& l) {
    softmax_masked<<<l.grid, l.block>>>(l.in, l.out, l.columns);
  });
  Way warps = of_lanes(32, 1, "warp", "column-per-warp");
  warps.grid = [](std::size_t, std::size_t columns, unsigned block) {
    return up(columns, block / 32);
  };
  warps.depth = [](const book::Shape&, std::size_t rows, std::size_t) { return depth(rows, 32); };
  add_legacy<SumOfColumn>(
      chapter, "column_per_warp", numbers,
      [](const Launch& l) { column_per_warp<<<l.grid, l.block>>>(l.in, l.out, l.rows, l.columns); },
      warps);
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter12_rows",
                        "What becomes of each row of a table, and who adds it up",
                        "--sweep columns",
                        {.n = {1u << 20, 1u << 24, 1u << 28}, .blocks = {}}};
  add_comparisons(chapter);
  add_hard_ones(chapter);
  add_legacy_ones(chapter);
  return chapter.run(argc, argv);
}
