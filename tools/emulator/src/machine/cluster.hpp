/// \file
/// Blocks that run at the same time, see each other's shared memory and have a barrier of their
/// own. In a launch without clusters each block is one by itself.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "machine/block.hpp"

namespace emu {

class Cluster {
 public:
  explicit Cluster(LaunchState& launch);

  /// Sets all its blocks to their first instruction.
  void start(std::uint64_t number);
  /// Lets each block have a turn. Throws StopLaunch.
  Block::Status turn();
  /// In the schedule apart: lets some block go on for a while. False once all have ended.
  bool turn_apart(Random& random);
  /// Whether its blocks go through the same states again and again, and have since so many changes.
  bool repeats_since(std::uint64_t changes) const;

  unsigned size() const { return static_cast<unsigned>(blocks_.size()); }
  Block& block(unsigned rank) const { return *blocks_[rank]; }
  bool over(unsigned rank) const { return over_[rank] != 0; }  ///< the block has ended
  /// The first block that hasn't ended.
  const Block& first() const;
  unsigned running() const { return running_; }
  Dim3 place_of(unsigned rank) const;  ///< in the cluster
  /// The block that a shared address names to a thread of block `rank`; null for a rank that the
  /// cluster hasn't got.
  Block* block_at(Address shared, unsigned rank) const;

  // The barrier. Who has arrived is kept by each warp.
  void arrived(unsigned threads);  ///< which hadn't in this phase
  void exited(unsigned threads);   ///< without having arrived in this phase
  std::string waits() const;       ///< who is missing, for a message

 private:
  void complete();
  void look_for_deadlock() const;
  std::uint32_t live() const;

  LaunchState& launch_;
  Dim3 place_;  ///< in the grid of clusters
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<char> over_;
  unsigned running_ = 0;
  std::uint32_t missing_ = 0;  ///< threads that haven't exited nor arrived in this phase
};

}  // namespace emu
