/// \file
/// What this chapter computes: copies of elements that lie apart, squared lengths of vectors, and
/// where arrays begin.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "book/array.hpp"
#include "book/problem.hpp"
#include "kernels.cuh"

namespace chapter10 {

constexpr const char* kInPlace = "every element is where it belongs";

/// Which elements are copied: of n, those `load` apart are read, from the `offset`-th on, and
/// written `store` apart.
struct Pattern {
  std::size_t load = 1, store = 1, offset = 0;
  /// Elements that the input has after the n. The input is equally long for every offset, so that
  /// input and output lie alike and only the offset differs.
  std::size_t behind = 0;

  std::size_t taken(std::size_t n) const { return (n + load * store - 1) / (load * store); }
  std::size_t in_size(std::size_t n) const { return (store > 1 ? taken(n) : n) + behind; }
  std::size_t out_size(std::size_t n) const { return load > 1 ? taken(n) : n; }
};
constexpr std::size_t kFurthestOffset = 32;

/// An element of the output: poison where none is written.
struct Copied {
  std::uint64_t seed;
  Pattern pattern;
  __host__ __device__ int operator()(std::size_t i) const {
    if (i % pattern.store != 0) return book::kPoison;
    return book::input_value(seed, i / pattern.store * pattern.load + pattern.offset);
  }
};

/// Elements copied as the pattern says. Useful bytes: 4 read and 4 written for each one taken.
class Copy : public book::Problem {
 public:
  struct Launch {
    const int* in;
    int* out;
    std::size_t n;
    unsigned grid, block;
  };
  explicit Copy(const Pattern& pattern = {}) : pattern_(pattern) {}
  Launch launch(const book::Shape& s) const {
    return {in_.data(), out_.data(), s.n, s.grid, s.block};
  }

  std::size_t device_bytes(const book::Shape& s) const override {
    return (pattern_.in_size(s.n) + pattern_.out_size(s.n)) * sizeof(int);
  }
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    seed_ = seed;
    in_.resize(pattern_.in_size(s.n), fill);
    out_.resize(pattern_.out_size(s.n), fill);
    in_.fill(book::Input{seed});
  }
  void release() override {
    in_.release();
    out_.release();
  }
  void poison() override { out_.poison(book::kPoison); }
  book::Verdict check() override { return out_.compare(Copied{seed_, pattern_}, kInPlace); }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    const std::size_t bytes = pattern_.taken(s.n) * sizeof(int);
    return {.read = bytes, .written = bytes};
  }

 private:
  Pattern pattern_;
  book::Array<int> in_, out_;
  std::uint64_t seed_ = 0;
};

/// How n vectors of three ints lie in memory. Whatever the layout, vector i is the input's
/// values 3i, 3i + 1 and 3i + 2.
enum class Layout { kPacked, kAligned, kArrays };

/// Each fourth int belongs to no vector: a kernel that uses it gives a wrong result.
struct Padded {
  std::uint64_t seed;
  __host__ __device__ int operator()(std::size_t i) const {
    return i % 4 == 3 ? book::kPoison : book::input_value(seed, i / 4 * 3 + i % 4);
  }
};
struct SquaredLength {
  std::uint64_t seed;
  __host__ __device__ int operator()(std::size_t i) const {
    int sum = 0;
    for (unsigned k = 0; k < 3; ++k) {
      const int value = book::input_value(seed, 3 * i + k);
      sum += value * value;
    }
    return sum;
  }
};

/// Squared lengths of n vectors. Useful bytes: 12 read and 4 written for each.
template <Layout layout>
class Vectors : public book::Problem {
 public:
  struct Launch {
    const int *in, *y, *z;  // one array, or the three
    int* out;
    std::size_t n;
    unsigned grid, block;
    std::size_t shared_bytes;
    const Vec3* packed() const { return reinterpret_cast<const Vec3*>(in); }
    const AlignedVec3* aligned() const { return reinterpret_cast<const AlignedVec3*>(in); }
  };
  Launch launch(const book::Shape& s) const {
    return {in_.data(), y_.data(), z_.data(), out_.data(), s.n, s.grid, s.block, s.shared_bytes};
  }

