/// \file
/// The problem of this chapter: floats of several kinds, and how far a sum is from the exact one.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "book/array.hpp"
#include "book/buffer.hpp"
#include "book/cub_sum.hpp"
#include "book/problem.hpp"
#include "book/reference.hpp"
#include "exact_host.hpp"
#include "kernels.cuh"

namespace chapter11 {

/// What the floats are like.
enum class Data { kUniform, kMixed, kIll, kWide };

/// Its name in a record.
constexpr const char* word(Data data) {
  constexpr const char* kWords[] = {"uniform", "mixed", "ill", "wide"};
  return kWords[static_cast<int>(data)];
}

/// The float that has these bits.
__host__ __device__ inline float float_of(std::uint32_t bits) {
  float value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// begin kinds-of-floats
/// The float at a position, of a kind of data.
template <Data D>
__host__ __device__ float float_at(std::uint64_t seed, std::uint64_t position) {
  using book::input_bits;
  if constexpr (D == Data::kUniform) {  // from 0 to 1, in steps of 2^-24
    return static_cast<float>(input_bits(seed, position) >> 40) * 0x1p-24f;
  } else if constexpr (D == Data::kMixed) {  // the same from -1 to 1
    const auto steps = static_cast<std::int64_t>(input_bits(seed, position) >> 39);
    return static_cast<float>(steps - (1 << 24)) * 0x1p-24f;
  } else if constexpr (D == Data::kIll) {  // from 1 to 2, and 4096 positions on the same negative,
    const std::uint64_t bits = input_bits(seed, position % 4096 + position / 8192 * 4096);
    const float large = 1 + static_cast<float>(bits >> 53) * 0x1p-11f;
    const float small = static_cast<float>(input_bits(seed + 1, position) >> 53) * 0x1p-23f;
    return (position & 4096) == 0 ? large + small : small - large;  // but for the last 11 bits
  } else {  // either sign, and 120 powers of two
    const std::uint64_t bits = input_bits(seed, position);
    const auto power = static_cast<std::uint32_t>(((bits & 0xffff) * 120) >> 16);
    const auto word = static_cast<std::uint32_t>(bits >> 32);
    return float_of((word & 0x807fffffu) | ((67 + power) << 23));
  }
}
// end kinds-of-floats

/// The floats as a function of the position alone.
template <Data D>
struct Floats {
  std::uint64_t seed = 0;
  __host__ __device__ float operator()(std::size_t position) const {
    return float_at<D>(seed, position);
  }
};

/// How far from the exact sum a method may end.
enum class Bound {
  kExact,   ///< not at all
  kRounds,  ///< each element has been through so many roundings: depth * 2^-24 of all magnitudes
  kOnce,    ///< Kahan's: each element has been through about two, however many there are
  kTwice    ///< as the first with twice the bits, and one rounding at the end
};

/// n floats Input{seed}(i) in, one sum out. Useful bytes: 4 n read, 4 written.
template <class Input, Bound B>
class FloatSum : public book::Problem {
 public:
  struct Launch {
    const float* in;         ///< n elements
    float* out;              ///< one element: the result
    unsigned char* partial;  ///< 8 bytes per block
    unsigned* ticket;        ///< 0 before every launch, and to be 0 again after it
    Exact* state;            ///< all zeros, likewise
    void* storage;           ///< CUB's scratch memory
    std::size_t storage_bytes;
    std::size_t n;
    unsigned grid, block;
    std::size_t shared_bytes;
  };
  Launch launch(const book::Shape& s) const {
    return {in_.data(),    out_.data(),     partial_.data(),  ticket_.data(),
            state_.data(), storage_.data(), storage_.bytes(), s.n,
            s.grid,        s.block,         s.shared_bytes};
  }

  std::size_t device_bytes(const book::Shape& s) const override {
    return (s.n + 1) * sizeof(float) + kPartialBytes * s.grid + sizeof(unsigned) + sizeof(Exact) +
           book::cub_sum_bytes(s.n);
  }
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    const bool same_input = filled_ && s.n == in_.size() && seed == seed_;
    shape_ = s;
    seed_ = seed;
    in_.resize(s.n, fill);
    out_.resize(1, fill);
    partial_.resize(kPartialBytes * s.grid, fill);
    ticket_.grow(1);
    state_.grow(1);
    storage_.grow(book::cub_sum_bytes(s.n));
    ticket_.copy_from(std::vector<unsigned>{0});
    state_.copy_from(std::vector<Exact>(1));
    if (same_input) return;
    expected_ = exact_sum<Input>(s.n, seed);
    restore();
    filled_ = true;
  }
  void release() override {
    in_.release();
    out_.release();
    partial_.release();
    ticket_ = {};
    state_ = {};
    storage_ = {};
    filled_ = false;
  }
  void restore() override { in_.fill(Input{seed_}); }
  void poison() override {
    out_.poison(std::numeric_limits<float>::quiet_NaN());
    partial_.poison(0xff);  // NaN again
  }
  book::Verdict check() override {
    const float found = out_.to_host()[0];
    const float nearest = expected_.nearest();
    const double off = std::abs(static_cast<double>(found) - expected_.value());
    const std::string text = "sum is " + text_of(found);
    if constexpr (B == Bound::kExact) {
      const Exact state = state_.to_host(1)[0];
      const auto zero = [](unsigned long long digit) { return digit == 0; };
      const bool same = std::isnan(nearest) ? std::isnan(found)
                                            : std::bit_cast<std::uint32_t>(found) ==
                                                  std::bit_cast<std::uint32_t>(nearest);
      if (!same) {
        return {false, text + ", and the float nearest to the exact sum " + text_of(nearest)};
      }
      if (!std::ranges::all_of(state.digit, zero) || state.special != 0 || state.ticket != 0) {
        return {false, text + ", but its digits aren't clear for the next launch"};
      }
    } else if (!(off <= allowed())) {
      return {false, text + ", and the exact one " + text_of(nearest) + ": off by " +
                         text_of(static_cast<float>(off)) + ", where rounding explains " +
                         text_of(static_cast<float>(allowed()))};
    }
    return {true, "the exact sum, to the nearest float: " + text_of(nearest),
            expected_.relative(found)};
  }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = s.n * sizeof(float), .written = sizeof(float)};
  }

 private:
  static constexpr std::size_t kPartialBytes = 8;

  /// Additions on an element's way into the sum: those of its thread, then trees of blocks and
  /// grid. CUB shares the work out otherwise, but no thread of its gets more elements than that.
  double depth() const {
    const double threads = std::max(1.0, static_cast<double>(shape_.grid) * shape_.block);
    return std::ceil(static_cast<double>(shape_.n) / threads) + 64 + shape_.grid / 32.0;
  }
  double allowed() const {
    constexpr double kHalfUlp = 0x1p-24;
    const double magnitudes = expected_.magnitudes();
    if (B == Bound::kRounds) return depth() * kHalfUlp * magnitudes;
    if (B == Bound::kOnce) return 4 * kHalfUlp * magnitudes;
    return 2 * kHalfUlp * std::abs(expected_.value()) +
           depth() * depth() * kHalfUlp * kHalfUlp * magnitudes;
  }
  static std::string text_of(float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    return text;
  }

  book::Array<float> in_, out_;
  book::Array<unsigned char> partial_;
  book::Buffer<unsigned> ticket_;
  book::Buffer<Exact> state_;
  book::Buffer<unsigned char> storage_;
  book::Shape shape_;
  std::uint64_t seed_ = 0;
  ExactSum expected_;
  bool filled_ = false;
};

}  // namespace chapter11
