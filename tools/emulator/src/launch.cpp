#include "emu/launch.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

#include "block.hpp"

namespace emu {

Counters& Counters::operator+=(const Counters& other) {
  global_load_requests += other.global_load_requests;
  global_load_sectors += other.global_load_sectors;
  global_store_requests += other.global_store_requests;
  global_store_sectors += other.global_store_sectors;
  shared_load_wavefronts += other.shared_load_wavefronts;
  shared_store_wavefronts += other.shared_store_wavefronts;
  shared_load_conflicts += other.shared_load_conflicts;
  shared_store_conflicts += other.shared_store_conflicts;
  warp_instructions += other.warp_instructions;
  thread_instructions += other.thread_instructions;
  branches += other.branches;
  diverging_branches += other.diverging_branches;
  mergeable_shared_loads += other.mergeable_shared_loads;
  return *this;
}

LaunchResult launch(const LaunchConfig& config) {
  LaunchResult result;
  if (!config.kernel->code) {
    result.fault = Fault{Fault::Kind::kIllegalInstruction, config.kernel->unsupported};
    return result;
  }
  LaunchState state{.config = config, .code = *config.kernel->code};
  state.shared_bytes = config.kernel->static_shared_bytes + config.dynamic_shared_bytes;
  const std::uint64_t blocks = config.grid.volume();

  std::mutex mutex;
  const auto work = [&] {
    std::optional<Fault> fault;
    Counters counters;
    std::vector<std::string> warnings;
    try {
      Block block(state);
      const auto keep = [&] {
        counters = block.counters;
        warnings = block.warnings;
      };
      try {
        // In order: a block may wait for one with a lower index, which has begun before it.
        for (std::uint64_t i; (i = state.next_block.fetch_add(1)) < blocks;) {
          block.start(i);
          block.run();
        }
      } catch (...) {
        keep();
        throw;
      }
      keep();
    } catch (const Stop& stop) {
      fault = stop.fault;
    } catch (const std::bad_alloc&) {
      fault =
          Fault{Fault::Kind::kIllegalInstruction,
                "kernel " + config.kernel->name + ": the host has no memory left for its threads"};
    }
    const std::scoped_lock lock(mutex);
    result.counters += counters;
    for (std::string& w : warnings) {
      if (result.warnings.size() < 4) result.warnings.push_back(std::move(w));
    }
    if (fault && !state.stopped.exchange(true)) result.fault = fault;  // the first to stop says why
    if (fault) state.next_block.store(blocks);
  };

  const std::uint64_t cores = config.threads ? config.threads : std::thread::hardware_concurrency();
  const std::uint64_t count = std::clamp<std::uint64_t>(std::min(cores, blocks), 1, 256);
  std::vector<std::jthread> others;
  for (std::uint64_t i = 1; i < count; ++i) others.emplace_back(work);
  work();
  others.clear();  // waits for them
  return result;
}

}  // namespace emu
