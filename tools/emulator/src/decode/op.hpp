/// \file
/// One operation: what a warp carries out in one step. Its operands are places in the warp's
/// register file (code.hpp); what else it needs is a small struct of its kind, the payload.
#pragma once
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace emu {

inline constexpr unsigned kLanes = 32;
using Mask = std::uint32_t;  ///< bit i: lane i
inline constexpr Mask kAllLanes = ~Mask{0};

/// How many lanes a mask has. (Without the host's own instruction std::popcount is a call.)
constexpr unsigned count_lanes(Mask mask) {
  mask -= mask >> 1 & 0x5555'5555u;
  mask = (mask & 0x3333'3333u) + (mask >> 2 & 0x3333'3333u);
  return ((mask + (mask >> 4)) & 0x0f0f'0f0fu) * 0x0101'0101u >> 24;
}

class Warp;
struct Op;
/// Carries out an operation for the lanes of a mask that is never empty.
using Handler = void (*)(Warp&, const Op&, Mask);
using Slot = std::uint32_t;  ///< byte offset in the register file

/// What the warp's loop has to do itself; everything else is the handler's.
enum class Control : std::uint8_t {
  kStraight,
  kJoin,         ///< a point where lanes that parted meet again; no instruction of the program
  kBranch,       ///< Branch
  kSwitch,       ///< brx.idx: Switch
  kCall,         ///< Call
  kCallPointer,  ///< PointerCall
  kReturn,
  kExit,      ///< Exit
  kBarrier,   ///< waits for threads of other warps: Barrier
  kCluster,   ///< waits for threads of the cluster's blocks: ClusterBarrier
  kTogether,  ///< waits for lanes of this warp that a mask names: Together
  kClock,     ///< reads a clock, which counts the instructions before it
  kRefused,   ///< what the device hasn't got: Missing
  kSuspend,   ///< may wait until its predicate comes true, and need not
};

// --- payloads -------------------------------------------------------------------------------
// An instruction has one of these, or one that its own file declares. A payload that begins with
// another names it as its Head, and may then be read as that.

inline constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

struct Branch {
  std::uint32_t target = 0;
  std::uint32_t meet = kNowhere;  ///< where those that went and those that didn't meet again
};
struct Switch {
  std::uint32_t first = 0;  ///< of its targets in Code::lists
  std::uint32_t count = 0;
  std::uint32_t meet = kNowhere;
};
struct Call {
  std::uint32_t entry = 0;
};
struct PointerCall {
  std::uint32_t form = 0;  ///< that the function must have: Code::Callee
  std::uint32_t meet = kNowhere;
};
struct Exit {
  bool returns = false;  ///< the function's end, at which lanes that parted would meet
};

enum class BarrierKind : std::uint8_t { kSync, kPopc, kAnd, kOr };
/// a: number; b: how many threads; c: what they vote; d: the vote's result.
struct Barrier {
  BarrierKind kind = BarrierKind::kSync;
  bool counted = false;  ///< with a number of threads
  bool waits = true;     ///< not bar.arrive
  bool negated = false;  ///< the vote
  bool aligned = false;  ///< has to be the same instruction for all threads of a warp
};

/// An arrival at the barrier of the cluster, or the wait for those who have arrived.
struct ClusterBarrier {
  bool arrives = false;
  bool releases = true;  ///< an arrival that hands on what was done before; not .relaxed
};

/// Among which threads a fence or a strong access takes part in synchronisation.
enum class SyncScope : std::uint8_t { kBlock, kCluster, kDevice, kSystem };
struct Fence {
  SyncScope scope = SyncScope::kSystem;
  bool acquires = true, releases = true;
};

/// fence.proxy.async: of which memory.
struct ProxyFence {
  bool shared = true, global = true;
};

struct Together {
  Slot member = 0;             ///< the mask that names lanes
  bool orders_memory = false;  ///< bar.warp.sync alone
};

struct Missing {
  std::uint32_t why = 0;  ///< index in Code::refusals
};

/// An access to memory at register a plus a displacement.
struct MemoryOperand {
  std::int64_t displacement = 0;
  std::uint32_t number = 0;  ///< the access's, in Code::orders and the block's segments
  bool narrow = false;       ///< the register has 32 bits
  bool polls = false;        ///< a load that may wait for another thread's store
  bool whole = false;        ///< all elements of a lane at once, as other blocks' threads see it
};

/// d: the register, or where there are several elements, those in Code::lists.
struct LoadStore {
  using Head = MemoryOperand;
  MemoryOperand at = {};
  std::uint32_t list = 0;
  std::uint8_t elements = 1;
  // Of a shared load that the assembler puts together with its neighbours:
  std::uint8_t merged_bytes = 0;  ///< counted as one of so many; 0: with another
  std::uint8_t ahead = 0;         ///< its address minus the wide load's
  bool likely = false;            ///< the assembler may, and may not
};

namespace detail {
template <class T>
inline constexpr char kTag = 0;  ///< its address tells payloads apart
}  // namespace detail

struct Op {
  Handler run = nullptr;
  Slot d = 0, a = 0, b = 0, c = 0;  ///< operands, mostly as the PTX manual names them
  Slot guard = 0;                   ///< a predicate; a constant true one where there is no guard
  Mask guard_flip = 0;              ///< all ones for `@!p`
  Control control = Control::kStraight;
  bool guarded = false;
  bool counted = true;  ///< as an instruction: not what the decoder adds
  bool merged = false;  ///< a load of which LoadStore says with what it is counted

  template <class T>
  T& put(const T& payload) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof payload_);
    static_assert(alignof(T) <= alignof(std::uint64_t));
#ifndef NDEBUG
    tag_ = &detail::kTag<T>;
    if constexpr (requires { typename T::Head; }) head_ = &detail::kTag<typename T::Head>;
#endif
    return *new (payload_.data()) T(payload);
  }
  template <class T>
  const T& as() const {
#ifndef NDEBUG
    assert(tag_ == &detail::kTag<T> || head_ == &detail::kTag<T>);
#endif
    return *std::launder(reinterpret_cast<const T*>(payload_.data()));
  }
  template <class T>
  T& as() {
    return const_cast<T&>(static_cast<const Op&>(*this).as<T>());
  }

 private:
  alignas(std::uint64_t) std::array<std::byte, 24> payload_{};
#ifndef NDEBUG
  const char *tag_ = nullptr, *head_ = nullptr;
#endif
};

}  // namespace emu
