/// \file
/// Handlers that the decoder itself asks for.
#pragma once
#include "decode/code.hpp"

namespace emu {

void handle_assert(Warp& warp, const Op& op, Mask mask);  ///< __assertfail
void handle_print(Warp& warp, const Op& op, Mask mask);   ///< vprintf
void handle_malloc(Warp& warp, const Op& op, Mask mask);
void handle_free(Warp& warp, const Op& op, Mask mask);
void handle_enter(Warp& warp, const Op& op, Mask mask);  ///< a function with a frame begins
void handle_leave(Warp& warp, const Op& op, Mask mask);
void handle_place(Warp& warp, const Op& op, Mask mask);       ///< an address in the frame
void handle_copy_local(Warp& warp, const Op& op, Mask mask);  ///< a .param variable to another
void handle_argument(Warp& warp, const Op& op, Mask mask);    ///< a register to a .param variable
void handle_result(Warp& warp, const Op& op, Mask mask);      ///< and back

}  // namespace emu
