/// \file
/// The embedded device: a CUDA runtime on the CPU, which checks and counts where there is no GPU.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace book {

/// What one counter says, under the name that NVIDIA's profiler gives it.
struct Counter {
  std::string name;
  std::uint64_t value = 0;
};

/// Whether this process's CUDA runtime is the embedded device.
bool on_embedded_device();

/// Starts this program again, with the same arguments, on the embedded device. Doesn't return;
/// throws Error(kNotAvailable), beginning with `why`, where there is none. `notice`, where not
/// empty, is told on stderr before.
[[noreturn]] void start_on_embedded_device(const std::string& why, const std::string& notice = "");

/// Has it be so many devices, unless the reader has said how many.
void show_embedded_devices(unsigned count);

/// What was counted since the last reset; empty on a GPU.
std::vector<Counter> device_counters();
void reset_device_counters();

}  // namespace book
