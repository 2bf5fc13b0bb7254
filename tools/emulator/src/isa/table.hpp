/// \file
/// The instruction table, room by room. A new instruction is one row in one of these.
#pragma once
#include <span>

#include "decode/instruction_set.hpp"

namespace emu {

std::span<const Row> integer_rows();  ///< looked up where the first type is not a float
std::span<const Row> carry_rows();
std::span<const Row> float_rows();    ///< looked up where the first type is a float
std::span<const Row> half_rows();     ///< looked up where any type is a float of 16 bits
std::span<const Row> packed_rows();   ///< looked up where the first type is a pair of integers
std::span<const Row> compare_rows();  ///< these and the rest: whatever the type
std::span<const Row> convert_rows();
std::span<const Row> memory_rows();
std::span<const Row> atomic_rows();
std::span<const Row> warp_rows();
std::span<const Row> control_rows();
std::span<const Row> video_rows();
std::span<const Row> async_rows();
std::span<const Row> cluster_rows();
std::span<const Row> matrix_memory_rows();
std::span<const Row> matrix_rows();
std::span<const Row> image_rows();
std::span<const Row> stack_rows();

/// st.async, which isn't a store like the others.
void build_store_async(Builder& b);

/// The row of an instruction, null if there is none.
const Row* find_row(const Instruction& in);

/// All of it, as the decoder wants it.
const InstructionSet& instruction_set();

}  // namespace emu
