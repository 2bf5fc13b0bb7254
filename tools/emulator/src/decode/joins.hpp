/// \file
/// Where lanes that part at a branch meet again.
#pragma once
#include <cstdint>
#include <vector>

#include "decode/code.hpp"

namespace emu {

/// Puts a join where lanes that part at each of `ops`' branches meet again.
/// In: targets are indices in `ops`. Out: targets and meeting places count the joins.
void insert_joins(std::vector<Op>& ops, std::vector<Code::Place>& places,
                  std::vector<std::uint32_t>& lists);

}  // namespace emu
