/// \file
/// What the assembler does to shared loads: neighbouring 4-byte loads of straight-line code become
/// one of 8 or 16 bytes where their alignment can be proved. Hardware counts the wide one.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "decode/instruction_set.hpp"
#include "ptx/syntax.hpp"

namespace emu {

/// How one load of PTX is counted.
struct Merge {
  std::size_t instruction;
  unsigned bytes;      ///< 8 or 16: counted as such; 0: counted with another load
  std::int64_t ahead;  ///< its address minus that of the wide access
  bool certain;        ///< known to be what the assembler does, not only likely
};

/// `rows`: of each instruction. `fixed_address` gives the address of a shared variable, where it is
/// fixed.
std::vector<Merge> merge_shared_loads(
    const Function& function, const std::vector<const Row*>& rows,
    const std::function<std::optional<std::uint64_t>(const Operand&, int scope)>& fixed_address);

}  // namespace emu
