/// \file
/// The problem of this chapter: bytes of several kinds, and how often each value occurs.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "book/buffer.hpp"
#include "book/chapter.hpp"
#include "book/cub_histogram.hpp"
#include "book/input.hpp"
#include "kernels.cuh"

namespace chapter09 {

/// What the bytes are like. Where many are the same, their atomics meet.
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

template <Data D>
__global__ void fill(unsigned char* data, std::size_t n, std::uint64_t seed) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    data[i] = byte_at<D>(seed, i);
  }
}

using Counts = std::array<std::uint64_t, kBins>;

/// Generates n bytes on all of the host's cores, into `out` where it isn't null; how often each
/// value occurs.
template <Data D>
Counts generate(std::size_t n, std::uint64_t seed, std::size_t first, unsigned char* out) {
  const std::size_t parts = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Counts> counts(parts, Counts{});
  {
    std::vector<std::jthread> threads;
    for (std::size_t part = 0; part < parts; ++part) {
      threads.emplace_back([=, &counts] {
        Counts mine{};
        for (std::size_t i = n * part / parts; i < n * (part + 1) / parts; ++i) {
          const unsigned char value = byte_at<D>(seed, first + i);
          ++mine[value];
          if (out != nullptr) out[i] = value;
        }
        counts[part] = mine;
      });
    }
  }
  Counts sum{};
  for (const Counts& part : counts) {
    for (unsigned bin = 0; bin < kBins; ++bin) sum[bin] += part[bin];
  }
  return sum;
}

/// How often does each of the 256 values occur in n bytes? The first of them lies `Offset` bytes
/// behind a multiple of 256.
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
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill how) override {
    if (filled_ && s.n == n_ && seed == seed_) return;
    release();
    in_ = book::Buffer<unsigned char>(s.n + Offset);
    bins_ = book::Buffer<unsigned>(kBins);
    storage_ = book::Buffer<unsigned char>(book::cub_histogram_bytes(s.n));
    if (how == book::Fill::kKernel) {
      fill<D><<<1 << 14, 256>>>(in_.data() + Offset, s.n, seed);
      BOOK_CUDA(cudaGetLastError());
    } else {
      fill_by_copy(s.n, seed);
    }
    filled_ = true;
    if (s.n == n_ && seed == seed_) return;  // the same as before it was released
    n_ = s.n;
    seed_ = seed;
    expected_ = generate<D>(n_, seed_, 0, nullptr);
  }
  void release() override {
    in_ = {};
    bins_ = {};
    storage_ = {};
    filled_ = false;
  }
  void restore() override {}
  void poison() override { bins_.copy_from(std::vector<unsigned>(kBins, 0xbad0bad0u)); }
  book::Verdict check() override {
    const std::vector<unsigned> found = bins_.to_host(kBins);
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
  void fill_by_copy(std::size_t n, std::uint64_t seed) {
    // In pieces, so that the host needs 64 MiB for an input of any size.
    constexpr std::size_t kPiece = std::size_t{1} << 26;
    std::vector<unsigned char> piece(std::min(n, kPiece));
    for (std::size_t first = 0; first < n; first += kPiece) {
      const std::size_t count = std::min(kPiece, n - first);
      generate<D>(count, seed, first, piece.data());
      BOOK_CUDA(
          cudaMemcpy(in_.data() + Offset + first, piece.data(), count, cudaMemcpyHostToDevice));
    }
  }

  book::Buffer<unsigned char> in_, storage_;
  book::Buffer<unsigned> bins_;
  std::size_t n_ = 0;
  std::uint64_t seed_ = 0;
  bool filled_ = false;
  Counts expected_{};
};

/// The sum of the same bytes, one value a thread: what it takes to read them.
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
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill how) override {
    Histogram::prepare(s, seed, how);
    sums_ = {};
    sums_ = book::Buffer<unsigned>(std::size_t{s.grid} * s.block);
  }
  void release() override {
    Histogram::release();
    sums_ = {};
  }
  void poison() override { sums_.copy_from(std::vector<unsigned>(sums_.size(), 0xbad0bad0u)); }
  book::Verdict check() override {
    std::uint64_t found = 0;
    std::uint64_t wanted = 0;
    for (const unsigned sum : sums_.to_host(sums_.size())) found += sum;
    for (unsigned bin = 0; bin < kBins; ++bin) wanted += bin * expected()[bin];
    return {found == wanted, "the sum of the bytes is " + std::to_string(found) + ", the host's " +
                                 std::to_string(wanted)};
  }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = s.n, .written = std::size_t{s.grid} * s.block * sizeof(unsigned)};
  }

 private:
  book::Buffer<unsigned> sums_;
};

/// Atomics that meet, or don't: n additions of 1, and nothing that is read.
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
  void accept(const book::Shape&) const override {}
  void prepare(const book::Shape& s, std::uint64_t, book::Fill) override {
    n_ = s.n;
    sums_ = {};
    sums_ = book::Buffer<unsigned>(kWords * s.grid);
  }
  void release() override { sums_ = {}; }
  void restore() override {}
  void poison() override { sums_.copy_from(std::vector<unsigned>(sums_.size(), 0xbad0bad0u)); }
  book::Verdict check() override {
    std::uint64_t found = 0;
    for (const unsigned sum : sums_.to_host(sums_.size())) found += sum;
    return {found == n_, "additions of 1: " + std::to_string(found) + " of " + std::to_string(n_)};
  }
  book::UsefulBytes useful_bytes(const book::Shape&) const override { return {}; }

 private:
  static constexpr std::size_t kWords = 32 * 32;  // of a block
  book::Buffer<unsigned> sums_;
  std::size_t n_ = 0;
};

}  // namespace chapter09
