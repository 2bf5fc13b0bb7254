/// \file
/// What Ctrl-C and SIGTERM do while a kernel runs: it says where its blocks stand first.
#pragma once
#include <atomic>

#include "emu/launch.hpp"

namespace emu {

/// Set by such a signal.
std::atomic<bool>& asked_to_stop();

/// Launches. Does not return where a signal has ended the launch: it ends the program, as it would
/// have.
LaunchResult attended(const LaunchConfig& config);

}  // namespace emu
