/// \file
/// One block of threads on one host thread: its warps, shared memory and barriers. It can be left
/// between two turns of its warps and taken up again, and is used for one block after another.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/code.hpp"
#include "emu/launch.hpp"
#include "machine/async.hpp"
#include "machine/observer.hpp"
#include "machine/random.hpp"
#include "machine/warp.hpp"

namespace emu {

/// Bytes on the host that an instruction's last access lay in: most accesses lie there again.
struct Segment {
  Address base = 0;
  std::uint64_t size = 0;
  std::byte* host = nullptr;
};

/// What all host threads of a launch share.
struct LaunchState {
  const LaunchConfig& config;
  const Code& code;
  std::uint64_t shared_bytes = 0;
  std::atomic<std::uint64_t> next_block{0};
  std::atomic<std::uint64_t> instructions{0};  ///< of blocks and turns that are over
  std::atomic<std::uint64_t> blocks_over{0};
  std::atomic<bool> stopped{false};
  std::mutex printing{};
  std::map<std::uint64_t, std::string> printed{};  ///< by each block
  std::size_t printed_bytes = 0;
};

class Block {
 public:
  explicit Block(LaunchState& launch);

  /// Sets the block to its first instruction.
  void start(std::uint64_t index);
  enum class Status {
    kDone,
    kRuns,
    kWaits  ///< all it does looks like waiting for another block
  };
  /// Lets each warp run until it waits or has had its turn. Throws StopLaunch.
  Status turn();
  /// In the schedule apart: lets some warp go on for a while. False once the block has ended.
  bool turn_apart();

  Counters counters;
  std::vector<std::string> warnings;  ///< the first few

  // For warps and handlers.
  LaunchState& launch() { return launch_; }
  const Code& code() const { return launch_.code; }
  AsyncCopies& async() { return async_; }
  /// What clocks show: warp instructions of the blocks that this host thread has run, and of the
  /// whole grid. They go on from one launch to the next, and never back.
  std::uint64_t clock() const { return launch_.config.clock_base + counters.warp_instructions; }
  std::uint64_t global_clock();
  void update() { ++updates_; }  ///< an atomic operation took place
  std::byte* shared() { return shared_.data(); }
  std::uint64_t shared_bytes() const { return launch_.shared_bytes; }
  const std::byte* parameters() const { return launch_.config.parameters.data(); }
  Random* random() { return random_ ? &*random_ : nullptr; }  ///< null: lanes run together
  Segment& segment(std::uint32_t access) { return segments_[access]; }
  void print(std::string_view text);
  Dim3 index() const { return index_; }
  Dim3 thread_index(unsigned warp, unsigned lane) const;
  std::string name() const;                                     ///< "kernel k, block (1, 0, 0)"
  std::string thread_name(unsigned warp, unsigned lane) const;  ///< "thread (5, 0, 0)"

  /// Whether anyone looks on, and what they are told.
  bool watched() const { return watched_; }
  bool stepped() const { return stepped_; }
  /// Tells each instruction from now on, or again only to those who asked for it from the start.
  void step(bool each) { stepped_ = each || steps_; }
  template <class F>
  void tell(const F& f) {
    for (const auto& o : observers_) f(*o);
  }

  /// A thread's part in a barrier. `needed` 0: all threads that haven't exited.
  struct Arrival {
    unsigned barrier;
    std::uint32_t needed;
    Mask lanes;
    Mask predicate;
    BarrierKind kind;
    bool waits;
  };
  void arrive(const Arrival& arrival);
  void exited(unsigned threads);

 private:
  struct Barrier {
    std::uint32_t arrived = 0, needed = 0, votes = 0;
    BarrierKind kind = BarrierKind::kSync;
  };
  void fill_constants();
  void fill(const Code::SpecialSlot& slot);
  void complete(unsigned barrier);
  void count_turn();
  void end();
  bool time_out();
  void free_the_stuck();
  std::uint64_t accesses() const;
  [[noreturn]] void deadlock();

  LaunchState& launch_;
  std::uint32_t threads_;
  std::uint32_t live_ = 0;
  Dim3 index_;
  std::vector<std::byte> shared_;
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> registers_;  // 64-byte aligned, one file after another
  std::size_t file_bytes_;
  std::unique_ptr<std::byte, Free> local_;
  std::size_t local_stride_ = 0;
  AsyncCopies async_;
  std::vector<Segment> segments_;
  std::deque<Warp> warps_;
  std::vector<char> done_;
  std::size_t running_ = 0;  ///< warps that aren't done
  std::optional<Random> random_;
  std::array<Barrier, 16> barriers_;
  std::uint64_t reported_ = 0;
  std::vector<std::unique_ptr<BlockObserver>> observers_;
  bool watched_ = false, steps_ = false, stepped_ = false;
  std::uint64_t updates_ = 0;
  std::uint64_t accesses_at_timeout_ = 0;
  unsigned idle_timeouts_ = 0;
};

}  // namespace emu
