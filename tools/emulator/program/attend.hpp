/// \file
/// A program run and waited for.
#pragma once
#include <string>
#include <vector>

namespace emu {

/// How a program ended: by itself with a status, or by a signal.
struct Ended {
  int status = 0;
  int signal = 0;
};

/// Replaces this process by the command. Throws Stop where the system refuses.
[[noreturn]] void become(const std::vector<std::string>& command);

/// Runs the command, hands on what asks it to end, and waits for it. If this process dies the
/// program does too. Throws Stop where the system refuses to start it.
Ended attend(const std::vector<std::string>& command);

}  // namespace emu
