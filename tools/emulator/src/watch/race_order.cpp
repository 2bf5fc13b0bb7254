// Who knows what of whom.
#include <algorithm>
#include <utility>

#include "machine/block.hpp"
#include "machine/lanes.hpp"
#include "watch/check_race.hpp"

namespace emu {
namespace {

constexpr Address kSharedBit = Address{1} << 63;  // tells a place in shared from one in global
constexpr std::size_t kMostPending = 256;

}  // namespace

/// A block begins as if all had met: what was done here before is in the past of all threads.
void RaceCheck::begin(std::uint64_t block) {
  block_ = static_cast<std::uint32_t>(block);
  looked_ = took_ = took_of_system_ = shows_ = false;
  begun_ = clock_;
  auto view = std::make_shared<View>();
  view->own.add_all(clock_);
  if (agents_) view->own.add(kAgentWarp, kAllLanes, clock_);
  ++clock_;
  for (WarpState& warp : warps_) {
    warp.knowing = {{kAllLanes, view}};
    warp.behind = 0;
  }
  for (auto& barrier : barriers_) barrier.clear();
  read_.clear();
  seen_.clear();
  passed_.clear();
  cluster_arrived_.clear();
  mbarriers_.clear();
  for (const auto& [number, copy] : copies_) {  // shared memory's places are used again
    if (copy.to_space == Space::kShared) land(copy, copy.to_space, copy.to, 0, 0, 0);
    if (copy.from_space == Space::kShared) land(copy, copy.from_space, copy.from, 0, 0, 0);
  }
  copies_.clear();
  if (patterns_) {
    for (Thread& t : thread_) t = {};
    patterns_ = false;
  }
  logs_.clear();
}

const Known& RaceCheck::known(unsigned warp, unsigned lane) const {
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

// --- Barriers --------------------------------------------------------------------------------

/// Lanes hand on what they know and have done.
void RaceCheck::arrive(std::vector<Arrived>& out, unsigned warp, Mask lanes, bool waits) {
  catch_up(warp, lanes);
  for (const Knowing& k : warps_[warp].knowing) {
    if (k.lanes & lanes) out.push_back({warp, k.lanes & lanes, k.known, clock_, waits});
  }
  if (!waits) ++clock_;  // what they do from here on is later
}

Known RaceCheck::join_all(const std::vector<Arrived>& all) {
  auto sum = std::make_shared<View>(*all.front().known);
  const View* last = all.front().known.get();
  unsigned threads = 0;
  bool wait = true;
  for (const Arrived& a : all) {
    threads += count_lanes(a.lanes);
    wait &= a.waits;
    if (a.known.get() == last) continue;
    last = a.known.get();
    sum->join(*last);
  }
  if (wait && threads == threads_) {
    sum->own.add_all(clock_);
  } else {
    for (const Arrived& a : all) sum->own.add(a.warp, a.lanes, a.waits ? clock_ : a.time);
  }
  ++clock_;
  return sum;
}

void RaceCheck::arrived(const Warp& warp, Mask lanes, unsigned barrier, bool waits) {
  arrive(barriers_[barrier], warp.number(), lanes, waits);
}

void RaceCheck::completed(unsigned barrier) {
  auto& all = barriers_[barrier];
  if (all.empty()) return;
  const Known sum = join_all(all);
  for (const Arrived& a : all) {
    if (patterns_) pass_on(a.warp, a.lanes);
    if (a.waits) learn(a.warp, a.lanes, sum);
  }
  all.clear();
}

void RaceCheck::cluster_arrived(const Warp& warp, Mask lanes, bool releases) {
  if (releases) arrive(cluster_arrived_, warp.number(), lanes, false);
}

/// Each block puts what its threads know where those of the others find it.
void RaceCheck::cluster_gathered(std::uint64_t phase, unsigned blocks) {
  cluster_log_ = grid_.at_phase(phase, blocks);
  cluster_sum_ = cluster_arrived_.empty() ? nullptr : join_all(cluster_arrived_);
  cluster_arrived_.clear();
  if (cluster_sum_) {
    cluster_log_->add(
        {.block = block_, .thread = 0, .to_block = cluster_sum_, .to_grid = cluster_sum_});
  }
}

void RaceCheck::cluster_waited(const Warp& warp, Mask lanes) {
  auto sum = cluster_sum_ ? std::make_shared<View>(*cluster_sum_) : std::make_shared<View>();
  if (clustered_ && cluster_log_->size() > 0) {
    sum->others = Others::join(sum->others, cluster_log_->to_grid(cluster_log_->size()));
    come_back(*sum);
  }
  const Known handed = std::move(sum);
  const std::vector<Knowing> before = warps_[warp.number()].knowing;
  for (const Knowing& k : before) {
    if (k.lanes & lanes) learn(warp.number(), k.lanes & lanes, join(k.known, handed));
  }
}

void RaceCheck::met(const Warp& warp, Mask lanes) {
  std::vector<Arrived> all;
  arrive(all, warp.number(), lanes, true);
  if (patterns_) pass_on(warp.number(), lanes);
  learn(warp.number(), lanes, join_all(all));
}

// --- Release and acquire patterns --------------------------------------------------------------

/// What a lane that releases now hands on.
Known RaceCheck::handed_now(unsigned warp, unsigned lane) const {
  auto view = std::make_shared<View>(*known(warp, lane));
  view->own.add(warp, kBit[lane], clock_);
  return view;
}

/// Looks at what lanes have acquired.
void RaceCheck::catch_up(unsigned warp, Mask lanes) {
  lanes &= warps_[warp].behind;
  if (lanes == 0) return;
  warps_[warp].behind &= ~lanes;
  for_each_lane(lanes, [&](unsigned i) { catch_up_one(warp, i); });
}

void RaceCheck::catch_up_one(unsigned warp, unsigned lane) {
  const std::vector<Taken> all = std::exchange(thread(warp, lane).acquired, {});
  const Known before = known(warp, lane);
  // Lanes that knew the same go on knowing the same, which keeps their accesses together.
  const auto same = [](const Taken& a, const Taken& b) {
    return a.log == b.log && a.length == b.length && a.from_grid == b.from_grid;
  };
  const bool again =
      caught_up_.before == before && std::equal(all.begin(), all.end(), caught_up_.acquired.begin(),
                                                caught_up_.acquired.end(), same);
  if (!again) {
    auto sum = std::make_shared<View>(*before);
    {
      std::unique_lock lock(grid_.strong, std::defer_lock);
      if (!holds_) lock.lock();
      for (const Taken& t : all) {
        if (t.from_grid) sum->others = Others::join(sum->others, t.log->to_grid(t.length));
        if (const Known own = t.log->to_block(t.length, block_, t.from_grid)) sum->join(*own);
      }
    }
    if (sum->others) come_back(*sum);
    caught_up_.before = before;
    caught_up_.acquired = all;
    caught_up_.now = std::move(sum);
  }
  learn(warp, kBit[lane], caught_up_.now);
}

/// What this block once told others comes back. Whether a proxy fence came before isn't kept there:
/// where there has been one, it did.
void RaceCheck::come_back(View& view) const {
  const auto past = std::make_shared<const Past>(view.others->of(block_));
  view.own.join(*past);
  if (shows_) view.join({.own = {}, .others = {}, .shown_shared = past, .shown_global = past});
}

/// What this block does from here on may come after what another kernel did.
void RaceCheck::took(SyncScope scope) {
  if (scope == SyncScope::kSystem && !std::exchange(took_of_system_, true)) {
    grid_.takes_of_system();
  }
  if (std::exchange(took_, true)) return;
  grid_.takes(block_, clock_++);
}

void RaceCheck::fence(const Warp& warp, Mask lanes, const Fence& fence) {
  patterns_ = true;
  const unsigned w = warp.number();
  const bool wide = is_wide(fence.scope);
  if (fence.acquires) {
    if (wide && looked_) took(fence.scope);
    for_each_lane(lanes, [&](unsigned i) {
      Thread& me = thread(w, i);
      if (me.pending.empty()) return;
      for (const Taken& t : me.pending) {
        me.acquired.push_back(t);
        me.acquired.back().from_grid &= wide;
      }
      warps_[w].behind |= kBit[i];
      // Of what other blocks handed on a wider fence may still follow.
      std::erase_if(me.pending, [&](const Taken& t) { return wide || !t.from_grid; });
    });
  }
  if (!fence.releases) return;
  catch_up(w, lanes);
  for (const Knowing& k : warps_[w].knowing) {
    for_each_lane(k.lanes & lanes, [&](unsigned i) {
      Thread& me = thread(w, i);
      me.block = handed_now(w, i);
      if (wide) me.grid = me.block;
    });
  }
  grid_.fenced(block_, clock_, wide, fence.scope == SyncScope::kSystem);
  ++clock_;
}

/// Bulk copies see what a lane knows now, as soon as they come after this fence.
void RaceCheck::proxy_fence(const Warp& warp, Mask lanes, const ProxyFence& fence) {
  shows_ = true;
  const unsigned w = warp.number();
  catch_up(w, lanes);
  for_each_lane(lanes, [&](unsigned i) {
    auto view = std::make_shared<View>(*handed_now(w, i));
    const auto past = std::make_shared<const Past>(view->own);
    if (fence.shared) view->shown_shared = past;
    if (fence.global) view->shown_global = past;
    learn(w, kBit[i], view);
  });
  if (fence.global) grid_.showed(block_, clock_);
  ++clock_;
}

/// Follows release and acquire patterns through one lane's strong access.
void RaceCheck::order(const Access& access, unsigned lane) {
  const unsigned w = access.warp.number(), t = w * kLanes + lane;
  const bool shared = access.space == Space::kShared;
  const bool acquires = access.order == Order::kAcquire || access.order == Order::kAcquireRelease;
  const bool releases = access.order == Order::kRelease || access.order == Order::kAcquireRelease;
  const bool wide = is_wide(access.scope) && !shared;
  const Address at = access.address[lane] | (shared ? kSharedBit : Address{0});
  Thread& me = thread_[t];
  Logs& logs = shared ? logs_ : grid_.logs;
  const auto place = logs.find(at);
  const std::shared_ptr<Log> log = place == logs.end() ? nullptr : place->second;
  Handed handed{.block = block_, .thread = t, .to_block = me.block, .to_grid = nullptr};
  if (wide) handed.to_grid = me.grid;
  if (releases && access.direction != Direction::kLoad) {
    patterns_ = true;
    catch_up(w, kBit[lane]);
    handed.to_block = handed_now(w, lane);
    if (wide) handed.to_grid = handed.to_block;
    grid_.fenced(block_, clock_, wide, wide && access.scope == SyncScope::kSystem);
    ++clock_;
  }
  if (access.direction != Direction::kStore && wide) {
    looked_ = true;
    if (acquires) took(access.scope);
  }
  if (access.direction != Direction::kStore && log) {
    patterns_ = true;
    const Taken taken{at, log, log->size(), wide};
    if (kFollowsSums && grid_.old && wide) {
      std::erase_if(read_, [&](const Taken& t) { return t.log == log; });
      read_.push_back(taken);
    }
    if (acquires) {
      // Reads of the place before it are a pattern with this one, too.
      for (Taken& p : me.pending) {
        if (p.place == at && p.log != log) me.acquired.push_back(p);
      }
      std::erase_if(me.acquired, [&](const Taken& a) { return a.log == log; });
      me.acquired.push_back(taken);
      warps_[w].behind |= kBit[lane];
    } else {
      const auto known = std::ranges::find(me.pending, log, &Taken::log);
      if (known != me.pending.end()) {
        *known = taken;
      } else {
        if (me.pending.size() >= kMostPending) me.pending.erase(me.pending.begin());
        me.pending.push_back(taken);
      }
    }
  }
  if (access.direction == Direction::kLoad) return;
  // An update goes on with what others handed on there. A plain store ends that, but for what the
  // thread hands on itself: what it did there before, and what it knows.
  std::shared_ptr<Log> now = log;
  if (access.direction == Direction::kStore && log) {
    const View* const knows = handed.to_grid ? handed.to_grid.get() : nullptr;
    const std::size_t read =
        knows && knows->others && !shared ? knows->others->length_of(log->id()) : 0;
    if (!log->is_of(block_, t, read)) now = log->of_thread(block_, t);
  }
  if (handed.to_block || handed.to_grid) {
    if (!now) now = std::make_shared<Log>();
    now->add(handed);
  }
  if (now == log) return;
  if (now) {
    logs[at] = std::move(now);
  } else {
    logs.erase(at);
  }
}

// --- mbarriers ---------------------------------------------------------------------------------

RaceCheck::Mbarrier& RaceCheck::mbarrier(Address at) {
  const auto [place, fresh] = mbarriers_.try_emplace(at);
  if (fresh) place->second.agent = static_cast<unsigned>(mbarriers_.size() - 1) % kLanes;
  return place->second;
}

void RaceCheck::mbarrier_arrived(const Warp& warp, unsigned lane, Address at, bool releases) {
  if (!releases) return;
  Mbarrier& m = mbarrier(at);
  catch_up(warp.number(), kBit[lane]);
  m.gathered = join(m.gathered, handed_now(warp.number(), lane));
  ++clock_;
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
  if (before != waited_.before || handed != waited_.handed) {
    waited_ = {before, handed, join(before, handed)};
  }
  learn(w, kBit[lane], waited_.now);
}

}  // namespace emu
