// Launches: what is refused, how a kernel is carried out, and what is told of it.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "cudart/interrupt.hpp"
#include "cudart/runtime.hpp"
#include "machine/random.hpp"
#include "watch/kernel_name.hpp"

namespace emu {
namespace {

cudaError_t code_of(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::kIllegalAddress: return cudaErrorIllegalAddress;
    case Fault::Kind::kMisalignedAddress: return cudaErrorMisalignedAddress;
    case Fault::Kind::kAssert: return cudaErrorAssert;
    case Fault::Kind::kDeadlock:
    case Fault::Kind::kTooLong: return cudaErrorLaunchTimeout;
    case Fault::Kind::kUnsupported:
    case Fault::Kind::kInterrupted:
    case Fault::Kind::kIllegalInstruction: break;
  }
  return cudaErrorLaunchFailure;  // what hardware says of a trap
}

/// What is wrong with a launch's extents.
std::string shape_refused(const Kernel& kernel, Dim3 grid, Dim3 block, int most) {
  const auto of = [](Dim3 d) {
    return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) +
           ")";
  };
  if (block.volume() > static_cast<std::uint64_t>(most)) {
    return std::to_string(block.volume()) + " threads per block, where " + std::to_string(most) +
           " are the most";
  }
  if (block.volume() > kernel.max_threads) {
    return std::to_string(block.volume()) + " threads per block, where its __launch_bounds__ say " +
           std::to_string(kernel.max_threads);
  }
  return "a grid of " + of(grid) + " blocks of " + of(block) +
         " threads: an extent is 0, or more than the device takes";
}

/// A message with the kernel's name as its source has it.
std::string readable(std::string text, const Kernel& kernel) {
  const std::size_t at = text.find(kernel.name);
  if (at != text.npos) text.replace(at, kernel.name.size(), kernel_name(kernel.name));
  return text;
}

}  // namespace

int Runtime::dynamic_shared_limit(const Found& found) const {
  if (const auto& set = found.function->here().max_dynamic_shared) return *set;
  return settings_->profile.attribute(cudaDevAttrMaxSharedMemoryPerBlock) -
         static_cast<int>(found.kernel->static_shared_bytes);
}

