/// \file
/// Looking on while a kernel runs: what a checker or a trace is made of. A launch without observers
/// pays for nothing but a branch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "decode/code.hpp"
#include "emu/launch.hpp"
#include "machine/access.hpp"

namespace emu {

class Block;
class Warp;

/// One access to memory by lanes of a warp, after it was found legal and before it is done.
struct Access {
  Warp& warp;
  const Op& op;
  Mask lanes;
  Space space;  ///< never kGeneric: of a generic access each space's lanes are told apart
  Direction direction;
  Order order;
  unsigned bytes;                        ///< of each lane
  const std::uint64_t* address;          ///< of each lane, in the space
  const std::byte* values;               ///< of a store: lane i's at i * bytes; else null
  SyncScope scope = SyncScope::kSystem;  ///< of an order that isn't weak
  unsigned element = 0;                  ///< bytes of each of several elements; 0: there is one
  bool read_only = false;                ///< ld.global.nc
  bool silent = false;                   ///< an update that gives nothing back: red
  bool barrier = false;                  ///< of an mbarrier: no atomic that the source names
  Block* home = nullptr;                 ///< whose shared memory it is, of another block; else null
  const std::uint64_t* from = nullptr;   ///< of a call's argument or result: where each lane has it

  unsigned element_bytes() const { return element ? element : bytes; }
};

/// A copy that goes on while its thread does other things: what it will touch until it has landed.
struct Copy {
  Warp& warp;
  const Op& op;
  unsigned lane;         ///< whose it is
  std::uint64_t number;  ///< in the block
  Space to_space;
  Address to;
  Space from_space;  ///< kGeneric: it has been read, which was told as an access
  Address from;
  std::uint64_t bytes;
};

/// Looks on at the blocks that one thread runs, one after another; never two calls at a time.
class BlockObserver {
 public:
  virtual ~BlockObserver() = default;
  virtual void begin(std::uint64_t /*block*/) {}
  virtual void end() {}
  /// Whether it wants to know each access, which costs something too.
  virtual bool sees_accesses() const { return true; }
  /// Whether it wants to know each instruction of the block that has begun, which is dear. (One
  /// that doesn't may be told of them for another's sake; Block::step asks for them in mid-course.)
  virtual bool steps() const { return false; }
  /// Lanes that are at `op` are about to carry it out, those whose guard is off left out (it may be
  /// off for all). What follows, up to the next one, is its doing; lanes that wait here for others
  /// were told as they came.
  virtual void instruction(Warp&, const Op&, Mask /*lanes*/) {}
  virtual void access(const Access&) {}
  /// What was last told of has been carried out. Of atomics and of accesses with an order only, so
  /// that what several threads of the host do can be told in the order in which it happens.
  virtual void accessed(Warp&) {}
  /// Lanes came to a barrier; `waits` is false for bar.arrive. `completed` follows, within the same
  /// operation where they were the last: then all who wait there go on.
  virtual void arrived(Warp&, const Op&, Mask /*lanes*/, unsigned /*barrier*/, bool /*waits*/) {}
  virtual void completed(unsigned /*barrier*/) {}
  /// Lanes arrived at the cluster's barrier; `releases`: what they did before is known to who
  /// waits.
  virtual void cluster_arrived(Warp&, Mask /*lanes*/, bool /*releases*/) {}
  /// All threads of the cluster have: told to each of its `blocks` before any lane goes on. `phase`
  /// is a number that no other has in the launch.
  virtual void cluster_gathered(std::uint64_t /*phase*/, unsigned /*blocks*/) {}
  /// Lanes go on behind the cluster's barrier.
  virtual void cluster_waited(Warp&, Mask /*lanes*/) {}
  /// Another block's thread writes this one's shared memory by a copy that goes on by itself, or
  /// changes an mbarrier in it. `told`: who looks at that block is told what is written.
  virtual void reached(Address, std::uint64_t /*bytes*/, bool /*told*/) {}
  /// A lane's values are on their way into the shared memory of `home`, a block of its cluster,
  /// where they will be told to have landed.
  virtual void sent(Warp&, const Op&, unsigned /*lane*/, Block& /*home*/, std::uint64_t /*number*/,
                    Address, unsigned /*bytes*/) {}
  /// Which bytes of the block's shared memory were written, a bit each, of who keeps that.
  virtual std::vector<std::uint64_t>* written_shared() { return nullptr; }
  /// Lanes that named each other are all there and carry out `op` as one. Of these operations only
  /// bar.warp.sync orders memory.
  virtual void met(Warp&, const Op&, Mask /*lanes*/) {}
  /// Each of the lanes is about to be handed the value of lane `from`, which may not be among them:
  /// then the value is undefined. Told of shuffles from such lanes, and of all while an observer is
  /// told of instructions.
  virtual void handed(Warp&, const Op&, Mask /*lanes*/, const std::uint32_t* /*from*/) {}
  virtual void fence(Warp&, const Op&, Mask /*lanes*/) {}
  /// A fence between ordinary accesses and those of bulk copies (fence.proxy.async).
  virtual void proxy_fence(Warp&, const Op&, Mask /*lanes*/) {}
  /// Lanes have waited for the grids before this one, which may have been at work until then
  /// (griddepcontrol.wait).
  virtual void waited_for_grids() {}
  virtual void copy_began(const Copy&) {}
  /// A copy has landed, as its thread has waited for.
  virtual void copy_landed(std::uint64_t /*number*/) {}
  /// A copy has landed, as who waits for a phase of the mbarrier will know.
  virtual void copy_landed_at(std::uint64_t /*number*/, Address /*mbarrier*/) {}
  /// A lane arrived at an mbarrier, after which `mbarrier_completed` may follow. `releases`: what
  /// it did before is known to who waits for the phase; else it only counts.
  virtual void mbarrier_arrived(Warp&, unsigned /*lane*/, Address, bool /*releases*/) {}
  virtual void mbarrier_completed(Address) {}  ///< a phase of it
  /// A lane asked for a phase of an mbarrier that is over, and orders what it does next after it.
  virtual void mbarrier_waited(Warp&, unsigned /*lane*/, Address) {}
  /// A lane was given a piece of the heap by malloc, which another may have had and freed.
  virtual void given(Warp&, const Op&, unsigned /*lane*/, Address, std::uint64_t /*bytes*/) {}
  /// A lane frees a piece of the heap, or what is none.
  virtual void taken(Warp&, const Op&, unsigned /*lane*/, Address, bool /*is_piece*/) {}
  /// A lane's access is illegal and left out, since the launch goes on. `what` says it.
  virtual void illegal(Warp&, const Op&, unsigned /*lane*/, const std::string& /*what*/) {}
  virtual void exited(Warp&, const Op&, Mask /*lanes*/) {}
  /// Lanes did something whose result PTX leaves undefined; `what` says it.
  virtual void undefined(Warp&, const Op&, Mask /*lanes*/, const std::string& /*what*/) {}
};

/// What is said of a shuffle from a lane that isn't there.
inline std::string shuffled_from_nowhere(unsigned lane) {
  return "shfl.sync reads lane " + std::to_string(lane) +
         ", which the mask leaves out or which has exited";
}

/// Looks on at a whole program: launches and what the host does between them.
class Observer {
 public:
  virtual ~Observer() = default;
  /// For each Block of a launch (several at once on several threads); null for no interest in it.
  virtual std::unique_ptr<BlockObserver> watch(Block&) { return nullptr; }
  virtual void started(const LaunchConfig&) {}
  /// So many of the launch's blocks are over. By whichever thread ran the last of them.
  virtual void blocks_over(std::uint64_t /*blocks*/) {}
  virtual void ended(const LaunchConfig&, const LaunchResult&) {}

  // By the runtime's functions, never while a kernel runs.
  virtual void allocated(const Allocation&) {}
  virtual void freed(const Allocation&) {}  ///< still whole
  virtual void refused_free(Address, const std::string& /*why*/) {}
  virtual void host_wrote(Address, std::uint64_t /*bytes*/) {}  ///< a copy to it, or a set
  /// A set, for who wants to tell it from a copy.
  virtual void host_set(Address address, std::uint64_t bytes) { host_wrote(address, bytes); }
  virtual void host_read(Address, std::uint64_t /*bytes*/) {}  ///< a copy from it
  virtual void host_copied(Address /*to*/, Address /*from*/, std::uint64_t /*bytes*/) {}
};

}  // namespace emu
