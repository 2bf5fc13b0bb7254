#include "watch/check_race.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "machine/block.hpp"
#include "machine/lanes.hpp"

namespace emu {
namespace {

constexpr std::uint32_t kHere = ~std::uint32_t{0};  // the block of marks in shared memory
constexpr std::size_t kMostWhole = 12;              // marks of pieces of a line that isn't split
constexpr std::size_t kMostMarks = 96;
constexpr unsigned kMostOfOthers = 4;  // of other blocks that read a place or update it

std::uint8_t logarithm(unsigned bytes) {
  return static_cast<std::uint8_t>(std::countr_zero(bytes));
}

bool writes_plainly(const Mark& m) {
  return (m.kind & Mark::kWrites) && !(m.kind & Mark::kStrong);
}

}  // namespace

RaceCheck::RaceCheck(BlockFindings& findings, RaceGrid& grid)
    : findings_(findings),
      grid_(grid),
      threads_(static_cast<unsigned>(findings.block().launch().config.block.volume())),
      threaded_(findings.block().launch().config.pool && !findings.block().launch().config.apart),
      warps_((threads_ + kLanes - 1) / kLanes),
      thread_(warps_.size() * kLanes),
      clustered_(findings.block().launch().config.cluster.volume() > 1),
      shared_(static_cast<std::size_t>((findings.block().shared_bytes() + kLineBytes - 1) /
                                       kLineBytes)),
      uses_(findings.block().code()) {}

RaceCheck::~RaceCheck() {
  accessed();  // where a fault came between
}

// --- What goes on by itself --------------------------------------------------------------------

void RaceCheck::copy_began(const Copy& told) {
  Copy copy = told;
  if (clustered_) {
    const Address home = kOfCluster + findings_.block().number() * kClusterStep;
    if (std::exchange(copy.to_space,
                      told.to_space == Space::kShared ? Space::kGlobal : told.to_space) ==
        Space::kShared) {
      copy.to += home;
    }
    if (std::exchange(copy.from_space,
                      told.from_space == Space::kShared ? Space::kGlobal : told.from_space) ==
        Space::kShared) {
      copy.from += home;
    }
  }
  const unsigned w = copy.warp.number();
  catch_up(w, kBit[copy.lane]);
  ++number_;
  const Known view = known(w, copy.lane);
  const bool bulk = copy.from_space != Space::kGeneric;
  static const Past kNothing;
  const auto shown = [&](Space space) {
    const auto& past = space == Space::kShared ? view->shown_shared : view->shown_global;
    return !bulk ? nullptr : past ? past.get() : &kNothing;
  };
  const auto one = [&](Space space, Address at, bool writes, const Past* seen) {
    Mark mark;
    mark.block = space == Space::kShared ? kHere : block_;
    mark.time = kNever;
    mark.pc = static_cast<std::uint32_t>(&copy.op - copy.warp.code().ops.data());
    mark.lanes = kBit[copy.lane];
    mark.shift = Mark::kAlike;
    mark.warp = static_cast<std::uint8_t>(w);
    mark.kind = writes ? Mark::kWrites : 0;
    mark.number = number_;
    mark.bulk = bulk;
    touch({.warp = copy.warp,
           .space = space,
           .direction = writes ? Direction::kCopy : Direction::kLoad,
           .known = *view,
           .shown = seen},
          at, copy.bytes, mark);
  };
  if (bulk) one(copy.from_space, copy.from, false, shown(told.from_space));
  one(copy.to_space, copy.to, true, shown(told.to_space));
  copies_.emplace(
      copy.number,
      OnItsWay{w, copy.lane, static_cast<std::uint32_t>(&copy.op - copy.warp.code().ops.data()),
               copy.to_space, copy.from_space, copy.to, copy.from, copy.bytes});
}

void RaceCheck::copy_landed(std::uint64_t number) {
  const auto copy = copies_.find(number);
  if (copy == copies_.end()) return;
  land(number, copy->second.warp, copy->second.lane, clock_);
}

void RaceCheck::copy_landed_at(std::uint64_t number, Address at) {
  agents_ = true;
  Mbarrier& m = mbarrier(at);
  land(number, kAgentWarp, m.agent, clock_);
  auto view = m.gathered ? std::make_shared<View>(*m.gathered) : std::make_shared<View>();
  view->own.add(kAgentWarp, kBit[m.agent], clock_);
  ++clock_;
  m.gathered = std::move(view);
}

/// From now on the copy's accesses are those of a lane at a time.
void RaceCheck::land(std::uint64_t number, unsigned warp, unsigned lane, Time time) {
  const auto copy = copies_.find(number);
  if (copy == copies_.end()) return;
  land(copy->second, copy->second.to_space, copy->second.to, warp, lane, time);
  land(copy->second, copy->second.from_space, copy->second.from, warp, lane, time);
  copies_.erase(copy);
}

void RaceCheck::land(const OnItsWay& copy, Space space, Address first, unsigned warp, unsigned lane,
                     Time time) {
  if (space == Space::kGeneric) return;
  const std::uint32_t block = space == Space::kShared ? kHere : block_;
  const auto in = [&](Marks& marks) {
    for (std::size_t k = 0; k < marks.size(); ++k) {
      Mark& m = marks[k];
      if (m.time != kNever || m.pc != copy.pc || m.warp != copy.warp || m.block != block ||
          m.lanes != kBit[copy.lane]) {
        continue;
      }
      m.time = time;
      m.warp = static_cast<std::uint8_t>(warp);
      m.lanes = kBit[lane];
    }
  };
  for (Address line = first / kLineBytes * kLineBytes; line < first + copy.bytes;
       line += kLineBytes) {
    on_line(space, line, [&](Line& l) {
      if (l.words) {
        std::ranges::for_each(*l.words, in);
      } else {
        in(l.all);
      }
    });
  }
}

/// free and malloc order what the one had done with a piece of the heap before what the other does.
void RaceCheck::given(Address first, std::uint64_t bytes) {
  const Address past = (first + bytes + 3) / 4 * 4;
  for (Address at = first / 4 * 4; at < past;) {
    const Address line = at / kLineBytes * kLineBytes, end = std::min(past, line + kLineBytes);
    const auto count = static_cast<unsigned>(end - at) / 4;
    const Mask words = (count == kLineWords ? ~Mask{0} : (Mask{1} << count) - 1) << (at - line) / 4;
    const Address page = line / GlobalShadow::kPageBytes;
    if (GlobalShadow::Page* p = grid_.shadow.hold(page, cache_, false)) {
      p->lines[static_cast<std::size_t>(line / kLineBytes % GlobalShadow::kPageLines)].forget(
          words);
      p->let_go();
    }
    at = end;
  }
  const std::scoped_lock lock(grid_.strong);
  std::erase_if(grid_.logs, [&](const auto& l) { return l.first - first < bytes; });
}

// --- Accesses --------------------------------------------------------------------------------

void RaceCheck::access(const Access& access) {
  if (access.space != Space::kShared && access.space != Space::kGlobal) return;
  if (access.direction == Direction::kCopy) return;  // told of as a copy
  if (access.space == Space::kGlobal || !clustered_) return access_there(access);
  const Block& home = access.home ? *access.home : findings_.block();
  std::array<Address, kLanes> address{};
  for_each_lane(access.lanes, [&](unsigned i) {
    address[i] = kOfCluster + home.number() * kClusterStep + access.address[i];
  });
  Access there = access;
  there.space = Space::kGlobal;
  there.address = address.data();
  access_there(there);
}

void RaceCheck::access_there(const Access& access) {
  const unsigned w = access.warp.number();
  const bool atomic = access.direction == Direction::kAtomic;
  const bool strong = atomic || access.order != Order::kWeak;
  if (strong && access.space == Space::kGlobal && threaded_ && !holds_) {
    grid_.strong.lock();
    holds_ = true;
  }
  if (Mask behind = access.lanes & warps_[w].behind) {
    if (strong) {  // asking once more for what it has acquired changes nothing
      for_each_lane(behind, [&](unsigned i) {
        const Address at = access.address[i];
        const auto same = [&](const Taken& t) { return t.place << 1 == at << 1; };
        const std::vector<Taken>& acquired = thread(w, i).acquired;
        if (std::all_of(acquired.begin(), acquired.end(), same)) behind &= ~kBit[i];
      });
    }
    catch_up(w, behind);
  }
  Mark mark;
  mark.block = access.space == Space::kShared ? kHere : block_;
  mark.time = clock_;
  mark.pc = static_cast<std::uint32_t>(&access.op - access.warp.code().ops.data());
  mark.warp = static_cast<std::uint8_t>(w);
  mark.size = logarithm(access.element_bytes());
  mark.number = ++number_;
  if (access.direction != Direction::kLoad) mark.kind |= Mark::kWrites;
  if (atomic) mark.kind |= Mark::kUpdates;
  if (atomic && access.silent) mark.kind |= Mark::kSilent;
  if (strong) mark.kind |= Mark::kStrong;
  if (strong && is_wide(access.scope)) mark.kind |= Mark::kGrid;
  if (access.order == Order::kVolatile) mark.kind |= Mark::kVolatile;
  if (access.order == Order::kWeak && access.read_only) mark.kind |= Mark::kReadOnly;
  mark.orders = access.order > Order::kRelaxed;
  if (access.direction == Direction::kStore) same_instruction(access, mark);
  Mask older = 0;
  if (kFollowsSums && grid_.old && access.space == Space::kGlobal && !clustered_) {
    if (access.direction != Direction::kLoad) {
      keep_older(access, mark.time);
    } else if (strong) {
      older = give_older(access, mark.time);
    }
  }
  Mask released = 0;
  if (access.order != Order::kWeak) {
    // An older value hands nothing on.
    for_each_lane(access.lanes & ~older, [&](unsigned i) {
      const bool stores = access.direction == Direction::kStore;
      if (stores && access.order == Order::kVolatile && thread(w, i).block) released |= kBit[i];
      order(access, i);
    });
  }
  const std::vector<Knowing>& all = warps_[w].knowing;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Touch touch{.warp = access.warp,
                      .space = access.space,
                      .direction = access.direction,
                      .known = *all[k].known,
                      .values = access.values,
                      .bytes = access.bytes,
                      .address = access.address};
    const Mask lanes = access.lanes & all[k].lanes;
    if (lanes & ~released) whole(access, mark, touch, lanes & ~released);
    if (lanes & released) {
      Mark m = mark;
      m.kind |= Mark::kReleases;
      whole(access, m, touch, lanes & released);
    }
  }
}

