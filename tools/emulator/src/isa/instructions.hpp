/// \file
/// What of PTX's instruction set there is, for a table in the guide.
#pragma once
#include <span>
#include <string_view>
#include <vector>

namespace emu {

/// Opcodes that the instruction table has, in alphabetical order. Some of their forms may be
/// refused nevertheless.
std::vector<std::string_view> supported_opcodes();

struct Refusal {
  std::string_view opcode, why;
};
/// Opcodes of PTX 9 that are refused by name, with the reason.
std::span<const Refusal> refused_opcodes();

}  // namespace emu
