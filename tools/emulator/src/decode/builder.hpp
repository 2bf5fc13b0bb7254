/// \file
/// One instruction on its way to an operation: what a row of the instruction table works on.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "decode/code.hpp"
#include "decode/instruction_set.hpp"

namespace emu {

/// Something that PTX has and this device has not; says what, and where.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Decoder;
struct Frame;  ///< a function's names, in the decoder

/// `[name + offset]`: a register, and what is added to it.
struct AddressOperand {
  Slot base = 0;
  std::int64_t displacement = 0;
  bool narrow = false;  ///< a register of 32 bits
};

/// Whatever a row does not take is refused afterwards, so that no modifier is ever overlooked.
class Builder {
 public:
  Builder(Decoder& decoder, Frame& frame, const Instruction& in);

  const Instruction& in() const { return in_; }

  // Modifiers.
  bool take(std::string_view modifier);  ///< true, and used up, when it is there
  template <class... Names>
  bool take_any(Names... names) {
    return (take(names) + ... + 0) > 0;
  }
  Type take_type();  ///< the first type that is left
  std::optional<Type> take_type_if_any();
  void finish();  ///< refuses what is left over

  // Operands.
  std::size_t operands() const { return in_.operands.size(); }
  const Operand& operand(std::size_t i) const;
  void expect_operands(std::size_t least, std::size_t most) const;
  Slot source(std::size_t i, unsigned width) { return source(operand(i), width); }
  Slot source(const Operand& operand, unsigned width, bool is_float = false) {
    const Slot slot = place(operand, width, is_float);
    reads_.push_back({slot, width});
    return slot;
  }
  Slot source(std::size_t i, Type type) { return source(operand(i), width(type), is_float(type)); }
  Slot result(std::size_t i, unsigned width) { return result(operand(i), width); }
  Slot result(const Operand& operand, unsigned width);
  Slot predicate(std::size_t i) { return source(operand(i), 1); }
  Slot predicate_named(std::string_view name);  ///< a result
  /// Bits of the register that an operand names; of `otherwise` for a constant.
  unsigned register_width(const Operand& operand, unsigned otherwise) const;
  Slot constant(unsigned width, std::uint64_t bits);
  Slot trash(unsigned width);     ///< a place for a result that is not used
  Slot carry(bool in, bool out);  ///< the carry flag of the function, read or set

  AddressOperand address(std::size_t i);
  /// An access there, with a number of its own.
  MemoryOperand access(const AddressOperand& address, Ordering ordering = {});
  /// A name's space when it is a variable: ".shared", ".param", …; empty when it is none.
  std::string_view variable_space(const Operand& operand) const;
  /// Whether the name is a parameter of the kernel, and where that lies in the parameter block.
  bool parameter_of_kernel(const Operand& operand) const;
  std::uint64_t parameter_offset(const Operand& operand, std::size_t bytes);

  std::uint32_t list(const std::vector<std::uint32_t>& slots);
  void branch();
  void branch_indexed();
  void call();
  void leave();  ///< ret
  /// The register that holds where the thread's stack ends, for alloca.
  Slot stack();

  Op& emit(Handler handler);
  /// What this form of the instruction makes of sums, where that isn't what its row says.
  void sums(Code::Flow::Sum sum) { sum_ = sum; }
  /// So many low bits of the source count.
  void low_bits(unsigned bits) { low_ = static_cast<std::uint8_t>(bits); }
  /// What the registers that the row asked for mean to it.
  Code::Flow flow(const Traits& traits) const;
  [[noreturn]] void unsupported(const std::string& why = "") const;

 private:
  struct Callee;
  Slot guard(std::string_view name);
  Slot place(const Operand& operand, unsigned width, bool is_float);
  Slot place_of(const Declaration& d);
  Slot place_of(const Declaration& d, std::int64_t offset, unsigned width);
  Callee callee_of(const Operand& name, const Operand* prototype) const;
  void copy(const Operand& actual, const Declaration& formal, std::uint64_t inside, bool in);
  void call_builtin(const Builtin& builtin, const Operand* results, const Operand* arguments);
  Decoder& decoder_;
  Frame& frame_;
  const Instruction& in_;
  std::vector<std::string_view> left_;
  std::vector<Code::Flow::Register> reads_, writes_;
  bool addresses_ = false;
  std::optional<Code::Flow::Sum> sum_;
  std::optional<bool> floating_;
  std::uint8_t low_ = 0;
};

}  // namespace emu
