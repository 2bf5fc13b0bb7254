/// \file
/// What this chapter computes beside sums: walks through shared memory, and A · Aᵀ.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "book/array.hpp"
#include "book/problem.hpp"
#include "kernels.cuh"

namespace chapter04 {

/// Where a thread's walk ends: as far on as it took rounds from where its warp began, in a ring of
/// Ring elements.
template <unsigned Ring>
struct End {
  unsigned block;
  __host__ __device__ unsigned operator()(std::size_t thread) const {
    const std::size_t in_block = thread % block;
    return static_cast<unsigned>((thread / block + in_block / 32 + kRounds) % Ring);
  }
};

/// A walk through shared memory of which it is known where it ends.
template <unsigned Ring>
class Walk : public book::Problem {
 public:
  struct Launch {
    unsigned* out;
    std::size_t n;
    unsigned grid, block;
  };
  Launch launch(const book::Shape& s) const { return {out_.data(), s.n, s.grid, s.block}; }

  std::size_t device_bytes(const book::Shape& s) const override { return s.n * sizeof(unsigned); }
  void prepare(const book::Shape& s, std::uint64_t, book::Fill fill) override {
    end_ = {s.block};
    out_.resize(s.n, fill);
  }
  void release() override { out_.release(); }
  void poison() override { out_.poison(~0u); }
  book::Verdict check() override { return out_.compare(end_, "every walk ends where it must"); }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = 0, .written = s.n * sizeof(unsigned)};
  }

 private:
  book::Array<unsigned> out_;
  End<Ring> end_{};
};

using Strides = Walk<kWords>;
using Widths = Walk<kElements>;

/// An element of A: 0…15.
struct Digit {
  std::uint64_t seed;
  __host__ __device__ float operator()(std::size_t position) const {
    return static_cast<float>(book::input_value(seed, position) % 16);
  }
};

/// C = A · Aᵀ for n rows of n numbers 0…15: sums of products are integers, and exact in a float as
/// long as they are below 2^24.
class Product : public book::Problem {
 public:
  struct Launch {
    const float* a = nullptr;
    float* c = nullptr;
    unsigned n = 0;
    dim3 grid, block;
  };
  Launch launch(const book::Shape& s) const {
    const unsigned tiles = across(s.n);
    return {a_.data(), c_.data(), static_cast<unsigned>(s.n), {tiles, tiles}, {32, 32}};
  }
  static unsigned across(std::size_t n) { return static_cast<unsigned>((n + kTile - 1) / kTile); }

  std::size_t device_bytes(const book::Shape& s) const override {
    return 2 * s.n * s.n * sizeof(float);
  }
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    if (s.n != n_ || seed != seed_) {
      n_ = s.n;
      seed_ = seed;
      make_reference();
      release();
    }
    if (a_.size() > 0) return;
    a_.resize(n_ * n_, fill);
    c_.resize(n_ * n_, fill);
    a_.fill(Digit{seed});
  }
  void release() override {
    a_.release();
    c_.release();
  }
  void poison() override { c_.poison(std::numeric_limits<float>::quiet_NaN()); }
  // begin check-product
  /// To n = 512 against the host's whole product. Beyond that C · r against A · (Aᵀ · r), for a
  /// vector r of random integers: two products of a matrix and a vector in place of one of
  /// matrices.
  book::Verdict check() override {
    const std::vector<float> c = c_.to_host();
    for (std::size_t i = 0; i < n_; ++i) {
      std::int64_t row = 0;
      for (std::size_t j = 0; j < n_; ++j) {
        const float value = c[i * n_ + j];
        const bool whole =
            value >= 0 && value <= 225.0f * static_cast<float>(n_) && value == std::floor(value);
        const auto number = whole ? static_cast<std::int64_t>(value) : -1;
        if (!whole || (!product_.empty() && number != product_[i * n_ + j])) {
          return {false, "row " + std::to_string(i) + ", column " + std::to_string(j) + " is " +
                             std::to_string(value)};
        }
        row += number * r_[j];
      }
      if (row != c_times_r_[i]) return {false, "row " + std::to_string(i) + " is not the host's"};
    }
    return {true, product_.empty() ? "C times a random vector agrees with the host's"
                                   : "every element of C agrees with the host's"};
  }
  // end check-product
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = s.n * s.n * sizeof(float), .written = s.n * s.n * sizeof(float)};
  }

 private:
  void make_reference() {
    std::vector<std::int64_t> elements(n_ * n_);
    for (std::size_t e = 0; e < elements.size(); ++e) {
      elements[e] = static_cast<std::int64_t>(Digit{seed_}(e));
    }
    r_.resize(n_);
    for (std::size_t j = 0; j < n_; ++j) r_[j] = book::input_value(seed_ + 1, j);
    const auto a = [&](std::size_t i, std::size_t k) { return elements[i * n_ + k]; };
    std::vector<std::int64_t> at_times_r(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      for (std::size_t k = 0; k < n_; ++k) at_times_r[k] += a(j, k) * r_[j];
    }
    c_times_r_.assign(n_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < n_; ++k) c_times_r_[i] += a(i, k) * at_times_r[k];
    }
    product_.clear();
    if (n_ > 512) return;
    product_.resize(n_ * n_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        for (std::size_t k = 0; k < n_; ++k) product_[i * n_ + j] += a(i, k) * a(j, k);
      }
    }
  }

  book::Array<float> a_, c_;
  std::vector<std::int64_t> r_, c_times_r_, product_;
  std::size_t n_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace chapter04
