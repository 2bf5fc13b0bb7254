#include "cudart/runtime.hpp"

#include "watch/kernel_name.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "cudart/fatbin.hpp"
#include "cudart/report.hpp"
#include "emu/counters.h"
#include "emu/devices.h"

namespace emu {
namespace {

/// Host memory that the device sees at the same address lies here, where nothing else does.
constexpr std::uintptr_t kSharedBase = 0x0000'3000'0000'0000;
std::size_t page_round(std::size_t size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

}  // namespace

thread_local bool DefaultOfThread::on = false;

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

unsigned& current_device() {
  thread_local unsigned device = 0;
  return device;
}

FatBinary::Loaded& FatBinary::here() {
  return on[current_device()];
}
HostKernel::Attributes& HostKernel::here() {
  return on[current_device()];
}

Runtime& Runtime::get() {
  static auto* const runtime = new Runtime;  // never destroyed: see the file's comment
  return *runtime;
}

Runtime::Runtime()
    : settings_(read_settings()),
      csv_("EMU_CSV", settings_ ? settings_->csv : "", Output::Mode::kReplace),
      findings_("EMU_FINDINGS", settings_ ? settings_->findings : "", Output::Mode::kAdd),
      trace_("EMU_TRACE", settings_ && settings_->trace ? settings_->trace->file : "",
             Output::Mode::kReplace),
      host_log_file_("EMU_HOST_LOG", settings_ ? settings_->host_log : "", Output::Mode::kReplace),
      threads_(settings_ ? settings_->threads : 1) {
  // The program's own status, for who looks at it last: at_the_end, which gets none.
  on_exit([](int status, void*) { get().exit_status = status; }, nullptr);
  if (trace_.wanted() && !trace_.begin()) settings_.reset();
  if (!settings_) return;
  use_host(settings_->host);
  devices_ = settings_->devices.value_or(1);
  if (settings_->checks) {
    checker_ = std::make_unique<Checker>(*settings_->checks);
    checker_->follow_streams();
  }
  if (host_log_file_.begin()) {
    host_log_ =
        std::make_unique<HostLog>([this](std::string_view line) { host_log_file_.write(line); });
    host_observers_.add(*host_log_);
  }
  if (checker_ && checker_->checks().host) {
    host_check_ = std::make_unique<HostCheck>(checker_->findings());
    checker_->made_at = [this](Address base) { return host_check_->made_at(base); };
    checker_->now_at = [] {
      const std::string story = HostPlace::here().story();
      return story.empty() ? "" : ", " + story;
    };
    watch_host_memory();
  }
  // The checker asks the other where what is freed was made.
  if (checker_) host_observers_.add(*checker_);
  if (host_check_) host_observers_.add(*host_check_);
  if (checker_ && checker_->checks().sum) {
    sums_ = make_sum_check(*checker_, false);
    host_observers_.add(*sums_);
  }
  if (!settings_->ptx.empty()) {
    stand_in_ = *binaries.insert(new FatBinary).first;
    stand_in_->text = std::move(settings_->ptx);
  }
  start_memory();
}

void Runtime::show_devices(unsigned count) {
  if (settings_ && !settings_->devices) devices_ = count;
}

unsigned Runtime::device_of(cudaStream_t stream) const {
  const auto at = streams.find(reinterpret_cast<Stream*>(stream));
  return at == streams.end() ? current_device() : (*at)->device;
}

/// Findings that are new, on stderr and as lines of JSON.
void Runtime::tell_findings() {
  if (!checker_) return;
  checker_->findings().tell([&](const Finding& finding) {
    say(readable(finding));
    if (finding.fault) tell_launcher("findings");
    findings_.write(json(finding) + "\n");
  });
  findings_.flush();
}

bool Runtime::host_touched(std::uintptr_t address, bool writes) {
  if (!host_check_) return false;
  const bool goes_on = host_check_->touched(address, writes, *memory_);
  if (!goes_on) tell_findings();
  return goes_on;
}

void Runtime::finish() {
  host_log_file_.flush();
  if (settings_ && settings_->trace && !traced_) {
    const TraceSettings& wanted = *settings_->trace;
    say("nothing was traced: the program made " + std::to_string(trace_candidates_) + " launches" +
        (wanted.kernel.empty() ? "" : " of kernels named " + wanted.kernel) + ", and number " +
        std::to_string(wanted.launch) + " was asked for (they count from 0)");
  }
  if (!printed.empty()) {
    say("the program ended before it waited for a kernel that printed: " +
        std::to_string(printed.size()) + " characters are lost");
  }
  if (stand_in_ != nullptr && !stood_in_) {
    say("EMU_PTX: the program launched none of the kernels in this file");
  }
  // A schedule of lanes apart has said of its counts that they are its own.
  if (const std::string line = fidelity_.line(); !line.empty() && !settings_->apart) say(line);
  if (!checker_) return;
  // A program whose device broke can't free what it has.
  if (broken == cudaSuccess) checker_->finish();
  if (host_check_ && operations() && broken == cudaSuccess) {
    host_check_->ends_with(operations()->pending());
  }
  if (host_check_) host_check_->finish(exit_status, broken != cudaSuccess);
  if (sums_) sums_->finish();
  tell_findings();
  const auto found = std::ranges::count(checker_->findings().all(), true, &Finding::fault);
  if (found > 0) say(std::to_string(found) + (found == 1 ? " finding" : " findings"));
}

void Runtime::start_memory() {
  grid_workspaces_.clear();
  memory_ = std::make_unique<GlobalMemory>(settings_->memory,
                                           host_observers_.empty() ? nullptr : &host_observers_);
  // A step of a grid at least; what lies between is not memory.
  if (checker_ && checker_->checks().memory) memory_->keep_apart(std::size_t{1} << 20);
  memory_->fill_fresh(settings_->fresh);
  memory_->host_name = [this](Address address) -> std::string {
    const auto symbol = symbols.find(reinterpret_cast<const void*>(address));
    if (symbol == symbols.end()) return "an address of the host's, which kernels can't reach";
    return "the host's own address of " + symbol->second.name +
           ": cudaGetSymbolAddress gives the device's";
  };
}

cudaError_t Runtime::out_of_memory(const std::string& what, std::size_t bytes) {
  // Once: programs try how much they can have.
  if (!std::exchange(told_of_memory_, true)) {
    say(what + " of " + std::to_string(bytes) + " bytes: the device has " +
        std::to_string(memory_->capacity()) + ", of which " +
        std::to_string(memory_->free_bytes()) + " are free; EMU_MEMORY=BYTES gives it more");
  }
  return cudaErrorMemoryAllocation;
}

cudaError_t Runtime::load(FatBinary& binary) {
  FatBinary::Loaded& loaded = binary.here();
  if (loaded.module || loaded.status != cudaSuccess) return loaded.status;
  const auto refuse = [&](cudaError_t status, const std::string& why) {
    say(why);
    loaded.status = status;
    return status;
  };
  const auto no_room = [&](const std::string& what, std::size_t bytes) {
    return refuse(cudaErrorMemoryAllocation,
                  what + " takes " + std::to_string(bytes) + " bytes, and " +
                      std::to_string(memory_->free_bytes()) + " of the device's " +
                      std::to_string(memory_->capacity()) +
                      " are free; EMU_MEMORY=BYTES gives it more");
  };
  try {
    if (binary.containers.empty() && binary.text.empty()) {
      return refuse(cudaErrorInvalidKernelImage, "a fat binary is missing");
    }
    const int architecture = settings_->profile.architecture();
    std::vector<FatbinEntry> all;
    std::vector<std::string> texts;
    int chosen = architecture;
    if (!binary.text.empty()) texts.push_back(binary.text);
    for (const auto& container : binary.containers) {
      const auto entries = read_fatbin(container);
      all.insert(all.end(), entries.begin(), entries.end());
      const auto best = best_ptx(entries, architecture);
      // nvcc links CUDA's own library for kernels that launch kernels to every program of several
      // units, as machine code: what needs such a unit is refused by the name it misses.
      if (!best) continue;
      chosen = texts.empty() ? best->architecture : std::max(chosen, best->architecture);
      texts.push_back(ptx_text(*best));
    }
    if (texts.empty()) {
      return refuse(cudaErrorNoKernelImageForDevice,
                    "the program has " + contents(all) + ", and this device (" +
                        std::string(settings_->profile.key) + ") runs PTX for " +
                        std::to_string(architecture) + " or lower; build it with -gencode arch=" +
                        "compute_" + std::to_string(architecture) + ",code=compute_" +
                        std::to_string(architecture) + " as well");
    }
    const std::string origin = "compute_" + std::to_string(chosen);
    const bool with_text = settings_->trace.has_value() || csv_.wanted();
    auto module = texts.size() == 1 ? parse_ptx(texts.front(), origin, with_text)
                                    : parse_ptx(texts, origin, with_text);
    std::set<std::string> placed;  // for another device, and may have changed since
    for (auto& [name, variable] : module->variables) {
      if (const auto place = binary.managed_at.find(name); place != binary.managed_at.end()) {
        variable.address = reinterpret_cast<Address>(place->second);
        placed.insert(name);
        continue;
      }
      const auto at = binary.managed.find(name);
      if (at != binary.managed.end()) {
        void* both = allocate_shared(std::max<std::size_t>(variable.size, 1), "__managed__ " + name,
                                     Allocation::Kind::kManaged);
        if (both == nullptr) return no_room("__managed__ " + name, variable.size);
        *at->second = both;
        binary.managed_at[name] = both;
        variable.address = reinterpret_cast<Address>(both);
        continue;
      }
      const bool constant = variable.space == Variable::Space::kConstant;
      const std::string what = (constant ? "__constant__ " : "__device__ ") + name;
      const auto address = memory_->allocate(std::max<std::size_t>(variable.size, 1), what,
                                             Allocation::Kind::kVariable);
      if (!address) return no_room(what, variable.size);
      variable.address = *address;
    }
    link_module(*module);
    for (const auto& [name, variable] : module->variables) {
      if (variable.initial.empty() || placed.contains(name)) continue;
      const std::size_t size = std::min(variable.initial.size(), variable.size);
      const Allocation* at = memory_->find(variable.address, size);
      std::memcpy(at->host + (variable.address - at->base), variable.initial.data(), size);
    }
    loaded.module = std::move(module);
    return cudaSuccess;
  } catch (const FatbinError& error) {
    return refuse(cudaErrorInvalidKernelImage, error.what());
  } catch (const PtxError& error) {
    return refuse(cudaErrorInvalidPtx, error.what());
  }
}

void Runtime::unload(FatBinary& binary) {
  for (const auto& [device, loaded] : binary.on) {
    if (!loaded.module) continue;
    for (const auto& [name, variable] : loaded.module->variables) {
      if (!binary.managed_at.contains(name)) memory_->free(variable.address);
    }
  }
  for (const auto& [name, place] : binary.managed_at) {
    free_shared(place, Allocation::Kind::kManaged);
  }
  binary.managed_at.clear();
  binary.on.clear();
}

Runtime::Found Runtime::find_kernel(const void* stub) {
  Found found;
  if (stub == nullptr) return {.status = cudaErrorInvalidDeviceFunction};
  const auto at = functions.find(stub);
  if (at == functions.end()) return {.status = cudaErrorInvalidResourceHandle};
  found.function = &at->second;
  found.status = replace(at->second);
  if (found.status == cudaSuccess) found.status = load(*at->second.binary);
  if (found.status != cudaSuccess) return found;
  const auto& kernels = at->second.binary->here().module->kernels;
  const auto kernel = kernels.find(at->second.name);
  if (kernel == kernels.end()) {
    say("kernel " + kernel_name(at->second.name) + " is not in the program's PTX");
    found.status = cudaErrorInvalidDeviceFunction;
  } else {
    found.kernel = &kernel->second;
  }
  return found;
}

cudaError_t Runtime::replace(HostKernel& function) {
  if (stand_in_ == nullptr || function.binary == stand_in_) return cudaSuccess;
  if (const cudaError_t bad = load(*stand_in_); bad != cudaSuccess) return bad;
  const auto& kernels = stand_in_->here().module->kernels;
  const auto other = kernels.find(function.name);
  if (other == kernels.end()) return cudaSuccess;
  // The host hands over what the program's own kernel takes.
  if (const cudaError_t bad = load(*function.binary); bad != cudaSuccess) return bad;
  const auto& all = function.binary->here().module->kernels;
  const auto own = all.find(function.name);
  const auto layout = [](const Parameter& p) { return std::pair(p.offset, p.size); };
  if (own == all.end() ||
      !std::ranges::equal(own->second.parameters, other->second.parameters, {}, layout, layout)) {
    say("EMU_PTX: kernel " + kernel_name(function.name) +
        " has other parameters there than in the program");
    return cudaErrorInvalidDeviceFunction;
  }
  function.binary = stand_in_;
  stood_in_ = true;
  return cudaSuccess;
}

std::pair<cudaError_t, const Variable*> Runtime::find_variable(const void* symbol) {
  const auto at = symbols.find(symbol);
  if (at == symbols.end()) return {cudaErrorInvalidSymbol, nullptr};
  const cudaError_t status = load(*at->second.binary);
  if (status != cudaSuccess) return {status, nullptr};
  const auto& variables = at->second.binary->here().module->variables;
  const auto variable = variables.find(at->second.name);
  if (variable == variables.end()) return {cudaErrorInvalidSymbol, nullptr};
  return {cudaSuccess, &variable->second};
}

void Runtime::tell_given(const StreamCall& call, const char* verb, Address address,
                         std::size_t size) {
  Operations* const order = operations();
  if (order == nullptr) return;
  order->begin(line_of(call.stream), call.name);
  order->says(verb);
  order->touch(Operations::kWrites, address, size);
  order->end(*memory_);
}

void Runtime::report(const Kernel& kernel, Dim3 grid, Dim3 block, const Counters& counters) {
  if (!csv_.wanted()) return;
  if (!csv_.open()) csv_.write(csv_heading(settings_->apart.has_value()));
  const LaunchFacts facts{.id = csv_rows_++,
                          .kernel = kernel.name,
                          .grid = grid,
                          .block = block,
                          .major = settings_->profile.attribute(cudaDevAttrComputeCapabilityMajor),
                          .minor = settings_->profile.attribute(cudaDevAttrComputeCapabilityMinor),
                          .apart = settings_->apart};
  csv_.write(csv_row(facts, counters));
  fidelity_.launched(kernel, counters);
  csv_.flush();  // what was counted is kept, however the program ends
}

void* Runtime::allocate_shared(std::size_t size, const std::string& what, Allocation::Kind kind) {
  if (size == 0 || size > memory_->free_bytes()) return nullptr;
  if (next_shared_ == 0) next_shared_ = kSharedBase;
  const std::size_t bytes = page_round(size);
  // A place of its own, so that no device pointer is ever another host pointer's number and the
  // addresses are the same in every run.
  void* at = mmap(reinterpret_cast<void*>(next_shared_), bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == MAP_FAILED) {
    at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (at == MAP_FAILED) return nullptr;
  next_shared_ += bytes + page_round(1);  // a page that isn't there follows
  if (!memory_->map(at, size, what, kind)) {
    munmap(at, bytes);
    return nullptr;
  }
  shared_.emplace(at, bytes);
  return at;
}

bool Runtime::free_shared(void* pointer, Allocation::Kind kind) {
  const auto at = shared_.find(pointer);
  if (at == shared_.end()) return false;
  const auto address = reinterpret_cast<Address>(pointer);
  const Allocation* a = memory_->find(address, 1);
  if (a == nullptr || a->kind != kind) return false;
  memory_->free(address);
  munmap(at->first, at->second);
  shared_.erase(at);
  return true;
}

Timeline Runtime::line_of(cudaStream_t stream) {
  if (const auto node = graph_node_line()) return *node;
  if (stream != cudaStreamPerThread && (stream != nullptr || !DefaultOfThread::on)) {
    const auto at = streams.find(reinterpret_cast<Stream*>(stream));
    return at == streams.end() ? default_line(current_device()) : (*at)->line;
  }
  const auto [at, fresh] =
      lines_of_threads_.try_emplace({std::this_thread::get_id(), current_device()});
  if (fresh) {
    at->second = operations()->add_stream(
        lines_of_threads_.size() == 1
            ? "the thread's default stream"
            : "the default stream of thread " + std::to_string(lines_of_threads_.size()),
        true, default_line(current_device()));
  }
  return at->second;
}

Timeline Runtime::default_line(unsigned device) {
  if (device == 0) return Operations::kDefault;
  const auto [at, fresh] = default_lines_.try_emplace(device);
  if (fresh) {
    at->second = operations()->add_device("the default stream of device " + std::to_string(device));
  }
  return at->second;
}

void Runtime::flush_printed() {
  if (printed.empty()) return;
  static_cast<void>(std::fwrite(printed.data(), 1, printed.size(), stdout));
  std::fflush(stdout);
  printed.clear();
}

void Runtime::reset() {
  flush_printed();
  if (broken != cudaSuccess) {
    // Hardware comes back from a fault in no way but a new process.
    broken = cudaErrorDevicesUnavailable;
    fault_told = true;
    return;
  }
  if (sums_) sums_->finish();
  if (checker_) {
    checker_->finish();
    if (host_check_) host_check_->finish(-1, false);
    checker_->follow_streams();
  }
  lines_of_threads_.clear();
  default_lines_.clear();
  peers.clear();
  for (FatBinary* binary : binaries) unload(*binary);
  for (const auto& [pointer, bytes] : shared_) munmap(pointer, bytes);
  shared_.clear();
  for (Stream* stream : streams) delete stream;
  for (Event* event : events) delete event;
  for (Pool* pool : pools) delete pool;
  streams.clear();
  events.clear();
  pools.clear();
  pooled.clear();
  *images = {};
  graphs.clear();
  graph_execs.clear();
  captures.clear();
  limits.clear();
  host_flags.clear();
  has_printed = false;
  default_pool = {};
  current_pool = &default_pool;
  for (auto& [stub, function] : functions) function.on.clear();
  start_memory();
}

}  // namespace emu

namespace {

/// After the program's own last functions, which may still free memory. What the program did not
/// wait for is lost, as on hardware, where no word is said.
[[gnu::destructor]] void at_the_end() {
  emu::Runtime& runtime = emu::Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  runtime.finish();
  if (emu::Output::any_failed() && runtime.exit_status == 0) {
    std::fflush(nullptr);
    _exit(2);
  }
}

}  // namespace

extern "C" {

int emu_show_devices(int count) {
  emu::Runtime& runtime = emu::Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  if (count >= 1 && static_cast<unsigned>(count) <= emu::kMostDevices) {
    runtime.show_devices(static_cast<unsigned>(count));
  }
  return static_cast<int>(runtime.devices());
}

int emu_counters(emu_counter* counters, int capacity) {
  emu::Runtime& runtime = emu::Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  const auto& all = emu::metrics();
  const int count = static_cast<int>(all.size());
  for (int i = 0; i < std::min(count, capacity); ++i) {
    const emu::Metric& m = all[static_cast<std::size_t>(i)];
    counters[i] = {.name = m.name, .unit = m.unit, .value = runtime.totals.*m.value};
  }
  return count;
}

std::uint64_t emu_launches(void) {
  emu::Runtime& runtime = emu::Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  return runtime.launches;
}

void emu_reset_counters(void) {
  emu::Runtime& runtime = emu::Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  runtime.totals = {};
  runtime.launches = 0;
}

}  // extern "C"
