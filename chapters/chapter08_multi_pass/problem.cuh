/// \file
/// The sum of 1, 2, 3, …, for which 32 bits are soon too few; and the climb's last sums.
#pragma once
#include <cstddef>
#include <cstdint>

#include "book/finished_sum.hpp"
#include "book/reference.hpp"
#include "book/whole_sum.hpp"

namespace chapter08 {

/// 1, 2, 3, … (and after 2^31 - 1 from 0 on again, so that it stays an int).
struct Rising {
  __host__ __device__ int operator()(std::size_t position) const {
    return static_cast<int>((position + 1) & 0x7fffffff);
  }
};

/// 1 + 2 + … + n.
template <class Out>
class Ramp : public book::WholeSum<Out> {
 protected:
  void fill_in(book::Array<int>& in, std::uint64_t) const override { in.fill(Rising{}); }
  std::int64_t sum_of(std::size_t n, std::uint64_t) const override {
    constexpr std::size_t kPeriod = std::size_t{1} << 31;
    const auto triangle = [](std::size_t m) { return static_cast<std::int64_t>(m * (m + 1) / 2); };
    return static_cast<std::int64_t>(n / kPeriod) * triangle(kPeriod - 1) + triangle(n % kPeriod);
  }
};

/// The finished sum's input, for what needs more than scratch memory for it: words to hand in by,
/// or CUB's storage.
class Small : public book::WholeSum<unsigned> {
 public:
  void accept(const book::Shape& shape) const override { book::accept_small(shape.n); }

 protected:
  void fill_in(book::Array<int>& in, std::uint64_t seed) const override {
    in.fill(book::SmallInput{seed});
  }
  std::int64_t sum_of(std::size_t n, std::uint64_t seed) const override {
    return book::sum_of_small_input(n, seed);
  }
};

}  // namespace chapter08
