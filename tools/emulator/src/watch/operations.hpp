/// \file
/// Races between operations: kernels, copies and sets of different streams, and what the host
/// frees, by happens-before. Here one operation follows another; on a device those that nothing
/// orders may overlap, whatever came first in this run.
///
/// The host and each stream have a line of time. An operation knows what its stream has done, and
/// what the host knew when it asked for the operation. Events, waiting and the rules of the default
/// streams hand that on. Each of several devices has a default stream of its own. What the host
/// knows can't race with anything to come, and is forgotten.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "emu/memory.hpp"
#include "watch/past.hpp"
#include "watch/ranges.hpp"

namespace emu {

class Findings;
class RaceGrid;
struct LaunchConfig;

/// A stream's number, or the host's.
using Timeline = std::uint32_t;

/// How far each line is known.
class StreamClock {
 public:
  Time of(Timeline line) const { return line < times_.size() ? times_[line] : 0; }
  void set(Timeline line, Time time);
  void join(const StreamClock& other);

 private:
  std::vector<Time> times_;
};

class Operations {
 public:
  static constexpr Timeline kHost = 0, kDefault = 1;

  explicit Operations(Findings& findings);

  /// How bytes are touched. Strongly: by atomics and the like, which don't race with each other.
  enum Way : std::uint8_t { kReads, kWrites, kReadsStrongly, kWritesStrongly };
  /// When the call that asks for an operation comes back.
  enum class Returns {
    kAtOnce,
    kOnceRead,  ///< its source may be used again; it may still write
    kOnceDone
  };

  // Streams. A device's default one waits for all of its that block, and they for it. The first
  // device's is kDefault; a further device is known by its own.
  Timeline add_device(std::string name);
  Timeline add_stream(std::string name, bool blocks, Timeline device = kDefault);
  void remove_stream(Timeline line);

  // What hands on.
  StreamClock record(Timeline line);  ///< an event
  void wait(Timeline line, const StreamClock& event);
  void host_waits(const StreamClock& event);
  void host_waits_for(Timeline line);
  void host_waits_for_all(Timeline device = kDefault);

  // An operation, all of it between `begin` and `end`.
  void begin(Timeline line, std::string what, std::string kernel = {});
  void touch(Way way, Address at, std::uint64_t bytes);
  void touch_rows(Way way, Address at, std::uint64_t pitch, std::uint64_t width,
                  std::uint64_t rows);
  /// The kernel may begin while the one before it in the stream is at work, as a programmatic
  /// dependent launch may: until it waits for that, nothing orders the two.
  void depends() { now_.depends = true; }
  void says(const char* verb) { now_.verb = verb; }  ///< instead of "writes"
  void returns(Returns returns) { returns_ = returns; }
  /// All that a kernel has touched.
  void ran(const LaunchConfig& config, RaceGrid& grid);
  void end(const GlobalMemory& memory);

  /// The host frees memory by a call that needn't wait for work that uses it.
  void host_frees(const std::string& call, const Allocation& allocation,
                  const GlobalMemory& memory);
  void forget(Address at, std::uint64_t bytes);

  // A graph that a stream launches: each node has a line of its own, and knows those it depends on.
  struct Graph {
    Timeline stream;
    StreamClock before;
    std::vector<Timeline> nodes;
  };
  Graph begin_graph(Timeline stream);
  Timeline begin_node(Graph& graph, const std::vector<Timeline>& after);
  void end_graph(const Graph& graph);

  /// What work touches at an address or past it, and the host hasn't waited for.
  struct Pending {
    Address first, last;  ///< the last is past it
    bool writes;
    std::string what, where, kernel;
  };
  std::vector<Pending> pending(Address from = 0) const;

  std::size_t kept() const { return past_.size(); }  ///< operations, for tests

 private:
  static constexpr std::size_t kMostOperations = 4096, kMostRanges = std::size_t{1} << 20;
  static constexpr unsigned kWays = 4;

  struct Operation {
    std::string what = {}, kernel = {}, where = {};
    Timeline line = 0;
    Time time = 0;
    bool in_graph = false;
    bool hands_on = false;  ///< a kernel that tells others by fences
    /// Whether its fences reach other devices, and whether it has taken up what theirs hand on.
    bool hands_on_far = false, takes_far = false;
    bool depends = false;  ///< on the one before it in its stream, and hasn't waited for it
    Returns returned = Returns::kAtOnce;
    const char* verb = nullptr;
    /// The second half: what a kernel's blocks did after they had read what may be a flag.
    std::array<Ranges, 2 * kWays> touched = {};
    std::array<Ranges, 2> near = {};  ///< reads, and writes, that are strong to its device alone
    std::vector<std::string> places = {};   ///< of a kernel's accesses, by their number
    Address first = ~Address{0}, last = 0;  ///< it touches nothing before and after

    std::size_t size() const;  ///< ranges
    bool apart_from(const Operation& o) const { return o.last < first || last < o.first; }
  };
  struct Stream {
    std::string name = {};
    bool blocks = false;
    bool node = false;  ///< of a graph
    bool over = false;
    Timeline device = kDefault;  ///< its default stream
    StreamClock clock = {};
  };

  Timeline add_line(std::string name, bool blocks, bool node, Timeline device = kDefault);
  bool is_default(Timeline line) const { return line != kHost && lines_[line].device == line; }
  /// Whether they are of different devices.
  bool far(const Operation& before, const Operation& now) const {
    return before.line != kHost && now.line != kHost &&
           lines_[before.line].device != lines_[now.line].device;
  }
  StreamClock& enter(Timeline line);
  void learned();
  bool ordered(const Operation& before) const;
  void compare(const Operation& before, const Operation& now, const GlobalMemory& memory);
  void report(const Operation& before, unsigned before_way, const Range& theirs,
              const Operation& now, unsigned way, const Range& ours, const GlobalMemory& memory);
  std::string missing(const Operation& before, const Operation& now) const;
  void keep();

  Findings& findings_;
  std::vector<Stream> lines_;
  std::deque<Operation> past_;  ///< what something to come may still race with
  Operation now_;
  Returns returns_ = Returns::kAtOnce;
  std::size_t ranges_ = 0;  ///< of all operations that are kept, at most
};

}  // namespace emu
