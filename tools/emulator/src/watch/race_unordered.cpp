// Strong accesses that nothing orders. They don't race, whatever comes of them: a volatile or
// relaxed read may be given what was there before a write that was long done, and of two such
// writes the earlier may stay. That is a fault where a result depends on it.
#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "machine/block.hpp"
#include "machine/lanes.hpp"
#include "watch/check_race.hpp"

namespace emu {
namespace {

constexpr std::size_t kMostSeen = 64;

}  // namespace

/// Barriers stand behind a read of what was handed on. PTX asks for a fence there, too; but
/// NVIDIA's own examples do without, and all that comes after waits for that read on any GPU.
void RaceCheck::pass_on(unsigned warp, Mask lanes) {
  for_each_lane(lanes, [&](unsigned i) {
    for (const Taken& t : thread(warp, i).pending) {
      if (!t.from_grid) continue;
      const auto same = std::ranges::find(passed_, t.log, &Taken::log);
      if (same == passed_.end()) {
        passed_.push_back(t);
      } else {
        same->length = std::max(same->length, t.length);
      }
    }
  });
}

RaceCheck::Part RaceCheck::part_of(const Mark& mark) {
  if (mark.reads_only()) return Part::kReads;
  if (!(mark.kind & Mark::kUpdates) || uses_.only_stores(mark.pc)) return Part::kStores;
  return Part::kUpdates;
}

/// Remembers the last write of each warp that this block has seen.
void RaceCheck::see(const Mark& before, Address at, const Mark& now) {
  const bool waited = uses_.of(now.pc) == ValueUses::Use::kLooksAgain;
  const auto known = std::ranges::find_if(seen_, [&](const Seen& s) {
    return s.block == before.block && s.warp == before.warp && s.by_warp == now.warp;
  });
  const Seen seen{before.block, before.number, before.pc,  now.pc, before.warp,
                  now.warp,     waited,        now.orders, at};
  if (known != seen_.end()) {
    if (known->number < before.number) *known = seen;
    return;
  }
  if (seen_.size() >= kMostSeen) seen_.erase(seen_.begin());
  seen_.push_back(seen);
}

/// What has told this block of an access of another thread; null for nothing.
const RaceCheck::Seen* RaceCheck::told_of(const Mark& before, Address at, const Mark& now,
                                          bool waited) const {
  const bool blocks = before.block != now.block;
  const auto found = std::ranges::find_if(seen_, [&](const Seen& s) {
    return s.block == before.block && s.number > before.number && s.at != at &&
           (blocks || (s.warp == before.warp && s.by_warp == now.warp)) && (s.waited || !waited);
  });
  return found == seen_.end() ? nullptr : &*found;
}

/// Blocks that do nothing to wait for one another, nor for their own threads, take whatever is
/// there.
bool RaceCheck::expects_order(const Mark& before, Address at, const Mark& now) {
  return before.block == now.block || uses_.synchronises() ||
         grid_.fences_of(before.block).block > 0 || grid_.fences_of(now.block).block > 0 ||
         told_of(before, at, now, false) != nullptr;
}

/// Whether it matters which of two strong accesses comes first. It doesn't where an access only
/// asks whether to look again, nor between atomic updates, which all count: locks, tickets,
/// counters.
bool RaceCheck::matters(const Mark& before, Address at, const Mark& now) {
  const Part first = part_of(before), second = part_of(now);
  if (first == Part::kStores && second == Part::kStores) {
    return (before.kind | now.kind) & Mark::kVolatile;
  }
  const bool reads_later = second == Part::kReads;
  if (!reads_later && first != Part::kReads) return false;
  const ValueUses::Use use = uses_.of(reads_later ? now.pc : before.pc);
  // A value that decides alone may well be a hint, as a bound is: unless its reader has waited for
  // the writer.
  if (use == ValueUses::Use::kDecides) {
    return first == Part::kStores && told_of(before, at, now, true) != nullptr;
  }
  if (use != ValueUses::Use::kCounts) return false;
  if (first == Part::kStores || second == Part::kStores) return expects_order(before, at, now);
  return first == Part::kUpdates && told_of(before, at, now, false) != nullptr;
}

/// Looks at a pair of strong accesses, of which nothing says that they are ordered.
void RaceCheck::look_at_strong(const Touch& touch, Marks& marks, std::size_t index, Address at,
                               const Mark& now) {
  const Mark before = marks[index];
  // Counters that are only added to: most of what comes here.
  const auto only_adds = [&](const Mark& m) {
    return part_of(m) == Part::kUpdates && uses_.of(m.pc) == ValueUses::Use::kNone;
  };
  if (only_adds(before) && only_adds(now)) return;
  const bool blocks = before.block != now.block;
  if (before.time == kNever || now.time == kNever || !excused(before, now)) return;
  if ((before.reads_only() && now.reads_only()) || (blocks && clustered_)) return;
  if (kFollowsSums && grid_.old && blocks) return;  // the sum check tries what comes of it
  const Mask both = before.words & now.words;
  const Address place = at + 4 * static_cast<unsigned>(std::countr_zero(both));
  const bool looks =
      now.reads_only() || ((now.kind & Mark::kUpdates) && !(now.kind & Mark::kSilent));
  const bool other = blocks || before.warp != now.warp;
  const bool judged = !before.orders && !now.orders && matters(before, place, now);
  const bool sees = looks && uses_.of(now.pc) != ValueUses::Use::kNone;
  if (sees && other && !before.reads_only()) see(before, place, now);
  if (!judged) return;
  Mask open = unknown(touch, before, before.lanes);
  for (const Taken& t : passed_) {
    if (!blocks || open == 0) break;
    if (const OthersPtr others = t.log->to_grid(t.length)) {
      open = others->unknown(before.block, before.warp, open, before.time);
    }
  }
  if (open == 0) return;
  for (Mask left = both; left; left &= left - 1) {
    const unsigned byte = 4 * static_cast<unsigned>(std::countr_zero(left));
    const Mask theirs = before.lanes_at(byte) & open;
    for_each_lane(now.lanes_at(byte), [&](unsigned i) {
      const Mask unordered = other ? theirs : theirs & ~kBit[i];
      if (unordered == 0 || observed(touch, marks, index, now, i, byte, true)) return;
      const bool stores = touch.direction == Direction::kStore;
      if (stores && stores_what_is_there(touch, i, at + byte, 4)) return;
      report_unordered(touch, i, at + byte, now, before,
                       static_cast<unsigned>(std::countr_zero(unordered)));
    });
  }
}

void RaceCheck::report_unordered(const Touch& touch, unsigned lane, Address at, const Mark& now,
                                 const Mark& before, unsigned before_lane) {
  findings_.note("race", "nothing orders these two: the value may be old", now.pc, before.pc, [&] {
    const bool blocks = before.block != now.block;
    const auto who = [&](const Mark& m, unsigned i) {
      const std::string name = findings_.thread(m.warp, i);
      const char* const does = m.reads_only()                 ? " reads it at "
                               : part_of(m) == Part::kUpdates ? " updates it at "
                                                              : " writes it at ";
      return (blocks ? block_name(m.block) + ", " : "") + name + does + findings_.line(m.pc);
    };
    return std::vector<std::string>{
        (blocks ? "" : findings_.block_name() + ", ") + findings_.memory(touch.space, at),
        who(before, before_lane), who(now, lane),
        what_orders(touch.warp.number(), lane, at, now, before)};
  });
}

/// What is to be added, and where.
std::string RaceCheck::what_orders(unsigned warp, unsigned lane, Address at, const Mark& now,
                                   const Mark& before) {
  const bool blocks = before.block != now.block;
  const std::string means = (before.kind | now.kind) & Mark::kVolatile
                                ? "volatile keeps the compiler from dropping an access, and orders "
                                  "nothing: "
                                : "relaxed accesses order nothing: ";
  if (before.of_warp(now)) return means + "put __syncwarp() between the two";
  const Seen* const told = told_of(before, at & ~Address{3}, now, false);
  const std::string fence = blocks ? "__threadfence()" : "__threadfence_block()";
  if (!told) {
    return means + (blocks
                        ? "it takes a kernel's end or a barrier of the grid between the two, or a "
                          "flag or a lock with " +
                              fence + " before it is set and after it is seen"
                        : "put __syncthreads() between the two, or a flag or a lock with " + fence +
                              " before it is set and after it is seen");
  }
  const std::string set = findings_.line(told->written), seen = findings_.line(told->read);
  const std::string behind = "put " + fence + " between the access at " +
                             findings_.line(before.pc) + " and " + set + ", which tells of it";
  const std::string ahead =
      "between " + seen + ", which sees that, and the access at " + findings_.line(now.pc);
  const Thread& me = thread(warp, lane);
  const bool has_read = std::ranges::any_of(me.pending, [&](const Taken& t) {
    if (!blocks) {
      const Known own = t.log->to_block(t.length, block_, false);
      return own && own->own.unknown(before.warp, before.lanes, before.time) == 0;
    }
    const OthersPtr others = t.log->to_grid(t.length);
    return others && others->unknown(before.block, before.warp, before.lanes, before.time) == 0;
  });
  if (has_read) return means + "put " + fence + " " + ahead;
  const RaceGrid::Fences theirs = grid_.fences_of(before.block);
  const bool fenced = told->acquires || grid_.fences_of(now.block).grid > 0;
  const std::string rest = fenced || !blocks ? "" : ", and one " + ahead;
  if (blocks && theirs.grid < before.time && theirs.block >= before.time) {
    return means + "the fence after the access at " + findings_.line(before.pc) +
           ", __threadfence_block or of scope .cta, reaches that block alone: make it " + fence +
           rest;
  }
  return means + behind + rest;
}

}  // namespace emu
