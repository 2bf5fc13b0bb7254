// Registration and launch: what the code that nvcc puts into a program calls.
#include <link.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

#include "cudart/report.hpp"
#include "cudart/runtime.hpp"
#include "watch/kernel_name.hpp"

namespace {

using emu::api;
using emu::Needs;
using emu::Runtime;

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kLinked = 2;  // the wrapper's version where units were compiled apart

/// A kernel's configuration, between `<<<…>>>` and the stub that takes it up.
struct Pushed {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<Pushed> pushed;

/// What is mapped from an address on: to the end of the segment of the program, or of a library,
/// that it lies in. Nothing for any other address. A damaged program's sizes and pointers say what
/// they like.
std::span<const std::byte> mapped_from(const void* address) {
  struct Search {
    std::uintptr_t address;
    std::size_t left;
  } search{reinterpret_cast<std::uintptr_t>(address), 0};
  dl_iterate_phdr(
      [](dl_phdr_info* image, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        for (const auto& segment : std::span(image->dlpi_phdr, image->dlpi_phnum)) {
          const std::uintptr_t offset = s.address - (image->dlpi_addr + segment.p_vaddr);
          if (segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0 &&
              offset < segment.p_memsz) {
            s.left = segment.p_memsz - offset;
          }
        }
        return s.left > 0 ? 1 : 0;
      },
      &search);
  return {static_cast<const std::byte*>(address), search.left};
}

/// What lies at the beginning of some bytes, if they are enough.
template <class T>
std::optional<T> first(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

emu::Dim3 extent(dim3 d) {
  return {d.x, d.y, d.z};
}

Runtime::Request request_of(const cudaLaunchConfig_t& config, const void* stub, void** arguments) {
  Runtime::Request request{stub, extent(config.gridDim), extent(config.blockDim), arguments,
                           config.dynamicSmemBytes};
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& a = config.attrs[i];
    if (a.id == cudaLaunchAttributeCooperative) request.cooperative = a.val.cooperative != 0;
    if (a.id == cudaLaunchAttributeClusterDimension) {
      request.cluster = emu::Dim3{a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z};
    }
    if (a.id == cudaLaunchAttributeProgrammaticStreamSerialization) {
      request.dependent = a.val.programmaticStreamSerializationAllowed != 0;
    }
    // The rest says when a launch begins, where its blocks run, or where its memory is kept: here
    // it begins when those before it are over.
  }
  return request;
}

/// In a stream that is captured it is taken down, else it is made.
cudaError_t launch(Runtime::Request request, cudaStream_t stream) {
  request.stream = stream;
  emu::NodeWork work;
  bool captured = false;
  const cudaError_t kept = api(Needs::kNothing, [&](Runtime& runtime) {
    captured = !runtime.captures.empty();
    return captured ? runtime.keep_launch(request, work) : cudaSuccess;
  });
  if (kept != cudaSuccess) return kept;
  if (captured) {
    if (const auto taken = emu::capture(stream, cudaGraphNodeTypeKernel, std::move(work))) {
      return *taken;
    }
  }
  // A launch doesn't wait, so a fault that no call has told of yet isn't told by one either.
  return api(Needs::kNothing, [&](Runtime& runtime) { return runtime.launch_kernel(request); });
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  struct Wrapper {
    std::uint32_t magic, version;
    const void* container;
    const void* units;  // of version 2: pointers to what was linked, up to a null
  };
  auto* binary = new emu::FatBinary;
  const auto seen = first<Wrapper>(mapped_from(wrapper)).value_or(Wrapper{});
  if (seen.magic == kWrapperMagic && seen.version == kLinked) {
    auto left = mapped_from(seen.units);
    for (auto unit = first<const void*>(left); unit && *unit; unit = first<const void*>(left)) {
      binary->containers.push_back(mapped_from(*unit));
      left = left.subspan(sizeof *unit);
    }
  } else if (seen.magic == kWrapperMagic && seen.container != nullptr) {
    binary->containers.push_back(mapped_from(seen.container));
  }
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  runtime.binaries.insert(binary);
  return reinterpret_cast<void**>(binary);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  auto* binary = reinterpret_cast<emu::FatBinary*>(handle);
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  if (runtime.binaries.erase(binary) == 0) return;
  if (runtime.profile() != nullptr) runtime.unload(*binary);
  std::erase_if(runtime.functions, [&](const auto& f) { return f.second.binary == binary; });
  std::erase_if(runtime.symbols, [&](const auto& s) { return s.second.binary == binary; });
  delete binary;
}

void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  // A template's instance may come from several translation units, with one stub: any will do.
  runtime.functions.try_emplace(
      stub, emu::HostKernel{.binary = reinterpret_cast<emu::FatBinary*>(handle), .name = name});
}

void __cudaRegisterVar(void** handle, char* shadow, char*, const char* name, int, std::size_t, int,
                       int) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  runtime.symbols.try_emplace(
      shadow, emu::Symbol{.binary = reinterpret_cast<emu::FatBinary*>(handle), .name = name});
}

