/// \file
/// What a launch may ask for, and how many of its blocks the device holds: an H200's, as
/// cudart/profile.cpp has them.
#pragma once
#include <algorithm>
#include <cstdint>

#include "emu/launch.hpp"

namespace emu {

struct PageLimits {
  Dim3 grid{2'147'483'647, 65'535, 65'535}, block{1024, 1024, 64};
  unsigned threads = 1024;                                  ///< of a block
  unsigned multiprocessors = 132, blocks = 32, warps = 64;  ///< of each multiprocessor
  std::uint64_t shared = 233'472;                           ///< of a multiprocessor
  std::uint64_t shared_opt_in = 232'448;                    ///< of a block, once it was asked for
  std::uint64_t shared_reserved = 1024, shared_unit = 128;

  /// In CUDA's words why a launch can't be; null where it can.
  const char* refuse(const Kernel& kernel, const Dim3& g, const Dim3& b,
                     std::uint64_t dynamic_shared, bool cooperative) const {
    const auto within = [](unsigned value, unsigned limit) { return value >= 1 && value <= limit; };
    if (!within(g.x, grid.x) || !within(g.y, grid.y) || !within(g.z, grid.z) ||
        !within(b.x, block.x) || !within(b.y, block.y) || !within(b.z, block.z) ||
        b.volume() > kernel.max_threads || b.volume() > threads) {
      return "invalid argument";
    }
    const bool too_much = kernel.static_shared_bytes + dynamic_shared > shared_opt_in;
    if (cooperative && (too_much || g.volume() > resident(kernel, b, dynamic_shared))) {
      return "too many blocks in cooperative launch";
    }
    return too_much ? "invalid argument" : nullptr;
  }

  /// Blocks that the device holds at a time.
  std::uint64_t resident(const Kernel& kernel, const Dim3& b, std::uint64_t dynamic_shared) const {
    const std::uint64_t of_warps = warps / ((b.volume() + 31) / 32);
    const std::uint64_t asked = kernel.static_shared_bytes + dynamic_shared;
    const std::uint64_t taken =
        (asked + shared_unit - 1) / shared_unit * shared_unit + shared_reserved;
    return multiprocessors * std::min({std::uint64_t{blocks}, of_warps, shared / taken});
  }
};

}  // namespace emu
