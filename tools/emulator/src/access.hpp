/// \file
/// From the addresses in a warp's lanes to bytes on the host: checked, and counted on the way.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "code.hpp"
#include "emu/memory.hpp"
#include "warp.hpp"

namespace emu {

enum class Space : std::uint8_t { kGeneric, kGlobal, kConstant, kShared, kLocal, kParameter };
enum class Direction : std::uint8_t { kLoad, kStore, kAtomic };

/// Where the lanes' elements are on the host.
struct Located {
  std::byte* run = nullptr;  ///< not null: one after another, lane 0's place first
  std::array<std::byte*, kLanes> at;
};

/// Finds `bytes` at each active lane's address, which must be a multiple of `align`.
/// Stops the kernel by an illegal or misaligned address.
void locate(Warp& warp, const Op& op, Mask mask, Space space, Direction direction, unsigned bytes,
            Located& out);

}  // namespace emu
