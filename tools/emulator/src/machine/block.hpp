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

class Cluster;

inline constexpr std::size_t kMostWarnings = 16;  ///< of a launch

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
  std::atomic<std::uint64_t> next_cluster{0};
  std::atomic<std::uint64_t> instructions{0};  ///< of blocks and turns that are over
  std::atomic<std::uint64_t> blocks_over{0};
  std::atomic<std::uint64_t> advanced_at{0};  ///< instructions, when a block last did: see advance
  std::atomic<bool> stopped{false};
  std::atomic<std::uint64_t> cluster_phases{0};
  std::atomic<std::uint64_t> changes{0};  ///< turns in which a block did more than look
  std::mutex waiting{};                   ///< of the two that follow
  std::uint64_t waiting_since = 0;        ///< changes there were…
  std::uint64_t waiting_workers = 0;      ///< …when all blocks of so many were seen to repeat
  std::atomic<std::uint64_t> workers_over{0};
  std::mutex printing{};
  std::map<std::uint64_t, std::string> printed{};  ///< by each block
  std::size_t printed_bytes = 0;
};

class Block {
 public:
  Block(LaunchState& launch, Cluster& cluster, unsigned rank);

  /// Sets the block to its first instruction.
  void start(std::uint64_t index);
  enum class Status {
    kDone,
    kRuns,
    kWaits  ///< all it does looks like waiting for another block
  };
  /// Lets each warp run until it waits or has had its turn. Throws StopLaunch.
  Status turn();
  /// Whether it goes through the same state again and again, as it will for as long as no other
  /// block changes anything; and how many changes there have been when it began to.
  std::optional<std::uint64_t> repeats() const { return repeats_ ? since_ : std::nullopt; }
  /// What its threads wait for, for a message.
  std::string waits() const;
  /// Where its warps are, for a message; empty where it is over.
  std::string stands() const;
  /// Whether all its threads wait, some of them at the cluster's barrier: others can let them go
  /// on.
  bool stuck() const { return stuck_; }
  std::uint32_t live() const { return live_; }  ///< threads that haven't exited
  void cluster_completed();                     ///< its barrier's phase
  /// In the schedule apart: lets some warp go on for a while. False once the block has ended.
  bool turn_apart();
  /// In the schedule apart: lets each group of lanes go on to its next jump back, all in one order.
  void round();
  /// All that threads did that others, or a later look, could be told apart by.
  std::uint64_t deeds() const { return writes() + stirred_; }
  /// Whether what each group of lanes does next depends on its own state and on memory of the
  /// device alone, as far as that is known.
  bool depends_on_memory_alone() const;
  std::uint64_t state() const;  ///< as a hash

  Counters counters;
  std::vector<std::string> warnings;  ///< the first of each operation
  bool first_warning_at(const Op& op);

  // For warps and handlers.
  LaunchState& launch() { return launch_; }
  const Code& code() const { return launch_.code; }
  AsyncCopies& async() { return async_; }
  Cluster& cluster() { return cluster_; }
  unsigned rank() const { return rank_; }           ///< in the cluster
  std::uint64_t number() const { return number_; }  ///< in the grid
  /// What clocks show: warp instructions of the blocks that this host thread has run, and of the
  /// whole grid. They go on from one launch to the next, and never back.
  std::uint64_t clock() const { return launch_.config.clock_base + counters.warp_instructions; }
  std::uint64_t global_clock();
  void update() { ++updates_; }       ///< an atomic operation took place
  void unchanged() { ++unchanged_; }  ///< …and left everything as it was
  /// A thread met others, or was told what isn't in memory: the time, or who else is here.
  void stir() { ++stirred_; }
  void looked(Address at);  ///< a thread may wait for what is there to change
  std::byte* shared() { return shared_.data(); }
  std::uint64_t shared_bytes() const { return launch_.shared_bytes; }
  const std::byte* parameters() const { return launch_.config.parameters.data(); }
  Random* random() { return random_ ? &*random_ : nullptr; }  ///< null: lanes run together
  /// Where an illegal access of a lane goes instead: zeros.
  std::byte* nowhere(unsigned lane) { return (nowhere_[lane] = {}).bytes.data(); }
  Segment& segment(std::uint32_t access) { return segments_[access]; }
  void print(std::string_view text);
  std::string memory_at(Address generic) const;  ///< for messages: what lies there
  Dim3 index() const { return index_; }
  Dim3 thread_index(unsigned warp, unsigned lane) const;
  std::string name() const;                                     ///< "kernel k, block (1, 0, 0)"
  std::string place() const;                                    ///< "(1, 0, 0)"
  std::string thread_name(unsigned warp, unsigned lane) const;  ///< "thread (5, 0, 0)"
  std::string block_name(std::uint64_t number) const;           ///< of its grid: "block (1, 0, 0)"

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
  void advance(std::uint64_t sum);
  void end();
  bool time_out();
  void free_the_stuck();
  std::uint64_t accesses() const;
  std::uint64_t writes() const;
  bool looks_at_host() const;
  bool is_host_memory(Address at) const;
  void look_for_repetition(bool changed, bool waits);
  [[noreturn]] void deadlock();

  LaunchState& launch_;
  Cluster& cluster_;
  unsigned rank_;
  std::uint64_t number_ = 0;
  bool stuck_ = false;
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
  struct alignas(16) Nowhere {
    std::array<std::byte, kMostBytes> bytes{};
  };
  std::array<Nowhere, kLanes> nowhere_;
  AsyncCopies async_;
  std::vector<Segment> segments_;
  std::deque<Warp> warps_;
  std::vector<char> done_;
  std::size_t running_ = 0;  ///< warps that aren't done
  std::optional<Random> random_;
  std::array<Barrier, 16> barriers_;
  std::uint64_t reported_ = 0;
  std::vector<const Op*> warned_;  ///< operations that have a warning
  std::vector<std::unique_ptr<BlockObserver>> observers_;
  bool watched_ = false, steps_ = false, stepped_ = false;
  std::uint64_t updates_ = 0, unchanged_ = 0, prints_ = 0, stirred_ = 0;
  std::uint64_t advanced_ = 0;  ///< what of that others see, as it was last
  bool in_round_ = false;
  // To see that a block repeats itself: turns since it last changed anything, its state some turns
  // ago, and how many changes the grid had seen then.
  std::uint64_t idle_turns_ = 0, idle_state_ = 0;
  std::optional<std::uint64_t> since_;
  bool repeats_ = false;
  std::uint64_t accesses_at_timeout_ = 0;
  unsigned idle_timeouts_ = 0;
};

}  // namespace emu
