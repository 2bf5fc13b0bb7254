/// \file
/// What this chapter computes beside sums: walks through shared memory, and A · Aᵀ.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "book/array.hpp"
#include "book/cores.hpp"
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

/// What is known of C = A · Aᵀ for n rows of n digits.
struct Reference {
  std::vector<std::int64_t> r;          ///< random integers
  std::vector<std::int64_t> c_times_r;  ///< A · (Aᵀ · r)
  std::vector<std::int64_t> c;          ///< to n = 512, all of it

  Reference(std::size_t n, std::uint64_t seed) : r(n), c_times_r(n) {
    std::vector<std::int64_t> elements(n * n);
    on_rows(n, [&](std::size_t first, std::size_t last) {
      for (std::size_t e = first * n; e < last * n; ++e) {
        elements[e] = static_cast<std::int64_t>(Digit{seed}(e));
      }
    });
    for (std::size_t j = 0; j < n; ++j) r[j] = book::input_value(seed + 1, j);
    const auto a = [&](std::size_t i, std::size_t k) { return elements[i * n + k]; };
    std::vector<std::int64_t> at_times_r(n);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) at_times_r[k] += a(j, k) * r[j];
    }
    if (n <= 512) c.resize(n * n);
    on_rows(n, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        for (std::size_t k = 0; k < n; ++k) c_times_r[i] += a(i, k) * at_times_r[k];
        for (std::size_t j = 0; j < n && !c.empty(); ++j) {
          for (std::size_t k = 0; k < n; ++k) c[i * n + j] += a(i, k) * a(j, k);
        }
      }
    });
  }

  /// Calls work(first, last) for parts of the rows, on all of the host's cores.
  template <class Work>
  static void on_rows(std::size_t n, const Work& work) {
    constexpr std::size_t kLeast = 16;  // rows that are worth a thread
    book::on_all_cores(
        n, [&](std::size_t, std::size_t first, std::size_t last) { work(first, last); }, kLeast);
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
    const Reference& host = references_.try_emplace({n_, seed_}, n_, seed_).first->second;
    const std::span<const float> c = c_.to_host();
    std::vector<std::string> wrong(n_);  // what is wrong with each row
    Reference::on_rows(n_, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) wrong[i] = wrong_in_row(i, c, host);
    });
    for (const std::string& row : wrong) {
      if (!row.empty()) return {false, row};
    }
    return {true, host.c.empty() ? "C times a random vector agrees with the host's"
                                 : "every element of C agrees with the host's"};
  }
  // end check-product
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = s.n * s.n * sizeof(float), .written = s.n * s.n * sizeof(float)};
  }

 private:
  /// What is wrong with row i of C; empty where nothing is.
  std::string wrong_in_row(std::size_t i, std::span<const float> c, const Reference& host) const {
    const float most = 225.0f * static_cast<float>(n_);
    std::int64_t row = 0;
    for (std::size_t j = 0; j < n_; ++j) {
      const float value = c[i * n_ + j];
      const bool in_range = value >= 0 && value <= most;
      const auto number = in_range ? static_cast<std::int64_t>(value) : -1;
      const bool whole = in_range && static_cast<float>(number) == value;
      if (!whole || (!host.c.empty() && number != host.c[i * n_ + j])) {
        return "row " + std::to_string(i) + ", column " + std::to_string(j) + " is " +
               std::to_string(value);
      }
      row += number * host.r[j];
    }
    return row == host.c_times_r[i] ? "" : "row " + std::to_string(i) + " is not the host's";
  }

  book::Array<float> a_, c_;
  std::map<std::pair<std::size_t, std::uint64_t>, Reference> references_;  // by n and seed
  std::size_t n_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace chapter04
