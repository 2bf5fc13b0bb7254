#include "machine/warp.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "machine/block.hpp"
#include "machine/cluster.hpp"
#include "machine/lanes.hpp"
#include "machine/text.hpp"

namespace emu {
namespace {

constexpr unsigned kClusterBarrier = 16;  // its number, past those of the block's

constexpr std::size_t kMostCalls = 1024;
constexpr int kTurn = 2048;          // backward jumps and calls
constexpr unsigned kPatience = 512;  // operations that look like waiting, in a row
// What one of them takes of a turn, in backward jumps, where the other blocks of the grid share the
// host's threads: waiting for them should cost little.
constexpr int kPollCost = 64;

// The schedule apart: powers of two of what a group, and a warp, does at most in one go.
constexpr unsigned kStretch = 8;
constexpr unsigned kGroupsInARow = 6;
constexpr unsigned kTriesToGiveUp = 4;  // one of so many that would wait does not

/// The lanes that have this value.
Mask lanes_with(const std::uint32_t* values, std::uint32_t value) {
  std::uint32_t other = 0;
  EMU_FOR_LANES other |= values[i] ^ value;
  if (other == 0) return kAllLanes;
  Mask same = 0;
  EMU_FOR_LANES same |= values[i] == value ? kBit[i] : 0;
  return same;
}

}  // namespace

Warp::Warp(Block& block, unsigned number, std::byte* registers, std::byte* local)
    : block_(block),
      code_(block.code()),
      number_(number),
      registers_(registers),
      local_(local),
      local_stride_(static_cast<std::size_t>(block.code().local_bytes + block.code().stack_bytes)) {
}

void Warp::start(Mask lanes) {
  for (Group& g : groups()) g.state = State::kFree;
  for (std::size_t i = 0; i < entries_top_; ++i) entries_[i].used = false;
  entries_top_ = 0;
  top_ = 0;
  live_ = lanes;
  cluster_arrived_ = cluster_over_ = 0;
  polls_ = 0;
  suspends_ = false;
  looked_ = {};
  if (lanes) groups_[new_group(lanes, 0, -1, State::kReady, {})].met = true;
}

std::string Warp::place(const Op& op, unsigned lane) const {
  const auto pc = static_cast<std::uint32_t>(&op - code_.ops.data());
  return block_.name() + ", " + block_.thread_name(number_, lane) + ", " + code_.where(pc);
}

void Warp::fault(Fault::Kind kind, const Op& op, unsigned lane, const std::string& what) {
  throw StopLaunch{{kind, place(op, lane) + ": " + what}};
}

void Warp::mention(const Op& op, unsigned lane, const std::string& what) {
  if (block_.first_warning_at(op)) block_.warnings.push_back(place(op, lane) + ": " + what);
}

void Warp::warn(const Op& op, Mask lanes, const std::string& what) {
  mention(op, static_cast<unsigned>(std::countr_zero(lanes)), what);
  block_.tell([&](BlockObserver& o) { o.undefined(*this, op, lanes, what); });
}

unsigned Warp::new_group(Mask lanes, std::uint32_t pc, int entry, State state,
                         const std::vector<std::uint32_t>& calls) {
  unsigned i = 0;
  while (groups_[i].state != State::kFree) ++i;  // one a lane at most, and one in the making
  top_ = std::max(top_, i + 1);
  Group& g = groups_[i];
  g.lanes = lanes;
  g.pc = pc;
  g.entry = entry;
  g.state = state;
  g.met = false;
  g.calls = calls;
  return i;
}

bool Warp::meets_at(const Group& group, std::uint32_t pc) const {
  if (group.entry < 0) return false;
  const Entry& e = entries_[static_cast<std::size_t>(group.entry)];
  return e.pc == pc && e.depth == group.calls.size();
}

int Warp::new_entry(std::uint32_t pc, Mask expected, int parent, std::size_t depth) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& e = entries_[i];
    if (e.used) continue;
    entries_top_ = std::max(entries_top_, i + 1);
    e.used = true;
    e.pc = pc;
    e.expected = expected;
    e.arrived = 0;
    e.parent = parent;
    e.depth = depth;
    return static_cast<int>(i);
  }
  return parent;  // can't be: masks shrink from parent to child. Then they meet further on.
}

