/// \file
/// A kernel decoded: a flat array of operations whose operands are places in a warp's register
/// file. A register is 32 lanes side by side; a predicate is a mask of 32 bits. Constants and
/// special registers are places in the file too, filled before the first instruction, so that an
/// operation never asks what kind of operand it has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "emu/module.hpp"

namespace emu {

inline constexpr unsigned kLanes = 32;
using Mask = std::uint32_t;  ///< bit i: lane i
inline constexpr Mask kAllLanes = ~Mask{0};

/// Generic addresses of kernel parameters (cvta.param): the upper half of the local window's gap.
inline constexpr Address kParameterWindow = kLocalWindow + 0x40'0000'0000;

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
  kJoin,  ///< a point where lanes that parted meet again; no instruction of the program
  kBranch,
  kSwitch,  ///< brx.idx
  kCall,
  kCallPointer,
  kReturn,
  kExit,
  kBarrier,   ///< waits for threads of other warps
  kTogether,  ///< waits for lanes of this warp that a mask names
  kSuspend,   ///< may wait until its predicate comes true, and need not
};

inline constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

struct Op {
  Handler run = nullptr;
  Slot d = 0, a = 0, b = 0, c = 0;
  std::int64_t imm = 0;      ///< displacement of an address, or what a handler likes
  Slot guard = 0;            ///< a predicate; a constant true one where there is no guard
  Mask guard_flip = 0;       ///< all ones for `@!p`
  Slot member = 0;           ///< of kTogether: the mask that names lanes
  std::uint32_t target = 0;  ///< of a branch or call; of memory access: its number
  std::uint32_t list = 0;    ///< first of further slots in Code::lists
  std::uint16_t count = 0;   ///< how many
  Control control = Control::kStraight;
  std::uint8_t flags = 0;
};

enum OpFlags : std::uint8_t {
  kGuarded = 1,        ///< has a guard
  kNarrowAddress = 2,  ///< address register of 32 bits
  kMergeable = 4,      ///< a shared load that the assembler may merge with a neighbour
  kNoData = 16,        ///< of kTogether: lanes meet and pass nothing on
  kMerged = 64,        ///< a shared load counted as op.b bytes at op.c before its address; 0: not
  kPoll = 32,          ///< a load that may wait for another thread's store
  kBypass = 8,         ///< not counted as an instruction: made by the decoder
};

/// What op.count of a barrier says.
enum BarrierFlags : std::uint16_t {
  kCountedBarrier = 1,  ///< with a number of threads
  kArriveOnly = 2,      ///< doesn't wait
  kNegatedVote = 4,
  kAlignedBarrier = 8,  ///< has to be the same instruction for all threads of a warp
};

enum class Special : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kNwarpId,
  kSmId,
  kNsmId,
  kGridId,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kDynamicSmemSize,
  kTotalSmemSize,
  kGridWorkspaceHigh,
  kGridWorkspaceLow,
  kZero,
  kOne
};

/// What an access to memory promises to other threads.
enum class Order : std::uint8_t {
  kWeak,
  kVolatile,
  kRelaxed,  ///< and atom or red without a word on it
  kAcquire,
  kRelease,
  kAcquireRelease
};

struct Code {
  struct Constant {
    Slot slot;
    unsigned width;  ///< bits; 1 for a predicate
    std::uint64_t bits;
  };
  struct SpecialSlot {
    Slot slot;
    unsigned width;
    Special which;
  };
  struct Relocation {  ///< a constant that is the address of a module's variable
    std::size_t constant;
    std::string symbol;
    std::int64_t addend;
  };
  struct Callee {  ///< what a pointer may lead to
    Address address;
    std::uint32_t entry;
    std::uint32_t form;  ///< sizes of its results and parameters, by number
  };
  struct Place {
    int ptx_line;
    int file, line;                      ///< of the source, 0 where not known
    std::uint32_t text = 0;              ///< index in `texts`
    int outer_file = 0, outer_line = 0;  ///< where what was inlined is called, outermost
  };

  struct SharedVariable {
    std::string name;  ///< mangled
    std::uint64_t offset, bytes;
  };

  std::vector<Op> ops;
  std::vector<Place> places;         ///< of each op
  std::vector<std::uint32_t> lists;  ///< further slots; targets of brx.idx
  std::vector<Constant> constants;
  std::vector<SpecialSlot> specials;
  std::vector<Relocation> relocations;
  std::vector<SharedVariable> shared_variables;  ///< of static size
  std::vector<std::string> files;                ///< named by Place::file
  std::vector<std::string> texts;                ///< instructions as in the PTX, for a trace only
  std::vector<Callee> callees;                   ///< by address
  std::vector<std::vector<std::pair<Slot, unsigned>>> frames;  ///< registers to save, and widths
  Slot stack = 0;               ///< register: where the thread's stack ends; of 64 bits
  std::size_t stack_bytes = 0;  ///< a thread, after local_bytes; 0 where nothing needs it
  bool uses_heap = false;
  std::uint64_t driver_shared = 0, driver_shared_bytes = 0;  ///< which the driver sets to zero
  std::size_t zeroed_bytes = 0;                              ///< registers: the head of the file
  std::size_t file_bytes = 0;                                ///< all of it
  std::size_t local_bytes = 0;                               ///< a thread
  std::vector<Order> orders;                                 ///< of each numbered access to memory

  /// "PTX line 12 (kernels.cuh:40)"
  std::string where(std::uint32_t pc) const;
  /// ", inlined at a.cu:3", or nothing.
  std::string inlined_at(std::uint32_t pc) const;
};

}  // namespace emu
