/// \file
/// Shuffles from lanes that aren't there: what a lane gets is undefined, and a finding once it is
/// used as UnsetValues says. Trees of shuffles make such values all the time and drop them.
#pragma once
#include "watch/check.hpp"
#include "watch/unset.hpp"

namespace emu {

class ShuffleCheck {
 public:
  explicit ShuffleCheck(BlockFindings& findings);

  void begin() { values_.clear(); }
  void handed(Warp& warp, const Op& op, Mask lanes, const std::uint32_t* from);
  void instruction(Warp& warp, const Op& op, Mask lanes);
  bool follows() const { return !values_.empty(); }
  void exited(const Warp& warp, Mask lanes) { values_.exited(warp, lanes); }

 private:
  BlockFindings& findings_;
  UnsetValues values_;
};

}  // namespace emu