void Warp::poll() {
  ++polls_;
  if (block_.launch().config.cooperative) turn_ -= kPollCost;
}

Warp::Status Warp::run() {
  if (Random* random = block_.random()) return run_apart(*random);
  turn_ = kTurn;
  polled_ = false;
  if (suspended()) look_again();
  while (turn_ > 0) {
    bool ran = false;
    for (unsigned i = 0; i < top_ && turn_ > 0; ++i) {
      if (groups_[i].state == State::kReady) {
        run_ready(i);
        ran = true;
      }
    }
    if (!ran) return live_ == 0 ? Status::kDone : Status::kWaiting;
    if (turn_ <= 0 && polls_ > kPatience) {
      polled_ = true;
      release_early();
    }
    // Each group has a turn of its own: one that spins mustn't starve the one it waits for.
    if (turn_ <= 0 && std::ranges::count(groups(), State::kReady, &Group::state) > 1) {
      for (unsigned i = 0; i < top_; ++i) {
        if (groups_[i].state != State::kReady) continue;
        turn_ = kTurn;
        run_ready(i);
      }
      turn_ = 0;
    }
  }
  return live_ == 0 ? Status::kDone : Status::kYielded;
}

void Warp::looked(const Op& op, Address at) {
  looked_ = {&op, at};
  block_.looked(at);
}

void Warp::round() {
  for (unsigned i = 0; i < top_; ++i) {
    turn_ = 1;
    if (groups_[i].state == State::kReady) run_ready(i);
  }
}

/// Lets groups go on that can, each for a stretch, in an order by chance.
Warp::Status Warp::run_apart(Random& random) {
  bool ran = false;
  if (suspended()) look_again();
  for (unsigned row = random.stretch(kGroupsInARow); row > 0; --row) {
    // With no jump that chance decides: this is done for every few instructions.
    std::array<unsigned, kLanes + 1> ready;
    unsigned count = 0;
    for (unsigned i = 0; i < top_; ++i) {
      ready[count] = i;
      count += groups_[i].state == State::kReady ? 1 : 0;
    }
    if (count == 0 && live_ && !ran) return Status::kWaiting;
    if (count == 0) break;
    ran = true;
    const unsigned chosen = ready[random.below(count)];
    if (groups_[chosen].met) scatter(chosen, random);
    turn_ = std::numeric_limits<int>::max();  // a turn is over with its stretch
    budget_ = random.stretch(kStretch);
    run_group<Pace::kStepped>(chosen);
  }
  return live_ == 0 ? Status::kDone : Status::kYielded;
}

/// Lanes that met part again: into a few groups or many, or not at all.
void Warp::scatter(unsigned index, Random& random) {
  Group& group = groups_[index];
  group.met = false;
  const unsigned parts = 1u << random.below(6);
  std::array<Mask, kLanes> lanes;
  std::fill_n(lanes.begin(), parts, Mask{0});
  for (Mask m = group.lanes; m; m &= m - 1) lanes[random.below(parts)] |= m & (~m + 1);
  group.lanes = 0;
  for (const Mask part : std::span(lanes).first(parts)) {
    if (part && group.lanes) new_group(part, group.pc, group.entry, State::kReady, group.calls);
    if (!group.lanes) group.lanes = part;
  }
}

void Warp::run_ready(unsigned index) {
  if (!block_.watched()) return run_group<Pace::kFree>(index);
  if (!block_.stepped()) return run_group<Pace::kWatched>(index);
  budget_ = std::numeric_limits<std::uint64_t>::max();
  run_group<Pace::kStepped>(index);
}

