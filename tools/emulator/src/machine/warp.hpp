/// \file
/// A warp of 32 lanes, each with a place in the program. Lanes at one place with one history form
/// a group, and a group runs as one; in a warp that never parts there is one group.
///
/// Lanes part at a branch, and meet again where every way out of the branch leads (its immediate
/// post-dominator: the decoder puts a kJoin there), or at an operation that names them. In the
/// schedule that runs lanes apart they meet at barriers and at operations that name them, and
/// nowhere else, and part at once again.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decode/code.hpp"
#include "emu/launch.hpp"
#include "machine/random.hpp"

namespace emu {

class Block;
struct Located;
enum class Space : std::uint8_t;
enum class Direction : std::uint8_t;

/// Writes what a store's lanes are about to store, one lane's bytes after another's.
using Gather = void (*)(Warp&, const Op&, Mask, std::byte* out);
/// Finds memory in one space: access.hpp.
using Locate = void (*)(Warp&, const Op&, Mask, Direction, unsigned bytes, Located& out, Gather);
const Locate* locate_by_space();  ///< of this host

/// Thrown where a kernel does what it may not; ends the launch.
struct StopLaunch {
  Fault fault;
};

class Warp {
 public:
  enum class Status { kDone, kWaiting, kYielded };

  Warp(Block& block, unsigned number, std::byte* registers, std::byte* local);

  void start(Mask lanes);  ///< at the kernel's first operation, with these lanes
  Status run();            ///< until it ends, waits, or has had its turn
  void round();            ///< each group that can go on, up to a jump back

  // For handlers.
  template <class T>
  T* lanes(Slot slot) {
    return reinterpret_cast<T*>(registers_ + slot);
  }
  Mask& predicate(Slot slot) { return *reinterpret_cast<Mask*>(registers_ + slot); }
  std::byte* local(unsigned lane) { return local_ + lane * local_stride_; }
  Block& block() { return block_; }
  Locate locate(Space space) const { return locate_[static_cast<std::size_t>(space)]; }
  const Code& code() const { return code_; }
  unsigned number() const { return number_; }
  Mask live() const { return live_; }
  /// Lanes that are at the instruction of which observers are told, whatever its guard says.
  Mask here() const { return here_; }
  /// Where a lane keeps what functions with frames save.
  std::vector<std::byte>& saved(unsigned lane) {
    if (saved_.empty()) saved_.resize(kLanes);
    return saved_[lane];
  }
  std::uint64_t instructions() const { return instructions_; }
  /// The instruction by which a lane came to the operation that it runs together with others:
  /// mostly the same for all, and `op` itself.
  const Op& op_of(const Op& op, unsigned lane) const { return met_at_ ? *met_at_[lane] : op; }
  bool met_at_one_place() const { return met_at_ == nullptr; }
  void poll();  ///< this operation may be one that waits for another thread
  [[noreturn]] void fault(Fault::Kind kind, const Op& op, unsigned lane, const std::string& what);

  /// Notes something whose result PTX leaves undefined.
  void warn(const Op& op, Mask lanes, const std::string& what);
  /// The same, for the warnings alone: observers are told otherwise.
  void mention(const Op& op, unsigned lane, const std::string& what);

  // For the block.
  bool polled() const { return polled_; }  ///< its last turn looks like nothing but waiting
  /// Lets lanes that wait to meet others go on without them; false when there are none.
  bool release_early();
  /// Lets go of all that wait at a barrier; `result` is what bar.red tells them.
  void release(unsigned barrier, std::uint32_t result);
  bool suspended() const;
  bool at_cluster_barrier() const;
  /// A phase of the cluster's barrier is over.
  void cluster_completed();
  /// Lets go of what waits at an operation that may be left without what it waits for.
  void give_up();
  std::string waits() const;   ///< who waits where, for a message
  std::string stands() const;  ///< who is where
  /// Adds registers, places in the program and local memory to a hash.
  void add_state(std::uint64_t& hash) const;
  /// Lanes have looked at memory that another thread may change: the first of them at this address.
  void looked(const Op& op, Address at);
  Address looked_at() const { return looked_.at; }

