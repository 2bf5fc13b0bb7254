/// \file
/// What a kernel does with a value that it reads from memory, as its code says: whether a result
/// depends on it, or only whether to look again.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "decode/code.hpp"

namespace emu {

class ValueUses {
 public:
  enum class Use : std::uint8_t {
    kNone,
    kDecides,     ///< it decides what is done, and is in nothing that is stored
    kCounts,      ///< something is stored, or found, that is made of it
    kLooksAgain,  ///< it decides whether it is read once more, or an atomic compares it first
    kUnknown,
  };
  explicit ValueUses(const Code& code);

  Use of(std::uint32_t pc);
  /// Whether it has atomics, or places where threads wait for one another.
  bool synchronises() const { return synchronises_; }
  /// An exchange whose result nothing uses.
  bool only_stores(std::uint32_t pc);

 private:
  Use find(std::uint32_t pc);
  bool leads_back(std::uint32_t branch, std::uint32_t pc) const;
  bool reads_same_place(std::uint32_t a, std::uint32_t b) const;
  const Code::Flow& flow(std::uint32_t pc) const { return code_.flows[code_.places[pc].flow]; }
  void index();

  const Code& code_;
  bool synchronises_;
  std::vector<Use> known_;  ///< by place, as far as it was asked for
  std::unordered_map<Slot, std::vector<std::uint32_t>> readers_;
};

}  // namespace emu