template <Warp::Pace P>
void Warp::run_group(unsigned index) {
  Group& group = groups_[index];
  const Op* const ops = code_.ops.data();
  Counters& counters = block_.counters;
  std::uint32_t pc = group.pc;
  Mask lanes = group.lanes;
  std::uint64_t executed = 0, threads = 0;
  Mask counted = 0;  // the lanes of an instruction before, mostly those of the next one too
  unsigned lanes_counted = 0;
  // Counts go to the warp when the group stops, also by a fault.
  struct Flush {
    Warp& warp;
    Counters& counters;
    std::uint64_t &executed, &threads;
    void now() {
      counters.warp_instructions += executed;
      counters.thread_instructions += threads;
      warp.instructions_ += executed;
      executed = threads = 0;
    }
    ~Flush() { now(); }
  } flush{*this, counters, executed, threads};

  while (true) {
    const Op& op = ops[pc];
    const Mask mask = lanes & (predicate(op.guard) ^ op.guard_flip);
    if constexpr (P == Pace::kStepped) {
      if (op.counted && block_.stepped()) {
        here_ = lanes;
        block_.tell([&](BlockObserver& o) { o.instruction(*this, op, mask); });
      }
    }
    if (op.control == Control::kStraight) [[likely]] {
      if (op.counted) {
        ++executed;
        if (mask == kAllLanes) {
          threads += kLanes;
        } else {
          if (mask != counted) {
            counted = mask;
            lanes_counted = count_lanes(mask);
          }
          threads += lanes_counted;
        }
      }
      if (mask) op.run(*this, op, mask);
      ++pc;
      if constexpr (P == Pace::kStepped) {
        group.pc = pc;
        if (--budget_ == 0) return;
      } else if constexpr (P == Pace::kWatched) {
        if (block_.stepped()) [[unlikely]] {
          group.pc = pc;
          return;
        }
      }
      continue;
    }
    if (op.control == Control::kJoin) {
      if (!meets_at(group, pc)) {
        ++pc;
        continue;
      }
      group.pc = pc;
      if (!join(group)) return;
      pc = group.pc;
      lanes = group.lanes;
      continue;
    }
    if (op.counted) {
      ++executed;
      threads += count_lanes(mask);
    }
    group.pc = pc;
    bool on = true;
    switch (op.control) {
      case Control::kBranch: on = branch(group, op, mask); break;
      case Control::kSwitch: on = jump_by_index(group, op, mask); break;
      case Control::kCall: call(group, op, op.as<Call>().entry); break;
      case Control::kCallPointer: call_pointer(group, op); break;
      case Control::kReturn:
        group.pc = group.calls.back();
        group.calls.pop_back();
        break;
      case Control::kExit: on = exit(group, op, mask); break;
      case Control::kBarrier: on = barrier(group, op, mask); break;
      case Control::kCluster: on = cluster_barrier(group, op, mask); break;
      case Control::kTogether: on = together(group, op, mask); break;
      case Control::kSuspend: on = suspend(group, op, mask); break;
      case Control::kRefused:
        if (mask)
          throw StopLaunch{{Fault::Kind::kUnsupported, code_.refusals[op.as<Missing>().why]}};
        ++group.pc;
        break;
      case Control::kClock:
        flush.now();
        if (mask) op.run(*this, op, mask);
        ++group.pc;
        break;
      default: break;
    }
    if (!on) return;
    pc = group.pc;
    lanes = group.lanes;
    if (turn_ <= 0) return;
    if constexpr (P == Pace::kStepped) {
      if ((group.met && block_.random()) || --budget_ == 0) return;
    } else if constexpr (P == Pace::kWatched) {
      if (block_.stepped()) [[unlikely]]
        return;
    }
  }
}

bool Warp::branch(Group& group, const Op& op, Mask taken) {
  const std::uint32_t from = group.pc;
  const auto [target, meet] = op.as<Branch>();
  if (op.guarded) ++block_.counters.branches;
  if (taken == group.lanes) {
    group.pc = target;
    turn_over(from, target);
    return true;
  }
  ++group.pc;
  if (taken == 0) return true;
  ++block_.counters.diverging_branches;
  turn_over(from, target);
  return part(group, meet, taken, target);
}

