/// \file
/// What each line of the source was counted as: the launch's counters, dealt out.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "machine/observer.hpp"

namespace emu {

/// A line of the source, and what its instructions were counted as.
struct LineCounts {
  std::string file;  ///< as the PTX names it; empty, with line 0, for what has no line there
  int line = 0;
  std::string outer_file = {};  ///< of what was inlined: where that is called, outermost
  int outer_line = 0;
  Counters counters = {};
};

/// Looks on at launches and counts by line. Its lines add up to the launches' counters.
class LineProfile final : public Observer {
 public:
  std::unique_ptr<BlockObserver> watch(Block& block) override;

  /// By file and line.
  std::vector<LineCounts> lines() const;

 private:
  class OfBlocks;
  using Key = std::tuple<std::string, int, std::string, int>;

  mutable std::mutex mutex_;
  std::map<Key, Counters> lines_;
};

}  // namespace emu
