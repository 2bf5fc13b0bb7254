/// \file
/// The counters' names in NVIDIA's profiler.
#pragma once
#include <cstdint>
#include <vector>

#include "emu/launch.hpp"

namespace emu {

/// One counter: the name of its column, its unit as ncu prints it, and where it is.
struct Metric {
  const char* name;
  const char* unit;
  std::uint64_t Counters::*value;
};

/// Hardware's counters under ncu's names, then those at source level: of the PTX, which the
/// assembler reshapes, and so under names that ncu hasn't got (`source__…`).
const std::vector<Metric>& metrics();

}  // namespace emu