/// Splits `leaving` off to run at `to`; both parts meet at `meet`.
bool Warp::part(Group& group, std::uint32_t meet, Mask leaving, std::uint32_t to) {
  if (meet != kNowhere && !block_.random() && !meets_at(group, meet)) {
    group.entry = new_entry(meet, group.lanes, group.entry, group.calls.size());
  }
  group.lanes &= ~leaving;
  new_group(leaving, to, group.entry, State::kReady, group.calls);
  return true;
}

bool Warp::jump_by_index(Group& group, const Op& op, Mask mask) {
  const std::uint32_t from = group.pc;
  const auto& labels = op.as<Switch>();
  const auto* index = lanes<std::uint32_t>(op.a);
  ++block_.counters.branches;
  Mask left = mask;
  const Mask stay = group.lanes & ~mask;  // lanes whose guard is off go on after it
  bool first = stay == 0;
  std::uint32_t own = from + 1;
  bool parted = false;
  while (left) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const std::uint32_t chosen = index[lane];
    if (chosen >= labels.count) {
      fault(Fault::Kind::kIllegalInstruction, op, lane,
            "brx.idx: " + std::to_string(chosen) + " is past the last of its labels");
    }
    Mask same = 0;
    for (Mask m = left; m; m &= m - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(m));
      if (index[i] == chosen) same |= Mask{1} << i;
    }
    left &= ~same;
    const std::uint32_t to = code_.lists[labels.first + chosen];
    if (first) {
      own = to;  // these lanes stay this group
      first = false;
    } else {
      parted = true;
      part(group, labels.meet, same, to);
    }
  }
  if (parted) ++block_.counters.diverging_branches;
  group.pc = own;
  turn_over(from, own);
  return true;
}

void Warp::call(Group& group, const Op& op, std::uint32_t entry) {
  if (group.calls.size() >= kMostCalls) {
    fault(Fault::Kind::kIllegalAddress, op, static_cast<unsigned>(std::countr_zero(group.lanes)),
          "stack overflow: calls nested deeper than " + std::to_string(kMostCalls));
  }
  group.calls.push_back(group.pc + 1);
  group.pc = entry;
  --turn_;  // who calls itself again and again comes back with no backward jump
}

/// Lanes with different pointers part, and meet behind the call.
void Warp::call_pointer(Group& group, const Op& op) {
  const auto& way = op.as<PointerCall>();
  const auto* pointer = lanes<std::uint64_t>(op.a);
  Mask left = group.lanes;
  std::array<std::pair<Mask, std::uint32_t>, kLanes> ways;
  unsigned count = 0;
  while (left) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    Mask same = 0;
    for (Mask m = left; m; m &= m - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(m));
      if (pointer[i] == pointer[lane]) same |= Mask{1} << i;
    }
    left &= ~same;
    const auto callee = std::ranges::find(code_.callees, pointer[lane], &Code::Callee::address);
    if (callee == code_.callees.end()) {
      fault(Fault::Kind::kIllegalInstruction, op, lane,
            "a call through a pointer that leads to no function");
    }
    if (callee->form != way.form) {
      fault(Fault::Kind::kIllegalInstruction, op, lane,
            "a call through a pointer to a function with other parameters or another result");
    }
    ways[count++] = {same, callee->entry};
  }
  if (count > 1) {
    ++block_.counters.diverging_branches;
    if (way.meet != kNowhere && !block_.random() && !meets_at(group, way.meet)) {
      group.entry = new_entry(way.meet, group.lanes, group.entry, group.calls.size());
    }
  }
  call(group, op, ways[0].second);
  group.lanes = ways[0].first;
  for (unsigned i = 1; i < count; ++i) {
    new_group(ways[i].first, ways[i].second, group.entry, State::kReady, group.calls);
  }
}

