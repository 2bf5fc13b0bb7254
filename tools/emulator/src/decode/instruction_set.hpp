/// \file
/// What the decoder is given of the instruction set: a row for each instruction, and what calls are
/// made of. The rows are in the room `isa`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "decode/code.hpp"
#include "decode/op.hpp"
#include "ptx/syntax.hpp"

namespace emu {

class Builder;

/// What an instruction is to those who don't carry it out.
struct Traits {
  /// Whether the assembler can put shared loads before it together with shared loads after it.
  enum class Parts : std::uint8_t {
    kNothing,
    kSharedLoads,
    kIfShared  ///< where it may write to shared memory
  };
  Parts parts = Parts::kNothing;
  /// How many low bits of its result are known to be zero, from those of its sources.
  enum class LowZeros : std::uint8_t {
    kUnknown,
    kOfFirst,    ///< as many as of the first source
    kLeast,      ///< the fewest of two
    kMost,       ///< the most of two
    kShifted,    ///< those of the first and the second source's value
    kSum,        ///< those of both: a product
    kSumOrThird  ///< a product's, and a third source is added
  };
  LowZeros low_zeros = LowZeros::kUnknown;
  bool merges : 1 = false;  ///< a load that the assembler may put together with its neighbours
  Code::Flow::Sum sum : 7 = Code::Flow::Sum::kLoses;
  /// What becomes of the values that it reads; those with an address or a control of their own use
  /// them in any case.
  Code::Flow::Kind flow = Code::Flow::Kind::kCarries;
};

/// A row of the instruction table: an opcode, what makes an operation of it, and what it is.
struct Row {
  std::string_view opcode;
  void (*build)(Builder&);
  Traits traits = {};
};

/// A function that the driver has: its arguments and results lie in .param variables, whose places
/// are registers in Code::lists from BuiltinCall::list on.
struct Builtin {
  std::string_view name;
  Handler handler;
  std::size_t arguments, results;
  bool uses_heap = false;
};

struct InstructionSet {
  const Row* (*find)(const Instruction&);  ///< null if there is none
  std::span<const Builtin> builtins;
  Handler enter;         ///< a function with a frame begins: FrameChange
  Handler leave;         ///< and ends
  Handler place;         ///< an address in the frame: FramePlace
  Handler copy_local;    ///< a .param variable to another: CopyLocal
  Handler put_argument;  ///< a register to a .param variable: Argument
  Handler get_result;    ///< and back
};

// The payloads of these.

/// a: register with the stack's end; b: register with the frame's base.
struct FrameChange {
  std::uint32_t list = 0;       ///< of each thing to move its place in mailbox and frame, and bytes
  std::uint32_t moved = 0;      ///< how many
  std::uint32_t registers = 0;  ///< which to put aside: number in Code::frames
  std::uint32_t bytes = 0;      ///< of the frame
  std::uint32_t align = 0;
};
/// d: a register; a: the frame's base.
struct FramePlace {
  std::int64_t offset = 0;
  bool wide = false;  ///< the register has 64 bits
};
/// a, b: registers with the places in local memory, to and from.
struct CopyLocal {
  std::uint64_t bytes = 0;
};
/// a: the register.
struct Argument {
  std::uint32_t place = 0;  ///< in local memory
  std::uint32_t bytes = 0;
};
struct BuiltinCall {
  std::uint32_t list = 0;
};

}  // namespace emu
