/// \file
/// The state behind the CUDA runtime's functions, which runtime_*.cpp define.
///
/// A program registers its fat binaries before main; nothing here may need a constructor to have
/// run, nor a destructor: programs call the runtime from their own atexit functions.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cudart/fidelity.hpp"
#include "cudart/graph.hpp"
#include "cudart/host_check.hpp"
#include "cudart/host_log.hpp"
#include "cudart/host_threads.hpp"
#include "cudart/images.hpp"
#include "cudart/output.hpp"
#include "cudart/reservation.hpp"
#include "cudart/settings.hpp"
#include "emu/launch.hpp"
#include "emu/memory.hpp"
#include "emu/module.hpp"
#include "watch/check.hpp"
#include "watch/check_sum.hpp"
#include "watch/operations.hpp"
#include "watch/trace.hpp"

namespace emu {

/// One registered fat binary; its PTX is read when something in it is first used.
struct FatBinary {
  /// Its container, up to the end of what is mapped there. Where translation units were compiled
  /// apart (nvcc -rdc=true), one each: the linked one holds no PTX.
  std::vector<std::span<const std::byte>> containers;
  std::string text;  ///< PTX as it is, where a library was loaded from that
  /// What a device has of it: variables of its own.
  struct Loaded {
    std::shared_ptr<Module> module = {};
    cudaError_t status = cudaSuccess;  ///< why it can't be loaded, once that was tried
  };
  std::map<unsigned, Loaded> on;
  Loaded& here();  ///< on the thread's device
  std::map<std::string, void**, std::less<>>
      managed;                              ///< host variables that point to managed ones
  std::map<std::string, void*> managed_at;  ///< those that have a place, which all devices share
};

/// A kernel, as the host knows it: by the address of its stub.
struct HostKernel {
  FatBinary* binary = nullptr;
  std::string name;  ///< mangled
  /// What was set for it on a device.
  struct Attributes {
    std::optional<int> max_dynamic_shared = {};
    int carveout = cudaSharedmemCarveoutDefault;
    bool large_clusters = false;  ///< of more than 8 blocks
  };
  std::map<unsigned, Attributes> on = {};
  Attributes& here();  ///< on the thread's device
};

/// A __device__, __constant__ or __managed__ variable, by its host shadow's address.
struct Symbol {
  FatBinary* binary = nullptr;
  std::string name;
};

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  std::map<int, cudaStreamAttrValue> attributes =
      {};               ///< advice that was given: kept, not followed
  unsigned device = 0;  ///< whose it is
  Timeline line = 0;    ///< for the race check
};

/// A call that gives a stream something to do.
struct StreamCall {
  const char* name;
  cudaStream_t stream = nullptr;
  bool waits = false;  ///< for the stream, more or less: what it copies decides
};

/// While there is one, calls of this thread that name no stream mean its own default stream.
struct DefaultOfThread {
  DefaultOfThread() { on = true; }
  ~DefaultOfThread() { on = false; }
  DefaultOfThread(const DefaultOfThread&) = delete;
  DefaultOfThread& operator=(const DefaultOfThread&) = delete;
  static thread_local bool on;
};

/// A memory pool: what was asked of it, and how much of it is in use.
struct Pool {
  int follow_events = 1, opportunistic = 1, internal_dependencies = 1;
  std::uint64_t threshold = 0;
  std::uint64_t used = 0, most_used = 0;
};

struct Event {
  bool recorded = false;
  bool timed = true;
  unsigned device = 0;
  StreamClock at = {};  ///< for the race check
};

class Runtime {
 public:
  static Runtime& get();

  std::mutex mutex;  ///< held during every call, a launch too: a device does one thing at a time
  const Profile* profile() const { return settings_ ? &settings_->profile : nullptr; }
  GlobalMemory& memory() { return *memory_; }

  /// How many devices there are. All are of one profile.
  unsigned devices() const { return devices_; }
  bool is_device(int device) const {
    return device >= 0 && static_cast<unsigned>(device) < devices_;
  }
  /// Unless the environment has said how many.
  void show_devices(unsigned count);
  /// The device of a stream; of a default stream the thread's.
  unsigned device_of(cudaStream_t stream) const;
  std::set<std::pair<unsigned, unsigned>> peers;  ///< the first may access the second's memory
  /// Says, the first time, what limit an allocation is refused by; returns the error.
  cudaError_t out_of_memory(const std::string& what, std::size_t bytes);

