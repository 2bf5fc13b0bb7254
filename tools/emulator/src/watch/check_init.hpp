/// \file
/// Reads of bytes never written: of shared and local memory since the block began, of memory
/// from cudaMalloc since it was allocated. A read is a finding once what was read is used: as an
/// address, for a branch, in a store or an atomic, between lanes. What is only computed and then
/// not chosen isn't one: compilers make a load and a selection of a branch.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "watch/check.hpp"
#include "watch/unset.hpp"

namespace emu {

class InitCheck {
 public:
  InitCheck(BlockFindings& findings, Checker& checker);

  void begin();
  void access(const Access& access);
  void reached(Address at, std::uint64_t bytes);
  std::vector<std::uint64_t>& shared() { return shared_; }
  void instruction(Warp& warp, const Op& op, Mask lanes);
  bool follows() const { return !unset_.empty(); }
  void exited(const Warp& warp, Mask lanes) { unset_.exited(warp, lanes); }
  void copy_began(const Copy& copy);
  void copy_landed(std::uint64_t number);

 private:
  using Bits = std::vector<std::uint64_t>;
  void global(const Access& access, std::uint32_t pc);
  void of_block(const Access& access, std::uint32_t pc);
  void read(const Access& access, Bits& bits, unsigned lane, std::uint64_t offset);
  void finish_load(const Access& access, std::uint32_t pc, const char* what);
  static const Code::Flow* flow_of(const Access& access);
  static bool reads(Direction direction) {
    return direction == Direction::kLoad || direction == Direction::kAtomic;
  }
  void note(const UnsetValues::Origin& origin, unsigned lane, std::uint32_t used_at);

  BlockFindings& findings_;
  Checker& checker_;
  std::uint64_t local_bytes_;
  Bits shared_;
  Bits local_;  ///< of all threads, one after another
  Written* last_ = nullptr;
  UnsetValues unset_;
  std::array<Mask, kMostBytes>
      missing_{};            ///< of a load's elements: lanes whose bytes nothing wrote
  unsigned elements_ = 1;    ///< of the load
  bool incomplete_ = false;  ///< missing_ has lanes
  struct OnItsWay {
    Space space;
    Address to;
    std::uint64_t bytes;
  };
  std::unordered_map<std::uint64_t, OnItsWay> copies_;
};

}  // namespace emu
