#include "watch/check_race.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "machine/block.hpp"
#include "machine/lanes.hpp"

namespace emu {
namespace {

constexpr Address kSharedBit = Address{1} << 63;  // tells a place in shared from one in global

}  // namespace

void RaceCheck::Cell::push(const Entry& entry) {
  if (count < 2) {
    first[count++] = entry;
    return;
  }
  if (!more) more = std::make_unique<std::vector<Entry>>();
  more->push_back(entry);
  ++count;
}

void RaceCheck::Cell::remove(std::uint32_t i) {
  at(i) = at(count - 1);
  if (count > 2) more->pop_back();
  --count;
}

void RaceCheck::Cell::clear() {
  count = 0;
  more.reset();
  bytes.reset();
}

RaceCheck::RaceCheck(BlockFindings& findings)
    : findings_(findings),
      threads_(static_cast<unsigned>(findings.block().launch().config.block.volume())),
      warps_((threads_ + kLanes - 1) / kLanes),
      patterns_(threads_),
      shared_(static_cast<std::size_t>((findings.block().shared_bytes() + 3) / 4)) {}

/// A block begins as if all had met: what blocks before it left is in the past of all threads.
void RaceCheck::begin() {
  auto clocks = std::make_shared<Clocks>(warps_.size() * kLanes + kAgents);
  for (unsigned t = 0; t < threads_; ++t) (*clocks)[t] = warps_[t / kLanes].clock;
  std::ranges::copy(agents_, clocks->end() - kAgents);
  for (WarpState& warp : warps_) {
    ++warp.clock;
    warp.knowing = {{kAllLanes, clocks}};
  }
  for (auto& barrier : barriers_) barrier.clear();
  mbarriers_.clear();
  for (const auto& [number, copy] : copies_) {  // shared memory's places are used again
    if (copy.to_space == Space::kShared) land(copy, copy.to_space, copy.to, 0, 0, 0);
    if (copy.from_space == Space::kShared) land(copy, copy.from_space, copy.from, 0, 0, 0);
  }
  copies_.clear();
  if (fenced_) {
    std::ranges::fill(patterns_, Pattern{});
    locations_.clear();
    fenced_ = false;
  }
  pages_.clear();
  last_page_ = nullptr;
  last_number_ = ~Address{0};
  for (auto& [number, page] : used_) free_.push_back(std::move(page));
  used_.clear();
}

// --- Who knows of whom -----------------------------------------------------------------------

const RaceCheck::Known& RaceCheck::known(unsigned warp, unsigned lane) const {
  const auto& all = warps_[warp].knowing;
  return std::ranges::find_if(all, [&](const Knowing& k) { return k.lanes >> lane & 1; })->known;
}

void RaceCheck::learn(unsigned warp, Mask lanes, const Known& known) {
  auto& all = warps_[warp].knowing;
  bool there = false;
  for (Knowing& k : all) {
    const bool same = k.known == known;
    k.lanes = same ? k.lanes | lanes : k.lanes & ~lanes;
    there |= same;
  }
  std::erase_if(all, [](const Knowing& k) { return k.lanes == 0; });
  if (!there) all.push_back({lanes, known});
}

/// What lanes hand on now; what they do from here on is later.
void RaceCheck::release_from(std::vector<Arrived>& out, unsigned warp, Mask lanes, bool waits) {
  for (const Knowing& k : warps_[warp].knowing) {
    if (k.lanes & lanes) {
      out.push_back({warp, k.lanes & lanes, k.known, warps_[warp].clock, waits});
    }
  }
  ++warps_[warp].clock;
}

RaceCheck::Known RaceCheck::join(const std::vector<Arrived>& all) const {
  auto sum = std::make_shared<Clocks>(*all.front().known);
  std::vector<const Clocks*> joined{all.front().known.get()};
  for (const Arrived& a : all) {
    if (std::ranges::find(joined, a.known.get()) != joined.end()) continue;
    joined.push_back(a.known.get());
    for (std::size_t t = 0; t < sum->size(); ++t) (*sum)[t] = std::max((*sum)[t], (*a.known)[t]);
  }
  for (const Arrived& a : all) {
    for_each_lane(a.lanes, [&](unsigned i) {
      const unsigned t = a.warp * kLanes + i;
      if (t < threads_) (*sum)[t] = std::max((*sum)[t], a.clock);
    });
  }
  return sum;
}

RaceCheck::Known RaceCheck::join(const Known& a, const Known& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto sum = std::make_shared<Clocks>(*a);
  for (std::size_t t = 0; t < sum->size(); ++t) (*sum)[t] = std::max((*sum)[t], (*b)[t]);
  return sum;
}

RaceCheck::Known RaceCheck::materialise(const Released& released, unsigned thread) const {
  if (!released.known) return nullptr;
  auto clocks = std::make_shared<Clocks>(*released.known);
  (*clocks)[thread] = released.clock;
  return clocks;
}

void RaceCheck::arrived(const Warp& warp, Mask lanes, unsigned barrier, bool waits) {
  release_from(barriers_[barrier], warp.number(), lanes, waits);
}

void RaceCheck::completed(unsigned barrier) {
  auto& all = barriers_[barrier];
  if (all.empty()) return;
  const Known sum = join(all);
  for (const Arrived& a : all) {
    if (a.waits) learn(a.warp, a.lanes, sum);
  }
  all.clear();
}

void RaceCheck::met(const Warp& warp, Mask lanes) {
  std::vector<Arrived> all;
  release_from(all, warp.number(), lanes, true);
  learn(warp.number(), lanes, join(all));
}

void RaceCheck::fence(const Warp& warp, Mask lanes) {
  fenced_ = true;
  const unsigned w = warp.number();
  for_each_lane(lanes, [&](unsigned i) {
    Pattern& p = patterns_[w * kLanes + i];
    if (p.pending) {
      learn(w, kBit[i], join(known(w, i), p.pending));
      p.pending = nullptr;
    }
    p.released = {known(w, i), warps_[w].clock};
  });
  ++warps_[w].clock;
}

/// Follows release and acquire patterns through one lane's strong or volatile access.
void RaceCheck::order(const Access& access, unsigned lane) {
  const unsigned w = access.warp.number(), t = w * kLanes + lane;
  const bool acquires = access.order == Order::kAcquire || access.order == Order::kAcquireRelease;
  const bool releases = access.order == Order::kRelease || access.order == Order::kAcquireRelease;
  fenced_ |= releases;
  if (!fenced_) return;
  const Address at =
      access.address[lane] | (access.space == Space::kShared ? kSharedBit : Address{0});
  Pattern& p = patterns_[t];
  const auto place = locations_.find(at);
  const Known there = place == locations_.end() ? nullptr : place->second;
  if (access.direction != Direction::kStore && there) {
    if (acquires) {
      learn(w, kBit[lane], join(known(w, lane), there));
    } else {
      p.pending = join(p.pending, there);
    }
  }
  if (access.direction == Direction::kLoad) return;
  Released handed = p.released;
  if (releases) {
    handed = {known(w, lane), warps_[w].clock};
    ++warps_[w].clock;
  }
  Known now = materialise(handed, t);
  // An update goes on with what others handed on there; a plain store ends it.
  if (access.direction == Direction::kAtomic) now = join(there, now);
  if (now) {
    locations_[at] = std::move(now);
  } else if (place != locations_.end()) {
    locations_.erase(place);
  }
}

// --- mbarriers and copies ----------------------------------------------------------------------

RaceCheck::Mbarrier& RaceCheck::mbarrier(Address at) {
  const auto [place, fresh] = mbarriers_.try_emplace(at);
  if (fresh) place->second.agent = static_cast<unsigned>(mbarriers_.size() - 1) % kAgents;
  return place->second;
}

void RaceCheck::mbarrier_arrived(const Warp& warp, unsigned lane, Address at, bool releases) {
  const unsigned w = warp.number();
  Mbarrier& m = mbarrier(at);
  if (releases) {
    m.gathered =
        join(m.gathered, materialise({known(w, lane), warps_[w].clock}, w * kLanes + lane));
    ++warps_[w].clock;
  }
}

void RaceCheck::mbarrier_completed(Address at) {
  Mbarrier& m = mbarrier(at);
  m.handed = join(m.handed, std::exchange(m.gathered, nullptr));
}

void RaceCheck::mbarrier_waited(const Warp& warp, unsigned lane, Address at) {
  const Known& handed = mbarrier(at).handed;
  const unsigned w = warp.number();
  if (!handed) return;
  const Known before = known(w, lane);
  if (before == handed) return;
  // Lanes that knew the same go on knowing the same, which keeps their accesses together.
  if (before != waited_before_ || handed != waited_for_) {
    waited_before_ = before;
    waited_for_ = handed;
    waited_now_ = join(before, handed);
  }
  learn(w, kBit[lane], waited_now_);
}

void RaceCheck::copy_began(const Copy& copy) {
  const auto pc = static_cast<std::uint32_t>(&copy.op - copy.warp.code().ops.data());
  ++number_;
  if (copy.from_space != Space::kGeneric) {
    touch({.warp = copy.warp,
           .space = copy.from_space,
           .direction = Direction::kLoad,
           .kind = 0,
           .pc = pc,
           .clock = kOnItsWay},
          copy.lane, copy.from, copy.bytes);
  }
  touch({.warp = copy.warp,
         .space = copy.to_space,
         .direction = Direction::kCopy,
         .kind = kWrites,
         .pc = pc,
         .clock = kOnItsWay},
        copy.lane, copy.to, copy.bytes);
  copies_.emplace(copy.number, OnItsWay{copy.warp.number(), copy.lane, pc, copy.to_space,
                                        copy.from_space, copy.to, copy.from, copy.bytes});
}

void RaceCheck::copy_landed(std::uint64_t number) {
  const auto copy = copies_.find(number);
  if (copy == copies_.end()) return;
  const auto [warp, lane] = std::pair{copy->second.warp, copy->second.lane};
  land(number, warp, lane, warps_[warp].clock);
}

void RaceCheck::copy_landed_at(std::uint64_t number, Address at) {
  Mbarrier& m = mbarrier(at);
  const auto agent = static_cast<unsigned>(warps_.size()) * kLanes + m.agent;
  const Clock now = ++agents_[m.agent];
  land(number, static_cast<unsigned>(warps_.size()), m.agent, now);
  auto clocks = m.gathered ? std::make_shared<Clocks>(*m.gathered)
                           : std::make_shared<Clocks>(warps_.size() * kLanes + kAgents);
  (*clocks)[agent] = now;
  m.gathered = std::move(clocks);
}

/// From now on the copy's accesses are those of a lane at a time.
void RaceCheck::land(std::uint64_t number, unsigned warp, unsigned lane, Clock clock) {
  const auto copy = copies_.find(number);
  if (copy == copies_.end()) return;
  land(copy->second, copy->second.to_space, copy->second.to, warp, lane, clock);
  land(copy->second, copy->second.from_space, copy->second.from, warp, lane, clock);
  copies_.erase(copy);
}

void RaceCheck::land(const OnItsWay& copy, Space space, Address first, unsigned warp, unsigned lane,
                     Clock clock) {
  if (space == Space::kGeneric) return;
  const auto in = [&](Cell& c) {
    for (std::uint32_t k = 0; k < c.count; ++k) {
      Entry& e = c.at(k);
      if (e.clock != kOnItsWay || e.pc != copy.pc || e.warp != copy.warp ||
          e.lanes != kBit[copy.lane]) {
        continue;
      }
      e.clock = clock;
      e.warp = static_cast<std::uint8_t>(warp);
      e.lanes = kBit[lane];
    }
  };
  for (Address at = first; at < first + copy.bytes; at += 4) {  // copies are of whole words
    Cell& c = cell(space, at / 4);
    in(c);
    if (c.bytes) std::ranges::for_each(*c.bytes, in);
  }
}

/// free and malloc order what the one had done with a piece of the heap before what the other does.
void RaceCheck::given(Address first, std::uint64_t bytes) {
  const Address past = (first + bytes - 1) / 4 + 1;
  for (Address word = first / 4; word < past; word = (word / kPageWords + 1) * kPageWords) {
    const auto page = pages_.find(word / kPageWords);
    if (page == pages_.end()) continue;
    const Address end = std::min(past, (word / kPageWords + 1) * kPageWords);
    for (Address w = word; w < end; ++w) (*page->second)[w % kPageWords].clear();
  }
  if (fenced_) {
    std::erase_if(locations_, [&](const auto& l) { return l.first - first < bytes; });
  }
}

// --- Accesses --------------------------------------------------------------------------------

RaceCheck::Cell& RaceCheck::cell(Space space, Address word) {
  if (space == Space::kShared) return shared_[static_cast<std::size_t>(word)];
  const Address number = word / kPageWords;
  if (number != last_number_) {
    Page*& page = pages_[number];
    if (!page) {
      std::unique_ptr<Page> made;
      if (!free_.empty()) {
        made = std::move(free_.back());
        free_.pop_back();
      } else if (used_.size() >= kMostPages) {
        made = std::move(used_.front().second);
        pages_.erase(used_.front().first);
        used_.pop_front();
      }
      if (made) {
        for (Cell& c : *made) c.clear();
      } else {
        made = std::make_unique<Page>();
      }
      Page* const fresh = made.get();
      pages_[number] = fresh;  // the reference may be gone
      used_.emplace_back(number, std::move(made));
      last_page_ = fresh;
    } else {
      last_page_ = page;
    }
    last_number_ = number;
  }
  return (*last_page_)[word % kPageWords];
}

void RaceCheck::access(const Access& access) {
  if (access.space != Space::kShared && access.space != Space::kGlobal) return;
  if (access.direction == Direction::kCopy) return;  // told of as a copy
  const auto pc = static_cast<std::uint32_t>(&access.op - access.warp.code().ops.data());
  const bool strong = access.direction == Direction::kAtomic ||
                      (access.order != Order::kWeak && access.order != Order::kVolatile);
  std::uint8_t kind = access.direction == Direction::kLoad ? 0 : kWrites;
  if (strong) kind |= kStrong;
  if (access.order == Order::kVolatile) kind |= kVolatile;
  ++number_;
  if (access.direction == Direction::kStore) same_instruction(access, kind, pc);
  for_each_lane(access.lanes, [&](unsigned i) {
    std::uint8_t mine = kind;
    if (access.order != Order::kWeak) {
      const unsigned t = access.warp.number() * kLanes + i;
      if (patterns_[t].released.known) mine |= kReleases;
      order(access, i);
    }
    touch({.warp = access.warp,
           .space = access.space,
           .direction = access.direction,
           .kind = mine,
           .pc = pc,
           .clock = warps_[access.warp.number()].clock,
           .values = access.values ? access.values + std::size_t{i} * access.bytes : nullptr,
           .at = access.address[i]},
          i, access.address[i], access.bytes);
  });
}

void RaceCheck::touch(const Touch& touch, unsigned lane, Address first, std::uint64_t length) {
  const Address past = first + length;
  for (Address at = first; at < past;) {
    Cell& c = cell(touch.space, at / 4);
    const auto bytes = static_cast<unsigned>(std::min<Address>(past, at / 4 * 4 + 4) - at);
    if (bytes == 4 && !c.bytes) {
      visit(touch, lane, c, at, bytes);
    } else {
      if (!c.bytes) {  // a part of it now: each byte has seen what the word has
        c.bytes = std::make_unique<std::array<Cell, 4>>();
        for (Cell& byte : *c.bytes) {
          for (std::uint32_t k = 0; k < c.count; ++k) byte.push(c.at(k));
        }
        c.count = 0;
        c.more.reset();
      }
      for (unsigned k = 0; k < bytes; ++k) visit(touch, lane, (*c.bytes)[(at + k) % 4], at + k, 1);
    }
    at += bytes;
  }
}

/// Strong accesses order themselves. Volatile ones do where it is plain that they are meant to: one
/// against an atomic, or a store that follows a fence.
bool RaceCheck::excused(std::uint8_t before, std::uint8_t now) const {
  const std::uint8_t either = kStrong | kVolatile;
  if (!(before & either) || !(now & either)) return false;
  if ((before | now) & kStrong) return true;
  const std::uint8_t store = before & kWrites ? before : now;
  return store & kReleases;
}

void RaceCheck::visit(const Touch& touch, unsigned lane, Cell& cell, Address at, unsigned bytes) {
  const unsigned w = touch.warp.number();
  const std::uint8_t kind = touch.kind;
  const std::uint32_t pc = touch.pc;
  const Clocks& seen = *known(w, lane);
  const Clock now = touch.clock;
  const Mask me = kBit[lane];
  bool recorded = false;
  for (std::uint32_t k = 0; k < cell.count;) {
    Entry& e = cell.at(k);
    const bool here = e.warp == w;
    const Mask mine = here && e.clock != kOnItsWay ? me : 0;
    const bool here_and_now =
        here && now != kOnItsWay && e.clock == now && e.pc == pc && e.kind == kind;
    if (!((e.kind | kind) & kWrites)) {
      if (here_and_now) {
        e.lanes |= me;
        recorded = true;
        ++k;
        continue;
      }
      // Reads don't race; one that another follows for all its lanes can go.
      const bool covers = !(kind & (kStrong | kVolatile)) || kind == e.kind;
      Mask left = covers ? e.lanes & ~mine : e.lanes;
      if (covers && left &&
          seen[e.warp * kLanes + static_cast<unsigned>(std::countr_zero(left))] >= e.clock) {
        for (Mask m = left; m; m &= m - 1) {
          const auto i = static_cast<unsigned>(std::countr_zero(m));
          if (seen[e.warp * kLanes + i] >= e.clock) left &= ~kBit[i];
        }
      }
      if (left) {
        e.lanes = left;
        ++k;
      } else {
        cell.remove(k);
      }
      continue;
    }
    Mask unordered = e.lanes & ~mine;
    for (Mask m = unordered; m; m &= m - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(m));
      if (seen[e.warp * kLanes + i] >= e.clock) unordered &= ~kBit[i];
    }
    bool told = false;
    if (unordered && !excused(e.kind, kind)) {
      const bool two_stores = (e.kind & kWrites) && touch.direction == Direction::kStore;
      const bool one_access = here_and_now && e.access == number_;  // same_instruction looks at it
      if (!(two_stores && one_access)) {
        report(touch, lane, at, e, static_cast<unsigned>(std::countr_zero(unordered)),
               two_stores && stores_what_is_there(touch, at, bytes));
        told = true;
      }
    }
    // What comes before this access, and races with nothing that this one doesn't, can go.
    const bool plain_write = (kind & kWrites) && !(kind & (kStrong | kVolatile));
    const bool covers = plain_write || ((kind & kWrites) && kind == e.kind);
    Mask keep = covers ? unordered : e.lanes;
    if (told && (kind & kWrites)) keep &= ~unordered;
    if (keep == 0) {
      cell.remove(k);
    } else {
      e.lanes = keep;
      ++k;
    }
  }
  if (!recorded) {
    cell.push({now, pc, me, static_cast<std::uint8_t>(w), kind, number_});
  }
}

