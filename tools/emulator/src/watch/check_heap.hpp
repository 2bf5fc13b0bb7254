/// \file
/// The heap of malloc in kernels: accesses past the end of a piece or to one that was freed, wrong
/// frees, and pieces that nothing frees. Pieces lie apart and freed ones are kept back as long as
/// there is room (GlobalMemory::keep_apart), so that an access into none is seen.
#pragma once
#include <cstdint>

#include "watch/check.hpp"

namespace emu {

class HeapCheck {
 public:
  HeapCheck(BlockFindings& findings, Checker& checker);

  void access(const Access& access);
  void given(const Warp& warp, const Op& op, unsigned lane, Address at, std::uint64_t bytes);
  void taken(const Warp& warp, const Op& op, unsigned lane, Address at, bool is_piece);

 private:
  std::string piece_at(Address at) const;

  BlockFindings& findings_;
  Checker& checker_;
  const DeviceHeap& heap_;
};

}  // namespace emu
