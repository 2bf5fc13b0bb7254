/// \file
/// tools/emulate --print-ptx.
#pragma once
#include <string>

namespace emu {

/// Prints the PTX that a device of this profile takes of the program's file, module after module.
/// Returns the exit status. Throws Stop.
int print_ptx(const std::string& profile_key, const std::string& path);

}  // namespace emu
