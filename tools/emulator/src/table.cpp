#include "table.hpp"

#include <map>

namespace emu {
namespace {

using Index = std::map<std::string_view, const Row*>;

Index index_of(std::initializer_list<std::span<const Row>> rooms) {
  Index index;
  for (const auto room : rooms) {
    for (const Row& row : room) index.emplace(row.opcode, &row);
  }
  return index;
}

}  // namespace

const Row* find_row(const Instruction& in) {
  static const Index floats = index_of({float_rows()});
  static const Index others =
      index_of({integer_rows(), carry_rows(), compare_rows(), convert_rows(), memory_rows(),
                atomic_rows(), warp_rows(), control_rows()});
  for (const std::string_view modifier : in.modifiers) {
    const auto type = type_named(modifier);
    if (!type) continue;
    if (is_float(*type)) {
      const auto it = floats.find(in.opcode);
      if (it != floats.end()) return it->second;
    }
    break;
  }
  const auto it = others.find(in.opcode);
  return it == others.end() ? nullptr : it->second;
}

}  // namespace emu