/// Lanes that store to one place at once: any lane's value may stay. Storing one value is a race
/// too.
void RaceCheck::same_instruction(const Access& access, std::uint8_t kind, std::uint32_t pc) {
  std::array<std::pair<Address, unsigned>, kLanes> places;
  std::size_t n = 0;
  bool rising = true;
  for_each_lane(access.lanes, [&](unsigned i) {
    rising &= n == 0 || access.address[i] > places[n - 1].first;
    places[n++] = {access.address[i], i};
  });
  if (rising || excused(kind, kind)) return;
  std::sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t k = 1; k < n; ++k) {
    const auto [at, lane] = places[k];
    if (at != places[k - 1].first) continue;
    const unsigned before = places[k - 1].second;
    const bool same =
        access.values &&
        std::memcmp(access.values + std::size_t{lane} * access.bytes,
                    access.values + std::size_t{before} * access.bytes, access.bytes) == 0;
    const unsigned w = access.warp.number();
    report({.warp = access.warp,
            .space = access.space,
            .direction = access.direction,
            .kind = kind,
            .pc = pc,
            .clock = warps_[w].clock},
           lane, at,
           {warps_[w].clock, pc, kBit[before], static_cast<std::uint8_t>(w), kind, number_}, before,
           same);
  }
}

bool RaceCheck::stores_what_is_there(const Touch& touch, Address at, unsigned bytes) const {
  if (!touch.values) return false;
  const std::byte* there = nullptr;
  if (touch.space == Space::kShared) {
    there = findings_.block().shared() + at;
  } else if (const Allocation* a = findings_.block().launch().config.memory->find(at, bytes)) {
    there = a->host + (at - a->base);
  }
  return there && std::memcmp(there, touch.values + (at - touch.at), bytes) == 0;
}

