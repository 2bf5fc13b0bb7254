/// \file
/// The layout of a warp's register file: registers first, then constants and special registers.
#pragma once
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "decode/code.hpp"

namespace emu {

/// `n` to the next multiple of `align`.
constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t align) {
  return align ? (n + align - 1) / align * align : n;
}

/// Gives out slots. Where constants begin is known only when all registers are: until `settle`,
/// slots of constants carry a mark.
class RegisterFile {
 public:
  explicit RegisterFile(Code& code) : code_(code), always_(constant(1, 1)) {}

  Slot add(unsigned width);  ///< a register; its bits, 1 for a predicate
  Slot constant(unsigned width, std::uint64_t bits);
  /// A symbol's address, filled in when the module is linked.
  Slot symbol(std::string_view name, std::int64_t addend, unsigned width);
  Slot special(Special which, unsigned width);
  /// An address formed from a variable in shared memory, which no number is taken for.
  Slot shared(std::string_view name, std::uint64_t place, unsigned width);
  /// An address past all static shared memory, whose size isn't known yet.
  Slot dynamic_shared(std::int64_t offset, unsigned width);
  Slot always() const { return always_; }  ///< a predicate that is true
  /// The kernel needs more registers than there is room for, and can't be decoded.
  bool full() const;
  unsigned registers() const { return registers_; }

  /// Puts constants behind the registers, in all of the code. `dynamic`: where dynamic shared
  /// memory begins.
  void settle(std::uint64_t dynamic);

 private:
  Slot new_constant(unsigned width, std::uint64_t bits);

  Code& code_;
  std::map<std::pair<unsigned, std::uint64_t>, Slot> constants_;
  std::map<std::pair<std::string_view, std::int64_t>, Slot> symbols_;
  std::map<std::pair<Special, unsigned>, Slot> specials_;
  std::map<std::tuple<std::string_view, std::uint64_t, unsigned>, Slot> shared_;
  std::vector<std::size_t> dynamic_;
  std::uint64_t register_bytes_ = 0, constant_bytes_ = 0;
  unsigned registers_ = 0;
  Slot always_;
};

/// A special register by its name in PTX; `width` 0 for WARP_SZ, which is a constant of any width.
struct SpecialName {
  std::string_view name;
  Special which;
  unsigned width;
};
const SpecialName* find_special(std::string_view name);  ///< null if there is none

}  // namespace emu
