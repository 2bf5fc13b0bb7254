/// \file
/// Who knows what of whom: vector clocks, kept short.
///
/// A block has a clock, which goes on whenever one of its threads hands something on. What threads
/// know of a block is a time up to which they know all of it, and later times of some lanes; after
/// a barrier that is one number. Of other blocks they know by a chain of what was learnt, shared by
/// all who learnt it, so that a thousand blocks that pass a lock on make a thousand short pieces.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "decode/op.hpp"

namespace emu {

using Time = std::uint32_t;
inline constexpr Time kNever = ~Time{0};  ///< when a copy in flight will have landed
/// Bulk copies that count at an mbarrier are the doing of lanes of this warp, one per mbarrier.
inline constexpr unsigned kAgentWarp = 255;

/// What is known of one block.
class Past {
 public:
  /// Of these lanes, what they did at `time` and isn't known.
  Mask unknown(unsigned warp, Mask lanes, Time time) const {
    if (time <= all_ && warp != kAgentWarp) return 0;
    for (const Part& p : parts_) {
      if (p.warp == warp && p.time >= time) lanes &= ~p.lanes;
    }
    return lanes;
  }
  bool knows_all(unsigned warp, Time time) const { return time <= all_ && warp != kAgentWarp; }
  void add(unsigned warp, Mask lanes, Time time);
  void add_all(Time time);  ///< of all threads; not of agents
  void join(const Past& other);

 private:
  struct Part {
    unsigned warp;
    Mask lanes;
    Time time;
  };
  Time all_ = 0;
  std::vector<Part> parts_;
};

class Others;
using OthersPtr = std::shared_ptr<const Others>;

/// What is known of other blocks. Never changes once it is made.
class Others {
 public:
  using Blocks = std::vector<std::pair<std::uint32_t, Past>>;
  Others(Blocks blocks, OthersPtr rest);

  static Mask unknown(const Others* known, std::uint32_t block, unsigned warp, Mask lanes,
                      Time time);
  static Past of(const Others* known, std::uint32_t block);
  static OthersPtr join(const OthersPtr& a, const OthersPtr& b);
  static OthersPtr with(const OthersPtr& rest, Blocks blocks);

 private:
  const Past* find(std::uint32_t block) const;

  Blocks blocks_;  ///< by number
  OthersPtr rest_;
  unsigned depth_;
};

/// What a thread knows.
struct View {
  Past own;          ///< of its own block
  OthersPtr others;  ///< null: nothing
};
using Known = std::shared_ptr<const View>;
Known join(const Known& a, const Known& b);  ///< null knows nothing

}  // namespace emu
