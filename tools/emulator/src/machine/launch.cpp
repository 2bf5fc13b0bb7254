#include "emu/launch.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "machine/block.hpp"
#include "machine/cluster.hpp"

namespace emu {

std::span<const CounterField> counter_fields() {
  static constexpr CounterField kFields[] = {
      {"global_load_requests", &Counters::global_load_requests, true},
      {"global_load_sectors", &Counters::global_load_sectors, true},
      {"global_store_requests", &Counters::global_store_requests, true},
      {"global_store_sectors", &Counters::global_store_sectors, true},
      {"shared_load_wavefronts", &Counters::shared_load_wavefronts, true},
      {"shared_load_conflicts", &Counters::shared_load_conflicts, true},
      {"shared_store_wavefronts", &Counters::shared_store_wavefronts, true},
      {"shared_store_conflicts", &Counters::shared_store_conflicts, true},
      {"mergeable_shared_loads", &Counters::mergeable_shared_loads, true},
      {"branches", &Counters::branches, true},
      {"diverging_branches", &Counters::diverging_branches, true},
      {"warp_instructions", &Counters::warp_instructions, false},
      {"thread_instructions", &Counters::thread_instructions, false},
  };
  static_assert(sizeof kFields / sizeof *kFields == sizeof(Counters) / sizeof(std::uint64_t));
  return kFields;
}

Counters& Counters::operator+=(const Counters& other) {
  for (const CounterField& field : counter_fields()) this->*field.value += other.*field.value;
  return *this;
}

namespace {

/// Whether no block that has begun will ever do anything new: told by the last worker to see it of
/// its blocks, when none of them has changed anything since all of them began to repeat themselves.
bool nothing_will_change(LaunchState& state, std::uint64_t workers,
                         std::span<const std::unique_ptr<Cluster>> running,
                         std::optional<std::uint64_t>& told) {
  const std::uint64_t now = state.changes.load();
  for (const auto& cluster : running) {
    if (!cluster->repeats_since(now)) return false;
  }
  const std::scoped_lock lock(state.waiting);
  if (state.waiting_since != now) {
    if (state.waiting_since > now) return false;
    state.waiting_since = now;
    state.waiting_workers = 0;
  }
  if (told != now) ++state.waiting_workers;
  told = now;
  return state.waiting_workers + state.workers_over.load() == workers &&
         state.changes.load() == now;
}

[[noreturn]] void stop_waiting(const LaunchState& state,
                               std::span<const std::unique_ptr<Cluster>> running) {
  const std::uint64_t all = state.config.grid.volume(), over = state.blocks_over.load();
  const std::uint64_t begun =
      std::min(state.next_cluster.load() * state.config.cluster.volume(), all);
  const Block& first = running.front()->first();
  std::string text = first.name() +
                     ": threads wait for what can't come, since nothing changes any more" +
                     first.waits();
  if (running.front()->size() > 1) text += running.front()->waits();
  const auto blocks = [](std::uint64_t n) {
    return std::to_string(n) + (n == 1 ? " block" : " blocks");
  };
  if (const std::uint64_t more = begun - over - 1) {
    text += "; " + std::to_string(more) + " more " + (more == 1 ? "block waits" : "blocks wait") +
            " too";
  }
  if (over > 0) {
    text += "; " + std::to_string(over) + " of the grid's " + blocks(all) +
            (over == 1 ? " has ended" : " have ended");
  }
  if (begun < all) {
    text += "; " + blocks(all - begun) + " can't begin until some end";
  }
  throw StopLaunch{{Fault::Kind::kDeadlock, text}};
}

/// One thread's part of a launch. `clusters` are what it has made, to be used again; the first
/// ones have begun and are not over.
void run_clusters(LaunchState& state, std::uint64_t workers,
                  std::vector<std::unique_ptr<Cluster>>& clusters) {
  const LaunchConfig& config = state.config;
  const std::uint64_t all = config.grid.volume() / config.cluster.volume();
  std::size_t running = 0;
  std::optional<std::uint64_t> told;
  // In order: a block may wait for one with a lower index, which has begun before it.
  const auto begin_next = [&] {
    const std::uint64_t number = state.next_cluster.fetch_add(1);
    if (number >= all) return false;
    if (running == clusters.size()) clusters.push_back(std::make_unique<Cluster>(state));
    clusters[running++]->start(number);
    return true;
  };
  const std::uint64_t share = (all + workers - 1) / workers;
  const std::uint64_t most =
      config.cooperative ? share : config.resident_blocks / config.cluster.volume() / workers;
  while (config.cooperative && running < share && begin_next()) {
  }
  while (running > 0 || begin_next()) {
    bool waits = true;
    for (std::size_t i = 0; i < running;) {
      const Block::Status status = clusters[i]->turn();
      waits &= status == Block::Status::kWaits;
      if (status == Block::Status::kDone) {
        std::swap(clusters[i], clusters[--running]);
      } else {
        ++i;
      }
    }
    // What they wait for may be a block that hasn't begun, and would have on a device.
    if (!waits || running == 0 || (running < most && begin_next())) continue;
    const std::span mine(clusters.data(), running);
    if (nothing_will_change(state, workers, mine, told)) stop_waiting(state, mine);
    if (config.pool) config.pool->yield();
  }
  state.workers_over.fetch_add(1);
}

/// Whether blocks of the schedule apart will never do anything new. In rounds of one order they are
/// brought to a state that comes again, with no deed in between. What a group of lanes does is its
/// own affair and memory's until there is one, so no other order leads to one either.
bool nothing_will_change_apart(std::span<const std::unique_ptr<Cluster>> running) {
  constexpr int kToLoops = 8, kLooks = 64;
  const auto sum = [&](auto f) {
    std::uint64_t all = 0;
    for (const auto& cluster : running) all = (all ^ f(cluster->first())) * 0x100'0000'01b3u;
    return all;
  };
  const auto deeds = [&] { return sum([](const Block& b) { return b.deeds(); }); };
  const auto state = [&] { return sum([](const Block& b) { return b.state(); }); };
  for (const auto& cluster : running) {
    // A cluster of several blocks has a barrier of its own, which this doesn't look at.
    if (cluster->size() > 1 || !cluster->first().depends_on_memory_alone()) return false;
  }
  const std::uint64_t before = deeds();
  std::uint64_t first = 0;
  for (int i = 0; i < kToLoops + kLooks; ++i) {
    for (const auto& cluster : running) cluster->block(0).round();
    if (deeds() != before) return false;
    if (i == kToLoops) {
      first = state();
    } else if (i > kToLoops && state() == first) {
      return true;
    }
  }
  return false;
}

/// The schedule apart, all of it on one thread: some blocks at a time, each going on for a
/// while by chance. They begin in order, but one that has begun may be far behind the others.
void run_apart(LaunchState& state, std::vector<std::unique_ptr<Cluster>>& clusters) {
  constexpr std::size_t kAtATime = 8;
  constexpr unsigned kStretch = 8, kPatience = 1u << 16;
  const LaunchConfig& config = state.config;
  const std::uint64_t size = config.cluster.volume();
  const std::uint64_t all = config.grid.volume() / size;
  const std::uint64_t at_once = std::max<std::uint64_t>(1, kAtATime / size);
  const std::uint64_t most =
      config.cooperative ? all : std::max<std::uint64_t>(at_once, config.resident_blocks / size);
  std::uint64_t least = config.cooperative ? all : at_once;
  Random random(*config.apart);
  std::size_t running = 0;
  unsigned turns = 0;  // since a block last began
  // To see that none will do anything new: turns since one last did, looked at now and then.
  constexpr std::uint64_t kQuiet = 1024, kLook = 64;
  std::uint64_t quiet = 0, done = 0, patience = kQuiet;
  while (true) {
    for (; running < least && state.next_cluster < all; turns = 0) {
      if (running == clusters.size()) clusters.push_back(std::make_unique<Cluster>(state));
      clusters[running++]->start(state.next_cluster++);
    }
    if (running == 0) return;
    auto& chosen = clusters[random.below(static_cast<unsigned>(running))];
    for (unsigned left = random.stretch(kStretch); left > 0; --left, ++turns) {
      if (chosen->turn_apart(random)) continue;
      std::swap(chosen, clusters[--running]);
      break;
    }
    // They may wait for a block that hasn't begun, and would have on a device.
    if (turns > kPatience && least < most) ++least;
    if (++quiet % kLook) continue;
    std::uint64_t now = state.blocks_over.load();
    for (std::size_t i = 0; i < running; ++i) now += clusters[i]->first().deeds();
    if (std::exchange(done, now) != now) {
      quiet = 0;
      patience = kQuiet;
    }
    if (quiet < patience || (state.next_cluster < all && least < most)) continue;
    patience *= 2;
    const std::span mine(clusters.data(), running);
    if (nothing_will_change_apart(mine)) stop_waiting(state, mine);
  }
}

/// Where each block of a thread stands.
void add_standing(std::span<const std::unique_ptr<Cluster>> clusters, Fault& fault) {
  constexpr unsigned kMost = 8;
  fault.message.clear();
  unsigned blocks = 0;
  for (const std::unique_ptr<Cluster>& cluster : clusters) {
    for (unsigned rank = 0; rank < cluster->size(); ++rank) {
      const std::string where = cluster->block(rank).stands();
      if (where.empty() || ++blocks > kMost) continue;
      fault.message += "\n    " + cluster->block(rank).name() + where;
    }
  }
  if (blocks > kMost) fault.message += "\n    and " + std::to_string(blocks - kMost) + " others";
}

}  // namespace

LaunchResult launch(const LaunchConfig& config) {
  LaunchResult result;
  if (!config.kernel->code) {
    result.fault = Fault{Fault::Kind::kUnsupported, config.kernel->unsupported};
    return result;
  }
  if (config.kernel->cluster[0] != 0 && !config.explicit_cluster) {
    result.fault = Fault{Fault::Kind::kUnsupported,
                         "kernel " + config.kernel->name + ": clusters of blocks in this launch"};
    return result;
  }
  if (config.parameters.size() < config.kernel->parameter_bytes) {
    result.fault =
        Fault{Fault::Kind::kIllegalAddress,
              "kernel " + config.kernel->name + ": " + std::to_string(config.parameters.size()) +
                  " bytes of parameters for " + std::to_string(config.kernel->parameter_bytes)};
    return result;
  }
  LaunchState state{.config = config, .code = *config.kernel->code};
  state.shared_bytes = config.kernel->static_shared_bytes + config.dynamic_shared_bytes;
  const std::uint64_t clusters = config.grid.volume() / config.cluster.volume();
  // Without room for the heap malloc gives null, as on a device.
  if (state.code.uses_heap && config.memory) config.memory->prepare_heap();

  std::mutex mutex;
  const std::uint64_t threads = config.pool && !config.apart ? config.pool->threads() : 1;
  const auto count =
      static_cast<unsigned>(std::clamp<std::uint64_t>(std::min(threads, clusters), 1, 256));
  const auto work = [&] {
    std::optional<Fault> fault;
    std::vector<std::unique_ptr<Cluster>> own;
    try {
      if (config.apart) {
        run_apart(state, own);
      } else {
        run_clusters(state, count, own);
      }
    } catch (const StopLaunch& stop) {
      fault = stop.fault;
    } catch (const std::bad_alloc&) {
      fault =
          Fault{Fault::Kind::kIllegalInstruction,
                "kernel " + config.kernel->name + ": the host has no memory left for its threads"};
    }
    const std::scoped_lock lock(mutex);
    if (fault && fault->kind == Fault::Kind::kInterrupted) add_standing(own, *fault);
    for (const std::unique_ptr<Cluster>& cluster : own) {
      for (unsigned rank = 0; rank < cluster->size(); ++rank) {
        Block& block = cluster->block(rank);
        result.counters += block.counters;
        for (std::string& w : block.warnings) {
          if (result.warnings.size() < kMostWarnings) result.warnings.push_back(std::move(w));
        }
      }
    }
    const bool first = fault && !state.stopped.exchange(true);
    if (first) result.fault = fault;  // the first to stop says why
    if (fault && !first && fault->kind == Fault::Kind::kInterrupted) {
      result.fault->message += fault->message;
    }
    if (fault) state.next_cluster.store(clusters);
  };

  for (Observer* o : config.observers) o->started(config);
  if (count > 1) {
    config.pool->run(count, work);
  } else {
    work();
  }
  for (const auto& [block, text] : state.printed) result.printed += text;
  for (Observer* o : config.observers) o->ended(config, result);
  return result;
}

}  // namespace emu