/// The group is at the place where its lanes meet others.
bool Warp::join(Group& group) {
  while (meets_at(group, group.pc)) {
    Entry& entry = entries_[static_cast<std::size_t>(group.entry)];
    entry.arrived |= group.lanes;
    if ((entry.expected & live_) != entry.arrived) {
      entry.calls = std::move(group.calls);
      group.state = State::kFree;
      return false;
    }
    group.lanes = entry.arrived;
    group.entry = entry.parent;
    entry.used = false;
    polls_ = 0;
  }
  ++group.pc;
  return true;
}

/// After lanes exited: those that waited for them only may go on.
void Warp::complete_joins() {
  for (std::size_t i = 0; i < entries_top_; ++i) {
    Entry& entry = entries_[i];
    if (!entry.used) continue;
    entry.arrived &= live_;
    const Mask expected = entry.expected & live_;
    if (expected == 0) {
      entry.used = false;
    } else if (entry.arrived == expected) {
      entry.used = false;
      new_group(entry.arrived, entry.pc, entry.parent, State::kReady, entry.calls);
    }
  }
}

/// Lanes that wait at a join for lanes that spin may be what those wait for: let them go on.
bool Warp::release_early() {
  polls_ = 0;
  bool any = false;
  for (Entry& entry : entries_) {
    if (!entry.used || entry.arrived == 0) continue;
    entry.expected &= ~entry.arrived;
    new_group(std::exchange(entry.arrived, 0), entry.pc, entry.parent, State::kReady, entry.calls);
    any = true;
  }
  return any;
}

bool Warp::exit(Group& group, const Op& op, Mask mask) {
  live_ &= ~mask;
  group.lanes &= ~mask;
  const bool on = group.lanes != 0;
  if (on) {
    ++group.pc;
  } else {
    group.state = State::kFree;
  }
  block_.tell([&](BlockObserver& o) { o.exited(*this, op, mask); });
  block_.exited(count_lanes(mask));
  const Mask absent = mask & ~cluster_arrived_;
  cluster_arrived_ &= ~mask;
  cluster_over_ &= ~mask;
  block_.cluster().exited(count_lanes(absent));
  if (live_) {
    complete_joins();
    complete_together();
  }
  return on && group.state == State::kReady;  // it may have become part of another group
}

bool Warp::barrier(Group& group, const Op& op, Mask mask) {
  if (mask == 0) {
    ++group.pc;
    return true;
  }
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  Block::Arrival arrival{};
  arrival.barrier = lanes<std::uint32_t>(op.a)[lane];
  if (arrival.barrier >= 16) {
    fault(Fault::Kind::kIllegalInstruction, op, lane,
          "barrier " + std::to_string(arrival.barrier) + ": there are 16");
  }
  const auto& how = op.as<Barrier>();
  arrival.needed = how.counted ? lanes<std::uint32_t>(op.b)[lane] : 0;
  arrival.waits = how.waits;
  arrival.kind = how.kind;
  arrival.lanes = mask;
  if (arrival.kind != BarrierKind::kSync) {
    arrival.predicate = (predicate(op.c) ^ (how.negated ? kAllLanes : 0)) & mask;
  }
  block_.tell(
      [&](BlockObserver& o) { o.arrived(*this, op, mask, arrival.barrier, arrival.waits); });
  if (!arrival.waits) {
    ++group.pc;
    block_.arrive(arrival);
    return group.state == State::kReady;
  }
  polls_ = 0;
  if (mask != group.lanes) {  // the guard is off for some: they don't wait
    const unsigned waiting = new_group(mask, group.pc, group.entry, State::kAtBarrier, group.calls);
    groups_[waiting].barrier = arrival.barrier;
    group.lanes &= ~mask;
    ++group.pc;
    block_.arrive(arrival);
    return group.state == State::kReady;
  }
  group.state = State::kAtBarrier;
  group.barrier = arrival.barrier;
  block_.arrive(arrival);
  return group.state == State::kReady;  // it may have been the last
}

