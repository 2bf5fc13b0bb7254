/// \file
/// What matrix instructions have in common: all lanes of a warp carry them out as one.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "decode/builder.hpp"
#include "machine/warp.hpp"

namespace emu {

/// Lanes that have exited leave a hole that PTX leaves undefined.
inline void whole_warp(Warp& warp, const Op& op, Mask mask) {
  if (mask == kAllLanes) return;
  warp.warn(op, mask, "a matrix instruction, which needs all lanes of its warp");
}

/// The registers of operand `i`, one or a list.
inline std::vector<std::uint32_t> registers_of(Builder& b, std::size_t i, unsigned width,
                                               std::size_t count, bool results) {
  const Operand& operand = b.operand(i);
  std::vector<const Operand*> elements{&operand};
  if (operand.kind == Operand::Kind::kList) {
    elements.clear();
    for (const Operand& e : operand.elements) elements.push_back(&e);
  }
  if (elements.size() != count) b.unsupported("so many registers");
  std::vector<std::uint32_t> slots;
  for (const Operand* e : elements) {
    slots.push_back(results ? b.result(*e, width) : b.source(*e, width));
  }
  return slots;
}

}  // namespace emu
