#include "watch/unset.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "machine/block.hpp"
#include "machine/lanes.hpp"

namespace emu {
namespace {

using Flow = Code::Flow;

/// Lanes of a register that are all zeros, or all ones.
Mask decided(Warp& warp, const Flow::Register& r, bool ones) {
  if (r.width == 1) return ones ? warp.predicate(r.slot) : ~warp.predicate(r.slot);
  Mask lanes = 0;
  const auto look = [&]<class T>(T all) {
    const T wanted = ones ? all : T{0};
    for (unsigned i = 0; i < kLanes; ++i) {
      if (warp.lanes<T>(r.slot)[i] == wanted) lanes |= kBit[i];
    }
  };
  if (r.width == 16) look(std::uint16_t{0xffff});
  if (r.width == 32) look(~std::uint32_t{0});
  if (r.width == 64) look(~std::uint64_t{0});
  return lanes;
}

}  // namespace

void UnsetValues::clear() {
  for (auto& values : of_warp_) values.clear();
  count_ = 0;
}

void UnsetValues::load(const Warp& warp, Slot slot, Mask lanes,
                       const std::shared_ptr<const Origin>& origin) {
  of_warp_[warp.number()].push_back({slot, lanes, origin});
  ++count_;
}

Mask UnsetValues::lanes_of(unsigned warp, Slot slot) const {
  Mask lanes = 0;
  for (const Value& v : of_warp_[warp]) {
    if (v.slot == slot) lanes |= v.lanes;
  }
  return lanes;
}

void UnsetValues::drop_empty(unsigned warp) {
  count_ -= std::erase_if(of_warp_[warp], [](const Value& v) { return v.lanes == 0; });
}

void UnsetValues::forget(unsigned warp, const Origin* origin, Mask lanes) {
  for (Value& v : of_warp_[warp]) {
    if (!origin || v.origin.get() == origin) v.lanes &= ~lanes;
  }
  drop_empty(warp);
}

/// A value is told of once, however often it is used and whatever was made of it.
void UnsetValues::use(unsigned warp, Slot slot, Mask lanes, std::uint32_t pc, const Used& used) {
  std::vector<std::pair<std::shared_ptr<const Origin>, Mask>> found;
  for (const Value& v : of_warp_[warp]) {
    if (v.slot == slot && (v.lanes & lanes)) found.emplace_back(v.origin, v.lanes & lanes);
  }
  for (const auto& [origin, its] : found) {
    used(*origin, its, pc);
    forget(warp, origin.get(), its);
  }
}

void UnsetValues::hand(Warp& warp, const Op& op, Mask lanes, const std::uint32_t* from,
                       const std::function<std::shared_ptr<const Origin>(unsigned lane)>& lost) {
  const unsigned w = warp.number();
  auto& values = of_warp_[w];
  std::vector<Value> made;
  std::shared_ptr<const Origin> nowhere;
  for_each_lane(lanes, [&](unsigned i) {
    const Slot to = warp.op_of(op, i).d;
    if (!(lanes >> from[i] & 1)) {
      if (!nowhere) nowhere = lost(i);
      made.push_back({to, kBit[i], nowhere});
      return;
    }
    const Slot source = warp.op_of(op, from[i]).a;
    for (const Value& v : values) {
      if (v.slot == source && (v.lanes >> from[i] & 1)) made.push_back({to, kBit[i], v.origin});
    }
  });
  for_each_lane(lanes, [&](unsigned i) {
    for (Value& v : values) {
      if (v.slot == warp.op_of(op, i).d) v.lanes &= ~kBit[i];
    }
  });
  drop_empty(w);
  for (const Value& v : made) {
    const auto known = std::ranges::find_if(
        values, [&](const Value& k) { return k.slot == v.slot && k.origin == v.origin; });
    if (known != values.end()) {
      known->lanes |= v.lanes;
    } else {
      values.push_back(v);
      ++count_;
    }
  }
}

void UnsetValues::step(Warp& warp, const Op& op, Mask lanes, const Used& used) {
  const unsigned w = warp.number();
  auto& values = of_warp_[w];
  if (values.empty()) return;
  const auto pc = static_cast<std::uint32_t>(&op - warp.code().ops.data());
  const Code::Place& place = warp.code().places[pc];
  if (op.guarded) use(w, op.guard, warp.here(), pc, used);
  if (place.flow == 0 || lanes == 0) return;
  const Flow& flow = warp.code().flows[place.flow];
  const std::span reads(flow.slots.data(), flow.reads);
  const std::span writes(flow.slots.data() + flow.reads, flow.slots.size() - flow.reads);

  std::vector<Value> made;
  const auto carry = [&](Slot from, Mask its) {
    for (const Value& v : values) {
      if (v.slot != from || !(v.lanes & its)) continue;
      for (const Flow::Register& to : writes) made.push_back({to.slot, v.lanes & its, v.origin});
    }
  };
  switch (flow.kind) {
    case Flow::Kind::kHands:
      if (hands_on_) {  // the values themselves once all lanes are there
        for (const Flow::Register& r : reads.subspan(1)) use(w, r.slot, lanes, pc, used);
        return;
      }
      [[fallthrough]];
    case Flow::Kind::kUses:
    case Flow::Kind::kLoads:
      for (const Flow::Register& r : reads) use(w, r.slot, lanes, pc, used);
      break;
    case Flow::Kind::kCarries:
      for (const Flow::Register& r : reads) carry(r.slot, lanes);
      break;
    case Flow::Kind::kSelects: {
      use(w, reads[2].slot, lanes, pc, used);
      const Mask first = warp.predicate(reads[2].slot) ^ (flow.negated ? kAllLanes : 0);
      carry(reads[0].slot, lanes & first);
      carry(reads[1].slot, lanes & ~first);
      break;
    }
    case Flow::Kind::kAnds:
    case Flow::Kind::kOrs:
      for (unsigned i = 0; i < 2; ++i) {
        const Flow::Register& other = reads[1 - i];
        const Mask known =
            decided(warp, other, flow.kind == Flow::Kind::kOrs) & ~lanes_of(w, other.slot);
        carry(reads[i].slot, lanes & ~known);
      }
      break;
  }
  for (const Flow::Register& to : writes) {
    for (Value& v : values) {
      if (v.slot == to.slot) v.lanes &= ~lanes;
    }
  }
  count_ += made.size();
  values.insert(values.end(), made.begin(), made.end());
  drop_empty(w);
}

}  // namespace emu