void Warp::release(unsigned barrier, std::uint32_t result) {
  for (Group& group : groups()) {
    if (group.state != State::kAtBarrier || group.barrier != barrier) continue;
    const Op& op = code_.ops[group.pc];
    const BarrierKind kind = op.as<Barrier>().kind;
    if (kind == BarrierKind::kPopc) {
      for (Mask m = group.lanes; m; m &= m - 1) {
        lanes<std::uint32_t>(op.d)[std::countr_zero(m)] = result;
      }
    } else if (kind != BarrierKind::kSync) {
      Mask& d = predicate(op.d);
      d = result ? d | group.lanes : d & ~group.lanes;
    }
    ++group.pc;
    group.state = State::kReady;
    group.met = true;
  }
  meet_the_ready();
}

/// A barrier is a place to meet.
void Warp::meet_the_ready() {
  if (top_ == 1) return;
  for (Group& group : groups()) {
    if (group.state != State::kReady) continue;
    for (Group& other : groups()) {
      if (&other != &group && other.state == State::kReady) merge_into(group, other);
    }
  }
}

bool Warp::cluster_barrier(Group& group, const Op& op, Mask mask) {
  if (mask == 0) {
    ++group.pc;
    return true;
  }
  const auto& how = op.as<ClusterBarrier>();
  if (how.arrives) {
    if (const Mask twice = mask & (cluster_arrived_ | cluster_over_)) {
      warn(op, twice, "barrier.cluster.arrive a second time, without a wait in between");
    }
    block_.tell([&](BlockObserver& o) { o.cluster_arrived(*this, mask, how.releases); });
    const Mask fresh = mask & ~cluster_arrived_;
    cluster_arrived_ |= mask;
    cluster_over_ &= ~mask;
    ++group.pc;
    block_.cluster().arrived(count_lanes(fresh));
    return group.state == State::kReady;  // it may have become part of another group
  }
  if (const Mask never = mask & ~(cluster_arrived_ | cluster_over_)) {
    warn(op, never, "barrier.cluster.wait by a thread that hasn't arrived");
  }
  polls_ = 0;
  if (const Mask over = mask & cluster_over_) {
    cluster_over_ &= ~over;
    block_.tell([&](BlockObserver& o) { o.cluster_waited(*this, over); });
  }
  const Mask waiting = mask & cluster_arrived_;
  if (waiting == 0) {
    ++group.pc;
    return true;
  }
  if (waiting == group.lanes) {
    group.state = State::kAtBarrier;
    group.barrier = kClusterBarrier;
    return false;
  }
  const unsigned apart = new_group(waiting, group.pc, group.entry, State::kAtBarrier, group.calls);
  groups_[apart].barrier = kClusterBarrier;
  group.lanes &= ~waiting;
  ++group.pc;
  return true;
}

void Warp::cluster_completed() {
  cluster_over_ |= std::exchange(cluster_arrived_, 0);
  for (Group& group : groups()) {
    if (group.state != State::kAtBarrier || group.barrier != kClusterBarrier) continue;
    cluster_over_ &= ~group.lanes;
    block_.tell([&](BlockObserver& o) { o.cluster_waited(*this, group.lanes); });
    ++group.pc;
    group.state = State::kReady;
    group.met = true;
  }
  meet_the_ready();
}

bool Warp::at_cluster_barrier() const {
  return std::ranges::any_of(groups(), [](const Group& g) {
    return g.state == State::kAtBarrier && g.barrier == kClusterBarrier;
  });
}

bool Warp::merge_into(Group& group, Group& other) {
  if (group.pc != other.pc || group.entry != other.entry || group.calls != other.calls)
    return false;
  group.lanes |= other.lanes;
  group.met |= other.met;
  other.state = State::kFree;
  return true;
}

