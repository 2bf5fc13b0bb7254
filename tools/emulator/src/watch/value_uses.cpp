#include "watch/value_uses.hpp"

#include <algorithm>
#include <set>
#include <span>

namespace emu {

using Flow = Code::Flow;

ValueUses::ValueUses(const Code& code) : code_(code) {
  const auto waits = [](const Op& op) {
    return op.control == Control::kBarrier || op.control == Control::kCluster ||
           op.control == Control::kTogether;
  };
  synchronises_ = std::ranges::any_of(code.ops, waits) ||
                  std::ranges::any_of(code.orders,
                                      [](const Ordering& o) { return o.order > Order::kVolatile; });
}

ValueUses::Use ValueUses::of(std::uint32_t pc) {
  if (known_.empty()) known_.resize(code_.ops.size(), Use::kUnknown);
  if (known_[pc] == Use::kUnknown) known_[pc] = find(pc);
  return known_[pc];
}

bool ValueUses::only_stores(std::uint32_t pc) {
  return code_.places[pc].flow != 0 && flow(pc).sum == Flow::Sum::kMoves && of(pc) == Use::kNone;
}

void ValueUses::index() {
  for (std::uint32_t pc = 0; pc < code_.ops.size(); ++pc) {
    const Op& op = code_.ops[pc];
    if (op.guarded) readers_[op.guard].push_back(pc);
    if (code_.places[pc].flow == 0 || op.control == Control::kJoin) continue;
    const Flow& f = flow(pc);
    for (std::size_t i = 0; i < f.reads; ++i) readers_[f.slots[i].slot].push_back(pc);
  }
}

/// Follows the value through all registers that may hold something made of it, in whatever order
/// the code runs.
ValueUses::Use ValueUses::find(std::uint32_t pc) {
  if (code_.places[pc].flow == 0) return Use::kNone;
  if (readers_.empty()) index();
  Use use = Use::kNone;
  const auto at_least = [&](Use u) { use = std::max(use, u); };
  std::vector<Slot> open;
  std::set<Slot> seen;
  const auto results = [&](std::uint32_t of) {
    const Flow& f = flow(of);
    for (const Flow::Register& r : std::span(f.slots).subspan(f.reads)) {
      if (seen.insert(r.slot).second) open.push_back(r.slot);
    }
    return f.slots.size() > f.reads;
  };
  results(pc);
  while (!open.empty() && use != Use::kLooksAgain) {
    const Slot slot = open.back();
    open.pop_back();
    const auto readers = readers_.find(slot);
    if (readers == readers_.end()) continue;
    for (const std::uint32_t at : readers->second) {
      const Op& op = code_.ops[at];
      const bool branches = op.control == Control::kBranch || op.control == Control::kSwitch;
      if (branches) {
        at_least(leads_back(at, pc) ? Use::kLooksAgain : Use::kDecides);
        continue;
      }
      if (op.guarded && op.guard == slot) at_least(Use::kDecides);
      if (code_.places[at].flow == 0) continue;
      const Flow& f = flow(at);
      const bool acts = f.kind == Flow::Kind::kUses || f.kind == Flow::Kind::kLoads;
      if (!acts) {
        results(at);
      } else if (op.control != Control::kStraight) {  // votes, barriers
        if (!results(at)) at_least(Use::kDecides);
      } else if (!op.guarded || op.guard != slot) {
        const bool compared = f.sum == Flow::Sum::kSwaps && op.b == slot;
        at_least(compared ? Use::kLooksAgain : Use::kCounts);
      }
    }
  }
  return use;
}

/// Two loads by the same register, as unrolled loops have them.
bool ValueUses::reads_same_place(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return true;
  const Op &x = code_.ops[a], &y = code_.ops[b];
  const auto loads = [&](std::uint32_t pc) {
    return code_.places[pc].flow != 0 && flow(pc).kind == Flow::Kind::kLoads;
  };
  return loads(a) && loads(b) && x.run == y.run && x.a == y.a &&
         x.as<MemoryOperand>().displacement == y.as<MemoryOperand>().displacement;
}

/// Whether one way from a branch comes to the read again before the ways meet.
bool ValueUses::leads_back(std::uint32_t branch, std::uint32_t pc) const {
  const Op& from = code_.ops[branch];
  std::vector<std::uint32_t> open;
  std::set<std::uint32_t> seen;
  std::uint32_t meet = kNowhere;
  const auto go = [&](std::uint32_t to) {
    if (to != meet && to < code_.ops.size() && seen.insert(to).second) open.push_back(to);
  };
  const auto on = [&](std::uint32_t at) {
    const Op& op = code_.ops[at];
    if (op.control == Control::kBranch) {
      go(op.as<Branch>().target);
      if (op.guarded) go(at + 1);
    } else if (op.control == Control::kSwitch) {
      const auto& to = op.as<Switch>();
      for (std::uint32_t k = 0; k < to.count; ++k) go(code_.lists[to.first + k]);
    } else if (op.guarded || (op.control != Control::kExit && op.control != Control::kReturn)) {
      go(at + 1);
    }
  };
  meet = from.control == Control::kBranch ? from.as<Branch>().meet : from.as<Switch>().meet;
  on(branch);
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (reads_same_place(at, pc)) return true;
    if (at != branch) on(at);
  }
  return false;
}

}  // namespace emu