void RaceCheck::accessed() {
  if (kFollowsSums && grid_.old) put_back();
  if (!std::exchange(holds_, false)) return;
  grid_.strong.unlock();
}

template <class F>
void RaceCheck::on_line(Space space, Address line, const F& f) {
  if (space == Space::kShared) {
    f(shared_[static_cast<std::size_t>(line / kLineBytes)]);
    return;
  }
  GlobalShadow::Page* const page = grid_.shadow.hold(line / GlobalShadow::kPageBytes, cache_);
  f(page->lines[static_cast<std::size_t>(line / kLineBytes % GlobalShadow::kPageLines)]);
  page->let_go();
}

/// The access of lanes that know the same.
void RaceCheck::whole(const Access& access, Mark mark, const Touch& touch, Mask lanes) {
  const std::uint64_t* const address = access.address;
  const unsigned bytes = access.bytes;
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const auto past = kLanes - static_cast<unsigned>(std::countl_zero(lanes));
  const Address origin = address[first] - std::uint64_t{first} * bytes;
  const bool run = count_lanes(lanes) == past - first;  // of lanes with no gap
  bool row = first + 1 < past && std::has_single_bit(bytes) && (bytes >= 4 || run);
  for (Mask m = lanes; row && m; m &= m - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(m));
    row = address[i] == origin + std::uint64_t{i} * bytes;
  }
  const Address begin = origin + std::uint64_t{first} * bytes;
  const Address end = origin + std::uint64_t{past} * bytes;
  if (row && begin % 4 == 0 && end % 4 == 0) {
    mark.shift = logarithm(bytes);
    mark.lanes = lanes;
    for (Address line = begin / kLineBytes * kLineBytes; line < end; line += kLineBytes) {
      mark.from = static_cast<std::int16_t>(static_cast<std::int64_t>(origin - line));
      mark.words = 0;
      if (run) {
        const auto from = static_cast<unsigned>(std::max(begin, line) - line) / 4;
        const auto to = static_cast<unsigned>(std::min(end, line + kLineBytes) - line) / 4;
        mark.words = (to == kLineWords ? ~Mask{0} : (Mask{1} << to) - 1) & ~Mask{0} << from;
      } else {
        for_each_lane(lanes, [&](unsigned i) {
          for (unsigned k = 0; k < bytes; k += 4) {
            if (address[i] + k - line < kLineBytes) {
              mark.words |= Mask{1} << (address[i] + k - line) / 4;
            }
          }
        });
      }
      if (mark.words == 0) continue;
      on_line(touch.space, line, [&](Line& l) { visit(touch, l, line, mark); });
    }
    return;
  }
  mark.shift = Mark::kAlike;
  for (Mask left = lanes; left;) {
    const Address at = address[std::countr_zero(left)];
    mark.lanes = 0;
    while (left && address[std::countr_zero(left)] == at) {
      mark.lanes |= left & (~left + 1);
      left &= left - 1;
    }
    this->touch(touch, at, bytes, mark);
  }
}