void __cudaRegisterManagedVar(void** handle, void** shadow, char*, const char* name, int,
                              std::size_t, int, int) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  auto* binary = reinterpret_cast<emu::FatBinary*>(handle);
  binary->managed.try_emplace(name, shadow);
  runtime.symbols.try_emplace(static_cast<const void*>(shadow),
                              emu::Symbol{.binary = binary, .name = name});
}

/// Called before the host reads a managed variable: its place must be known by then.
char __cudaInitModule(void** handle) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
           return runtime.load(*reinterpret_cast<emu::FatBinary*>(handle));
         }) == cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                     CUstream_st* stream) {
  pushed.push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (pushed.empty()) return cudaErrorMissingConfiguration;
  *grid = pushed.back().grid;
  *block = pushed.back().block;
  *shared = pushed.back().shared;
  *static_cast<cudaStream_t*>(stream) = pushed.back().stream;
  pushed.pop_back();
  return cudaSuccess;
}

/// The stub's address serves as the handle, so that a program may pass either.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream) {
  return launch({kernel, extent(grid), extent(block), arguments, shared}, stream);
}

cudaError_t cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  return launch({stub, extent(grid), extent(block), arguments, shared}, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* stub,
                                void** arguments) {
  if (config == nullptr) {
    return api(Needs::kDevice, [](Runtime&) { return cudaErrorInvalidValue; });
  }
  return launch(request_of(*config, stub, arguments), config->stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* stub, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared, cudaStream_t stream) {
  return launch({stub, extent(grid), extent(block), arguments, shared, true}, stream);
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (kernel == nullptr) return cudaErrorInvalidValue;
    if (!runtime.functions.contains(stub)) return cudaErrorInvalidDeviceFunction;
    return __cudaGetKernel(kernel, stub);
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* stub) {
  cudaKernel_t kernel = nullptr;
  const cudaError_t status = cudaGetKernel(&kernel, stub);
  if (status == cudaSuccess && function != nullptr) {  // which may be null
    *function = reinterpret_cast<cudaFunction_t>(kernel);
  }
  return status;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* stub) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    const Runtime::Found found = runtime.find_kernel(stub);
    if (found.status != cudaSuccess) return found.status;
    const emu::Kernel& kernel = *found.kernel;
    const emu::Module& module = *found.function->binary->here().module;
    *attributes = {};
    attributes->sharedSizeBytes = kernel.static_shared_bytes;
    attributes->localSizeBytes = kernel.local_bytes;
    attributes->maxThreadsPerBlock = static_cast<int>(kernel.max_threads);
    attributes->numRegs = 0;  // the assembler's choice, unknown here
    attributes->ptxVersion = module.target;
    attributes->binaryVersion = runtime.profile()->architecture();
    attributes->maxDynamicSharedSizeBytes = runtime.dynamic_shared_limit(found);
    attributes->preferredShmemCarveout = found.function->here().carveout;
    attributes->clusterDimMustBeSet = kernel.cluster[0] != 0;
    attributes->requiredClusterWidth = static_cast<int>(kernel.cluster[0]);
    attributes->requiredClusterHeight = static_cast<int>(kernel.cluster[1]);
    attributes->requiredClusterDepth = static_cast<int>(kernel.cluster[2]);
    attributes->nonPortableClusterSizeAllowed = found.function->here().large_clusters;
    for (const auto& [name, variable] : module.variables) {
      if (variable.space == emu::Variable::Space::kConstant) {
        attributes->constSizeBytes += variable.size;
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* stub, cudaFuncAttribute attribute, int value) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const Runtime::Found found = runtime.find_kernel(stub);
    if (found.status != cudaSuccess) return found.status;
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      found.function->here().carveout = value;
      return cudaSuccess;
    }
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
      found.function->here().large_clusters = value != 0;
      return cudaSuccess;
    }
    if (attribute == cudaFuncAttributeClusterSchedulingPolicyPreference) return cudaSuccess;
    if (attribute >= cudaFuncAttributeClusterDimMustBeSet &&
        attribute <= cudaFuncAttributeRequiredClusterDepth) {
      emu::say("cudaFuncSetAttribute: a cluster's size is set by the launch or the kernel here");
      return cudaErrorNotSupported;
    }
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaErrorInvalidValue;
    const int most = runtime.profile()->attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) -
                     static_cast<int>(found.kernel->static_shared_bytes);
    if (value < 0 || value > most) return cudaErrorInvalidValue;
    found.function->here().max_dynamic_shared = value;
    return cudaSuccess;
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int device) {
  const emu::OnDevice there(device);
  if (there.status != cudaSuccess) return there.status;
  return cudaFuncSetAttribute(kernel, attribute, value);
}

