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

#include "decode/op.hpp"
#include "emu/module.hpp"

namespace emu {

/// Generic addresses of kernel parameters (cvta.param): the upper half of the local window's gap.
inline constexpr Address kParameterWindow = kLocalWindow + 0x40'0000'0000;

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
  kClusterIdX,
  kClusterIdY,
  kClusterIdZ,
  kNclusterIdX,
  kNclusterIdY,
  kNclusterIdZ,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
  kIsExplicitCluster,
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
  kZero
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

/// All of it, for those who look on.
struct Ordering {
  Order order = Order::kWeak;
  SyncScope scope = SyncScope::kSystem;
  bool read_only = false;    ///< ld.global.nc
  bool silent = false;       ///< an update that gives nothing back: red
  bool barrier = false;      ///< of an mbarrier
  std::uint8_t element = 0;  ///< bytes of each of several elements; 0 where there is one
};

/// Whether code says what its instructions make of sums. A page has no use for that.
#ifdef EMU_WITHOUT_SUMS
inline constexpr bool kFollowsSums = false;
#else
inline constexpr bool kFollowsSums = true;
#endif

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
  /// The registers that one instruction reads and writes, for checks that follow values. `slots`
  /// has those it reads, in the order of the text, then those it writes.
  struct Flow {
    enum class Kind : std::uint8_t {
      kCarries,  ///< the results come from what it reads
      kUses,     ///< it acts on what it reads: an address, a branch, a store, other threads
      kHands,    ///< lanes get the first source of other lanes, and it acts on the rest
      kLoads,    ///< it reads an address; the results come from memory
      kSelects,  ///< the result is the first or the second, as the third, a predicate, says
      kAnds,     ///< a zero decides
      kOrs       ///< a one decides
    };
    /// What becomes of sums that it reads, for who follows those. What isn't said here makes
    /// something else of them.
    enum class Sum : std::uint8_t {
      kLoses,
      kMoves,  ///< the result is what it reads; of an atomic: memory gets it
      kAdds,   ///< of an atomic: to memory
      kSubtracts,
      kNegates,
      kMultiplies,
      kMultipliesAndAdds,
      kDivides,
      kShiftsLeft,
      kShiftsRight,
      kMasks,     ///< the bits that are set in the second source
      kTakes,     ///< bits from the second source's number on, as many as the third says
      kFlips,     ///< the bits that are set in the second source
      kSets,      ///< the same bits to one
      kPermutes,  ///< bytes of the first two sources, as the third says
      kDots,      ///< bytes of the first source by bytes of the second, and the third
      kJoins,     ///< the sources one behind the other
      kSplits,    ///< and back
      kHands,     ///< lanes get the first source of other lanes: registers of 32 bits
      kAddsLanes,
      kSwaps,     ///< an atomic that puts the second source where it finds the first
      kAsTheyRun  ///< the order of threads decides
    };
    struct Register {
      Slot slot;
      unsigned width;  ///< bits; 1 for a predicate
      bool address = false;
    };
    Kind kind = Kind::kCarries;
    Sum sum = Sum::kLoses;
    bool floating = false;  ///< its first type is a float's
    bool negated = false;   ///< the predicate of a selection
    std::uint8_t low = 0;   ///< so many low bits of its source count; 0: all
    std::size_t reads = 0;
    std::vector<Register> slots = {};
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
    std::uint32_t flow = 0;              ///< index in `flows`
  };

  struct SharedVariable {
    std::string name;  ///< mangled
    std::uint64_t offset, bytes;
  };

  /// A constant that is an address in a variable of shared memory.
  struct SharedAddress {
    Slot slot;
    std::string variable;  ///< mangled; empty for dynamic memory
  };

  std::vector<Op> ops;
  std::vector<Place> places;         ///< of each op
  std::vector<Flow> flows;           ///< the first: of what is not followed
  std::vector<std::uint32_t> lists;  ///< further slots; targets of brx.idx
  std::vector<Constant> constants;
  std::vector<SpecialSlot> specials;
  std::vector<Relocation> relocations;
  std::vector<SharedVariable> shared_variables;  ///< of static size
  std::vector<SharedAddress> shared_addresses;
  std::vector<std::string> files;     ///< named by Place::file
  std::vector<std::string> refusals;  ///< named by Missing::why
  std::vector<std::string> texts;     ///< instructions as in the PTX, for a trace only
  std::vector<Callee> callees;        ///< by address
  std::vector<std::vector<std::pair<Slot, unsigned>>> frames;  ///< registers to save, and widths
  Slot stack = 0;                 ///< register: where the thread's stack ends; of 64 bits
  std::uint64_t stack_bytes = 0;  ///< a thread, after local_bytes; 0 where nothing needs it
  bool uses_heap = false;
  std::uint64_t driver_shared = 0, driver_shared_bytes = 0;  ///< which the driver sets to zero
  std::size_t zeroed_bytes = 0;                              ///< registers: the head of the file
  std::size_t file_bytes = 0;                                ///< all of it
  std::uint64_t local_bytes = 0;                             ///< a thread
  std::vector<Ordering> orders;                              ///< of each numbered access to memory

  /// "PTX line 12 (kernels.cuh:40)"
  std::string where(std::uint32_t pc) const;
  /// ", inlined at a.cu:3", or nothing.
  std::string inlined_at(std::uint32_t pc) const;
};

}  // namespace emu