/// All lanes of a mark touch all of it.
void RaceCheck::touch(const Touch& touch, Address first, std::uint64_t length, Mark mark) {
  const Address past = first + length;
  for (Address at = first; at < past;) {
    const Address line = at / kLineBytes * kLineBytes;
    Address end = std::min(past, line + kLineBytes);
    const auto word = static_cast<unsigned>(at - line) / 4;
    if (at % 4 == 0 && end - at >= 4) {
      end = end / 4 * 4;
      const auto to = static_cast<unsigned>(end - line) / 4;
      mark.words = (to == kLineWords ? ~Mask{0} : (Mask{1} << to) - 1) & ~Mask{0} << word;
      mark.bytes = 15;
    } else {
      end = std::min(end, at / 4 * 4 + 4);
      mark.words = Mask{1} << word;
      mark.bytes = static_cast<std::uint8_t>(((1u << (end - at)) - 1) << at % 4);
    }
    on_line(touch.space, line, [&](Line& l) { visit(touch, l, line, mark); });
    at = end;
  }
}

void RaceCheck::visit(const Touch& touch, Line& line, Address at, const Mark& mark) {
  if (!line.words && line.all.size() > kMostWhole) {
    unsigned words = 0;
    for (std::size_t i = 0; i < line.all.size(); ++i) words += count_lanes(line.all[i].words);
    if (words < 8 * line.all.size() || line.all.size() > kMostMarks / 2) {
      if (touch.space == Space::kShared || grid_.shadow.may_split()) {
        line.split();
      } else {
        line.all.erase(0);
      }
    }
  }
  if (!line.words) return visit(touch, line.all, at, mark);
  Mark one = mark;
  for (Mask left = mark.words; left; left &= left - 1) {
    one.words = left & (~left + 1);
    visit(touch, (*line.words)[static_cast<unsigned>(std::countr_zero(left))], at, one);
  }
}

