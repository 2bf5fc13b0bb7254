/// \file
/// The numbers that every kernel of the book adds up: a function of (seed, position).
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace book {

/// 64 bits for a position, the same on host and device: the splitmix64 finaliser (Steele, Lea and
/// Flood, OOPSLA 2014).
__host__ __device__ inline std::uint64_t input_bits(std::uint64_t seed, std::uint64_t position) {
  std::uint64_t z = seed + (position + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// The value at a position: 0…255, the high byte of its bits, so that neighbouring positions
/// differ: an input of equal values would hide an element read twice.
__host__ __device__ inline int input_value(std::uint64_t seed, std::uint64_t position) {
  return static_cast<int>(input_bits(seed, position) >> 56);
}

/// How an input gets to the device.
enum class Fill {
  kKernel,  ///< by a kernel: fast, for timing
  kCopy     ///< by a host copy: no kernel but the variant's runs
};

/// The input's value at `scale` times the position, and `shift` more.
struct Input {
  std::uint64_t seed = 0;
  std::size_t scale = 1, shift = 0;
  __host__ __device__ int operator()(std::size_t position) const {
    return input_value(seed, position * scale + shift);
  }
};

/// The elements of a finished sum: the same values scaled down to 0…7, so that the sum of 2^28 of
/// them fits an int.
struct SmallInput {
  std::uint64_t seed = 0;
  static constexpr int kLargest = 7;
  __host__ __device__ int operator()(std::size_t position) const {
    return input_value(seed, position) / 32;
  }
};
/// The most such elements whose sum is sure to fit an int.
constexpr std::size_t kMostSmall = 0x7fffffff / SmallInput::kLargest;

/// How `--once` fills its input. A test that no profiler watches may choose kKernel, which is
/// far faster for a large n.
inline Fill fill_of_once = Fill::kCopy;

}  // namespace book