cudaError_t cudaFuncGetParamInfo(const void* stub, std::size_t index, std::size_t* offset,
                                 std::size_t* size) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const Runtime::Found found = runtime.find_kernel(stub);
    if (found.status != cudaSuccess) return found.status;
    const auto& parameters = found.kernel->parameters;
    if (offset == nullptr || index >= parameters.size()) return cudaErrorInvalidValue;
    *offset = parameters[index].offset;
    if (size != nullptr) *size = parameters[index].size;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* stub, cudaFuncCache) {
  return api(Needs::kDevice, [&](Runtime& runtime) { return runtime.find_kernel(stub).status; });
}

cudaError_t cudaFuncGetName(const char** name, const void* stub) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const auto at = runtime.functions.find(stub);
    if (name == nullptr) return cudaErrorInvalidValue;
    if (stub == nullptr) return cudaErrorInvalidDeviceFunction;
    if (at == runtime.functions.end()) return cudaErrorInvalidResourceHandle;
    *name = at->second.name.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* stub,
                                                                   int block_size,
                                                                   std::size_t dynamic_shared,
                                                                   unsigned flags) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (blocks == nullptr || block_size <= 0 || flags > cudaOccupancyDisableCachingOverride)
      return cudaErrorInvalidValue;
    const Runtime::Found found = runtime.find_kernel(stub);
    if (found.status != cudaSuccess) return found.status;
    *blocks = runtime.blocks_per_sm(found, static_cast<std::uint64_t>(block_size), dynamic_shared);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* stub,
                                                          int block_size,
                                                          std::size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, block_size,
                                                                dynamic_shared, 0);
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* stub,
                                                 const cudaLaunchConfig_t* config) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (size == nullptr || config == nullptr) return cudaErrorInvalidValue;
    const Runtime::Found found = runtime.find_kernel(stub);
    if (found.status != cudaSuccess) return found.status;
    const bool any = runtime.profile()->attribute(cudaDevAttrClusterLaunch) != 0;
    *size = !any ? 0 : found.function->here().large_clusters ? 16 : 8;
    return cudaSuccess;
  });
}

/// Where an H200 puts clusters is not known. What it answered, by their size and by the number of
/// blocks per SM, is in the table; sizes of 1 and 2 are as one would think.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* stub,
                                           const cudaLaunchConfig_t* config) {
  struct Answer {
    unsigned size;
    std::array<int, 4> clusters;  // of 1, 2, 4 and 8 blocks in an SM
  };
  static constexpr Answer kAnswers[] = {{3, {39, 79, 163, 327}},
                                        {4, {30, 62, 124, 248}},
                                        {8, {15, 30, 62, 124}},
                                        {16, {7, 14, 28, 58}}};
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (clusters == nullptr || config == nullptr) return cudaErrorInvalidValue;
    const Runtime::Found found = runtime.find_kernel(stub);
    if (found.status != cudaSuccess) return found.status;
    const Runtime::Request request = request_of(*config, stub, nullptr);
    std::optional<emu::Dim3> cluster;
    const cudaError_t bad = runtime.check_cluster(found, request, cluster);
    if (bad != cudaSuccess) return bad;
    const auto size = static_cast<unsigned>(cluster.value_or(emu::Dim3{}).volume());
    const int sms = runtime.profile()->attribute(cudaDevAttrMultiProcessorCount);
    // Of small blocks it counted 8 to an SM, with clusters of one block too.
    const int held =
        std::min(8, runtime.blocks_per_sm(found, request.block.volume(), request.dynamic_shared));
    if (size <= 2) {
      *clusters = held * sms / static_cast<int>(size);
      return cudaSuccess;
    }
    for (const auto& [known, answers] : kAnswers) {
      if (known != size || sms != 132 || !std::has_single_bit(unsigned(held))) continue;
      *clusters = answers[static_cast<std::size_t>(std::countr_zero(unsigned(held)))];
      return cudaSuccess;
    }
    emu::say("cudaOccupancyMaxActiveClusters: not known for clusters of " + std::to_string(size) +
             " blocks, of which an SM holds " + std::to_string(held));
    return cudaErrorNotSupported;
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* size, const void* stub,
                                                      int blocks, int block_size) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (size == nullptr || blocks <= 0 || block_size <= 0) return cudaErrorInvalidValue;
    const Runtime::Found found = runtime.find_kernel(stub);
    if (found.status != cudaSuccess) return found.status;
    const emu::Profile& p = *runtime.profile();
    if (blocks > runtime.blocks_per_sm(found, static_cast<std::uint64_t>(block_size), 0)) {
      return cudaErrorInvalidValue;
    }
    const long unit = p.shared_unit;
    const long share =
        p.attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / blocks / unit * unit;
    const auto fixed = static_cast<long>(found.kernel->static_shared_bytes);
    const long most = runtime.dynamic_shared_limit(found);
    *size = static_cast<std::size_t>(std::clamp(share - fixed, 0L, std::max(most, 0L)));
    return cudaSuccess;
  });
}

}  // extern "C"
