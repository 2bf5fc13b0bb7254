/// \file
/// The chapter's variants: which way a method shares rows out to threads, on which table.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "launches.cuh"

namespace chapter12 {

/// Roundings of an element that one of `team` threads adds up, whose sums then meet in a tree.
inline double depth(std::size_t length, std::size_t team) {
  return static_cast<double>(up(length, std::max<std::size_t>(team, 1))) + 24;
}

/// A way to share rows out to threads: its name, region, blocks, grid, and depth.
struct Way {
  std::string name, region;
  book::Blocks blocks = book::whole_warps();
  std::function<std::size_t(std::size_t rows, std::size_t columns, unsigned block)> grid;
  std::function<double(const book::Shape&, std::size_t, std::size_t)> depth;
};

inline Way of_thread(std::string name) {
  return {std::move(name), "rows-by-thread", book::any_block(),
          [](std::size_t rows, std::size_t, unsigned block) { return up(rows, block); },
          [](const book::Shape&, std::size_t, std::size_t columns) { return depth(columns, 1); }};
}
inline Way of_lanes(unsigned lanes, unsigned rows_each, std::string name, std::string region) {
  return {
      std::move(name), std::move(region), book::whole_warps(),
      [=](std::size_t rows, std::size_t, unsigned block) {
        return up(rows, std::size_t{block / lanes} * rows_each);
      },
      [=](const book::Shape&, std::size_t, std::size_t columns) { return depth(columns, lanes); }};
}
inline Way of_block(std::string name, std::string region) {
  return {std::move(name), std::move(region), book::whole_warps(),
          [](std::size_t rows, std::size_t, unsigned) { return rows; },
          [](const book::Shape& s, std::size_t, std::size_t columns) {
            return depth(columns, s.block);
          }};
}
inline Way of_blocks() {
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

/// Of as many lanes as rows of this length need.
inline Way of_team(std::size_t columns) {
  return of_lanes(team_of(columns), kRows, "lanes", "rows-by-lanes");
}
inline const Way kThread = of_thread("thread");
inline const Way kWide = of_thread("wide");  // by loads of 16 bytes
inline const Way kBlock = of_block("block", "rows-by-block");
inline const Way kBlocks = of_blocks();

/// So many lanes per row, each of which keeps so many floats.
template <unsigned Lanes, unsigned Kept>
struct Team {};
/// Rows that the lanes of the smallest team with room for them keep. \param queue_of  of a Team
template <class What, class QueueOf>
book::Variant kept_by_lanes(const std::string& method, const std::string& region, const Form& form,
                            const QueueOf& queue_of) {
  const auto with = [&]<unsigned Lanes, unsigned Kept>(Team<Lanes, Kept> team) {
    return on<What>(method, of_lanes(Lanes, 1, "lanes", region), form, queue_of(team));
  };
  if (form.columns <= 4) return with(Team<1, 4>{});
  if (form.columns <= 16) return with(Team<2, 8>{});
  if (form.columns <= 32) return with(Team<4, 8>{});
  if (form.columns <= 256) return with(Team<32, 8>{});
  return with(Team<32, 32>{});
}
/// Rows that the threads of a block keep: of at least as many as that takes.
template <class What>
book::Variant kept_by_block(const std::string& method, const std::string& region, const Form& form,
                            Queue queue) {
  book::Variant v = on<What>(method, of_block("block", region), form, queue);
  v.blocks.low = static_cast<unsigned>(
      std::max<std::size_t>(up(form.columns, std::size_t{kKept} * 32) * 32, 32));
  v.block = v.blocks.low;
  return v;
}
/// Several blocks per row, all there at once.
inline Way together() {
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

inline book::Variant softmax_lanes(const Form& form) {
  return kept_by_lanes<SoftmaxOfRow>("softmax", "softmax-by-lanes", form,
                                     []<unsigned Lanes, unsigned Kept>(Team<Lanes, Kept>) {
                                       return softmaxes_by_lanes<Lanes, Kept>;
                                     });
}
inline book::Variant softmax_block(const Form& form) {
  return kept_by_block<SoftmaxOfRow>("softmax", "softmax-by-block", form, softmaxes_by_block);
}
inline book::Variant softmax_online(const Form& form) {
  return on<SoftmaxOfRow>("softmax", of_block("online", "softmax-online"), form, softmaxes_online);
}
inline book::Variant softmax_blocks(const Form& form) {
  book::Variant v = on<SoftmaxOfRow>("softmax", together(), form, softmaxes_by_blocks);
  v.counters = book::Counters::kNone;  // it looks for the others' words as often as it takes
  return v;
}
inline book::Variant layer_norm_lanes(const Form& form) {
  return kept_by_lanes<LayerNormOfRow>("layer_norm", "layer-norm-by-lanes", form,
                                       []<unsigned Lanes, unsigned Kept>(Team<Lanes, Kept>) {
                                         return layer_norms_by_lanes<Lanes, Kept>;
                                       });
}
inline book::Variant layer_norm_block(const Form& form) {
  return kept_by_block<LayerNormOfRow>("layer_norm", "layer-norm", form, layer_norms);
}
inline book::Variant layer_norm_online(const Form& form) {
  return on<LayerNormOfRow>("layer_norm", of_block("online", "layer-norm-online"), form,
                            layer_norms_online);
}

inline Way down_columns() {
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
inline book::Variant column_sum(const Form& form) {
  return on<SumOfColumn>("column", down_columns(), form, sums_of_columns);
}

/// A warp per column, which the chapter compares with a lane per column.
inline book::Variant column_warps(const Form& form) {
  Way way = of_lanes(32, 1, "warps", "column-per-warp");
  way.grid = [](std::size_t, std::size_t columns, unsigned block) {
    return up(columns, block / 32);
  };
  way.depth = [](const book::Shape&, std::size_t rows, std::size_t) { return depth(rows, 32); };
  return on<SumOfColumn>("column", way, form, columns_by_warp);
}

inline book::Variant sum_lanes(const Form& form) {
  return on<SumOfRow>("sum", of_team(form.columns), form, rows_by_team<Sum>(form.columns));
}

/// One read and one write, as a floor for what normalises rows.
inline book::Variant copied(const Form& form) {
  const Way way{"rows", "copy-rows", book::any_block(),
                [](std::size_t rows, std::size_t columns, unsigned block) {
                  return up(rows * columns, std::size_t{4} * kLoads<float4> * block);
                },
                [](const book::Shape&, std::size_t, std::size_t) { return 0; }};
  return on<CopyOfRow>("copy", way, form, copies);
}

}  // namespace chapter12
