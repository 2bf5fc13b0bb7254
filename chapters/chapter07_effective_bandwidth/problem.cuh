/// \file
/// The memory's roofs, for numbers of 8 bytes as in BabelStream.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "book/array.hpp"
#include "book/problem.hpp"
#include "book/reference.hpp"

namespace chapter07 {

/// What is read and written: x and, for the triad, y in; out.
enum class Roof { kRead, kCopy, kTriad };

/// Small whole numbers, so that every result is exact.
constexpr double kScale = 3;

/// An element of x or y.
struct Whole {
  std::uint64_t seed;
  __host__ __device__ double operator()(std::size_t i) const { return book::input_value(seed, i); }
};

/// An element of the result.
template <Roof roof>
struct Result {
  std::uint64_t seed;
  __host__ __device__ double operator()(std::size_t i) const {
    const double x = Whole{seed}(i);
    return roof == Roof::kTriad ? x + kScale * Whole{seed + 1}(i) : x;
  }
};

template <Roof roof>
class Stream : public book::Problem {
 public:
  struct Launch {
    const double *x, *y;
    double* out;
    std::size_t n;
    unsigned grid, block;
  };
  Launch launch(const book::Shape& s) const {
    return {x_.data(), y_.data(), out_.data(), s.n, s.grid, s.block};
  }

  std::size_t device_bytes(const book::Shape& s) const override {
    return (inputs(s) + outputs(s)) * sizeof(double);
  }
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    const bool same_input = x_.size() == s.n && seed == seed_;
    seed_ = seed;
    out_.resize(outputs(s), fill);
    if (same_input) return;
    x_.resize(s.n, fill);
    y_.resize(inputs(s) - s.n, fill);
    x_.fill(Whole{seed});
    y_.fill(Whole{seed + 1});
  }
  void release() override {
    x_.release();
    y_.release();
    out_.release();
  }
  void poison() override { out_.poison(std::numeric_limits<double>::quiet_NaN()); }
  book::Verdict check() override {
    if constexpr (roof == Roof::kRead) {
      double sum = 0;
      for (const double each : out_.to_host()) sum += each;
      const auto expected = static_cast<double>(book::sum_of_input(x_.size(), seed_));
      return {sum == expected, "read: sum " + std::to_string(static_cast<long long>(sum)) +
                                   ", the host's " +
                                   std::to_string(static_cast<long long>(expected))};
    } else {
      const std::string name = roof == Roof::kCopy ? "copy" : "triad";
      return out_.compare(Result<roof>{seed_}, name + ": every element as expected");
    }
  }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = inputs(s) * sizeof(double), .written = outputs(s) * sizeof(double)};
  }

 private:
  static std::size_t inputs(const book::Shape& s) { return (roof == Roof::kTriad ? 2 : 1) * s.n; }
  static std::size_t outputs(const book::Shape& s) {
    return roof == Roof::kRead ? std::size_t{s.grid} * (s.block / 32) : s.n;
  }

  book::Array<double> x_, y_, out_;
  std::uint64_t seed_ = 0;
};

}  // namespace chapter07