int Runtime::blocks_per_sm(const Found& found, std::uint64_t threads,
                           std::size_t dynamic_shared) const {
  if (threads == 0 || threads > found.kernel->max_threads) return 0;
  const int limit = dynamic_shared_limit(found);
  if (limit < 0 || dynamic_shared > static_cast<std::size_t>(limit)) return 0;
  const Profile& p = settings_->profile;
  const int warp = p.attribute(cudaDevAttrWarpSize);
  const int warps = (static_cast<int>(threads) + warp - 1) / warp;
  int most = std::min(p.attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
                      p.attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / warp / warps);
  const std::size_t asked = found.kernel->static_shared_bytes + dynamic_shared;
  const std::size_t taken =
      (asked + p.shared_unit - 1) / p.shared_unit * p.shared_unit +
      static_cast<std::size_t>(p.attribute(cudaDevAttrReservedSharedMemoryPerBlock));
  if (taken > 0) {
    const auto has =
        static_cast<std::size_t>(p.attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
    most = std::min(most, static_cast<int>(has / taken));
  }
  return most;
}

cudaError_t Runtime::check_cluster(const Found& found, const Request& request,
                                   std::optional<Dim3>& size) const {
  const auto& fixed = found.kernel->cluster;
  size = request.cluster;
  if (fixed[0] != 0) {
    if (size && (size->x != fixed[0] || size->y != fixed[1] || size->z != fixed[2])) {
      return cudaErrorInvalidClusterSize;
    }
    size = Dim3{fixed[0], fixed[1], fixed[2]};
  }
  if (!size) return cudaSuccess;
  if (!profile()->attribute(cudaDevAttrClusterLaunch)) return cudaErrorNotSupported;
  const std::uint64_t most = found.function->here().large_clusters ? 16 : 8;
  const auto fits = [](unsigned grid, unsigned blocks) { return blocks && grid % blocks == 0; };
  const Dim3 grid = request.grid;
  const bool good = fits(grid.x, size->x) && fits(grid.y, size->y) && fits(grid.z, size->z) &&
                    size->volume() <= most;
  return good ? cudaSuccess : cudaErrorInvalidClusterSize;
}

cudaError_t Runtime::check_launch(const Found& found, const Request& request,
                                  std::optional<Dim3>& cluster) {
  const Dim3 grid = request.grid, block = request.block;
  const Kernel& kernel = *found.kernel;
  const auto within = [&](unsigned value, cudaDeviceAttr limit) {
    return value >= 1 && value <= static_cast<unsigned>(settings_->profile.attribute(limit));
  };
  if (!within(grid.x, cudaDevAttrMaxGridDimX) || !within(grid.y, cudaDevAttrMaxGridDimY) ||
      !within(grid.z, cudaDevAttrMaxGridDimZ) || !within(block.x, cudaDevAttrMaxBlockDimX) ||
      !within(block.y, cudaDevAttrMaxBlockDimY) || !within(block.z, cudaDevAttrMaxBlockDimZ) ||
      block.volume() > kernel.max_threads ||
      block.volume() >
          static_cast<std::uint64_t>(settings_->profile.attribute(cudaDevAttrMaxThreadsPerBlock))) {
    because(shape_refused(kernel, grid, block, profile()->attribute(cudaDevAttrMaxThreadsPerBlock)),
            kernel.name);
    return cudaErrorInvalidValue;
  }
  const int limit = dynamic_shared_limit(found);
  if (limit < 0 || request.dynamic_shared > static_cast<std::size_t>(limit)) {
    because(std::to_string(request.dynamic_shared) +
                " bytes of dynamic shared memory, where it may have " +
                std::to_string(std::max(limit, 0)) +
                "; cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, …) "
                "allows more",
            kernel.name);
    return request.cooperative ? cudaErrorCooperativeLaunchTooLarge : cudaErrorInvalidValue;
  }
  if (!kernel.parameters.empty() && request.arguments == nullptr) return cudaErrorInvalidValue;
  const cudaError_t bad = check_cluster(found, request, cluster);
  if (bad == cudaErrorNotSupported) {
    say(kernel_name(kernel.name) + " can't run here: " + std::string(profile()->name) +
        " has no clusters of blocks");
  }
  return bad;
}

bool Runtime::clear_workspace() {
  constexpr std::size_t kWorkspaceBytes = 8;
  Address& workspace = grid_workspaces_[current_device()];
  if (workspace == 0) {
    const auto at =
        memory_->allocate(kWorkspaceBytes, "the grid's barrier", Allocation::Kind::kVariable);
    if (!at) return false;
    workspace = *at;
  }
  std::memset(memory_->find(workspace, kWorkspaceBytes)->host, 0, kWorkspaceBytes);
  return true;
}

std::optional<std::uint64_t> Runtime::next_schedule() {
  if (!settings_->apart) return std::nullopt;
  if (launched_ == 0) {
    say("lanes, warps and blocks run apart (apart:" + std::to_string(*settings_->apart) +
        "): what is counted is this schedule's, not hardware's");
  }
  return Random(*settings_->apart).of(launched_++).next();
}

cudaError_t Runtime::launch_kernel(const Request& request) {
  const Dim3 grid = request.grid, block = request.block;
  const std::size_t dynamic_shared = request.dynamic_shared;
  flush_printed();
  if (broken != cudaSuccess) return fault_told ? broken : cudaSuccess;
  if (device_of(request.stream) != current_device()) return cudaErrorInvalidResourceHandle;
  const Found found = find_kernel(request.stub);
  if (found.status != cudaSuccess) return found.status;
  const Kernel& kernel = *found.kernel;
  std::optional<Dim3> cluster;
  if (const cudaError_t bad = check_launch(found, request, cluster); bad != cudaSuccess) {
    return bad;
  }
  const std::uint64_t resident =
      static_cast<std::uint64_t>(blocks_per_sm(found, block.volume(), dynamic_shared)) *
      static_cast<std::uint64_t>(settings_->profile.attribute(cudaDevAttrMultiProcessorCount));
  if (request.cooperative && grid.volume() > resident) return cudaErrorCooperativeLaunchTooLarge;
  // The runtime's caller gives no sizes: the PTX has them.
  std::vector<std::byte> parameters(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& p = kernel.parameters[i];
    std::memcpy(parameters.data() + p.offset, request.arguments[i], p.size);
  }
  if (request.cooperative && !clear_workspace()) return cudaErrorMemoryAllocation;
  LaunchConfig config{
      .module = found.function->binary->here().module.get(),
      .kernel = &kernel,
      .grid = grid,
      .block = block,
      .cluster = cluster.value_or(Dim3{}),
      .explicit_cluster = cluster.has_value(),
      .dynamic_shared_bytes = dynamic_shared,
      .parameters = parameters,
      .memory = memory_.get(),
      .images = &images->objects,
      .pool = &threads_,
      .sm_count =
          static_cast<unsigned>(settings_->profile.attribute(cudaDevAttrMultiProcessorCount)),
      .max_warp_instructions = settings_->max_instructions,
      .max_idle_instructions = settings_->max_idle_instructions,
      .interrupted = &asked_to_stop(),
      .fresh = settings_->fresh,
      .apart = next_schedule(),
      .resident_blocks = resident,
      .cooperative = request.cooperative,
      .grid_workspace = request.cooperative ? grid_workspaces_[current_device()] : 0,
      .goes_on = checker_ && checker_->checks().memory,
      .clock_base = clock_};
  const std::unique_ptr<Trace> trace = begin_trace(config);
  std::vector<Observer*> observers;
  if (trace) observers.push_back(trace.get());
  if (checker_) observers.push_back(checker_.get());
  if (host_check_) host_check_->started(config);
  if (sums_) {
    observers.push_back(sums_.get());
    config.pool = nullptr;  // its blocks share what it knows
  }
  config.observers = observers;
  // Of the size that the program asked for; else a kernel that needs it makes the usual one.
  if (const auto heap = limits.find(cudaLimitMallocHeapSize); heap != limits.end()) {
    memory_->prepare_heap(heap->second);
  }
  if (host_log_) host_log_->started(config);
  const LaunchResult result = run(config, request);
  clock_ += result.counters.warp_instructions;
  if (trace) end_trace(*trace, result);
  tell_findings();
  printed += result.printed;
  if (!result.printed.empty()) has_printed = true;
  if (!checker_) tell_warnings(kernel, result.warnings);  // else it has told of it as a finding
  if (result.fault) return end_faulty(kernel, *result.fault);
  totals += result.counters;
  ++launches;
  report(kernel, grid, block, result.counters);
  return cudaSuccess;
}

LaunchResult Runtime::run(const LaunchConfig& config, const Request& request) {
  Operations* const order = operations();
  if (order) {
    order->begin(line_of(request.stream), "a kernel", config.kernel->name);
    if (request.dependent) order->depends();
  }
  std::uint64_t reached = std::uint64_t{1} << current_device();
  for (const auto& [device, peer] : peers) {
    if (device == current_device()) reached |= std::uint64_t{1} << peer;
  }
  memory_->reach(reached);
  LaunchResult result = attended(config);
  memory_->reach(~std::uint64_t{0});
  if (order) order->end(*memory_);
  return result;
}

void Runtime::tell_warnings(const Kernel& kernel, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    // "kernel k, block (…), thread (…), PTX line 12 (a.cu:3): what": once per kernel and line.
    const std::size_t line = std::min(warning.find("PTX line "), warning.rfind(": "));
    const std::string place = warning.substr(line, warning.find(": ", line) - line);
    if (warned_.insert(kernel.name + place).second) say(readable(warning, kernel));
  }
}

