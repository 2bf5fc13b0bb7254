#include "machine/block.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "machine/cluster.hpp"
#include "machine/text.hpp"

namespace emu {
namespace {

std::string triple(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  std::string text = "(";
  return text.append(std::to_string(x))
      .append(", ")
      .append(std::to_string(y))
      .append(", ")
      .append(std::to_string(z))
      .append(")");
}

/// Whether its value differs from block to block.
bool is_of_block(Special which) {
  return (which >= Special::kCtaidX && which <= Special::kCtaidZ) ||
         (which >= Special::kClusterIdX && which <= Special::kClusterIdZ);
}

}  // namespace

Block::Block(LaunchState& launch, Cluster& cluster, unsigned rank)
    : launch_(launch),
      cluster_(cluster),
      rank_(rank),
      threads_(static_cast<std::uint32_t>(launch.config.block.volume())),
      shared_(static_cast<std::size_t>(launch.shared_bytes)),
      file_bytes_((launch.code.file_bytes + 63) / 64 * 64),
      segments_(launch.code.orders.size()) {
  const std::uint32_t warps = (threads_ + kLanes - 1) / kLanes;
  registers_.reset(static_cast<std::byte*>(std::aligned_alloc(64, warps * file_bytes_ + 64)));
  if (!registers_) throw std::bad_alloc();
  local_stride_ = static_cast<std::size_t>(launch.code.local_bytes + launch.code.stack_bytes);
  if (local_stride_) {
    // Zeroed by the host page by page when it is first touched: most of a stack never is.
    local_.reset(static_cast<std::byte*>(std::calloc(std::size_t{warps} * kLanes, local_stride_)));
    if (!local_) throw std::bad_alloc();
  }
  for (std::uint32_t w = 0; w < warps; ++w) {
    warps_.emplace_back(*this, w, registers_.get() + w * file_bytes_,
                        local_.get() + std::size_t{w} * kLanes * local_stride_);
  }
  done_.resize(warps);
  fill_constants();
  for (const Code::SpecialSlot& s : launch.code.specials) fill(s);
  for (Observer* observer : launch.config.observers) {
    if (auto o = observer->watch(*this)) observers_.push_back(std::move(o));
  }
  watched_ = std::ranges::any_of(observers_, [](const auto& o) { return o->sees_accesses(); });
}

void Block::fill_constants() {
  for (Warp& warp : warps_) {
    for (const Code::Constant& c : code().constants) {
      for (unsigned i = 0; i < kLanes; ++i) {
        if (c.width == 16)
          warp.lanes<std::uint16_t>(c.slot)[i] = static_cast<std::uint16_t>(c.bits);
        if (c.width == 32)
          warp.lanes<std::uint32_t>(c.slot)[i] = static_cast<std::uint32_t>(c.bits);
        if (c.width == 64) warp.lanes<std::uint64_t>(c.slot)[i] = c.bits;
      }
      if (c.width == 1) warp.predicate(c.slot) = c.bits ? kAllLanes : 0;
    }
  }
}

void Block::fill(const Code::SpecialSlot& slot) {
  const LaunchConfig& config = launch_.config;
  const Dim3 size = config.block, together = config.cluster;
  const Dim3 in_cluster = cluster_.place_of(rank_);
  const auto value = [&](unsigned warp, unsigned lane) -> std::uint32_t {
    const unsigned thread = warp * kLanes + lane;
    switch (slot.which) {
      case Special::kTidX: return thread % size.x;
      case Special::kTidY: return thread / size.x % size.y;
      case Special::kTidZ: return thread / size.x / size.y;
      case Special::kNtidX: return size.x;
      case Special::kNtidY: return size.y;
      case Special::kNtidZ: return size.z;
      case Special::kCtaidX: return index_.x;
      case Special::kCtaidY: return index_.y;
      case Special::kCtaidZ: return index_.z;
      case Special::kNctaidX: return config.grid.x;
      case Special::kNctaidY: return config.grid.y;
      case Special::kNctaidZ: return config.grid.z;
      case Special::kClusterIdX: return index_.x / together.x;
      case Special::kClusterIdY: return index_.y / together.y;
      case Special::kClusterIdZ: return index_.z / together.z;
      case Special::kNclusterIdX: return config.grid.x / together.x;
      case Special::kNclusterIdY: return config.grid.y / together.y;
      case Special::kNclusterIdZ: return config.grid.z / together.z;
      case Special::kClusterCtaidX: return in_cluster.x;
      case Special::kClusterCtaidY: return in_cluster.y;
      case Special::kClusterCtaidZ: return in_cluster.z;
      case Special::kClusterNctaidX: return together.x;
      case Special::kClusterNctaidY: return together.y;
      case Special::kClusterNctaidZ: return together.z;
      case Special::kClusterCtarank: return rank_;
      case Special::kClusterNctarank: return static_cast<std::uint32_t>(together.volume());
      case Special::kIsExplicitCluster: return config.explicit_cluster;
      case Special::kLaneId: return lane;
      case Special::kWarpId: return warp;
      case Special::kNwarpId: return static_cast<std::uint32_t>(warps_.size());
      case Special::kSmId: {
        const std::uint64_t linear =
            index_.x +
            std::uint64_t{config.grid.x} * (index_.y + std::uint64_t{config.grid.y} * index_.z);
        return static_cast<std::uint32_t>(linear % std::max(1u, config.sm_count));
      }
      case Special::kNsmId: return config.sm_count;
      case Special::kLanemaskEq: return Mask{1} << lane;
      case Special::kLanemaskLe: return kAllLanes >> (31 - lane);
      case Special::kLanemaskLt: return (Mask{1} << lane) - 1;
      case Special::kLanemaskGe: return kAllLanes << lane;
      case Special::kLanemaskGt: return (kAllLanes << lane) << 1;
      case Special::kDynamicSmemSize:
        return static_cast<std::uint32_t>(config.dynamic_shared_bytes);
      case Special::kTotalSmemSize: return static_cast<std::uint32_t>(launch_.shared_bytes);
      case Special::kGridWorkspaceHigh:
        return static_cast<std::uint32_t>(config.grid_workspace >> 32);
      case Special::kGridWorkspaceLow: return static_cast<std::uint32_t>(config.grid_workspace);
      case Special::kGridId:
      case Special::kZero: return 0;
    }
    return 0;
  };
  if (is_of_block(slot.which) && slot.width == 32) {  // for each block: worth a quick way
    const std::uint32_t v = value(0, 0);
    for (Warp& warp : warps_) std::fill_n(warp.lanes<std::uint32_t>(slot.slot), kLanes, v);
    return;
  }
  for (Warp& warp : warps_) {
    if (slot.width == 1) warp.predicate(slot.slot) = value(warp.number(), 0) ? kAllLanes : 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t v = value(warp.number(), lane);
      if (slot.width == 16)
        warp.lanes<std::uint16_t>(slot.slot)[lane] = static_cast<std::uint16_t>(v);
      if (slot.width == 32) warp.lanes<std::uint32_t>(slot.slot)[lane] = v;
      if (slot.width == 64) warp.lanes<std::uint64_t>(slot.slot)[lane] = v;
    }
  }
}

