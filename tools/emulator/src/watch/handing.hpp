/// \file
/// What threads hand on at a place by strong writes, and what the blocks of a launch share to find
/// races between them.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "watch/past.hpp"
#include "watch/shadow.hpp"

namespace emu {

/// What one thread handed on by one strong write: what it knew at a fence before, or at the write
/// where that releases.
struct Handed {
  std::uint32_t block = 0, thread = 0;
  Known to_block;  ///< to threads of its block
  Known to_grid;   ///< to those of others; null where the fence or the write reaches its block only
};

/// A release sequence: a strong write and the updates that followed it. Who has read one of them
/// may take up what all before it handed on.
class Log {
 public:
  Log();
  void add(const Handed& handed);
  std::uint64_t id() const { return id_; }
  std::size_t size() const { return folded_ + all_.size(); }
  /// What the first `length` hand on to all blocks, and to threads of one. Of a long log it may be
  /// somewhat more.
  OthersPtr to_grid(std::size_t length);
  /// `only`: but for what they hand on to all blocks.
  Known to_block(std::size_t length, std::uint32_t block, bool only);
  /// Whether this thread handed on all that comes after the first `length`.
  bool is_of(std::uint32_t block, std::uint32_t thread, std::size_t length) const;
  /// What this thread handed on here, in a log of its own; null where it didn't.
  std::shared_ptr<Log> of_thread(std::uint32_t block, std::uint32_t thread) const;

 private:
  static constexpr std::size_t kMost = 4096, kShort = 64;

  /// What the first so many hand on.
  struct Sum {
    std::size_t length = 0;
    ChainPtr chain;    ///< of what they did
    OthersPtr others;  ///< and of what they knew
  };
  void extend(Sum& sum, std::size_t length) const;
  OthersPtr of(const Sum& sum) const;

  std::uint64_t id_;
  std::vector<Handed> all_;
  std::deque<Sum> sums_;    ///< the last few, the longest last
  std::size_t folded_ = 0;  ///< so many are in `sums_` and here alone
  struct BlockSum {
    std::size_t length = 0;
    Known known;
  };
  std::unordered_map<std::uint32_t, BlockSum> of_block_, of_block_only_;
};

/// By the address of the place.
using Logs = std::unordered_map<Address, std::shared_ptr<Log>>;

class OldValues;

/// What the blocks of one launch share.
class RaceGrid {
 public:
  GlobalShadow shadow;
  OldValues* old = nullptr;  ///< where strong reads are given older values

  /// Held from where an observer is told of a strong access until it has been carried out, so that
  /// who reads what is known in the same order as it happens.
  std::mutex strong;
  Logs logs;
  /// When a block last executed a fence, by its own clock; 0 for never. `shows`: one that shows
  /// global memory to bulk copies.
  struct Fences {
    Time block = 0, grid = 0, shows = 0;
  };
  void showed(std::uint32_t block, Time time) {
    const std::scoped_lock lock(mutex_);
    fences_[block].shows = time;
  }
  void fenced(std::uint32_t block, Time time, bool grid, bool system) {
    const std::scoped_lock lock(mutex_);
    Fences& last = fences_[block];
    last.block = time;
    if (grid) last.grid = time;
    told_ |= grid;
    told_system_ |= system;
  }
  /// What the blocks of a cluster hand on at a phase of its barrier. The last of them has it last.
  std::shared_ptr<Log> at_phase(std::uint64_t phase, unsigned blocks) {
    const std::scoped_lock lock(mutex_);
    Phase& all = phases_[phase];
    if (!all.log) all.log = std::make_shared<Log>();
    const std::shared_ptr<Log> log = all.log;
    if (++all.asked == blocks) phases_.erase(phase);
    return log;
  }
  /// Whether any thread has waited for the grids before.
  std::atomic<bool> waited{false};
  /// An order between blocks of a cluster that isn't followed: by mbarriers of other blocks.
  std::atomic<bool> unfollowed{false};
  Fences fences_of(std::uint32_t block) {
    const std::scoped_lock lock(mutex_);
    return fences_[block];
  }
  /// For who looks at all of it when the launch is over: whether any block has told others
  /// something, and when this one may first have taken up something; kNever for never.
  bool told() const { return told_; }
  /// The same for other devices, to which no more than the system's scope reaches.
  bool told_system() const { return told_system_; }
  bool took_system() const { return took_system_; }
  Time took(std::uint32_t block) const {
    const auto at = took_.find(block);
    return at == took_.end() ? kNever : at->second;
  }
  void takes(std::uint32_t block, Time time) {
    const std::scoped_lock lock(mutex_);
    took_.emplace(block, time);
  }
  void takes_of_system() {
    const std::scoped_lock lock(mutex_);
    took_system_ = true;
  }

 private:
  std::mutex mutex_;
  bool told_ = false, told_system_ = false, took_system_ = false;
  std::unordered_map<std::uint32_t, Time> took_;
  std::unordered_map<std::uint32_t, Fences> fences_;
  struct Phase {
    std::shared_ptr<Log> log;
    unsigned asked = 0;
  };
  std::unordered_map<std::uint64_t, Phase> phases_;
};

}  // namespace emu