/// Whether it takes no look at lanes to see that one comes after the other.
bool RaceCheck::surely_ordered(const Touch& touch, const Mark& before, const Mark& now) const {
  if (before.time == kNever || before.block != now.block) return false;
  if (touch.known.own.knows_all(before.warp, before.time)) return true;
  return before.warp == now.warp && now.time != kNever && before.same_lanes(now);
}

/// Of these lanes of an access, those whose part in it isn't known.
Mask RaceCheck::unknown(const Touch& touch, const Mark& before, Mask lanes) const {
  if (before.time == kNever) return lanes;
  const std::uint32_t here = touch.space == Space::kShared ? kHere : block_;
  if (before.block == here) return touch.known.own.unknown(before.warp, lanes, before.time);
  const OthersPtr& others = touch.known.others;
  return others ? others->unknown(before.block, before.warp, lanes, before.time) : lanes;
}

/// Morally strong, as PTX calls it: each is within the other's scope, and they are of one size.
bool RaceCheck::strong_together(const Mark& a, const Mark& b) {
  return (a.kind & b.kind & Mark::kStrong) &&
         (a.block == b.block || (a.kind & b.kind & Mark::kGrid)) && a.size == b.size;
}

/// Strong accesses order themselves. PTX says so of volatile ones too; but within a warp they are
/// mostly meant as a barrier that they aren't, and two stores as what an atomic is for. Of these
/// only those pass that follow a fence: flags.
bool RaceCheck::excused(const Mark& before, const Mark& now) {
  if (!strong_together(before, now)) return false;
  if (!(before.kind & now.kind & Mark::kVolatile)) return true;
  const bool stores = before.kind & now.kind & Mark::kWrites;
  if (!stores && !before.of_warp(now)) return true;
  return (before.kind | now.kind) & Mark::kReleases;
}

