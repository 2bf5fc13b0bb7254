/// \file
/// The problem of this chapter: bytes of several kinds, and how often each value occurs.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "book/array.hpp"
#include "book/buffer.hpp"
#include "book/cub_histogram.hpp"
#include "book/problem.hpp"
#include "book/reference.hpp"
#include "kernels.cuh"

namespace chapter09 {

/// What the bytes are like. Where many are alike, their atomics meet.
enum class Data { kUniform, kBell, kMostly, kEqual };

/// Its name in a record.
constexpr const char* word(Data data) {
  constexpr const char* kWords[] = {"uniform", "bell", "mostly", "equal"};
  return kWords[static_cast<int>(data)];
}

// begin kinds-of-data
/// The byte at a position, of a kind of data.
template <Data D>
__host__ __device__ unsigned char byte_at(std::uint64_t seed, std::uint64_t position) {
  using book::input_value;
  if constexpr (D == Data::kUniform) {
    return static_cast<unsigned char>(input_value(seed, position));
  } else if constexpr (D == Data::kBell) {  // the mean of four is rarely far from the middle
    int sum = 0;
    for (std::uint64_t k = 0; k < 4; ++k) sum += input_value(seed + k, position);
    return static_cast<unsigned char>(sum / 4);
  } else if constexpr (D == Data::kMostly) {  // 241 of 256, that is 94 %, and the rest anything
    const bool usual = input_value(seed + 1, position) < 241;
    return static_cast<unsigned char>(input_value(seed, usual ? 0 : position));
  } else {
    return static_cast<unsigned char>(input_value(seed, 0));
  }
}
// end kinds-of-data

/// How often each value occurs.
struct Counts : std::array<std::uint64_t, kBins> {
  Counts& operator+=(const Counts& others) {
    for (unsigned bin = 0; bin < kBins; ++bin) (*this)[bin] += others[bin];
    return *this;
  }
};

/// How often each value occurs in the first n bytes.
template <Data D>
Counts count(std::size_t n, std::uint64_t seed) {
  static book::Prefixes<Counts> counts_of;
  return counts_of.up_to(n, seed, [seed](std::size_t first, std::size_t last) {
    Counts counts{};
    for (std::size_t i = first; i < last; ++i) ++counts[byte_at<D>(seed, i)];
    return counts;
  });
}

/// The bytes, after `Offset` others that don't count.
template <Data D, unsigned Offset>
struct Bytes {
  std::uint64_t seed;
  __host__ __device__ unsigned char operator()(std::size_t position) const {
    if constexpr (Offset > 0) {
      if (position < Offset) return 0;
    }
    return byte_at<D>(seed, position - Offset);
  }
};

/// How often does each of the 256 values occur in n bytes? The first of them lies `Offset` bytes
/// past a multiple of 256.
template <Data D, unsigned Offset = 0>
class Histogram : public book::Problem {
 public:
  struct Launch {
    const unsigned char* in;  ///< n bytes
    unsigned* bins;           ///< kBins counts
    std::size_t n;
    unsigned grid, block;
    std::size_t shared_bytes;
    unsigned char* storage;  ///< for CUB
    std::size_t storage_bytes;
  };
  Launch launch(const book::Shape& s) const {
    return {in_.data() + Offset, bins_.data(),   s.n, s.grid, s.block, s.shared_bytes,
            storage_.data(),     storage_.size()};
  }

  std::size_t device_bytes(const book::Shape& s) const override {
    return s.n + Offset + kBins * sizeof(unsigned) + book::cub_histogram_bytes(s.n);
  }
  void accept(const book::Shape& s) const override {
    if (s.n > UINT32_MAX) {
      throw book::bad_argument("n = " + std::to_string(s.n) +
                               ": all bytes may be the same, and a count of 32 bits goes to "
                               "4294967295 (2^32 - 1)");
    }
  }
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    const bool same_input = s.n == n_ && seed == seed_;
    if (same_input && in_.size() > 0) return;
    in_.resize(s.n + Offset, fill);
    bins_.resize(kBins, fill);
    storage_.grow(book::cub_histogram_bytes(s.n));
    in_.fill(Bytes<D, Offset>{seed});
    if (same_input) return;  // as before it was released
    n_ = s.n;
    seed_ = seed;
    expected_ = count<D>(n_, seed_);
  }
  void release() override {
    in_.release();
    bins_.release();
    storage_ = {};
  }
  void poison() override { bins_.poison(0xbad0bad0u); }
  book::Verdict check() override {
    const std::span<const unsigned> found = bins_.to_host();
    unsigned wrong = 0;
    unsigned first = 0;
    for (unsigned bin = kBins; bin-- > 0;) {
      if (found[bin] == expected_[bin]) continue;
      ++wrong;
      first = bin;
    }
    if (wrong == 0) return {true, "all 256 counts agree with the host's"};
    return {false, std::to_string(wrong) + " of 256 counts differ, the first of value " +
                       std::to_string(first) + ": " + std::to_string(found[first]) +
                       ", the host's " + std::to_string(expected_[first])};
  }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = s.n, .written = kBins * sizeof(unsigned)};
  }

 protected:
  const Counts& expected() const { return expected_; }
  const unsigned char* in() const { return in_.data() + Offset; }

 private:
  book::Array<unsigned char> in_;
  book::Array<unsigned> bins_;
  book::Buffer<unsigned char> storage_;
  std::size_t n_ = 0;
  std::uint64_t seed_ = 0;
  Counts expected_{};
};

