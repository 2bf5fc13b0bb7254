/// \file
/// What a launch counted, in the words of NVIDIA's profiler.
#pragma once
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emu/launch.hpp"
#include "watch/metrics.hpp"

namespace emu {

/// What a row of the report says besides the counters.
struct LaunchFacts {
  std::uint64_t id = 0;
  std::string kernel;  ///< mangled
  Dim3 grid, block;
  int major = 0, minor = 0;  ///< compute capability of the profile
  std::uint64_t stream = 7;  ///< ncu's number for the default stream
  /// The seed of a schedule that runs lanes apart, whose counts are its own.
  std::optional<std::uint64_t> apart = {};
};

/// The two heading lines and the rows of `ncu --csv --page raw --print-units base`; with a column
/// more, the schedule, where it is not the usual one.
std::string csv_heading(bool apart = false);
std::string csv_row(const LaunchFacts& facts, const Counters& counters);

}  // namespace emu
