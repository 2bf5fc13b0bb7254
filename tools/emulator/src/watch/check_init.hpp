/// \file
/// Reads of bytes never written: of shared and local memory since the block began, of memory
/// from cudaMalloc since it was allocated. A read is a finding when it happens, whether or not what
/// was read is used: a wide load of a padded structure is one.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "watch/check.hpp"

namespace emu {

class InitCheck {
 public:
  InitCheck(BlockFindings& findings, Checker& checker);

  void begin();
  void access(const Access& access);
  void copy_began(const Copy& copy);
  void copy_landed(std::uint64_t number);

 private:
  using Bits = std::vector<std::uint64_t>;
  void global(const Access& access, std::uint32_t pc);
  void of_block(const Access& access, std::uint32_t pc);
  static bool reads(Direction direction) {
    return direction == Direction::kLoad || direction == Direction::kAtomic;
  }
  void note(const Access& access, unsigned lane, std::uint32_t pc, const char* what);

  BlockFindings& findings_;
  Checker& checker_;
  std::uint64_t local_bytes_;
  Bits shared_;
  Bits local_;  ///< of all threads, one after another
  Written* last_ = nullptr;
  struct OnItsWay {
    Space space;
    Address to;
    std::uint64_t bytes;
  };
  std::unordered_map<std::uint64_t, OnItsWay> copies_;
};

}  // namespace emu
