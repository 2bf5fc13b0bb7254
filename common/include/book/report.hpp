/// \file
/// What a program says of its runs: a table for people, JSON for the guide.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "book/device.hpp"
#include "book/embedded.hpp"
#include "book/stats.hpp"

namespace book {

/// Whatever tells runs apart beside variant, n and block: names and values, in order.
using Params = std::vector<std::pair<std::string, std::variant<std::int64_t, std::string>>>;

/// One measured run. Field names are those of the recorded files (common/records/schema.py).
struct Run {
  std::string variant;
  std::string from;     ///< chapter whose kernel it is
  std::string region;   ///< marker of the kernel's listing in that chapter
  bool legacy = false;  ///< a classic faulty form
  std::size_t n = 0;
  unsigned block = 0;
  Params params;
  unsigned devices = 1;          ///< GPUs that take part, each with a memory of its own
  unsigned grid = 0;             ///< blocks; 0 where a library chooses them, and their threads
  std::size_t shared_bytes = 0;  ///< static and dynamic, per block
  std::optional<int> registers;  ///< per thread; empty for several kernels
  std::optional<std::size_t> local_bytes;         ///< per thread; empty for several kernels
  std::optional<int> blocks_per_sm;               ///< as the occupancy calculator predicts
  std::size_t bytes_read = 0, bytes_written = 0;  ///< useful bytes, not traffic
  std::vector<double> samples_us;
  Summary summary;
  std::string stopped_by;
  std::string cache;  ///< "cold", "dirty", "warm"
  std::string clock;  ///< "events", "host"
  bool verified = false;
  std::optional<double> error;    ///< of a sum of floats: |found - exact| / |exact|
  std::vector<Counter> counters;  ///< on the embedded device, in place of times

  /// Useful bytes over the median time, in 10^9 bytes per second.
  double gb_per_s() const;
};

/// What holds for all runs of one invocation.
struct Session {
  std::string chapter;
  std::vector<std::string> command;  ///< argv
  Device device;
  std::uint64_t seed = 0;
  std::string cache;  ///< "cold" or "warm": what runs have unless they say otherwise
};

/// The table's text: a heading line with units, a row per run, numbers right-aligned.
std::string table(const Session& session, const std::vector<Run>& runs);

/// The same on the embedded device: what a launch counted, in place of times.
std::string counter_table(const Session& session, const std::vector<Run>& runs);

/// The record: an object with "schema", the session, the build and "runs", a run per line.
///
/// It holds what was measured and nothing that follows from it. Samples are rounded to nanoseconds.
/// Runs without any (n = 0: nothing is launched) are left out. "repeat" is 0, and "source",
/// "clocks" and "kernel_hash" are null here: `tools/measure` sets them when it collects records.
/// Throws std::logic_error, naming the run, for a sample that no record may hold: not finite, or
/// below 0.
std::string to_json(const Session& session, const std::vector<Run>& runs);

/// A count as the book writes it: 2^k where it is one (from 2^10 on), else digits in groups.
std::string count_text(std::size_t n);

/// Bytes as people read them: "1.5 GiB".
std::string bytes_text(std::size_t bytes);

}  // namespace book
