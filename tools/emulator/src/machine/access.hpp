/// \file
/// From the addresses in a warp's lanes to bytes on the host: checked, and counted on the way.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "decode/op.hpp"
#include "emu/memory.hpp"
#include "machine/warp.hpp"

namespace emu {

enum class Space : std::uint8_t { kGeneric, kGlobal, kConstant, kShared, kLocal, kParameter };
enum class Direction : std::uint8_t {
  kLoad,
  kStore,
  kAtomic,
  kCopy,    ///< the write of a cp.async, which comes later and makes no wavefront
  kBarrier  ///< the write of an mbarrier's first value, which makes no wavefront
};

/// Where the lanes' elements are on the host.
struct Located {
  std::byte* run = nullptr;    ///< not null: one after another, lane 0's place first
  std::byte* one = nullptr;    ///< not null: all at this place, as `at` says too
  std::byte* first = nullptr;  ///< not null: all so far from this place (lanes left out: 0)
  alignas(64) std::array<std::int32_t, kLanes> distance;
  Mask left_out = 0;  ///< lanes whose access was illegal, in a launch that goes on
  Mask apart = 0;     ///< lanes whose element lies in another block's shared memory
  std::array<std::byte*, kLanes> at;
};

inline constexpr unsigned kMostBytes = 16;  ///< of one lane in one access

/// The address that a lane accesses, of an operation whose payload begins with a MemoryOperand.
std::uint64_t address_of(Warp& warp, const Op& op, unsigned lane);

/// Finds `bytes` at each active lane's address, which must be a multiple of `bytes`, and tells
/// those who look on; `values` is a store's.
/// Stops the kernel by an illegal or misaligned address.
inline void locate(Warp& warp, const Op& op, Mask mask, Space space, Direction direction,
                   unsigned bytes, Located& out, Gather values = nullptr) {
  warp.locate(space)(warp, op, mask, direction, bytes, out, values);
}

/// Tells those who look on that what they were told of last has been carried out.
void tell_accessed(Warp& warp);

}  // namespace emu
