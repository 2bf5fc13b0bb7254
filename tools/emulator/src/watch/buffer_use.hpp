/// \file
/// What blocks do with certain buffers: whether any writes to one, and how much each reads of it.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "emu/memory.hpp"
#include "machine/observer.hpp"

namespace emu {

/// Looks on at launches. Only weak and strong accesses and atomics are seen, not bulk copies.
class BufferUse final : public Observer {
 public:
  struct Used {
    Address base = 0;
    std::uint64_t bytes = 0;
    bool by_block = false;              ///< whether `read` is wanted
    std::uint64_t stores = 0;           ///< lanes that store there, or update it
    std::string place = {};             ///< of the first such instruction in the kernel's text
    std::vector<std::uint64_t> read{};  ///< bytes, by block
  };

  /// From here on, and before any launch.
  void follow(const Used& buffer) { buffers_.push_back(buffer); }
  std::unique_ptr<BlockObserver> watch(Block& block) override;
  const std::vector<Used>& buffers() const { return buffers_; }  ///< while no kernel runs

 private:
  class OfBlocks;

  std::mutex mutex_;
  std::vector<Used> buffers_;
};

}  // namespace emu
