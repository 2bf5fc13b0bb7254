/// \file
/// Who knows what of whom: vector clocks, kept short.
///
/// A block has a clock, which goes on whenever one of its threads hands something on. What threads
/// know of a block is a time up to which they know all of it, and later times of some lanes; after
/// a barrier that is one number. What they know of other blocks they have read at some place, where
/// one block after another handed it on: so it is how far they have read there, and what was handed
/// on is kept once for all who read it.
#pragma once
#include <array>
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
  /// Of these lanes, those of which it isn't known what they did at `time`.
  Mask unknown(unsigned warp, Mask lanes, Time time) const;
  bool knows_all(unsigned warp, Time time) const { return time <= all_ && warp != kAgentWarp; }
  void add(unsigned warp, Mask lanes, Time time);
  void add_all(Time time);  ///< of all threads; not of agents
  void join(const Past& other);

 private:
  struct Lanes {
    unsigned warp;
    Time latest;
    std::array<Time, kLanes> times;
  };
  Lanes& of(unsigned warp);

  Time all_ = 0;
  std::vector<Lanes> lanes_;  ///< that are known to a later time
};

class Chain;
using ChainPtr = std::shared_ptr<const Chain>;

/// What is known of several blocks: pieces, of which the later ones share those before them.
class Chain {
 public:
  using Blocks = std::vector<std::pair<std::uint32_t, Past>>;
  Chain(Blocks blocks, ChainPtr rest);

  static Mask unknown(const Chain* known, std::uint32_t block, unsigned warp, Mask lanes,
                      Time time);
  static void add_to(Past& sum, const Chain* known, std::uint32_t block);
  static ChainPtr join(const ChainPtr& a, const ChainPtr& b);
  static ChainPtr with(const ChainPtr& rest, Blocks blocks);

 private:
  const Past* find(std::uint32_t block) const;

  Blocks blocks_;  ///< by number
  ChainPtr rest_;
  unsigned depth_;
};

struct Others;
using OthersPtr = std::shared_ptr<const Others>;

/// What is known of other blocks. Never changes once it is made.
struct Others {
  /// How far someone has read what was handed on at one place.
  struct Source {
    std::uint64_t log;
    std::size_t length;
    ChainPtr chain;
  };
  std::vector<Source> sources;  ///< few
  ChainPtr rest;                ///< of older ones

  Mask unknown(std::uint32_t block, unsigned warp, Mask lanes, Time time) const;
  Past of(std::uint32_t block) const;
  std::size_t length_of(std::uint64_t log) const;
  static OthersPtr join(const OthersPtr& a, const OthersPtr& b);
  static OthersPtr with(const OthersPtr& others, Source source);
};

/// What a thread knows.
struct View {
  Past own;          ///< of its own block
  OthersPtr others;  ///< null: nothing
  /// Of `own` what a proxy fence has shown to bulk copies, in shared and in global memory; null:
  /// nothing.
  std::shared_ptr<const Past> shown_shared, shown_global;

  void join(const View& other);
};
using Known = std::shared_ptr<const View>;
Known join(const Known& a, const Known& b);  ///< null knows nothing

}  // namespace emu