void Block::start(std::uint64_t index) {
  const Dim3 grid = launch_.config.grid;
  number_ = index;
  index_ = {static_cast<unsigned>(index % grid.x), static_cast<unsigned>(index / grid.x % grid.y),
            static_cast<unsigned>(index / grid.x / grid.y)};
  for (const Code::SpecialSlot& s : code().specials) {
    if (is_of_block(s.which) || s.which == Special::kSmId) fill(s);
  }
  // What nothing wrote reads the same each time, so that a faulty program does the same.
  std::ranges::fill(shared_, launch_.config.fresh);
  std::fill_n(shared_.begin() + static_cast<std::ptrdiff_t>(code().driver_shared),
              code().driver_shared_bytes, std::byte{0});
  const auto local_bytes = static_cast<std::size_t>(code().local_bytes);
  for (std::size_t i = 0; i < warps_.size() * kLanes; ++i) {
    if (local_bytes) std::memset(local_.get() + i * local_stride_, 0, local_bytes);
  }
  barriers_.fill({});
  async_.start(threads_, watched_);
  stuck_ = false;
  idle_timeouts_ = 0;
  idle_turns_ = 0;
  repeats_ = false;
  live_ = threads_;
  running_ = warps_.size();
  if (launch_.config.apart) random_ = Random(*launch_.config.apart).of(index);
  for (Warp& warp : warps_) {
    std::memset(&warp.lanes<std::byte>(0)[0], 0, code().zeroed_bytes);
    if (code().stack_bytes) {  // begins behind the threads' other memory
      std::fill_n(warp.lanes<std::uint64_t>(code().stack), kLanes, code().local_bytes);
    }
    const std::uint32_t left = threads_ - warp.number() * kLanes;
    warp.start(left >= kLanes ? kAllLanes : (Mask{1} << left) - 1);
    done_[warp.number()] = 0;
  }
  steps_ = stepped_ = false;
  tell([&](BlockObserver& o) {
    o.begin(index);
    steps_ |= o.steps();
  });
  stepped_ = steps_;
}

