/// \file
/// The names of kernels, as the profiler writes them.
#pragma once
#include <string>

namespace emu {

/// A kernel's name as ncu writes it: `void ladder::unroll<(int)4>(const int *, int *)`.
std::string kernel_name(const std::string& mangled);

}  // namespace emu