/// A strong write that a strong read has seen is in the past of all that knows of that read: here
/// of what a lane does now to this byte of the line. `by_use`: an update whose result nothing uses
/// has seen nothing.
bool RaceCheck::observed(const Touch& touch, Marks& marks, std::size_t i, const Mark& now,
                         unsigned lane, unsigned byte, bool by_use) {
  const Mark& written = marks[i];
  if (!(written.kind & Mark::kStrong) || written.reads_only()) return false;
  for (std::size_t k = i + 1; k < marks.size(); ++k) {
    const Mark& read = marks[k];
    const bool reads =
        read.reads_only() || ((read.kind & Mark::kUpdates) && !(read.kind & Mark::kSilent));
    if (by_use && !read.reads_only() && uses_.of(read.pc) == ValueUses::Use::kNone) continue;
    if (!reads || !(read.words & Mask{1} << byte / 4) || !strong_together(written, read)) continue;
    const Mask lanes = read.lanes_at(byte);
    Mask left = unknown(touch, read, lanes);
    if (read.of_warp(now)) left &= ~kBit[lane];
    if (left != lanes) return true;
  }
  return false;
}

/// Of the lanes of an ordinary write that comes before a bulk copy, those whose part in it no proxy
/// fence has shown the copy. PTX ISA, "Async Proxy": bulk copies "are performed in the asynchronous
/// proxy", ordinary accesses in the generic one, and "accessing the same memory location across
/// multiple proxies needs a cross-proxy fence", fence.proxy.async. Where it has to be, "Causality
/// Order" says of fence.proxy.alias alone: along the path from the one access to the other. So it
/// may be the writing thread's, as in CUTLASS, or that of a thread that comes after it.
///
/// None is asked for
/// - between mbarrier.init and a copy that counts there: cp.async.bulk "accesses its mbarrier
///   operand using generic-proxy" (PTX 9.4; CUB's transform has dropped the fence that it had);
/// - after a bulk copy that was waited for: "followed by an implicit generic-async proxy fence";
/// - between a read and a copy that overwrites what was read. The words ask for it, but pipelines
///   of loads, CUTLASS's too, do without.
/// Between blocks any fence will do, of the block that writes, after that, or of the other.
Mask RaceCheck::unshown(const Touch& touch, const Mark& before) const {
  if (!touch.shown || before.reads_only() || before.bulk) return 0;
  if (before.block == (touch.space == Space::kShared ? kHere : block_)) {
    if (before.time <= begun_) return 0;
    return touch.shown->unknown(before.warp, before.lanes, before.time);
  }
  if (clustered_) return 0;
  const bool shown =
      grid_.fences_of(before.block).shows >= before.time || grid_.fences_of(block_).shows > 0;
  return shown ? 0 : before.lanes;
}

