#include "watch/past.hpp"

#include <algorithm>
#include <cstddef>

namespace emu {
namespace {

constexpr unsigned kDeepest = 64;  // pieces in a chain: then they are put together

/// One entry per block, in order.
void tidy(Others::Blocks& blocks) {
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(blocks.begin(), blocks.end(), before);
  std::size_t n = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (n > 0 && blocks[n - 1].first == blocks[i].first) {
      blocks[n - 1].second.join(blocks[i].second);
    } else {
      if (n != i) blocks[n] = std::move(blocks[i]);
      ++n;
    }
  }
  blocks.resize(n);
}

}  // namespace

void Past::add(unsigned warp, Mask lanes, Time time) {
  if (knows_all(warp, time) || lanes == 0) return;
  for (std::size_t i = 0; i < parts_.size();) {
    Part& p = parts_[i];
    if (p.warp != warp) {
      ++i;
      continue;
    }
    if (p.time == time) {
      p.lanes |= lanes;
      return;
    }
    if (p.time > time && (lanes & ~p.lanes) == 0) return;
    if (p.time < time) p.lanes &= ~lanes;
    if (p.lanes) {
      ++i;
    } else {
      p = parts_.back();
      parts_.pop_back();
    }
  }
  parts_.push_back({warp, lanes, time});
}

void Past::add_all(Time time) {
  if (time <= all_) return;
  all_ = time;
  std::erase_if(parts_, [&](const Part& p) { return knows_all(p.warp, p.time); });
}

void Past::join(const Past& other) {
  add_all(other.all_);
  for (const Part& p : other.parts_) add(p.warp, p.lanes, p.time);
}

Others::Others(Blocks blocks, OthersPtr rest)
    : blocks_(std::move(blocks)), rest_(std::move(rest)), depth_(rest_ ? rest_->depth_ + 1 : 0) {}

const Past* Others::find(std::uint32_t block) const {
  const auto at = std::lower_bound(blocks_.begin(), blocks_.end(), block,
                                   [](const auto& b, std::uint32_t n) { return b.first < n; });
  return at != blocks_.end() && at->first == block ? &at->second : nullptr;
}

Mask Others::unknown(const Others* known, std::uint32_t block, unsigned warp, Mask lanes,
                     Time time) {
  for (; known && lanes; known = known->rest_.get()) {
    if (const Past* past = known->find(block)) lanes = past->unknown(warp, lanes, time);
  }
  return lanes;
}

Past Others::of(const Others* known, std::uint32_t block) {
  Past sum;
  for (; known; known = known->rest_.get()) {
    if (const Past* past = known->find(block)) sum.join(*past);
  }
  return sum;
}

OthersPtr Others::with(const OthersPtr& rest, Blocks blocks) {
  if (blocks.empty()) return rest;
  if (!rest || rest->depth_ < kDeepest) {
    tidy(blocks);
    return std::make_shared<const Others>(std::move(blocks), rest);
  }
  for (const Others* o = rest.get(); o; o = o->rest_.get()) {
    blocks.insert(blocks.end(), o->blocks_.begin(), o->blocks_.end());
  }
  tidy(blocks);
  return std::make_shared<const Others>(std::move(blocks), nullptr);
}

OthersPtr Others::join(const OthersPtr& a, const OthersPtr& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  if (a->depth_ < b->depth_) return join(b, a);
  // Of b what isn't a part of a: chains often end alike.
  std::vector<const Others*> chain;
  for (const Others* o = a.get(); o; o = o->rest_.get()) chain.push_back(o);
  Blocks fresh;
  for (const Others* o = b.get(); o; o = o->rest_.get()) {
    if (std::find(chain.begin(), chain.end(), o) != chain.end()) break;
    fresh.insert(fresh.end(), o->blocks_.begin(), o->blocks_.end());
  }
  return with(a, std::move(fresh));
}

Known join(const Known& a, const Known& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto sum = std::make_shared<View>(*a);
  sum->own.join(b->own);
  sum->others = Others::join(sum->others, b->others);
  return sum;
}

}  // namespace emu
