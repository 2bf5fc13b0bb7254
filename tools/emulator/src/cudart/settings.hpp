/// \file
/// What the environment asks for (EMU_…; the README lists them), read once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cudart/profile.hpp"
#include "emu/launch.hpp"
#include "machine/host.hpp"
#include "watch/check.hpp"

namespace emu {

/// Which launch's which block is to be traced, and where to.
struct TraceSettings {
  std::string file;
  std::string kernel;        ///< part of its name; empty for any
  std::uint64_t launch = 0;  ///< number among the launches of such kernels, from 0
  Dim3 block = {0, 0, 0};
  std::uint64_t limit = 0;  ///< instructions
};

struct Settings {
  Profile profile;
  unsigned threads = 0;             ///< 0 for all cores
  Host host = Host::kPlain;         ///< whose instructions are used
  std::optional<unsigned> devices;  ///< how many there are; empty where the program may say
  std::uint64_t memory = 0;         ///< bytes of each device's
  std::uint64_t max_instructions = 0;
  std::uint64_t max_idle_instructions = 0;
  std::byte fresh = {};                ///< what memory is full of when it is new
  std::optional<std::uint64_t> apart;  ///< the seed of a schedule that runs lanes apart
  std::optional<Checks> checks;
  std::optional<TraceSettings> trace;
  std::string csv, findings, host_log;  ///< files; empty for none
  std::string ptx;  ///< text whose kernels take the place of the program's; empty for none
};

/// Empty, after a line on stderr, where there is nonsense that must not pass for what was asked.
std::optional<Settings> read_settings();

}  // namespace emu
