/// \file
/// Loops over a warp's lanes.
#pragma once
#include <array>

#include "decode/op.hpp"
#include "ptx/types.hpp"

// Results and sources may be the same register, never parts of each other: no lane depends on
// another, and the compiler may vectorise.
#if defined(__clang__)
#define EMU_FOR_LANES \
  _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < kLanes; ++i)
#else
#define EMU_FOR_LANES _Pragma("GCC ivdep") for (unsigned i = 0; i < kLanes; ++i)
#endif

namespace emu {

inline constexpr std::array<Mask, kLanes> kBit = [] {
  std::array<Mask, kLanes> bits{};
  for (unsigned i = 0; i < kLanes; ++i) bits[i] = Mask{1} << i;
  return bits;
}();

/// Calls f(lane) for each lane of the mask.
template <class F>
void for_each_lane(Mask mask, F f) {
  for (; mask; mask &= mask - 1) f(static_cast<unsigned>(__builtin_ctz(mask)));
}

}  // namespace emu
