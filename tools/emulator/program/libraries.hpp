/// \file
/// CUDA libraries that a program uses and that the device can't stand in for, and where its runtime
/// is.
#pragma once
#include <string>
#include <vector>

#include "elf.hpp"

namespace emu {

/// A line for each library among those it wants, or whose functions are inside it, that talks to
/// NVIDIA's driver by itself: "cuBLAS (libcublas.so.13)".
std::vector<std::string> libraries_past_the_runtime(const Elf& program);
inline constexpr const char* kPastTheRuntime =
    ": works with NVIDIA's driver alone, and not on this device";

/// Whether CUDA's runtime is in the program's own file (nvcc's default).
bool has_runtime_inside(const Elf& program);

}  // namespace emu
