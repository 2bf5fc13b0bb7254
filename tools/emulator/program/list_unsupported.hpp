/// \file
/// What a program would trip over on the embedded device, found in its file; nothing of it runs.
#pragma once
#include <string>

namespace emu {

/// Prints what there is, a line each. Returns the exit status: 0 for nothing, 1 for something.
/// Throws Stop where the file is not a program of this machine.
int list_unsupported(const std::string& profile, const std::string& path);

}  // namespace emu
