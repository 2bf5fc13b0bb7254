/// \file
/// Atomic operations, which no counter of loads and stores sees. These counts are of the source:
/// how hardware serves atomics of one warp is not known well enough to count wavefronts.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>

#include "machine/observer.hpp"

namespace emu {

/// Looks on at launches and counts what lanes do with atom and red.
class AtomicCounts final : public Observer {
 public:
  struct Counts {
    std::uint64_t global = 0, shared = 0;  ///< operations: one per lane
    /// Lanes whose word lies in the same bank of shared memory as that of a lower lane of the same
    /// operation. No such lane: each has a bank to itself.
    std::uint64_t shared_collisions = 0;
  };

  std::unique_ptr<BlockObserver> watch(Block& block) override;
  Counts counts() const;

 private:
  class OfBlocks;

  mutable std::mutex mutex_;
  Counts counts_;
};

}  // namespace emu
