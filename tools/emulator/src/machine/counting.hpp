/// \file
/// What hardware counts for one access of a warp, from the addresses of its lanes. The rules were
/// found on an H200 and are exact on every probe tried.
#pragma once
#include <cstdint>

#include "decode/code.hpp"

namespace emu {

/// Distinct 32-byte pieces that the lanes of the mask touch. Accesses are aligned to their size,
/// so none straddles two.
std::uint64_t count_sectors(const std::uint64_t* address, Mask mask);

struct Wavefronts {
  std::uint32_t wavefronts = 0, conflicts = 0;
};

/// Shared memory has 32 banks of 4-byte words; one wavefront serves one word of each bank.
/// `bytes` is what a lane accesses: 1 to 16.
Wavefronts count_wavefronts(const std::uint64_t* address, Mask mask, unsigned bytes, bool is_load);

}  // namespace emu
