/// \file
/// Accesses that leave one array in shared memory and land in another, or behind it. Hardware knows
/// no arrays; which one is meant the code says: by the variable that an address is formed from.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "watch/check.hpp"

namespace emu {

class SharedArrays {
 public:
  explicit SharedArrays(BlockFindings& findings);
  /// Whether a block has several.
  static bool tell_apart(Block& block);
  void access(const Access& access);

 private:
  struct Array {
    std::string name;  ///< mangled
    Address first = 0;
    std::uint64_t bytes = 0;
  };
  /// Those that the operation's address may be formed from; none where that isn't known.
  const std::vector<Array>& meant(std::uint32_t pc);
  std::vector<Array> find(std::uint32_t pc) const;
  Array array(const std::string& name) const;

  BlockFindings& findings_;
  std::unordered_map<Slot, std::vector<std::uint32_t>> written_by_;  ///< operations
  std::unordered_map<Slot, std::string> variables_;
  std::unordered_map<std::uint32_t, std::vector<Array>> known_;
};

}  // namespace emu