/// Looks for races with one mark, lane by lane. Of the words that both touch it gives back those
/// that are ordered, and those that were reported.
std::pair<Mask, Mask> RaceCheck::compare(const Touch& touch, Marks& marks, std::size_t index,
                                         Address at, const Mark& now) {
  const Mark before = marks[index];
  const Mask both = before.words & now.words;
  const Mask open = unknown(touch, before, before.lanes);
  if (open == 0) return {both, 0};
  // A bulk copy may overtake what its thread read before; as to what it wrote, see `unshown`.
  const bool overtakes = touch.shown && before.reads_only() && !before.bulk;
  const bool one_warp = before.of_warp(now) && before.time != kNever && !overtakes;
  const bool stores = (before.kind & Mark::kWrites) && touch.direction == Direction::kStore;
  // Two stores by one instruction: same_instruction has looked at them.
  const bool passes = excused(before, now) || (stores && one_warp && before.number == now.number &&
                                               before.time == now.time && before.pc == now.pc);
  const bool by_bytes = std::min(before.shift, now.shift) < 2 || (before.bytes & now.bytes) != 15;
  Mask ordered = both, told = 0;
  for (Mask left = both; left; left &= left - 1) {
    const auto word = static_cast<unsigned>(std::countr_zero(left));
    for (unsigned b = 0; b < (by_bytes ? 4u : 1u); ++b) {
      if (by_bytes && !(before.bytes & now.bytes & 1u << b)) continue;
      const unsigned byte = 4 * word + b;
      const Mask theirs = before.lanes_at(byte) & open;
      for_each_lane(now.lanes_at(byte), [&](unsigned i) {
        const Mask racing = one_warp ? theirs & ~kBit[i] : theirs;
        if (racing == 0) return;
        const bool volatiles = before.kind & now.kind & Mark::kVolatile;  // see `excused`
        if (!passes && !volatiles && observed(touch, marks, index, now, i, byte)) return;
        ordered &= ~(Mask{1} << word);
        if (passes) return;
        const bool same = stores && stores_what_is_there(touch, i, at + byte, by_bytes ? 1 : 4);
        if (same && (before.kind & now.kind & Mark::kVolatile)) return;
        report(touch, i, at + byte, now, before, static_cast<unsigned>(std::countr_zero(racing)),
               same);
        told |= Mask{1} << word;
      });
    }
  }
  return {ordered, told};
}

void RaceCheck::visit(const Touch& touch, Marks& marks, Address at, Mark now) {
  const bool writes = now.kind & Mark::kWrites;
  for (std::size_t i = 0; i < marks.size();) {
    Mark& before = marks[i];
    const Mask both = before.words & now.words;
    if (both == 0 || !(before.bytes & now.bytes)) {
      ++i;
      continue;
    }
    const bool sure = surely_ordered(touch, before, now);
    // By the same lanes as now, and more.
    const bool again = sure || (before.of_warp(now) && before.time != kNever &&
                                now.time != kNever && before.shift == Mark::kAlike &&
                                now.shift == Mark::kAlike && !(before.lanes & ~now.lanes));
    Mask gone = 0;  // what this access stands for from now on
    if (!sure && (before.kind & now.kind & Mark::kStrong)) {
      look_at_strong(touch, marks, i, at, now);
    }
    const bool is_excused = (before.kind & now.kind & Mark::kStrong) &&
                            !(before.kind & Mark::kVolatile) && excused(before, now);
    if ((before.reads_only() && !writes) || is_excused) {
      if (again && before.kind == now.kind) gone = both;
    } else {
      const auto [ordered, told] =
          sure ? std::pair{both, Mask{0}} : compare(touch, marks, i, at, now);
      if ((now.kind & Mark::kReadOnly) && !before.reads_only() && ordered &&
          before.time != kNever) {
        report_read_only(touch, at, now, before, ordered);
      }
      if (const Mask lanes = ordered ? unshown(touch, before) : 0) {
        report_unshown(touch, at, now, before, ordered, lanes);
      }
      if (writes_plainly(now) || (writes && before.kind == now.kind)) gone = ordered;
      if (writes) gone |= told;
    }
    if (gone && !(before.bytes & ~now.bytes)) marks[i].words &= ~gone;
    if (marks[i].words) {
      ++i;
    } else {
      marks.erase(i);
    }
  }
  keep(marks, now);
}