// Warp instructions that may go by before the launch's limit is looked at.
constexpr std::uint64_t kUncounted = 1 << 16;

Block::Status Block::turn() {
  const std::uint64_t writes_before = writes(), live_before = live_;
  bool progress = false, waits = true;
  for (Warp& warp : warps_) {
    if (done_[warp.number()]) continue;
    const std::uint64_t before = warp.instructions();
    const Warp::Status status = warp.run();
    progress |= warp.instructions() != before;
    if (status == Warp::Status::kDone) {
      done_[warp.number()] = 1;
      --running_;
      progress = true;
      waits = false;
    } else if (status == Warp::Status::kYielded) {
      progress = true;
      waits &= warp.polled();
      count_turn();
    } else if (warp.instructions() != before) {
      waits = false;  // it came to a barrier of its own block
    }
  }
  const bool changed = live_ != live_before || writes() != writes_before;
  if (changed) launch_.changes.fetch_add(1);
  look_for_repetition(changed, waits);
  if (running_ == 0) {
    end();
    return Status::kDone;
  }
  if (!progress) free_the_stuck();
  // A warp that loops around a barrier never uses up its turn.
  if (counters.warp_instructions - reported_ > kUncounted) count_turn();
  return waits || repeats_ ? Status::kWaits : Status::kRuns;
}

bool Block::turn_apart() {
  const auto count = static_cast<unsigned>(warps_.size());
  const unsigned first = random_->below(count);
  for (unsigned i = 0; i < count; ++i) {
    const unsigned number = (first + i) % count;
    if (done_[number]) continue;
    const Warp::Status status = warps_[number].run();
    if (status == Warp::Status::kWaiting) continue;
    if (status == Warp::Status::kDone) {
      done_[number] = 1;
      if (--running_ == 0) {
        end();
        return false;
      }
    }
    count_turn();
    return true;
  }
  free_the_stuck();
  return true;
}

void Block::round() {
  in_round_ = true;
  for (Warp& warp : warps_) {
    if (!done_[warp.number()]) warp.round();
  }
  in_round_ = false;
  count_turn();
}

bool Block::depends_on_memory_alone() const {
  return !code().stack_bytes && !code().uses_heap && !async_.used() &&
         !std::ranges::any_of(warps_, [](const Warp& warp) { return warp.suspended(); });
}

void Block::looked(Address at) {
  if (in_round_ && is_host_memory(at)) stir();
}

/// When no thread can go on.
void Block::free_the_stuck() {
  if (time_out()) return;
  // Meeting again after a branch is this device's doing, not the program's: who waits for nothing
  // else may be who the others wait for, at a barrier or to exit.
  bool any = false;
  for (Warp& warp : warps_) any |= warp.release_early();
  if (any) return;
  // Who waits at the cluster's barrier waits for other blocks.
  stuck_ = std::ranges::any_of(warps_, [](const Warp& w) { return w.at_cluster_barrier(); });
  if (!stuck_) deadlock();
}

bool Block::first_warning_at(const Op& op) {
  if (std::ranges::find(warned_, &op) != warned_.end()) return false;
  warned_.push_back(&op);
  return true;
}

void Block::end() {
  count_turn();
  if (async_.has_stores() && warnings.size() < kMostWarnings) {
    warnings.push_back(name() +
                       ": a cp.async.bulk to global memory that no thread waited for: what it"
                       " copies is not written");
  }
  tell([](BlockObserver& o) { o.end(); });
  const std::uint64_t over = launch_.blocks_over.fetch_add(1, std::memory_order_relaxed) + 1;
  for (Observer* observer : launch_.config.observers) observer->blocks_over(over);
}

