/// \file
/// The problem of 16-bit sums: elements of 16 bits in, their sum as a float out.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels.cuh"
#include "problem.cuh"

namespace chapter11 {

__host__ __device__ inline float nearest(float x, __half* half) {
  *half = __float2half_rn(x);
  return __half2float(*half);
}
__host__ __device__ inline float nearest(float x, __nv_bfloat16* half) {
  *half = __float2bfloat16_rn(x);
  return __bfloat162float(*half);
}

/// The element of type T nearest to the float of an input; zeros before the first `Skip`.
template <class T, class Input, unsigned Skip>
struct Rounded {
  std::uint64_t seed = 0;
  __host__ __device__ T stored(std::size_t position) const {
    T half{};
    if (position + 1 > Skip) nearest(Input{seed}(position), &half);
    return half;
  }
  /// Its value.
  __host__ __device__ float operator()(std::size_t position) const {
    T half{};
    return position + 1 > Skip ? nearest(Input{seed}(position), &half) : 0;
  }
};
template <class Value>
struct Stored {
  Value value;
  __host__ __device__ auto operator()(std::size_t position) const { return value.stored(position); }
};

/// What one rounding loses of 1, at most.
template <class T>
constexpr double kHalfUlpOf = std::is_same_v<T, __half> ? 0x1p-11 : 0x1p-8;

/// Roundings to 16 bits on an element's way, of that many elements per thread.
enum class Short {
  kNone,
  kTwo,  ///< and those of pairs
  kAll   ///< each addition of a thread
};

/// n elements of type T in, the nearest to Input{seed}(i), and one sum out. Useful bytes: 2 n read,
/// 4 written. The kernel gets the data from element Skip on: at no multiple of 16 bytes.
template <class T, class Input, Short S, unsigned Skip>
class HalfSum : public book::Problem {
 public:
  using Value = Rounded<T, Input, Skip>;
  struct Launch {
    const T* in;       ///< n elements
    float* out;        ///< one element: the result
    Plain* partial;    ///< one per block
    unsigned* ticket;  ///< 0 before every launch, and to be 0 again after it
    std::size_t n;
    unsigned grid, block;
  };
  Launch launch(const book::Shape& s) const {
    const std::size_t skip = std::min<std::size_t>(s.n, Skip);
    return {in_.data() + skip, out_.data(), partial_.data(), ticket_.data(),
            s.n - skip,        s.grid,      s.block};
  }

  std::size_t device_bytes(const book::Shape& s) const override {
    return s.n * sizeof(T) + sizeof(float) + sizeof(Plain) * s.grid + sizeof(unsigned);
  }
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    const bool same_input = filled_ && s.n == in_.size() && seed == seed_;
    shape_ = s;
    seed_ = seed;
    in_.resize(s.n, fill);
    out_.resize(1, fill);
    partial_.resize(s.grid, fill);
    ticket_.grow(1);
    ticket_.copy_from(std::vector<unsigned>{0});
    if (same_input) return;
    expected_ = exact_sum<Value>(s.n, seed);
    restore();
    filled_ = true;
  }
  void release() override {
    in_.release();
    out_.release();
    partial_.release();
    ticket_ = {};
    filled_ = false;
  }
  void restore() override { in_.fill(Stored<Value>{{seed_}}); }
  void poison() override {
    out_.poison(std::numeric_limits<float>::quiet_NaN());
    partial_.poison(Plain{std::numeric_limits<float>::quiet_NaN()});
  }
  book::Verdict check() override {
    const float found = out_.to_host()[0];
    const double off = std::abs(static_cast<double>(found) - expected_.value());
    if (!(off <= allowed())) {
      char text[160];
      std::snprintf(
          text, sizeof text,
          "sum is %.9g, and the exact one %.9g: off by %.3g, where rounding explains %.3g",
          static_cast<double>(found), expected_.value(), off, allowed());
      return {false, text};
    }
    if (ticket_.to_host(1)[0] != 0) return {false, "the ticket is not back at 0"};
    return {true, "each sum of 16-bit floats as near as its roundings allow",
            expected_.relative(found)};
  }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = s.n * sizeof(T), .written = sizeof(float)};
  }

 private:
  /// The usual bound: so many roundings of no more than the sum of magnitudes. A tensor core cuts
  /// bits off where an addition rounds: it loses up to twice as much.
  double allowed() const {
    const double threads = std::max(1.0, static_cast<double>(shape_.grid) * shape_.block);
    const double each = std::ceil(static_cast<double>(shape_.n) / threads) + 8;
    const double depth = each + 64 + shape_.grid / 32.0;
    const double shorts = S == Short::kNone ? 0 : S == Short::kTwo ? 3 : each;
    const double lost = 2 * depth * 0x1p-24 + shorts * kHalfUlpOf<T>;
    return lost / (1 - std::min(lost, 0.5)) * expected_.magnitudes();
  }

  book::Array<T> in_;
  book::Array<float> out_;
  book::Array<Plain> partial_;
  book::Buffer<unsigned> ticket_;
  book::Shape shape_;
  std::uint64_t seed_ = 0;
  ExactSum expected_;
  bool filled_ = false;
};

}  // namespace chapter11