void RaceCheck::keep(Marks& marks, const Mark& now) {
  if (marks.size() > 0) {
    Mark& last = marks[marks.size() - 1];
    if (last.of_warp(now) && last.time == now.time && last.pc == now.pc && last.kind == now.kind &&
        last.bytes == now.bytes && last.shift == now.shift && now.time != kNever) {
      const bool row = now.shift != Mark::kAlike;
      if (row ? last.from == now.from : last.lanes == now.lanes) {
        last.words |= now.words;
        last.lanes |= now.lanes;
        return;
      }
      if (!row && last.words == now.words) {
        last.lanes |= now.lanes;
        return;
      }
    }
  }
  marks.push(now);
  if (marks.size() <= kMostOfOthers || writes_plainly(now)) return;
  // Of those that many blocks read or update the last few say enough.
  unsigned others = 0;
  for (std::size_t i = marks.size(); i-- > 0;) {
    Mark& m = marks[i];
    if (m.block == now.block || !(m.words & now.words) || writes_plainly(m)) continue;
    if (++others <= kMostOfOthers) continue;
    m.words &= ~now.words;
    if (m.words == 0) marks.erase(i);
  }
  if (marks.size() <= kMostMarks) return;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (writes_plainly(marks[i])) continue;
    marks.erase(i);
    return;
  }
}

/// Lanes that store to one place at once: any lane's value may stay. Storing one value is a race
/// too.
void RaceCheck::same_instruction(const Access& access, const Mark& mark) {
  std::array<std::pair<Address, unsigned>, kLanes> places;
  std::size_t n = 0;
  bool rising = true;
  for_each_lane(access.lanes, [&](unsigned i) {
    rising &= n == 0 || access.address[i] > places[n - 1].first;
    places[n++] = {access.address[i], i};
  });
  if (rising || excused(mark, mark)) return;
  std::sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t k = 1; k < n; ++k) {
    const auto [at, lane] = places[k];
    if (at != places[k - 1].first) continue;
    const unsigned before = places[k - 1].second;
    const bool same =
        access.values &&
        std::memcmp(access.values + std::size_t{lane} * access.bytes,
                    access.values + std::size_t{before} * access.bytes, access.bytes) == 0;
    if (same && (mark.kind & Mark::kVolatile)) continue;
    report({.warp = access.warp,
            .space = access.space,
            .direction = access.direction,
            .known = *known(access.warp.number(), lane)},
           lane, at, mark, mark, before, same);
  }
}

bool RaceCheck::stores_what_is_there(const Touch& touch, unsigned lane, Address at,
                                     unsigned bytes) const {
  if (!touch.values) return false;
  const std::byte* there = nullptr;
  if (touch.space == Space::kShared) {
    there = findings_.block().shared() + at;
  } else if (const Allocation* a = findings_.block().launch().config.memory->find(at, bytes)) {
    there = a->host + (at - a->base);
  }
  const std::byte* const value =
      touch.values + std::size_t{lane} * touch.bytes + (at - touch.address[lane]);
  return there && std::memcmp(there, value, bytes) == 0;
}

}  // namespace emu