/// What lanes that named each other do, now that all of them are here.
void Warp::meet(const Op& op, Mask here) {
  block_.stir();
  block_.tell([&](BlockObserver& o) { o.met(*this, op, here); });
  op.run(*this, op, here);
}

/// An operation of lanes that name each other: done at once when all of them are here.
bool Warp::together(Group& group, const Op& op, Mask mask) {
  const auto* member = lanes<std::uint32_t>(op.as<Together>().member);
  Mask left = mask, missing = 0;
  while (left) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const Mask named = member[lane];
    const Mask same = left & lanes_with(member, named);
    left &= ~same;
    if (const Mask outside = same & ~named) {
      // PTX leaves this undefined. Here these lanes carry it out among themselves, at once.
      warn(op, outside, "the mask " + hexadecimal(named, 8) + " leaves out the lane that runs it");
      op.run(*this, op, outside);
    }
    const Mask inside = same & named;
    if (inside == 0) continue;
    if ((named & live_) == inside) {
      meet(op, inside);
      group.met = true;
    } else {
      missing |= inside;
    }
  }
  if (!missing) {
    ++group.pc;
    return true;
  }
  if (missing == group.lanes) {
    group.state = State::kTogether;
    complete_together();
    return group.state == State::kReady;
  }
  new_group(missing, group.pc, group.entry, State::kTogether, group.calls);
  group.lanes &= ~missing;
  ++group.pc;
  complete_together();
  return group.state == State::kReady;
}

/// An operation whose predicate tells whether it's over. All lanes wait while it's over for none.
/// How long they wait is the hardware's choice: in the schedule apart, now and then not at all.
bool Warp::suspend(Group& group, const Op& op, Mask mask) {
  if (mask) {
    op.run(*this, op, mask);
    Random* const random = block_.random();
    const bool over_for_none = mask == group.lanes && !(predicate(op.d) & mask);
    if (over_for_none && (!random || random->below(kTriesToGiveUp) != 0)) {
      group.state = State::kSuspended;
      suspends_ = true;
      return false;
    }
  }
  ++group.pc;
  return true;
}

void Warp::look_again() {
  for (Group& group : groups()) {
    if (group.state != State::kSuspended) continue;
    const Op& op = code_.ops[group.pc];
    op.run(*this, op, group.lanes);
    if (!(predicate(op.d) & group.lanes)) continue;
    group.state = State::kReady;
    ++group.pc;
  }
}

bool Warp::suspended() const {
  return suspends_ &&
         std::ranges::any_of(groups(), [](const Group& g) { return g.state == State::kSuspended; });
}

void Warp::give_up() {
  for (Group& group : groups()) {
    if (group.state != State::kSuspended) continue;
    group.state = State::kReady;
    ++group.pc;
  }
}

/// Looks for lanes that wait for each other and are now all there.
void Warp::complete_together() {
  for (bool again = true; again;) {
    again = false;
    for (Group& first : groups()) {
      if (first.state != State::kTogether) continue;
      const Op& op = code_.ops[first.pc];
      const auto lane = static_cast<unsigned>(std::countr_zero(first.lanes));
      const Mask named = lanes<std::uint32_t>(op.as<Together>().member)[lane] & live_;
      // Lanes at this operation, wherever in the text: PTX asks for the same qualifiers (which make
      // the handler) and the same mask, not for the same instruction.
      Mask here = 0;
      std::array<const Op*, kLanes> places{};
      bool several = false;
      for (const Group& g : groups()) {
        if (g.state != State::kTogether) continue;
        const Op& theirs = code_.ops[g.pc];
        if (theirs.run != op.run) continue;
        for (Mask m = g.lanes; m; m &= m - 1) {
          const auto i = static_cast<unsigned>(std::countr_zero(m));
          if ((lanes<std::uint32_t>(theirs.as<Together>().member)[i] & live_) != named) continue;
          here |= Mask{1} << i;
          places[i] = &theirs;
          several |= &theirs != &op;
        }
      }
      if (here != named) continue;
      met_at_ = several ? places.data() : nullptr;
      meet(op, here);
      met_at_ = nullptr;
      polls_ = 0;
      // Lanes that are done leave their groups; those with one place and history stay together.
      std::array<unsigned, kLanes + 1> freed{};
      unsigned count = 0;
      for (unsigned i = 0; i < top_; ++i) {
        Group& g = groups_[i];
        if (g.state != State::kTogether || !(g.lanes & here)) continue;
        const Mask done = g.lanes & here;
        if (done == g.lanes) {
          g.state = State::kReady;
          ++g.pc;
          freed[count++] = i;
        } else {
          g.lanes &= ~done;
          freed[count++] = new_group(done, g.pc + 1, g.entry, State::kReady, g.calls);
        }
        groups_[freed[count - 1]].met = true;
        here &= ~done;
      }
      for (unsigned i = 0; i < count; ++i) {
        for (unsigned j = i + 1; j < count; ++j) {
          if (groups_[freed[i]].state == State::kReady &&
              groups_[freed[j]].state == State::kReady) {
            merge_into(groups_[freed[i]], groups_[freed[j]]);
          }
        }
      }
      again = true;
      break;
    }
  }
}

