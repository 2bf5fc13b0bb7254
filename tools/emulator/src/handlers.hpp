/// \file
/// Handlers that the decoder itself asks for.
#pragma once
#include "code.hpp"

namespace emu {

void handle_assert(Warp& warp, const Op& op, Mask mask);      ///< __assertfail
void handle_copy_local(Warp& warp, const Op& op, Mask mask);  ///< a .param variable to another
void handle_argument(Warp& warp, const Op& op, Mask mask);    ///< a register to a .param variable
void handle_result(Warp& warp, const Op& op, Mask mask);      ///< and back

}  // namespace emu