cudaError_t Runtime::end_faulty(const Kernel& kernel, const Fault& fault) {
  if (fault.kind == Fault::Kind::kUnsupported) {
    std::string why = fault.message;
    const std::string whose = "kernel " + kernel.name + ", ";
    if (why.starts_with(whose)) why.erase(0, whose.size());
    say("kernel " + kernel_name(kernel.name) + " can't run here: " + why);
    return cudaErrorNotSupported;
  }
  fault_told = false;
  if (fault.kind == Fault::Kind::kAssert) {
    // In CUDA's own words, which a program's reader may look for.
    const std::string text = fault.message + "\n";
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
    broken = cudaErrorAssert;
    return cudaSuccess;
  }
  std::string why = readable(fault.message, kernel);
  if (fault.kind == Fault::Kind::kTooLong) why += "; EMU_MAX_INSTRUCTIONS sets the limit";
  if (!checker_ || !checker_->takes(fault)) say(why);
  broken = code_of(fault.kind);
  return cudaSuccess;
}

cudaError_t Runtime::keep_launch(const Request& request, NodeWork& work) {
  const Found found = find_kernel(request.stub);
  if (found.status != cudaSuccess) return found.status;
  const auto& parameters = found.kernel->parameters;
  if (!parameters.empty() && request.arguments == nullptr) return cudaErrorInvalidValue;
  auto kept = std::make_shared<KeptLaunch>(KeptLaunch{.request = request});
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto* from = static_cast<const std::byte*>(request.arguments[i]);
    kept->bytes.emplace_back(from, from + parameters[i].size);
  }
  for (auto& bytes : kept->bytes) kept->arguments.push_back(bytes.data());
  kept->request.arguments = kept->arguments.data();
  work.launch = kept;
  work.work = [kept] {
    return api(Needs::kNothing,
               [&](Runtime& runtime) { return runtime.launch_kernel(kept->request); });
  };
  return cudaSuccess;
}

}  // namespace emu