/// Operations that wait for a while only (mbarrier.try_wait) give up waiting, so that their threads
/// can do other things. False when that has led to nothing: threads that touch no memory between
/// one try and the next can't bring about what they wait for.
bool Block::time_out() {
  bool any = false;
  for (Warp& warp : warps_) any |= !done_[warp.number()] && warp.suspended();
  if (!any) return false;
  const std::uint64_t now = accesses();
  idle_timeouts_ = now == accesses_at_timeout_ ? idle_timeouts_ + 1 : 0;
  accesses_at_timeout_ = now;
  // In a cluster other blocks may arrive at the mbarrier.
  if (idle_timeouts_ >= 16 && cluster_.size() == 1) return false;
  for (Warp& warp : warps_) warp.give_up();
  return true;
}

std::uint64_t Block::accesses() const {
  return counters.global_load_requests + counters.global_store_requests +
         counters.shared_load_wavefronts + counters.shared_store_wavefronts + updates_;
}

std::uint64_t Block::writes() const {
  return counters.global_store_requests + counters.shared_store_wavefronts + updates_ - unchanged_ +
         prints_;
}

/// What its threads will do next depends on this and on memory alone.
std::uint64_t Block::state() const {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325u;  // FNV-1a, word by word
  for (const Warp& warp : warps_) {
    if (!done_[warp.number()]) warp.add_state(hash);
  }
  for (const Barrier& b : barriers_) hash = (hash ^ b.arrived) * 0x100'0000'01b3u;
  return hash;
}

/// Whether a thread looks at memory that another thread of the host may write.
bool Block::looks_at_host() const {
  return std::ranges::any_of(warps_,
                             [&](const Warp& warp) { return is_host_memory(warp.looked_at()); });
}

bool Block::is_host_memory(Address at) const {
  const GlobalMemory* memory = launch_.config.memory;
  const Allocation* a = memory ? memory->find(at, 1) : nullptr;
  return a && a->of_host();
}

/// A block that changes nothing for some turns, and whose state comes again, waits for others, and
/// if they can't go on either it waits for ever. Looked at now and then: states take long to read.
void Block::look_for_repetition(bool changed, bool waits) {
  constexpr std::uint64_t kLooks = 8;
  const std::uint64_t first = waits ? 16 : 256;  // what computes needn't be looked at soon
  if (changed) {
    idle_turns_ = 0;
    repeats_ = false;
    return;
  }
  // A thread's stack is not looked at.
  if (++idle_turns_ < first || code().stack_bytes) return;
  if (repeats_ && since_ == launch_.changes.load()) return;
  const std::uint64_t power = std::bit_floor(idle_turns_);
  if (idle_turns_ == power) {
    repeats_ = false;
    since_ = launch_.changes.load();
    idle_state_ = state();
  } else if (idle_turns_ - power <= kLooks) {
    repeats_ = since_ == launch_.changes.load() && state() == idle_state_ && !looks_at_host();
    // Meeting again after a branch is this device's doing: who waits for that may be waited for.
    for (Warp& warp : warps_) {
      if (repeats_ && !done_[warp.number()] && warp.release_early()) {
        repeats_ = false;
        idle_turns_ = 0;
      }
    }
  } else {
    repeats_ = false;
  }
}

void Block::count_turn() {
  const std::uint64_t now = counters.warp_instructions;
  const std::uint64_t before =
      launch_.instructions.fetch_add(now - reported_, std::memory_order_relaxed);
  const std::uint64_t sum = before + (now - reported_);
  reported_ = now;
  const std::uint64_t limit = launch_.config.max_warp_instructions;
  if (limit && sum > limit) {
    throw StopLaunch{
        {Fault::Kind::kTooLong, name() + ": the launch has run more than " + std::to_string(limit) +
                                    " warp instructions, the limit that was set" + stands()}};
  }
  advance(sum);
  const std::atomic<bool>* const interrupted = launch_.config.interrupted;
  if (interrupted && interrupted->load(std::memory_order_relaxed)) {
    throw StopLaunch{{Fault::Kind::kInterrupted, name() + stands()}};
  }
  if (launch_.stopped.load(std::memory_order_relaxed))
    throw StopLaunch{};  // another thread says why
}

/// A loop that never ends mostly writes nothing that another thread or the host could see.
void Block::advance(std::uint64_t sum) {
  const std::uint64_t limit = launch_.config.max_idle_instructions;
  const std::uint64_t done = counters.global_store_requests + updates_ + prints_ + (running_ == 0);
  if (std::exchange(advanced_, done) != done) launch_.advanced_at.store(sum);
  const std::uint64_t since = launch_.advanced_at.load(std::memory_order_relaxed);
  if (!limit || sum <= since || sum - since <= limit) return;
  throw StopLaunch{{Fault::Kind::kTooLong,
                    name() + ": for " + std::to_string(limit) +
                        " warp instructions no block has ended and none has written to global "
                        "memory, as in a loop without end" +
                        stands()}};
}