 private:
  enum class State : std::uint8_t { kFree, kReady, kAtBarrier, kTogether, kSuspended };
  struct Group {
    Mask lanes = 0;
    std::uint32_t pc = 0;
    int entry = -1;  ///< where its lanes will meet others: index in entries_
    State state = State::kFree;
    bool met = false;  ///< its lanes have just met: what the schedule apart waits for
    unsigned barrier = 0;
    std::vector<std::uint32_t> calls = {};  ///< return addresses
  };
  /// Lanes that parted and are to meet at `pc`.
  struct Entry {
    std::uint32_t pc = 0;
    Mask expected = 0, arrived = 0;
    int parent = -1;
    std::size_t depth = 0;  ///< calls nested there: a function that calls itself comes by again
    bool used = false;
    std::vector<std::uint32_t> calls = {};
  };

  std::span<Group> groups() { return {groups_.data(), top_}; }
  std::span<const Group> groups() const { return {groups_.data(), top_}; }
  std::string place(const Op& op, unsigned lane) const;  ///< kernel, block, thread and line
  enum class Pace {
    kFree,
    kWatched,  ///< until an observer wants to know each instruction
    kStepped   ///< told one by one, and for `budget_` of them at most
  };
  template <Pace P>
  void run_group(unsigned index);
  void run_ready(unsigned index);
  Status run_apart(Random& random);
  void scatter(unsigned index, Random& random);
  /// Each of these returns true when the group can go on at group.pc.
  bool branch(Group& group, const Op& op, Mask taken);
  bool part(Group& group, std::uint32_t meet, Mask leaving, std::uint32_t to);
  bool jump_by_index(Group& group, const Op& op, Mask mask);
  bool join(Group& group);
  bool exit(Group& group, const Op& op, Mask mask);
  bool barrier(Group& group, const Op& op, Mask mask);
  bool cluster_barrier(Group& group, const Op& op, Mask mask);
  void meet_the_ready();
  bool together(Group& group, const Op& op, Mask mask);
  void meet(const Op& op, Mask here);
  bool suspend(Group& group, const Op& op, Mask mask);
  void look_again();
  void complete_together();
  void complete_joins();
  unsigned new_group(Mask lanes, std::uint32_t pc, int entry, State state,
                     const std::vector<std::uint32_t>& calls);
  int new_entry(std::uint32_t pc, Mask expected, int parent, std::size_t depth);
  bool meets_at(const Group& group, std::uint32_t pc) const;
  void call(Group& group, const Op& op, std::uint32_t entry);
  void call_pointer(Group& group, const Op& op);
  bool turn_over(std::uint32_t from, std::uint32_t to) { return to <= from && --turn_ <= 0; }
  bool merge_into(Group& group, Group& other);

  Block& block_;
  const Code& code_;
  unsigned number_;
  std::byte* registers_;
  std::byte* local_;
  std::size_t local_stride_;
  const Locate* locate_ = locate_by_space();
  std::vector<std::vector<std::byte>> saved_;
  Mask live_ = 0, here_ = 0;
  // Lanes that have arrived at the cluster's barrier and not waited yet: for this phase, and for
  // the one that is over.
  Mask cluster_arrived_ = 0, cluster_over_ = 0;
  int turn_ = 0;  ///< backward jumps left before others have their turn
  std::uint64_t budget_ = 0;
  const Op* const* met_at_ = nullptr;  ///< of each lane, while those at several places run together
  unsigned polls_ = 0;                 ///< since lanes last met: many of them look like a wait
  bool polled_ = false;
  bool suspends_ = false;  ///< a group has been suspended since the warp began
  struct Look {
    const Op* op = nullptr;
    Address at = 0;  ///< generic
  };
  Look looked_;
  std::uint64_t instructions_ = 0;
  std::array<Group, kLanes + 1> groups_;
  std::array<Entry, 2 * kLanes> entries_;
  unsigned top_ = 0;  ///< groups past it have not been used: mostly there is one
  std::size_t entries_top_ = 0;
};

}  // namespace emu
