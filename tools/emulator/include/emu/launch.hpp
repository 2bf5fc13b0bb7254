/// \file
/// Running a kernel: a grid of blocks of warps of 32 lanes, and what hardware would have counted.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emu/memory.hpp"
#include "emu/module.hpp"
#include "emu/thread_pool.hpp"

namespace emu {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
};

/// Counts of one launch. The first group is what hardware counts, under ncu's names in report.hpp;
/// the second is at source level: of the PTX, which the assembler reshapes.
struct Counters {
  std::uint64_t global_load_requests = 0, global_load_sectors = 0;
  std::uint64_t global_store_requests = 0, global_store_sectors = 0;
  std::uint64_t shared_load_wavefronts = 0, shared_store_wavefronts = 0;
  std::uint64_t shared_load_conflicts = 0, shared_store_conflicts = 0;

  std::uint64_t warp_instructions = 0;    ///< source level
  std::uint64_t thread_instructions = 0;  ///< source level: active lanes, summed over instructions
  std::uint64_t branches = 0;             ///< source level: conditional branches by warps
  std::uint64_t diverging_branches = 0;   ///< source level: where lanes of a warp parted

  /// Shared loads that the assembler may merge into wider ones (see the README): where not 0,
  /// hardware may count fewer wavefronts and no equality is claimed.
  std::uint64_t mergeable_shared_loads = 0;

  Counters& operator+=(const Counters& other);
  bool operator==(const Counters&) const = default;
};

/// One of the counters.
struct CounterField {
  const char* name;
  std::uint64_t Counters::*value;
  bool at_once;  ///< counted with each instruction, not when lanes stop
};
/// All of them.
std::span<const CounterField> counter_fields();

/// Why a launch ended before its kernel did.
struct Fault {
  enum class Kind {
    kIllegalAddress,      ///< outside every allocation → cudaErrorIllegalAddress
    kMisalignedAddress,   ///< → cudaErrorMisalignedAddress
    kIllegalInstruction,  ///< trap, or what leads nowhere
    kUnsupported,         ///< something that the device hasn't got was reached
    kDeadlock,            ///< a barrier that can't complete
    kAssert,
    kTooLong,     ///< past LaunchConfig::max_warp_instructions, or max_idle_instructions
    kInterrupted  ///< as LaunchConfig::interrupted asked
  };
  Kind kind = Kind::kIllegalAddress;
  std::string message;  ///< kernel, block, thread, address, nearest allocation, source line
};

struct ImageObjects;  ///< what textures and surfaces are (src/machine/image.hpp)
class Observer;       ///< looks on at a launch (src/machine/observer.hpp)

struct LaunchConfig {
  const Module* module = nullptr;
  const Kernel* kernel = nullptr;
  Dim3 grid, block;
  Dim3 cluster = {};  ///< of blocks that run at the same time; the grid is a multiple of it
  bool explicit_cluster = false;  ///< asked for, even if of one block
  std::uint64_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters;  ///< kernel->parameter_bytes of them
  GlobalMemory* memory = nullptr;
  const ImageObjects* images = nullptr;
  ThreadPool* pool = nullptr;               ///< threads to spread blocks over; null: this one alone
  unsigned sm_count = 132;                  ///< of the profile: %nsmid
  std::uint64_t max_warp_instructions = 0;  ///< 0 for no limit
  /// How many may go by in which no block ends and none writes to global memory; 0 for no limit.
  std::uint64_t max_idle_instructions = 0;
  const std::atomic<bool>* interrupted = nullptr;  ///< set while the launch goes on: to end it
  std::byte fresh = {};  ///< what shared memory is full of as a block begins
  /// Lanes, warps and blocks go on apart from each other, by chance from this seed; empty: lanes of
  /// a warp run together where they can. Takes one thread, so that a seed is one schedule.
  std::optional<std::uint64_t> apart = {};
  /// Blocks that the device holds at a time: that many may wait for each other. 0: no more than
  /// host threads.
  std::uint64_t resident_blocks = 0;
  /// A cooperative launch: all blocks begin before any ends, however many there are.
  bool cooperative = false;
  /// What the driver lends a cooperative launch for its grid-wide barrier: two words, of which the
  /// second counts the blocks that have arrived (%envreg1 and 2 hold its address).
  Address grid_workspace = 0;
  /// Goes on after an illegal access to global memory that hardware may not see either, since it
  /// looks at pages: observers are told, loads get zeros and stores go nowhere.
  bool goes_on = false;
  std::uint64_t clock_base = 0;  ///< what the clocks show as it begins
  std::span<Observer* const> observers = {};
};

struct LaunchResult {
  std::string printed;  ///< by the kernel's printf, in the order of its blocks
  Counters counters;
  std::optional<Fault> fault;
  std::vector<std::string> warnings;  ///< undefined things that the kernel did; the first few
};

/// Runs one grid to its end or first fault. Deterministic but for atomics on floats.
LaunchResult launch(const LaunchConfig& config);

}  // namespace emu
