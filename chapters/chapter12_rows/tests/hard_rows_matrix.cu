// Chapter 12's kernels on tables that are hard to get right: rows of one element and of none, of
// odd lengths and from odd addresses, with NaN, infinities, ties and nothing but -inf; and more
// rows than 16 bits count.
#include <cstddef>
#include <initializer_list>
#include <string>

#include "../ways.cuh"
#include "book/chapter.hpp"
#include "hard_rows_kernels.cuh"

namespace {

using namespace chapter12;

/// A variant of one table, which is no part of any comparison.
book::Variant beside(book::Variant v, const std::string& table, std::size_t most = 4097) {
  v.name += "_" + table;
  v.axes = {};
  v.sizes = book::Sizes{.most = std::size_t{1} << 28, .most_embedded = most};
  v.profiled = false;
  return v;
}

/// A variant for blocks of one warp alone: of a large table, once is enough.
book::Variant of_one_warp(book::Variant v) {
  v.blocks = book::any_block(32, 32);
  v.block = 32;
  return v;
}

/// Columns in so many slices, whatever the device holds: in few of them a warp has rows for several
/// turns.
book::Variant in_slices(std::size_t slices, const Form& form) {
  book::Variant v = column_sum(form);
  v.name += "_of_" + std::to_string(slices);
  v.grid = [slices, form](std::size_t n, unsigned) {
    return book::grid_for(slices * up(form.columns_of(n), 32), 1);
  };
  return v;
}
/// A softmax by several blocks of which so few are there that each has rows for several turns.
book::Variant two_rows_at_once(const Form& form) {
  book::Variant v = softmax_blocks(form);
  v.name = "softmax_two_at_once";
  v.grid = [form](std::size_t n, unsigned block) {
    const std::size_t rows = std::min<std::size_t>(form.rows_of(n), 2);
    return book::grid_for(rows * kept_pieces_of(form.columns_of(n), block), 1);
  };
  return v;
}

/// Tables that a total has to get right, whichever way.
template <class Total, class What>
void add_hard_ones(book::Chapter& chapter, const std::string& method) {
  const auto add = [&](const std::string& table, const Form& form, std::size_t most) {
    const auto on_form = [&](const Way& way, const auto& queue) {
      chapter.add(beside(on<What>(method, way, form, queue), table, most));
    };
    on_form(kThread, rows_by_thread<Total>);
    on_form(kWide, rows_by_wide_thread<Total>);
    const auto lanes = [](unsigned count) {
      return of_lanes(count, kRows, "lanes" + std::to_string(count), "rows-by-lanes");
    };
    on_form(lanes(1), rows_by_lanes<Total, 1>);
    on_form(lanes(4), rows_by_lanes<Total, 4>);
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
    add(makers, "special_fewest", {.columns = 14, .data = Data::kSpecial}, 257);
    add(makers, "special_few", {.columns = 20, .data = Data::kSpecial}, 257);
    add(makers, "special", {.columns = 244, .data = Data::kSpecial}, 4097);
    add(makers, "special_odd", {.columns = 371, .data = Data::kSpecial}, 4097);
    add(makers, "offset", {.columns = 100, .data = Data::kOffset}, 1025);
    add(makers, "skewed", {.columns = 64, .skew = 3}, 1025);
  }
  add(any_length, "row", {.rows = 1}, 4097);
  add(any_length, "eleven", {.rows = 11, .data = Data::kSpecial}, 4097);
  // In three pieces at most, or in 65; and in several turns.
  add({softmax_blocks, layer_norm_online}, "long_row", {.rows = 1}, 65537);

  for (const std::size_t rows : {std::size_t{1}, std::size_t{2}}) {  // in pieces
    const Form form{.rows = rows};
    const std::string table = rows == 1 ? "long_row" : "long_rows";
    chapter.add(beside(on<SumOfRow>("sum", kBlocks, form, rows_by_blocks<Sum>), table, 65537));
    chapter.add(
        beside(on<MomentsOfRow>("moments", kBlocks, form, rows_by_blocks<Moments>), table, 65537));
  }

  // Rows for several turns; pieces that are full to the last word, or a word short of it.
  add({two_rows_at_once}, "turns", {.columns = 100}, 4097);
  for (const std::size_t columns : {2044, 2048}) {
    const std::string table = "turns_" + std::to_string(columns);
    chapter.add(of_one_warp(beside(two_rows_at_once({.columns = columns}), table, 16385)));
  }
  for (const std::size_t columns : {1, 5, 33}) {
    for (const std::size_t slices : {1, 3}) {
      const std::string table = "turns_" + std::to_string(columns);
      chapter.add(beside(in_slices(slices, {.columns = columns}), table, 16385));
    }
  }
  // More rows, words or columns than 16 bits count; and as many rows at once.
  const std::size_t past = std::size_t{1} << 19;
  chapter.add(of_one_warp(beside(in_slices(1, {.rows = 3}), "three_rows", past)));
  chapter.add(of_one_warp(beside(in_slices(1, {.columns = 1}), "many", past)));
  chapter.add(of_one_warp(beside(in_slices(2100, {.columns = 1}), "many", past)));
  chapter.add(of_one_warp(beside(two_rows_at_once({.columns = 1}), "many", 65537)));
  add({sum_lanes, softmax_lanes, layer_norm_lanes, column_warps}, "many", {.columns = 1}, 65537);
  add({copied}, "many", {.columns = 4}, std::size_t{1} << 19);
  add({column_warps}, "three", {.columns = 3}, 1025);  // some warps of a block have no column

  using hard_rows::ArgmaxOfNans;
  const Form ties{.columns = 14, .data = Data::kSpecial};
  chapter.add(
      beside(on<ArgmaxOfRow>("argmax", kThread, ties, rows_by_thread<ArgmaxOfNans>), "nans", 1025));
  chapter.add(
      beside(on<ArgmaxOfRow>("argmax", kBlock, ties, rows_by_block<ArgmaxOfNans>), "nans", 1025));

  using hard_rows::SmallMoments;
  const Form small{.columns = 20};
  chapter.add(beside(on<MomentsOfRow>("moments", kThread, small, rows_by_thread<SmallMoments>),
                     "small", 1025));
  chapter.add(beside(on<MomentsOfRow>("moments", kBlock, small, rows_by_block<SmallMoments>),
                     "small", 1025));
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter12_hard_rows", "Rows that are hard to get right", "--sweep n"};
  add_hard_ones(chapter);
  return chapter.run(argc, argv);
}