  std::size_t device_bytes(const book::Shape& s) const override {
    return (layout == Layout::kAligned ? 5 : 4) * s.n * sizeof(int);
  }
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    in_.resize(s.n * (layout == Layout::kPacked ? 3 : layout == Layout::kAligned ? 4 : 1), fill);
    if constexpr (layout == Layout::kArrays) {
      y_.resize(s.n, fill);
      z_.resize(s.n, fill);
    }
    out_.resize(s.n, fill);
    seed_ = seed;
    if constexpr (layout == Layout::kPacked) {
      in_.fill(book::Input{seed});
    } else if constexpr (layout == Layout::kAligned) {
      in_.fill(Padded{seed});
    } else {
      in_.fill(book::Input{seed, 3, 0});
      y_.fill(book::Input{seed, 3, 1});
      z_.fill(book::Input{seed, 3, 2});
    }
  }
  void release() override {
    for (book::Array<int>* each : {&in_, &y_, &z_, &out_}) each->release();
  }
  void poison() override { out_.poison(book::kPoison); }
  book::Verdict check() override { return out_.compare(SquaredLength{seed_}, kInPlace); }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = 3 * s.n * sizeof(int), .written = s.n * sizeof(int)};
  }

 private:
  book::Array<int> in_, y_, z_, out_;
  std::uint64_t seed_ = 0;
};

using Packed = Vectors<Layout::kPacked>;
using Aligned = Vectors<Layout::kAligned>;
using Arrays = Vectors<Layout::kArrays>;

/// Where arrays of odd sizes begin.
class Allocations : public book::Problem {
 public:
  static constexpr std::size_t kSizes[] = {1, 12, 100, 256, 257, 1000, 4097, 100001};  // bytes
  static constexpr unsigned kCount = std::size(kSizes);
  struct Launch {
    const char* const* arrays;
    std::uint64_t* addresses;
    unsigned block;
  };
  Launch launch(const book::Shape& s) const {
    return {pointers_.data(), addresses_.data(), s.block};
  }

  std::size_t device_bytes(const book::Shape&) const override { return std::size_t{1} << 20; }
  void prepare(const book::Shape&, std::uint64_t, book::Fill) override {
    if (pointers_.size() != 0) return;
    std::vector<const char*> pointers;
    for (const std::size_t size : kSizes) {
      arrays_.emplace_back(size);
      pointers.push_back(arrays_.back().data());
    }
    pointers_ = book::Buffer<const char*>(kCount);
    pointers_.copy_from(pointers);
    addresses_ = book::Buffer<std::uint64_t>(kCount);
  }
  void release() override {
    arrays_.clear();
    pointers_ = {};
    addresses_ = {};
  }
  void poison() override { addresses_.copy_from(std::vector<std::uint64_t>(kCount, 1)); }
  book::Verdict check() override {
    std::uint64_t all = 0;  // whose lowest bit is the lowest of any address
    const std::vector<std::uint64_t> addresses = addresses_.to_host(kCount);
    for (unsigned i = 0; i < kCount; ++i) {
      if (addresses[i] != reinterpret_cast<std::uint64_t>(arrays_[i].data())) {
        return {false, "the device and the host have different addresses for one array"};
      }
      all |= addresses[i];
    }
    return {all % 256 == 0, std::to_string(kCount) +
                                " arrays of 1 to 100001 bytes begin at multiples of " +
                                std::to_string(all & -all) + " bytes"};
  }
  book::UsefulBytes useful_bytes(const book::Shape&) const override { return {}; }

 private:
  std::vector<book::Buffer<char>> arrays_;
  book::Buffer<const char*> pointers_;
  book::Buffer<std::uint64_t> addresses_;
};

}  // namespace chapter10
