/// \file
/// Handlers of what calls are made of, and of the functions that the driver has.
#pragma once
#include "decode/instruction_set.hpp"

namespace emu {

void handle_assert(Warp& warp, const Op& op, Mask mask);  ///< __assertfail
void handle_print(Warp& warp, const Op& op, Mask mask);   ///< vprintf
void handle_malloc(Warp& warp, const Op& op, Mask mask);
void handle_free(Warp& warp, const Op& op, Mask mask);
void handle_enter(Warp& warp, const Op& op, Mask mask);
void handle_leave(Warp& warp, const Op& op, Mask mask);
void handle_place(Warp& warp, const Op& op, Mask mask);
void handle_copy_local(Warp& warp, const Op& op, Mask mask);
void handle_argument(Warp& warp, const Op& op, Mask mask);
void handle_result(Warp& warp, const Op& op, Mask mask);

}  // namespace emu