std::string Block::stands() const {
  std::string text;
  for (const Warp& warp : warps_) {
    if (text.size() < 1500 && !done_[warp.number()]) text += warp.stands();
  }
  return text;
}

std::uint64_t Block::global_clock() {
  count_turn();
  return launch_.config.clock_base + launch_.instructions.load(std::memory_order_relaxed);
}

std::string Block::waits() const {
  std::string text;
  for (const Warp& warp : warps_) {
    if (text.size() < 1500 && !done_[warp.number()]) text += warp.waits();
  }
  for (std::size_t i = 0; i < barriers_.size(); ++i) {
    const Barrier& b = barriers_[i];
    if (b.arrived == 0) continue;
    text += "; barrier " + std::to_string(i) + " has " + std::to_string(b.arrived) + " of the " +
            std::to_string(b.needed ? b.needed : live_) + " threads that it waits for";
  }
  if (live_ < threads_) {
    text += "; " + std::to_string(threads_ - live_) + " of the block's " +
            std::to_string(threads_) + " threads have exited";
  }
  return text;
}

void Block::deadlock() {
  const std::string text = name() + ": threads wait for what can't come" + waits();
  throw StopLaunch{{Fault::Kind::kDeadlock, text}};
}

std::string Block::memory_at(Address generic) const {
  if (generic - kSharedWindow < kWindowBytes) {
    return "byte " + std::to_string(generic - kSharedWindow) + " of shared memory";
  }
  const GlobalMemory* memory = launch_.config.memory;
  const Allocation* a = memory ? memory->find(generic, 1) : nullptr;
  if (!a) return "memory at " + hexadecimal(generic);
  return "byte " + std::to_string(generic - a->base) + " of " + a->what + " (" +
         std::to_string(a->size) + " bytes)";
}

void Block::print(std::string_view text) {
  constexpr std::size_t kMostText = 64u << 20;
  ++prints_;
  const std::scoped_lock lock(launch_.printing);
  launch_.printed_bytes += text.size();
  if (launch_.printed_bytes <= kMostText) launch_.printed[number_] += text;
}

Dim3 Block::thread_index(unsigned warp, unsigned lane) const {
  const Dim3 size = launch_.config.block;
  const unsigned thread = warp * kLanes + lane;
  return {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

std::string Block::place() const {
  return triple(index_.x, index_.y, index_.z);
}

std::string Block::name() const {
  return "kernel " + launch_.config.kernel->name + ", block " + place();
}

void Block::cluster_completed() {
  stuck_ = false;
  for (Warp& warp : warps_) warp.cluster_completed();
}

std::string Block::thread_name(unsigned warp, unsigned lane) const {
  const Dim3 size = launch_.config.block;
  const unsigned thread = warp * kLanes + lane;
  return "thread " + triple(thread % size.x, thread / size.x % size.y, thread / size.x / size.y);
}

std::string Block::block_name(std::uint64_t number) const {
  const Dim3 grid = launch_.config.grid;
  return "block " + triple(number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y);
}

void Block::arrive(const Arrival& arrival) {
  stir();
  Barrier& barrier = barriers_[arrival.barrier];
  barrier.arrived += count_lanes(arrival.lanes);
  barrier.votes += count_lanes(arrival.predicate);
  barrier.needed = arrival.needed;
  barrier.kind = arrival.kind;
  if (barrier.arrived >= (barrier.needed ? barrier.needed : live_)) complete(arrival.barrier);
}

void Block::exited(unsigned threads) {
  stir();
  live_ -= threads;
  for (unsigned i = 0; i < barriers_.size(); ++i) {
    if (barriers_[i].arrived && !barriers_[i].needed && barriers_[i].arrived >= live_) complete(i);
  }
}

void Block::complete(unsigned number) {
  const Barrier barrier = barriers_[number];
  barriers_[number] = {};
  std::uint32_t result = barrier.votes;
  if (barrier.kind == BarrierKind::kAnd) result = barrier.votes == barrier.arrived;
  if (barrier.kind == BarrierKind::kOr) result = barrier.votes != 0;
  tell([&](BlockObserver& o) { o.completed(number); });
  for (Warp& warp : warps_) warp.release(number, result);
}

}  // namespace emu
