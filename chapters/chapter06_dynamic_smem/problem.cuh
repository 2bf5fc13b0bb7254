/// \file
/// What this chapter computes besides sums: two sums at once, and the limits of shared memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "book/array.hpp"
#include "book/problem.hpp"
#include "book/reference.hpp"
#include "kernels.cuh"

namespace chapter06 {

// begin allow-shared
/// Lets a kernel be launched with so many bytes of dynamic shared memory. Up to 48 KiB it may
/// without asking.
template <class... Args>
void allow(void (*kernel)(Args...), std::size_t bytes) {
  BOOK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)));
}
// end allow-shared

/// The square of an element.
struct Square {
  std::uint64_t seed;
  int operator()(std::size_t position) const {
    const int value = book::input_value(seed, position);
    return value * value;
  }
};

/// The sum and the sum of squares of n integers, one pair per block: a block's 1024 elements fit an
/// int in any case.
class Moments : public book::Problem {
 public:
  struct Launch {
    const int* in;
    int* sums;
    long long* squares;
    std::size_t n;
    unsigned grid, block;
    std::size_t shared_bytes;
  };
  Launch launch(const book::Shape& s) const {
    return {in_.data(), sums_.data(), squares_.data(), s.n, s.grid, s.block, s.shared_bytes};
  }

  std::size_t device_bytes(const book::Shape& s) const override {
    return s.n * sizeof(int) + s.grid * (sizeof(int) + sizeof(long long));
  }
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    in_.resize(s.n, fill);
    sums_.resize(s.grid, fill);
    squares_.resize(s.grid, fill);
    in_.fill(book::Input{seed});
    expected_sum_ = book::sum_of_input(s.n, seed);
    expected_squares_ = book::sum_of<Square>(s.n, seed);
  }
  void release() override {
    in_.release();
    sums_.release();
    squares_.release();
  }
  void poison() override {
    sums_.poison(book::kPoison);
    squares_.poison(-1);
  }
  book::Verdict check() override {
    book::Verdict sums = book::compare_sums(sums_.to_host(), expected_sum_);
    if (!sums.agrees) return sums;
    long long found = 0;
    for (const long long square : squares_.to_host()) {
      if (square < 0) return {false, "a block left no sum of squares"};
      found += square;
    }
    return {found == expected_squares_, "sum of squares " + std::to_string(found) +
                                            ", the host's " + std::to_string(expected_squares_)};
  }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = s.n * sizeof(int), .written = s.grid * (sizeof(int) + sizeof(long long))};
  }

 private:
  book::Array<int> in_, sums_;
  book::Array<long long> squares_;
  std::int64_t expected_sum_ = 0, expected_squares_ = 0;
};

/// How much shared memory a block is given, and what is said where it asks for more.
class Limits : public book::Problem {
 public:
  struct Launch {
    int* out;
    unsigned block;
    std::size_t bytes;
  };
  Launch launch(const book::Shape& s) const { return {out_.data(), s.block, most_}; }

  std::size_t device_bytes(const book::Shape&) const override { return sizeof(int); }
  // begin run-limits
  void prepare(const book::Shape& s, std::uint64_t, book::Fill fill) override {
    out_.resize(1, fill);
    plain_ = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    most_ = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);

    allow(both_ends, plain_);  // as it is for a kernel that never asked
    past_plain_ = launched(s.block, plain_ + 1);
    asked_past_most_ = cudaFuncSetAttribute(both_ends, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(most_ + 1));
    allow(both_ends, most_);
    past_most_ = launched(s.block, most_ + 1);
    static_cast<void>(cudaGetLastError());  // the refusals are noted, and done with
  }
  // end run-limits
  void release() override { out_.release(); }
  void poison() override { out_.poison(book::kPoison); }
  book::Verdict check() override {
    const bool whole = out_.to_host()[0] == static_cast<int>(most_ / sizeof(int));
    const auto refused = cudaErrorInvalidValue;
    return {whole && past_plain_ == refused && asked_past_most_ == refused && past_most_ == refused,
            "shared memory, bytes per block:" +
                line("launched with ", plain_ + 1, ", nothing asked for: ", past_plain_) +
                line("asked for ", most_ + 1, ": ", asked_past_most_) +
                line("launched with ", most_ + 1, ", the most asked for: ", past_most_) +
                line("launched with ", most_, ", the most asked for: ", cudaSuccess) +
                (whole ? "" : ", and its ends did not hold what was written")};
  }
  book::UsefulBytes useful_bytes(const book::Shape&) const override { return {}; }

 private:
  static std::size_t attribute(cudaDeviceAttr which) {
    int device = 0;
    int value = 0;
    BOOK_CUDA(cudaGetDevice(&device));
    BOOK_CUDA(cudaDeviceGetAttribute(&value, which, device));
    return static_cast<std::size_t>(value);
  }
  cudaError_t launched(unsigned block, std::size_t bytes) const {
    both_ends<<<1, block, bytes>>>(out_.data(), 2);
    return cudaGetLastError();
  }
  static std::string line(const char* what, std::size_t bytes, const char* how, cudaError_t said) {
    return std::string("\n  ") + what + std::to_string(bytes) + how + cudaGetErrorName(said) +
           " (" + std::to_string(said) + ")";
  }

  book::Array<int> out_;
  std::size_t plain_ = 0, most_ = 0;
  cudaError_t past_plain_ = cudaSuccess, asked_past_most_ = cudaSuccess, past_most_ = cudaSuccess;
};

}  // namespace chapter06