/// The sum of the same bytes, one value per thread: how long reading takes.
class Reading : public Histogram<Data::kUniform> {
 public:
  struct Launch {
    const unsigned char* in;
    unsigned* sums;
    std::size_t n;
    unsigned grid, block;
  };
  Launch launch(const book::Shape& s) const { return {in(), sums_.data(), s.n, s.grid, s.block}; }

  std::size_t device_bytes(const book::Shape& s) const override {
    return Histogram::device_bytes(s) + useful_bytes(s).written;
  }
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    Histogram::prepare(s, seed, fill);
    sums_.resize(std::size_t{s.grid} * s.block, fill);
  }
  void release() override {
    Histogram::release();
    sums_.release();
  }
  void poison() override { sums_.poison(0xbad0bad0u); }
  book::Verdict check() override {
    std::uint64_t found = 0;
    std::uint64_t wanted = 0;
    for (const unsigned sum : sums_.to_host()) found += sum;
    for (unsigned bin = 0; bin < kBins; ++bin) wanted += bin * expected()[bin];
    return {found == wanted, "the sum of the bytes is " + std::to_string(found) + ", the host's " +
                                 std::to_string(wanted)};
  }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = s.n, .written = std::size_t{s.grid} * s.block * sizeof(unsigned)};
  }

 private:
  book::Array<unsigned> sums_;
};

/// Atomics that meet, or don't: n additions of 1, and nothing that is read. Lane k adds to word
/// k * Stride of its block.
template <unsigned Stride>
class Meeting : public book::Problem {
 public:
  struct Launch {
    unsigned* sums;
    std::size_t n;
    unsigned grid, block;
  };
  Launch launch(const book::Shape& s) const { return {sums_.data(), s.n, s.grid, s.block}; }

  std::size_t device_bytes(const book::Shape& s) const override {
    return kWords * s.grid * sizeof(unsigned);
  }
  void prepare(const book::Shape& s, std::uint64_t, book::Fill fill) override {
    shape_ = s;
    sums_.resize(kWords * s.grid, fill);
  }
  void release() override { sums_.release(); }
  void poison() override { sums_.poison(0xbad0bad0u); }
  book::Verdict check() override {
    const std::size_t threads = std::size_t{shape_.grid} * shape_.block;
    const std::span<const unsigned> found = sums_.to_host();
    for (std::size_t block = 0; block < shape_.grid; ++block) {
      std::array<std::uint64_t, kWords> expected{};
      for (unsigned t = 0; t < shape_.block; ++t) {
        const bool one_more = block * shape_.block + t < shape_.n % threads;
        expected[std::size_t{t % 32} * Stride] += shape_.n / threads + (one_more ? 1 : 0);
      }
      for (std::size_t word = 0; word < kWords; ++word) {
        const unsigned sum = found[block * kWords + word];
        if (sum == expected[word]) continue;
        return {false, "word " + std::to_string(word) + " of block " + std::to_string(block) +
                           " is " + std::to_string(sum) + " and should be " +
                           std::to_string(expected[word])};
      }
    }
    const std::string all = std::to_string(shape_.n);
    return {true, "additions of 1: " + all + " of " + all};
  }
  book::UsefulBytes useful_bytes(const book::Shape&) const override { return {}; }

 private:
  static constexpr std::size_t kWords = std::size_t{32} * 32;  // of a block
  book::Array<unsigned> sums_;
  book::Shape shape_{};
};

}  // namespace chapter09