  // What is registered.
  std::set<FatBinary*> binaries;
  std::set<FatBinary*> libraries;  ///< those of them that cudaLibraryLoad… gave
  std::map<const void*, HostKernel> functions;
  std::map<const void*, Symbol> symbols;
  std::set<Stream*> streams;
  std::set<Event*> events;
  unsigned long long streams_made = 0;
  struct ByAddress {  ///< found by what the program holds
    using is_transparent = void;
    template <class T>
    static const void* of(const std::unique_ptr<T>& p) {
      return p.get();
    }
    static const void* of(const void* p) { return p; }
    bool operator()(const auto& a, const auto& b) const { return of(a) < of(b); }
  };
  std::set<std::unique_ptr<Graph>, ByAddress> graphs;
  std::set<std::unique_ptr<GraphExec>, ByAddress> graph_execs;
  std::map<Address, GraphMemory*> graph_memory;  ///< of allocation nodes
  std::vector<std::unique_ptr<Capture>> captures;
  Pool default_pool;
  Pool* current_pool = &default_pool;
  std::set<Pool*> pools;
  std::map<Address, std::pair<Pool*, std::size_t>> pooled;  ///< allocations of pools
  std::unique_ptr<Images> images = std::make_unique<Images>();
  std::map<int, std::size_t> limits;  ///< that the program has set
  unsigned device_flags = 0;
  cudaFuncCache cache_config = cudaFuncCachePreferNone;
  std::map<Address, unsigned> host_flags;  ///< of pinned and registered memory

  /// Reads a binary's PTX and places its variables, once.
  cudaError_t load(FatBinary& binary);
  void unload(FatBinary& binary);

  struct Found {
    cudaError_t status = cudaSuccess;
    HostKernel* function = nullptr;
    const Kernel* kernel = nullptr;
  };
  Found find_kernel(const void* stub);
  /// Has a kernel of EMU_PTX's file take the place of the program's own, if it has that name.
  cudaError_t replace(HostKernel& function);
  std::pair<cudaError_t, const Variable*> find_variable(const void* symbol);

  /// Dynamic shared memory that a launch of the kernel may ask for.
  int dynamic_shared_limit(const Found& found) const;
  /// Blocks of so many threads that an SM holds at a time: by blocks, warps and shared memory.
  /// Registers are the assembler's and not known here.
  int blocks_per_sm(const Found& found, std::uint64_t threads, std::size_t dynamic_shared) const;

  /// What the host asks of a launch.
  struct Request {
    const void* stub = nullptr;
    Dim3 grid, block;
    void** arguments = nullptr;
    std::size_t dynamic_shared = 0;
    bool cooperative = false;
    bool dependent = false;  ///< it may begin before the one in front of it has ended
    cudaStream_t stream = nullptr;
    std::optional<Dim3> cluster = {};
  };
  /// Whether such a cluster can be launched. `size`: what the launch asks for, or else the kernel.
  cudaError_t check_cluster(const Found& found, const Request& request,
                            std::optional<Dim3>& size) const;
  cudaError_t launch_kernel(const Request& request);
  /// Work that makes this launch whenever it is done, with the arguments as they are now.
  cudaError_t keep_launch(const Request& request, NodeWork& work);
  cudaError_t set_elements(const cudaMemsetParams& set);

  /// What the race check is told of streams and of the host's waiting; null where it is off.
  Operations* operations() { return checker_ ? checker_->operations() : nullptr; }
  Timeline line_of(cudaStream_t stream);
  Timeline default_line(unsigned device);  ///< of its legacy default stream
  /// That a stream allocates memory, or frees it.
  void tell_given(const StreamCall& call, const char* verb, Address address, std::size_t size);
  /// Carries out what a call asks for, as an operation of its stream.
  template <class Body>
  cudaError_t operate(const StreamCall& call, const Body& body) {
    Operations* const o = operations();
    if (o == nullptr) return body();
    o->begin(line_of(call.stream), call.name);
    const cudaError_t status = body();
    o->end(*memory_);
    return status;
  }

  /// Host memory that the device sees too, at one address on both sides; null when there is none.
  void* allocate_shared(std::size_t size, const std::string& what, Allocation::Kind kind);
  bool free_shared(void* pointer, Allocation::Kind kind);

  /// What kernels have printed since the host last waited for them; then it comes out.
  std::string printed;
  bool has_printed = false;  ///< so that its FIFO is of its size for good
  void flush_printed();

  /// A kernel's fault breaks the device for the rest of the process. As on hardware the launch
  /// itself still says success, since it doesn't wait; the next call that does tells.
  cudaError_t broken = cudaSuccess;
  bool fault_told = false;
  void reset();

  /// What the host's calls do to memory is told to who looks on.
  template <class F>
  void tell(const F& f) {
    if (!host_observers_.empty()) f(static_cast<Observer&>(host_observers_));
  }
  void tell_findings();
  /// Why the call that runs now fails, for who looks at what the host does.
  void because(const std::string& why, const std::string& kernel = {}) {
    if (host_check_) host_check_->because(why, kernel);
  }
  void asked() {
    if (host_check_) host_check_->asked();
  }
  bool host_touched(std::uintptr_t address, bool writes);
  /// Each call of the program's begins and ends with these.
  void enter() {
    if (host_check_) host_check_->let_go();
  }
  void leave(cudaError_t status) {
    if (!host_check_) return;
    host_check_->called(status, broken != cudaSuccess);
    // After every call: most programs have no memory of both, and some have thousands of
    // operations.
    const Operations* const order = operations();
    if (order == nullptr || shared_.empty()) return;
    host_check_->keep(order->pending(reinterpret_cast<Address>(shared_.begin()->first)), *memory_);
  }
  void finish();         ///< the program is over
  int exit_status = -1;  ///< the program's, once it is known

