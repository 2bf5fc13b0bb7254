#include "watch/past.hpp"

#include <algorithm>
#include <bit>

namespace emu {
namespace {

constexpr unsigned kDeepest = 64;         // pieces in a chain: then they are put together
constexpr std::size_t kMostSources = 16;  // beyond, all go to the rest

/// One entry per block, in order.
void tidy(Chain::Blocks& blocks) {
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (blocks.size() < 2) return;
  std::stable_sort(blocks.begin(), blocks.end(), before);
  std::size_t n = 0;
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    if (blocks[n].first == blocks[i].first) {
      blocks[n].second.join(blocks[i].second);
    } else if (++n != i) {
      blocks[n] = std::move(blocks[i]);
    }
  }
  blocks.resize(n + 1);
}

void add(std::shared_ptr<const Past>& sum, const std::shared_ptr<const Past>& past) {
  if (!past || sum == past) return;
  if (!sum) {
    sum = past;
    return;
  }
  auto both = std::make_shared<Past>(*sum);
  both->join(*past);
  sum = std::move(both);
}

}  // namespace

// --- Past ------------------------------------------------------------------------------------

Mask Past::unknown(unsigned warp, Mask lanes, Time time) const {
  if (knows_all(warp, time)) return 0;
  for (const Lanes& l : lanes_) {
    if (l.warp != warp) continue;
    if (l.latest < time) return lanes;
    for (Mask m = lanes; m; m &= m - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(m));
      if (l.times[i] >= time) lanes &= ~(Mask{1} << i);
    }
    return lanes;
  }
  return lanes;
}

Past::Lanes& Past::of(unsigned warp) {
  for (Lanes& l : lanes_) {
    if (l.warp == warp) return l;
  }
  lanes_.push_back({.warp = warp, .latest = 0, .times = {}});
  return lanes_.back();
}

void Past::add(unsigned warp, Mask lanes, Time time) {
  if (knows_all(warp, time) || lanes == 0) return;
  Lanes& l = of(warp);
  l.latest = std::max(l.latest, time);
  for (Mask m = lanes; m; m &= m - 1) {
    Time& t = l.times[static_cast<unsigned>(std::countr_zero(m))];
    t = std::max(t, time);
  }
}

void Past::add_all(Time time) {
  if (time <= all_) return;
  all_ = time;
  std::erase_if(lanes_, [&](const Lanes& l) { return knows_all(l.warp, l.latest); });
}

void Past::join(const Past& other) {
  add_all(other.all_);
  for (const Lanes& theirs : other.lanes_) {
    if (knows_all(theirs.warp, theirs.latest)) continue;
    Lanes& l = of(theirs.warp);
    l.latest = std::max(l.latest, theirs.latest);
    for (unsigned i = 0; i < kLanes; ++i) l.times[i] = std::max(l.times[i], theirs.times[i]);
  }
}

// --- Chain -----------------------------------------------------------------------------------

Chain::Chain(Blocks blocks, ChainPtr rest)
    : blocks_(std::move(blocks)), rest_(std::move(rest)), depth_(rest_ ? rest_->depth_ + 1 : 0) {}

const Past* Chain::find(std::uint32_t block) const {
  const auto at = std::lower_bound(blocks_.begin(), blocks_.end(), block,
                                   [](const auto& b, std::uint32_t n) { return b.first < n; });
  return at != blocks_.end() && at->first == block ? &at->second : nullptr;
}

Mask Chain::unknown(const Chain* known, std::uint32_t block, unsigned warp, Mask lanes, Time time) {
  for (; known && lanes; known = known->rest_.get()) {
    if (const Past* past = known->find(block)) lanes = past->unknown(warp, lanes, time);
  }
  return lanes;
}

void Chain::add_to(Past& sum, const Chain* known, std::uint32_t block) {
  for (; known; known = known->rest_.get()) {
    if (const Past* past = known->find(block)) sum.join(*past);
  }
}

ChainPtr Chain::with(const ChainPtr& rest, Blocks blocks) {
  if (blocks.empty()) return rest;
  if (!rest || rest->depth_ < kDeepest) {
    tidy(blocks);
    return std::make_shared<const Chain>(std::move(blocks), rest);
  }
  for (const Chain* o = rest.get(); o; o = o->rest_.get()) {
    blocks.insert(blocks.end(), o->blocks_.begin(), o->blocks_.end());
  }
  tidy(blocks);
  return std::make_shared<const Chain>(std::move(blocks), nullptr);
}

ChainPtr Chain::join(const ChainPtr& a, const ChainPtr& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  if (a->depth_ < b->depth_) return join(b, a);
  // Of b what isn't a part of a: chains often end alike.
  std::vector<const Chain*> chain;
  for (const Chain* o = a.get(); o; o = o->rest_.get()) chain.push_back(o);
  Blocks fresh;
  for (const Chain* o = b.get(); o; o = o->rest_.get()) {
    if (std::find(chain.begin(), chain.end(), o) != chain.end()) break;
    fresh.insert(fresh.end(), o->blocks_.begin(), o->blocks_.end());
  }
  return with(a, std::move(fresh));
}

// --- Others ----------------------------------------------------------------------------------

Mask Others::unknown(std::uint32_t block, unsigned warp, Mask lanes, Time time) const {
  for (const Source& s : sources) lanes = Chain::unknown(s.chain.get(), block, warp, lanes, time);
  return Chain::unknown(rest.get(), block, warp, lanes, time);
}

Past Others::of(std::uint32_t block) const {
  Past sum;
  for (const Source& s : sources) Chain::add_to(sum, s.chain.get(), block);
  Chain::add_to(sum, rest.get(), block);
  return sum;
}

std::size_t Others::length_of(std::uint64_t log) const {
  for (const Source& s : sources) {
    if (s.log == log) return s.length;
  }
  return 0;
}

OthersPtr Others::join(const OthersPtr& a, const OthersPtr& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto sum = std::make_shared<Others>(*a);
  sum->rest = Chain::join(a->rest, b->rest);
  for (const Source& s : b->sources) {
    const auto known = std::find_if(sum->sources.begin(), sum->sources.end(),
                                    [&](const Source& o) { return o.log == s.log; });
    if (known == sum->sources.end()) {
      sum->sources.push_back(s);
    } else if (known->length < s.length) {
      *known = s;
    }
  }
  if (sum->sources.size() > kMostSources) {
    for (const Source& s : sum->sources) sum->rest = Chain::join(sum->rest, s.chain);
    sum->sources.clear();
  }
  return sum;
}

OthersPtr Others::with(const OthersPtr& others, Source source) {
  auto one = std::make_shared<Others>();
  one->sources.push_back(std::move(source));
  return join(one, others);
}

// --- View ------------------------------------------------------------------------------------

void View::join(const View& other) {
  own.join(other.own);
  others = Others::join(others, other.others);
  add(shown_shared, other.shown_shared);
  add(shown_global, other.shown_global);
}

Known join(const Known& a, const Known& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto sum = std::make_shared<View>(*a);
  sum->join(*b);
  return sum;
}

}  // namespace emu
