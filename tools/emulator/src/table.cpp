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
  static const Index halves = index_of({half_rows()});
  static const Index pairs = index_of({packed_rows()});
  static const Index others =
      index_of({integer_rows(), carry_rows(), compare_rows(), convert_rows(), memory_rows(),
                atomic_rows(), warp_rows(), control_rows(), video_rows(), async_rows(), stack_rows()});
  const auto look = [&](const Index& index) {
    const auto it = index.find(in.opcode);
    return it == index.end() ? nullptr : it->second;
  };
  bool first = true;
  for (const std::string_view modifier : in.modifiers) {
    const auto type = type_named(modifier);
    if (!type) continue;
    const Row* row = is_half(*type)    ? look(halves)
                     : !first          ? nullptr
                     : is_float(*type) ? look(floats)
                     : is_pair(*type)  ? look(pairs)
                                       : nullptr;
    if (row) return row;
    first = false;
  }
  return look(others);
}

}  // namespace emu
