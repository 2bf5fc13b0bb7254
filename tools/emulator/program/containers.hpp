/// \file
/// The fat binaries in a program's file.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "cudart/fatbin.hpp"

namespace emu {

/// The containers of a section, which lie one after another with padding between them.
std::vector<std::vector<FatbinEntry>> containers(std::span<const std::byte> section);

}  // namespace emu
