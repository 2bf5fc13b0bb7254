/// \file
/// The finished sum, for kernels that add in `int`: n integers in, one sum out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "book/array.hpp"
#include "book/chapter.hpp"
#include "book/input.hpp"
#include "book/sum.hpp"

namespace book {

/// Refuses an n whose sum could overflow an int (throws Error, kBadArgument).
void accept_small(std::size_t n);

/// n values 0…7 in, one int out, compared exactly with the host's sum. Useful bytes: 4·n read,
/// 4 written.
class FinishedSum : public IntegerSum {
 public:
  /// What a launch needs.
  struct Launch {
    int* in;                   ///< n elements; only a variant that says so may write them
    int* out;                  ///< one element: the result
    int* partial;              ///< two arrays of `grid` elements, for what is left after a pass
    std::size_t n;             ///< elements
    unsigned grid, block;      ///< blocks of the first pass, threads per block
    std::size_t shared_bytes;  ///< dynamic shared memory, bytes per block
  };

  Launch launch(const Shape& shape) const;

  std::size_t device_bytes(const Shape& shape) const override;
  void accept(const Shape& shape) const override;
  void poison() override;
  Verdict check() override;
  UsefulBytes useful_bytes(const Shape& shape) const override;

 private:
  void make_room(const Shape& shape, Fill fill) override;
  void free_room() override;
  void fill_in(Array<int>& in, std::uint64_t seed) const override;
  std::int64_t sum_of(std::size_t n, std::uint64_t seed) const override;

  Array<int> partial_, out_;
};

// begin until-one-is-left
/// Launches a pass again and again, each time on the partial sums that the last one has left, until
/// a single block leaves a single sum.
///
/// \param pass    launches a kernel that leaves one sum per block
/// \param factor  elements of a block: factor × its threads
template <class Pass>
void until_one_is_left(const FinishedSum::Launch& l, std::size_t factor, const Pass& pass) {
  Sum::Launch next{l.in, nullptr, l.n, l.grid, l.block, l.shared_bytes};
  int* free = l.partial;
  int* other = l.partial + l.grid;
  for (;;) {
    next.partial = next.grid == 1 ? l.out : free;
    pass(next);
    if (next.grid == 1) return;
    next.in = next.partial;
    next.n = next.grid;
    next.grid = grid_for(next.n, l.block, factor);
    std::swap(free, other);
  }
}
// end until-one-is-left

/// The n that a finished sum takes, and those over which it is swept: 2^10, 2^12, … 2^28.
Sizes finished_sizes();
Axis finished_axis();

/// A variant on FinishedSum's input as a finished sum: its name gets `_sum` behind it, its runs the
/// parameter `finished`, which tells them from first passes. One with no axes keeps none.
Variant as_finished(Variant v);

/// A rung as a finished sum: its kernel adds up its own partial sums, too. Profilers look at its
/// first pass, which is a variant of its own.
///
/// \param rung  as it would be with book::Sum: n / (block × factor) blocks; its launch is ignored
/// \param pass  one pass, called with a Sum::Launch
template <class Pass>
Variant finished(Variant rung, Pass pass) {
  // A block must leave fewer values than it takes.
  if (rung.factor == 1 && rung.blocks.low < 2) rung.blocks.low = 2;
  rung.profiled = false;
  rung.launch = launch<FinishedSum>([pass, factor = rung.factor](const FinishedSum::Launch& l) {
    until_one_is_left(l, factor, pass);
  });
  return as_finished(std::move(rung));
}

}  // namespace book
