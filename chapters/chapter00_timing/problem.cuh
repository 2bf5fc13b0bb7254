/// \file
/// What this chapter measures beside sums: a launch of nothing, and a chase through a ring.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "book/array.hpp"
#include "book/problem.hpp"

namespace chapter00 {

/// A launch of nothing. There is no result to compare: that the launch ended without an error,
/// which the driver asks anyway, is all that can be right about it.
class Nothing : public book::Problem {
 public:
  struct Launch {
    unsigned grid, block;
  };
  Launch launch(const book::Shape& shape) const { return {shape.grid, shape.block}; }
  std::size_t device_bytes(const book::Shape&) const override { return 0; }
  void prepare(const book::Shape&, std::uint64_t, book::Fill) override {}
  void poison() override {}
  book::Verdict check() override { return {true, "an empty kernel computes nothing"}; }
  book::UsefulBytes useful_bytes(const book::Shape&) const override { return {}; }
};

/// The element after a position in a ring that visits all of 0…n-1 in a scattered order.
///
/// A linear congruential generator modulo the next power of two m has full period when its
/// increment is odd and its multiplier is 1 modulo 4 (Hull and Dobell, SIAM Review 4, 1962);
/// leaving out what is not below n leaves one ring through the rest.
struct Successor {
  unsigned n, m;
  __host__ __device__ unsigned operator()(std::size_t position) const {
    auto at = static_cast<unsigned>(position);
    do {
      at = (at * 1664525u + 1013904223u) & (m - 1);
    } while (at >= n);
    return at;
  }
};

/// A ring of n elements, of which a chase visits kHops one after the other.
class Ring : public book::Problem {
 public:
  static constexpr unsigned kHops = 4096;
  struct Launch {
    const unsigned* next;
    unsigned* last;
  };
  Launch launch(const book::Shape&) const { return {next_.data(), last_.data()}; }

  std::size_t device_bytes(const book::Shape& shape) const override {
    return (shape.n + 1) * sizeof(unsigned);
  }
  void accept(const book::Shape& shape) const override {
    if (shape.n > (std::size_t{1} << 31)) {
      throw book::bad_argument("a ring has at most 2^31 elements, so that 32 bits can number them");
    }
  }
  void prepare(const book::Shape& shape, std::uint64_t, book::Fill fill) override {
    last_.resize(1, fill);
    if (shape.n == next_.size()) return;
    next_.resize(shape.n, fill);
    successor_ = {static_cast<unsigned>(shape.n), 1};
    while (successor_.m < successor_.n) successor_.m *= 2;
    next_.fill(successor_);
  }
  void release() override {
    next_.release();
    last_.release();
  }
  void poison() override { last_.poison(~0u); }
  book::Verdict check() override {
    unsigned expected = 0;
    for (unsigned hop = 0; hop < kHops; ++hop) expected = successor_(expected);
    const unsigned found = last_.to_host()[0];
    return {found == expected, "the chase ended at element " + std::to_string(found) +
                                   ", the host's at " + std::to_string(expected)};
  }
  book::UsefulBytes useful_bytes(const book::Shape&) const override {
    return {.read = kHops * sizeof(unsigned), .written = sizeof(unsigned)};
  }

 private:
  book::Array<unsigned> next_, last_;
  Successor successor_{};
};

}  // namespace chapter00
