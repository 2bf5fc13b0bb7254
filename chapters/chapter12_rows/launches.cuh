/// \file
/// How the kernels of this chapter are launched: which word, which grid, how many pieces.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "book/check.hpp"
#include "book/variant.hpp"
#include "kernels.cuh"
#include "problem.cuh"

namespace chapter12 {

/// Loads in flight per thread, in words of 16 bytes and in floats.
template <class Word>
constexpr unsigned kLoads = sizeof(Word) == sizeof(float4) ? 4 : 8;
/// Rows of a team of lanes at once.
constexpr unsigned kRows = 4;
/// Floats of a row that a thread keeps in registers.
constexpr unsigned kKept = 32;
template <class Word>
constexpr unsigned kWords = kKept / kPer<Word>;
/// Words of a row that a thread has at once where the row is read twice.
constexpr unsigned kTurn = 4;

constexpr std::size_t up(std::size_t a, std::size_t b) {
  return (a + b - 1) / b;
}
inline unsigned sm_count() {
  int device = 0;
  int count = 0;
  BOOK_CUDA(cudaGetDevice(&device));
  BOOK_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return static_cast<unsigned>(count);
}

/// Calls run(Word{}) with the largest word that every row begins at a multiple of.
template <class Run>
void with_word(const Launch& l, const Run& run) {
  if (l.grid == 0) return;  // no rows
  if (l.aligned()) {
    run(float4{});
  } else {
    run(float{});
  }
}

template <class Total, class Word>
void rows_by_thread_in(const Launch& l) {
  by_thread<Total, Word>
      <<<l.grid, l.block>>>(l.in, reinterpret_cast<Total::Result*>(l.out), l.rows, l.columns);
}
/// A float per load, whatever the rows' addresses.
template <class Total>
void rows_by_thread(const Launch& l) {
  if (l.grid > 0) rows_by_thread_in<Total, float>(l);
}
template <class Total>
void rows_by_wide_thread(const Launch& l) {
  with_word(l, [&](auto word) { rows_by_thread_in<Total, decltype(word)>(l); });
}
template <class Total, unsigned Lanes>
void rows_by_lanes(const Launch& l) {
  with_word(l, [&](auto word) {
    by_lanes<Total, decltype(word), Lanes, kRows>
        <<<l.grid, l.block>>>(l.in, reinterpret_cast<Total::Result*>(l.out), l.rows, l.columns);
  });
}
/// Lanes per row: enough for its words, and a warp's at most.
constexpr unsigned team_of(std::size_t columns) {
  return columns <= 4 ? 1 : columns <= 16 ? 4 : columns <= 32 ? 8 : 32;
}
using Queue = void (*)(const Launch&);
/// The launch of `by_lanes` for rows of this length.
template <class Total>
Queue rows_by_team(std::size_t columns) {
  switch (team_of(columns)) {
    case 1: return rows_by_lanes<Total, 1>;
    case 4: return rows_by_lanes<Total, 4>;
    case 8: return rows_by_lanes<Total, 8>;
    default: return rows_by_lanes<Total, 32>;
  }
}
template <class Total>
void rows_by_block(const Launch& l) {
  with_word(l, [&](auto word) {
    by_block<Total, decltype(word), kLoads<decltype(word)>>
        <<<l.grid, l.block>>>(l.in, reinterpret_cast<Total::Result*>(l.out), l.columns);
  });
}
template <class Total>
void rows_by_blocks(const Launch& l) {
  static_assert(sizeof(Total) <= 16);
  with_word(l, [&](auto word) {
    by_blocks<Total, decltype(word), kLoads<decltype(word)>><<<l.grid, l.block>>>(
        l.in, reinterpret_cast<Total::Result*>(l.out), reinterpret_cast<Total*>(l.partial),
        l.ticket, l.columns, static_cast<unsigned>(l.grid / l.rows));
  });
}
/// Of whole words: the table is one piece of memory, and its length a multiple of four.
inline void copies(const Launch& l) {
  if (l.grid == 0) return;
  copy_rows<kLoads<float4>><<<l.grid, l.block>>>(reinterpret_cast<const float4*>(l.in),
                                                 reinterpret_cast<float4*>(l.out),
                                                 l.rows * l.columns / 4);
}
template <unsigned Lanes, unsigned Kept>
void softmaxes_by_lanes(const Launch& l) {
  with_word(l, [&](auto word) {
    softmax_by_lanes<decltype(word), Lanes, Kept / kPer<decltype(word)>>
        <<<l.grid, l.block>>>(l.in, l.out, l.rows, l.columns);
  });
}
inline void softmaxes_by_block(const Launch& l) {
  with_word(l, [&](auto word) {
    using Word = decltype(word);
    const auto kernel = l.block <= 512 ? softmax_by_block<Word, kWords<Word>, 512>
                                       : softmax_by_block<Word, kWords<Word>, 1024>;
    kernel<<<l.grid, l.block>>>(l.in, l.out, l.columns);
  });
}
inline void softmaxes_online(const Launch& l) {
  with_word(l, [&](auto word) {
    softmax_online<decltype(word), kTurn><<<l.grid, l.block>>>(l.in, l.out, l.columns);
  });
}
inline void layer_norms(const Launch& l) {
  with_word(l, [&](auto word) {
    using Word = decltype(word);
    const auto kernel =
        l.block <= 512 ? layer_norm<Word, kWords<Word>, 512> : layer_norm<Word, kWords<Word>, 1024>;
    kernel<<<l.grid, l.block>>>(l.in, l.out, l.weight, l.bias, l.columns, kEpsilon);
  });
}
template <unsigned Lanes, unsigned Kept>
void layer_norms_by_lanes(const Launch& l) {
  with_word(l, [&](auto word) {
    layer_norm_by_lanes<decltype(word), Lanes, Kept / kPer<decltype(word)>>
        <<<l.grid, l.block>>>(l.in, l.out, l.weight, l.bias, l.rows, l.columns, kEpsilon);
  });
}
inline void layer_norms_online(const Launch& l) {
  with_word(l, [&](auto word) {
    layer_norm_online<decltype(word), kTurn>
        <<<l.grid, l.block>>>(l.in, l.out, l.weight, l.bias, l.columns, kEpsilon);
  });
}

/// Pieces of a row for `by_blocks`: enough blocks for two per SM, and no piece without work for
/// every thread of its block.
inline std::size_t pieces_of(std::size_t rows, std::size_t columns, unsigned block) {
  const std::size_t wanted = up(2 * std::size_t{sm_count()}, std::max<std::size_t>(rows, 1));
  return std::clamp<std::size_t>(up(columns, std::size_t{4} * block), 1,
                                 std::max<std::size_t>(wanted, 2));
}
/// Slices of a table for `column_sums`: as many blocks as all SMs hold at once and not one more,
/// which would have to wait for a whole block to end; and eight rows per warp or more.
inline std::size_t slices_of(std::size_t rows, std::size_t columns, unsigned block) {
  const std::size_t held = std::size_t{2048 / block} * sm_count();
  const std::size_t strips = std::max<std::size_t>(up(columns, 32), 1);
  return std::clamp<std::size_t>(up(rows, std::size_t{8} * (block / 32)), 1,
                                 std::max<std::size_t>(held / strips, 1));
}
inline void columns_by_warp(const Launch& l) {
  if (l.grid == 0) return;
  column_per_warp<<<l.grid, l.block>>>(l.in, l.out, l.rows, l.columns);
}
inline void sums_of_columns(const Launch& l) {
  if (l.grid == 0) return;
  const auto slices = static_cast<unsigned>(l.grid / up(l.columns, 32));
  column_sums<16><<<l.grid, l.block>>>(l.in, l.out, reinterpret_cast<float*>(l.partial), l.ticket,
                                       l.rows, l.columns, slices);
}

/// Pieces of a row for `softmax_by_blocks`.
inline std::size_t kept_pieces_of(std::size_t columns, unsigned block) {
  return std::max<std::size_t>(up(columns, std::size_t{kKept} * block), 1);
}
/// Its grid: as many rows at once as the device holds, a multiple of the pieces.
template <class Word>
std::size_t cooperative_grid(std::size_t rows, std::size_t columns, unsigned block) {
  int fit = 0;
  BOOK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &fit, softmax_by_blocks<Word, kWords<Word>>, static_cast<int>(block), 0));
  const std::size_t pieces = kept_pieces_of(columns, block);
  return std::min(rows, std::size_t{sm_count()} * static_cast<unsigned>(fit) / pieces) * pieces;
}
inline void softmaxes_by_blocks(const Launch& l) {
  with_word(l, [&](auto word) {
    using Word = decltype(word);
    auto pieces = static_cast<unsigned>(kept_pieces_of(l.columns, l.block));
    auto [in, out, rows, columns] = std::tuple{l.in, l.out, l.rows, l.columns};
    volatile unsigned long long* told = l.told;
    BOOK_CUDA(cudaMemsetAsync(l.told, 0xff, rows * pieces * sizeof *told));
    void* arguments[] = {&in, &out, &told, &rows, &columns, &pieces};
    BOOK_CUDA(cudaLaunchCooperativeKernel(softmax_by_blocks<Word, kWords<Word>>, l.grid, l.block,
                                          arguments, 0, nullptr));
  });
}

}  // namespace chapter12