  Counters totals;  ///< since emu_reset_counters
  std::uint64_t launches = 0;

 private:
  Runtime();
  void start_memory();
  void report(const Kernel& kernel, Dim3 grid, Dim3 block, const Counters& counters);
  /// Whether such a launch is refused. `cluster`: as check_cluster has it.
  cudaError_t check_launch(const Found& found, const Request& request,
                           std::optional<Dim3>& cluster);
  bool clear_workspace();  ///< of the grid's barrier; false: there is no memory for it
  std::optional<std::uint64_t> next_schedule();
  LaunchResult run(const LaunchConfig& config, const Request& request);
  void tell_warnings(const Kernel& kernel, const std::vector<std::string>& warnings);
  /// What a launch returns that ended in a fault; where it breaks the device, that.
  cudaError_t end_faulty(const Kernel& kernel, const Fault& fault);
  std::unique_ptr<Trace> begin_trace(const LaunchConfig& config);  ///< null: of another launch
  void end_trace(Trace& trace, const LaunchResult& result);

  std::optional<Settings> settings_;  // none: no device
  Output csv_, findings_, trace_, host_log_file_;
  HostThreads threads_;
  FatBinary* stand_in_ = nullptr;  // of EMU_PTX's file
  bool stood_in_ = false;
  std::unique_ptr<Checker> checker_;
  std::unique_ptr<SumCheck> sums_;
  std::unique_ptr<HostCheck> host_check_;
  std::unique_ptr<HostLog> host_log_;
  HostObservers host_observers_;
  Reservation reservation_;
  std::unique_ptr<GlobalMemory> memory_;
  unsigned devices_ = 1;
  std::map<unsigned, Timeline> default_lines_;   ///< of devices after the first
  std::map<unsigned, Address> grid_workspaces_;  ///< of devices that had a cooperative launch
  std::uintptr_t next_shared_ = 0;
  std::map<void*, std::size_t> shared_;  // mapped by allocate_shared
  std::uint64_t launched_ = 0;           // launches of this process: each has a schedule of its own
  std::uint64_t clock_ = 0;              // instructions of all launches
  std::uint64_t trace_candidates_ = 0;   // launches of kernels that the trace's name fits
  bool traced_ = false;
  bool told_of_memory_ = false;
  std::map<std::pair<std::thread::id, unsigned>, Timeline>
      lines_of_threads_;          // their own default streams' on each device
  std::set<std::string> warned_;  // kernels and lines of which something was said
  std::uint64_t csv_rows_ = 0;
  Fidelity fidelity_;  // of what is written there
};

/// A launch whose arguments are kept as they were.
struct KeptLaunch {
  Runtime::Request request;
  std::vector<std::vector<std::byte>> bytes = {};
  std::vector<void*> arguments = {};  ///< pointers to these
};

/// "cudaErrorInvalidValue"
const char* error_name(cudaError_t error);

/// The last error of the calling thread.
cudaError_t& last_error();
/// The device that the calling thread uses.
unsigned& current_device();

/// Whether a call reaches the device, and so fails on a broken one.
enum class Needs {
  kNothing,
  kDevice,
  kWaits  ///< and waits for what was launched: what that has printed comes out
};

/// The frame of every function: one at a time, no exception leaves it, errors are remembered.
template <class Body>
cudaError_t api(Needs needs, const Body& body) {
  cudaError_t status = cudaErrorUnknown;
  try {
    Runtime& runtime = Runtime::get();
    const std::scoped_lock lock(runtime.mutex);
    runtime.enter();
    if (needs == Needs::kWaits) runtime.flush_printed();
    if (runtime.profile() == nullptr) {
      status = cudaErrorNoDevice;
    } else if (needs != Needs::kNothing && runtime.broken != cudaSuccess) {
      runtime.fault_told = true;
      status = runtime.broken;
    } else {
      runtime.memory().serve(current_device());
      status = body(runtime);
    }
    runtime.leave(status);
  } catch (const std::bad_alloc&) {
    say("the host has no memory left for what this call needs");
    status = cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    say(error.what());
  }
  if (status != cudaSuccess) last_error() = status;
  return status;
}

/// While there is one, the calling thread's device is another, if there is such a device.
struct OnDevice {
  explicit OnDevice(int device)
      : status(api(Needs::kNothing,
                   [&](Runtime& runtime) {
                     return runtime.is_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
                   })),
        before(current_device()) {
    if (status == cudaSuccess) current_device() = static_cast<unsigned>(device);
  }
  ~OnDevice() { current_device() = before; }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  cudaError_t status;
  unsigned before;
};

}  // namespace emu

/// Of CUDA's own start-up code, which no header declares.
extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                          void** arguments, std::size_t shared,
                                          cudaStream_t stream);
