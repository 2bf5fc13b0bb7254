/// \file
/// From syntax to code: names become places, instructions become operations.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/code.hpp"
#include "ptx/syntax.hpp"

namespace emu {

/// Something that PTX has and this device has not; says what, and where.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where the module's names lead, shared by the decoding of all its kernels.
struct Names {
  const Syntax* syntax = nullptr;
  std::map<std::string_view, const Function*> functions;  ///< the one with a body if there is one
  std::map<std::string_view, const Declaration*> variables;
  bool keep_text = false;                         ///< Code::texts is wanted
  std::map<std::string_view, Address> addresses;  ///< of functions
  std::vector<const Function*> pointed_at;        ///< functions whose address is taken somewhere
};

class Decoder;
struct Frame;  ///< a function's names, in the decoder

/// One instruction on its way to an operation: what a row of the instruction table works on.
/// Whatever a row does not take is refused afterwards, so that no modifier is ever overlooked.
class Builder {
 public:
  Builder(Decoder& decoder, Frame& frame, const Instruction& in);

  const Instruction& in() const { return in_; }

  // Modifiers.
  bool take(std::string_view modifier);  ///< true, and used up, when it is there
  template <class... Names>
  bool take_any(Names... names) {
    return (... | take(names));
  }
  Type take_type();  ///< the first type that is left
  std::optional<Type> take_type_if_any();
  void finish();  ///< refuses what is left over

  // Operands.
  std::size_t operands() const { return in_.operands.size(); }
  const Operand& operand(std::size_t i) const;
  void expect_operands(std::size_t least, std::size_t most) const;
  Slot source(std::size_t i, unsigned width) { return source(operand(i), width); }
  Slot source(const Operand& operand, unsigned width, bool is_float = false);
  Slot source(std::size_t i, Type type) { return source(operand(i), width(type), is_float(type)); }
  Slot result(std::size_t i, unsigned width) { return result(operand(i), width); }
  Slot result(const Operand& operand, unsigned width);
  Slot predicate(std::size_t i) { return source(operand(i), 1); }
  Slot predicate_named(std::string_view name);
  /// Bits of the register that an operand names; of `otherwise` for a constant.
  unsigned register_width(const Operand& operand, unsigned otherwise) const;
  Slot constant(unsigned width, std::uint64_t bits);
  Slot trash(unsigned width);  ///< a place for a result that nobody wants
  Slot carry();                ///< the carry flag of the function

  /// The address of `[…]` into op.a, op.imm and flags.
  void address(Op& op, std::size_t i);
  /// A name's space when it is a variable: ".shared", ".param", …; empty when it is none.
  std::string_view variable_space(const Operand& operand) const;
  /// Whether the name is a parameter of the kernel, and where that lies in the parameter block.
  bool parameter_of_kernel(const Operand& operand) const;
  std::uint64_t parameter_offset(const Operand& operand, std::size_t bytes);
  std::uint32_t number_access(Order order = Order::kWeak);

  std::uint32_t list(const std::vector<std::uint32_t>& slots);
  void branch(bool uniform);
  void branch_indexed();
  void call();
  void leave();  ///< ret
  /// The register that holds where the thread's stack ends, for alloca.
  Slot stack();

  Op& emit(Handler handler);
  [[noreturn]] void unsupported(const std::string& why = "") const;

 private:
  Slot place_of(const Declaration& d);
  bool call_builtin(const Function& callee, const Operand* results, const Operand* arguments);
  Decoder& decoder_;
  Frame& frame_;
  const Instruction& in_;
  std::vector<std::string_view> left_;
};

/// A row of the instruction table: an opcode and what makes an operation of it.
struct Row {
  std::string_view opcode;
  void (*build)(Builder&);
};

/// The row of an instruction, null if there is none.
const Row* find_row(const Instruction& in);

struct Decoded {
  std::shared_ptr<Code> code;
  std::size_t shared_bytes = 0;
  unsigned registers = 0;
};

/// Decodes a kernel with all that it calls. Throws Unsupported, or PtxError for names that are
/// nowhere. `budget` is how many operations may still be made for the module.
Decoded decode(const Names& names, const Function& kernel, std::size_t& budget);

/// Puts a join where lanes that part at each of `ops`' branches meet again.
/// In: targets are indices in `ops`. Out: targets and meeting places count the joins.
void insert_joins(std::vector<Op>& ops, std::vector<Code::Place>& places,
                  std::vector<std::uint32_t>& lists);

}  // namespace emu
