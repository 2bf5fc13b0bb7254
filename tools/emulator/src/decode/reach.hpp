/// \file
/// Which functions a kernel can come to, and which of them need a frame on the stack.
#pragma once
#include <cstdint>
#include <set>
#include <vector>

#include "decode/decode.hpp"

namespace emu {

struct Reach {
  std::vector<const Function*> functions;  ///< the kernel first
  /// Those that may be active several times over in one thread, or that are called through a
  /// pointer, or that take memory on the stack.
  std::set<const Function*> framed;
  bool points = false;  ///< there are calls through pointers
  /// Bytes of arguments and results, the most of any call of a function with a frame; 0: no call.
  std::uint64_t mailbox_bytes = 0;
};
Reach reach_of(const Names& names, const Function& kernel);

/// Where each result and parameter lies in the mailbox; and past the last.
std::vector<std::uint64_t> mailbox_layout(const std::vector<Declaration>& results,
                                          const std::vector<Declaration>& parameters);

}  // namespace emu