void RaceCheck::report(const Touch& touch, unsigned lane, Address at, const Entry& before,
                       unsigned before_lane, bool same_value) {
  const bool shared = touch.space == Space::kShared;
  const bool now_writes = touch.direction != Direction::kLoad;
  const bool before_writes = before.kind & kWrites;
  const char* what = nullptr;
  if (now_writes && before_writes && same_value) {
    what = shared
               ? "two threads write the same value to one place of shared memory, unsynchronised"
               : "two threads write the same value to one place of global memory, unsynchronised";
  } else if (now_writes && before_writes) {
    what = shared ? "two threads write one place of shared memory, unsynchronised"
                  : "two threads write one place of global memory, unsynchronised";
  } else if (now_writes) {
    what = shared ? "write after read in shared memory, unsynchronised"
                  : "write after read in global memory, unsynchronised";
  } else {
    what = shared ? "read after write in shared memory, unsynchronised"
                  : "read after write in global memory, unsynchronised";
  }
  findings_.note("race", what, touch.pc, before.pc, [&] {
    const auto did = [&](std::uint32_t pc, bool copies, bool writes, bool atomic) {
      return std::string(copies   ? writes ? " copies to" : " copies from"
                         : atomic ? " updates"
                         : writes ? " writes"
                                  : " reads") +
             " it at " + findings_.line(pc);
    };
    const unsigned w = touch.warp.number();
    const bool agent = before.warp == warps_.size();
    return std::vector<std::string>{
        findings_.block_name() + ", " + findings_.memory(touch.space, at),
        (agent ? "a bulk copy" : findings_.thread(before.warp, before_lane)) +
            did(before.pc, before.clock == kOnItsWay, before_writes,
                before_writes && (before.kind & kStrong)),
        findings_.thread(w, lane) + did(touch.pc, touch.clock == kOnItsWay, now_writes,
                                        touch.direction == Direction::kAtomic)};
  });
}

}  // namespace emu