void Warp::add_state(std::uint64_t& hash) const {
  const auto add = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100'0000'01b3u; };
  const auto add_bytes = [&](const std::byte* at, std::size_t bytes) {
    for (; bytes >= sizeof(std::uint64_t); bytes -= sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, sizeof word);
      add(word);
      at += sizeof word;
    }
    for (; bytes > 0; --bytes) add(static_cast<std::uint64_t>(*at++));
  };
  for (const Group& g : groups()) {
    add(static_cast<std::uint64_t>(g.state));
    if (g.state == State::kFree) continue;
    add(std::uint64_t{g.lanes} << 32 | g.pc);
    for (const std::uint32_t from : g.calls) add(from);
  }
  add(std::uint64_t{cluster_arrived_} << 32 | cluster_over_);
  add_bytes(registers_, code_.zeroed_bytes);
  add_bytes(local_, kLanes * local_stride_);
}

std::string Warp::stands() const {
  std::string text;
  for (const Group& g : groups()) {
    if (g.state == State::kFree) continue;
    text += "; warp " + std::to_string(number_) + ", lanes " + hexadecimal(g.lanes, 8) + " at " +
            (g.state == State::kAtBarrier ? "barrier " + std::to_string(g.barrier) + ", " : "") +
            code_.where(g.pc);
  }
  return text;
}

std::string Warp::waits() const {
  std::string text;
  const auto add = [&](Mask lanes, const std::string& what, std::uint32_t pc) {
    text += "; warp " + std::to_string(number_) + ", lanes " + hexadecimal(lanes, 8) + " at " +
            what + ", " + code_.where(pc);
  };
  for (const Group& g : groups()) {
    if (g.state == State::kAtBarrier) {
      add(g.lanes,
          g.barrier == kClusterBarrier ? "the cluster's barrier"
                                       : "barrier " + std::to_string(g.barrier),
          g.pc);
    } else if (g.state == State::kSuspended) {
      add(g.lanes, "an mbarrier whose phase doesn't end", g.pc);
    } else if (g.state == State::kTogether) {
      const Mask named =
          *reinterpret_cast<const Mask*>(registers_ + code_.ops[g.pc].as<Together>().member +
                                         4 * static_cast<unsigned>(std::countr_zero(g.lanes)));
      add(g.lanes, "an operation that waits for lanes of mask " + hexadecimal(named, 8), g.pc);
    } else if (g.state == State::kReady) {
      const auto looked = static_cast<std::uint32_t>(
          looked_.op ? looked_.op - code_.ops.data() : static_cast<std::ptrdiff_t>(g.pc));
      add(g.lanes,
          looked_.op ? "a loop that looks at " + block_.memory_at(looked_.at)
                     : std::string("a loop that changes nothing"),
          looked);
    }
  }
  return text;
}

}  // namespace emu
