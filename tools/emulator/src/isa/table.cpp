#include "isa/table.hpp"

#include <map>
#include <set>

#include "isa/instructions.hpp"

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
                atomic_rows(), warp_rows(), control_rows(), video_rows(), async_rows(),
                stack_rows(), cluster_rows(), matrix_memory_rows(), matrix_rows(), image_rows()});
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

std::vector<std::string_view> supported_opcodes() {
  std::set<std::string_view> names;
  for (const auto room : {float_rows(), half_rows(), packed_rows(), integer_rows(), carry_rows(),
                          compare_rows(), convert_rows(), memory_rows(), atomic_rows(), warp_rows(),
                          control_rows(), video_rows(), async_rows(), stack_rows(), cluster_rows(),
                          matrix_memory_rows(), matrix_rows(), image_rows()}) {
    for (const Row& row : room) names.insert(row.opcode);
  }
  return {names.begin(), names.end()};
}

std::span<const Refusal> refused_opcodes() {
  static constexpr std::string_view kMatrix = "matrix units", kTensor = "tensor maps",
                                    kCluster = "clusters of blocks", kTexture = "textures",
                                    kScalarVideo = "video instructions on one value",
                                    kRegisters = "registers, which the assembler gives out",
                                    kRare = "no program has asked for it";
  static constexpr Refusal kRefused[] = {
      {"clusterlaunchcontrol", kCluster},
      {"multimem", "memory of several devices"},
      {"red.async", kCluster},
      {"st.bulk", kRare},
      {"cp.async.bulk.tensor", kTensor},
      {"cp.reduce", "bulk copies that add"},
      {"tensormap", kTensor},
      {"fence.proxy.tensormap", kTensor},
      {"wgmma", kMatrix},
      {"tcgen05", kMatrix},
      {"setmaxnreg", kRegisters},
      {"istypep", kTexture},
      {"suq", kTexture},
      {"sured", kTexture},
      {"txq", kTexture},
      {"vabsdiff", kScalarVideo},
      {"vadd", kScalarVideo},
      {"vmad", kScalarVideo},
      {"vmax", kScalarVideo},
      {"vmin", kScalarVideo},
      {"vset", kScalarVideo},
      {"vshl", kScalarVideo},
      {"vshr", kScalarVideo},
      {"vsub", kScalarVideo},
  };
  return kRefused;
}

}  // namespace emu
