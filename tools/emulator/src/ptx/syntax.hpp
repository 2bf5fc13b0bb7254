/// \file
/// What a PTX text says, before any meaning is given to its instructions.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/types.hpp"

namespace emu {

struct Operand {
  enum class Kind {
    kName,     ///< a register, symbol, label or special register, with an offset if a symbol
    kInteger,  ///< its value in `bits`
    kFloat32,
    kFloat64,
    kAddress,  ///< [name + offset], or [offset] with an empty name
    kList      ///< {a, b} or (a, b)
  };
  Kind kind = Kind::kName;
  std::string_view name = {};
  std::string_view second = {};  ///< of `p|q`
  bool negated = false;          ///< of `!p`
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::vector<Operand> elements = {};
};

/// One variable, in any space; of a function's scope or of the module's.
struct Declaration {
  std::string_view space;  ///< ".shared", ".param", …
  Type type = Type::kB8;
  std::string_view name = {};
  std::uint64_t align = 1;
  std::uint64_t bytes = 0;
  bool unsized = false;  ///< `extern … name[]`
  bool external = false;
  bool shared = false;  ///< other modules know its name (.visible, .extern, .weak, .common)
  int line = 0;
  int scope = 0;
  std::vector<Operand> values = {};  ///< the initialiser, flat
};

struct Instruction {
  std::string_view opcode = {};                  ///< "ld"
  std::vector<std::string_view> modifiers = {};  ///< "global", "u32"
  std::string_view text = {};                    ///< "ld.global.u32"
  std::string_view guard = {};                   ///< predicate register, or empty
  bool guard_negated = false;
  std::vector<Operand> operands = {};
  int scope = 0;
  int line = 0;
  int file = 0, source_line = 0;       ///< from .loc
  int outer_file = 0, outer_line = 0;  ///< where what it was inlined into calls it, outermost
};

/// Registers declared together, as `%r<13>`.
struct RegisterRange {
  Type type = Type::kB32;
  std::uint64_t count = 0;  ///< `%r0` … `%r(count-1)`
};

/// The form of a function that is called through a pointer.
struct Prototype {
  std::vector<Declaration> results = {}, parameters = {};
};

struct Scope {
  int parent = -1;
  std::map<std::string_view, RegisterRange> ranges = {};  ///< by prefix
  std::map<std::string_view, Type> registers = {};
  std::map<std::string_view, std::size_t> variables = {};  ///< index in Function::variables
  std::map<std::string_view, std::size_t> labels = {};     ///< index of the instruction after it
  std::map<std::string_view, std::vector<std::string_view>> targets = {};  ///< .branchtargets
  std::map<std::string_view, Prototype> prototypes = {};                   ///< .callprototype
  std::map<std::string_view, std::string_view> call_targets = {};  ///< .calltargets: the first
};

struct Function {
  std::string_view name = {};
  bool is_kernel = false;
  bool has_body = false;
  bool shared = false;  ///< as of Declaration
  int line = 0;
  std::uint64_t max_threads = 0;         ///< 0: not said
  std::array<unsigned, 3> cluster = {};  ///< .reqnctapercluster; 0: not said
  std::vector<Declaration> results = {};
  std::vector<Declaration> parameters = {};
  std::vector<Declaration> variables = {};
  std::vector<Scope> scopes = {};
  std::vector<Instruction> body = {};
};

struct Syntax {
  int target = 0;
  bool debug = false;  ///< `.target …, debug`: the assembler optimises nothing
  std::map<int, std::string> files = {};
  std::vector<Function> functions = {};
  std::vector<Declaration> variables = {};
};

/// Throws PtxError. Views point into `text`.
Syntax parse_syntax(std::string_view text);

}  // namespace emu
