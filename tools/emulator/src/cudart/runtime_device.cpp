// What the device is, versions, limits and errors.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cudart/runtime.hpp"

namespace {

using emu::api;
using emu::last_error;
using emu::Needs;
using emu::Runtime;

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};
constexpr ErrorText kErrors[] = {
#include "cudart/errors.inc"
};
constexpr const char* kNoSuchError = "unrecognized error code";

const ErrorText* error_text(cudaError_t error) {
  const auto* at = std::ranges::lower_bound(kErrors, static_cast<int>(error), {}, &ErrorText::code);
  return at != std::end(kErrors) && at->code == static_cast<int>(error) ? at : nullptr;
}

/// The program looks at an error.
void asked() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  runtime.asked();
  runtime.tell_findings();
}

/// The frame of a call that has only to write one value.
template <class T, class Value>
cudaError_t give(Needs needs, T* to, const Value& value) {
  return api(needs, [&](Runtime& runtime) {
    if (to == nullptr) return cudaErrorInvalidValue;
    *to = value(runtime);
    return cudaSuccess;
  });
}

cudaError_t fine(Needs needs) {
  return api(needs, [](Runtime&) { return cudaSuccess; });
}

void fill(cudaDeviceProp& p, const emu::Profile& profile) {
  const auto get = [&](cudaDeviceAttr which) { return profile.attribute(which); };
  const auto bytes = [&](cudaDeviceAttr which) { return static_cast<std::size_t>(get(which)); };
  p = {};
  profile.name.copy(p.name, sizeof p.name - 1);
  p.totalGlobalMem = profile.global_bytes;
  p.sharedMemPerBlock = bytes(cudaDevAttrMaxSharedMemoryPerBlock);
  p.regsPerBlock = get(cudaDevAttrMaxRegistersPerBlock);
  p.warpSize = get(cudaDevAttrWarpSize);
  p.memPitch = bytes(cudaDevAttrMaxPitch);
  p.maxThreadsPerBlock = get(cudaDevAttrMaxThreadsPerBlock);
  p.maxThreadsDim[0] = get(cudaDevAttrMaxBlockDimX);
  p.maxThreadsDim[1] = get(cudaDevAttrMaxBlockDimY);
  p.maxThreadsDim[2] = get(cudaDevAttrMaxBlockDimZ);
  p.maxGridSize[0] = get(cudaDevAttrMaxGridDimX);
  p.maxGridSize[1] = get(cudaDevAttrMaxGridDimY);
  p.maxGridSize[2] = get(cudaDevAttrMaxGridDimZ);
  p.totalConstMem = bytes(cudaDevAttrTotalConstantMemory);
  p.major = get(cudaDevAttrComputeCapabilityMajor);
  p.minor = get(cudaDevAttrComputeCapabilityMinor);
  p.textureAlignment = bytes(cudaDevAttrTextureAlignment);
  p.texturePitchAlignment = bytes(cudaDevAttrTexturePitchAlignment);
  p.multiProcessorCount = get(cudaDevAttrMultiProcessorCount);
  p.canMapHostMemory = get(cudaDevAttrCanMapHostMemory);
  p.surfaceAlignment = bytes(cudaDevAttrSurfaceAlignment);
  p.concurrentKernels = get(cudaDevAttrConcurrentKernels);
  p.ECCEnabled = get(cudaDevAttrEccEnabled);
  p.asyncEngineCount = get(cudaDevAttrAsyncEngineCount);
  p.unifiedAddressing = get(cudaDevAttrUnifiedAddressing);
  p.memoryBusWidth = get(cudaDevAttrGlobalMemoryBusWidth);
  p.l2CacheSize = get(cudaDevAttrL2CacheSize);
  p.persistingL2CacheMaxSize = get(cudaDevAttrMaxPersistingL2CacheSize);
  p.maxThreadsPerMultiProcessor = get(cudaDevAttrMaxThreadsPerMultiProcessor);
  p.streamPrioritiesSupported = get(cudaDevAttrStreamPrioritiesSupported);
  p.globalL1CacheSupported = get(cudaDevAttrGlobalL1CacheSupported);
  p.localL1CacheSupported = get(cudaDevAttrLocalL1CacheSupported);
  p.sharedMemPerMultiprocessor = bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  p.regsPerMultiprocessor = get(cudaDevAttrMaxRegistersPerMultiprocessor);
  p.managedMemory = get(cudaDevAttrManagedMemory);
  p.concurrentManagedAccess = get(cudaDevAttrConcurrentManagedAccess);
  p.computePreemptionSupported = get(cudaDevAttrComputePreemptionSupported);
  p.canUseHostPointerForRegisteredMem = get(cudaDevAttrCanUseHostPointerForRegisteredMem);
  p.cooperativeLaunch = get(cudaDevAttrCooperativeLaunch);
  p.sharedMemPerBlockOptin = bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  p.maxBlocksPerMultiProcessor = get(cudaDevAttrMaxBlocksPerMultiprocessor);
  p.accessPolicyMaxWindowSize = get(cudaDevAttrMaxAccessPolicyWindowSize);
  p.reservedSharedMemPerBlock = bytes(cudaDevAttrReservedSharedMemoryPerBlock);
  p.hostRegisterSupported = get(cudaDevAttrHostRegisterSupported);
  p.memoryPoolsSupported = get(cudaDevAttrMemoryPoolsSupported);
  p.integrated = get(cudaDevAttrIntegrated);
  p.maxTexture1D = get(cudaDevAttrMaxTexture1DWidth);
  p.maxTexture1DMipmap = get(cudaDevAttrMaxTexture1DMipmappedWidth);
  p.maxTexture2D[0] = get(cudaDevAttrMaxTexture2DWidth);
  p.maxTexture2D[1] = get(cudaDevAttrMaxTexture2DHeight);
  p.maxTexture2DMipmap[0] = get(cudaDevAttrMaxTexture2DMipmappedWidth);
  p.maxTexture2DMipmap[1] = get(cudaDevAttrMaxTexture2DMipmappedHeight);
  p.maxTexture2DLinear[0] = get(cudaDevAttrMaxTexture2DLinearWidth);
  p.maxTexture2DLinear[1] = get(cudaDevAttrMaxTexture2DLinearHeight);
  p.maxTexture2DLinear[2] = get(cudaDevAttrMaxTexture2DLinearPitch);
  p.maxTexture2DGather[0] = get(cudaDevAttrMaxTexture2DGatherWidth);
  p.maxTexture2DGather[1] = get(cudaDevAttrMaxTexture2DGatherHeight);
  p.maxTexture3D[0] = get(cudaDevAttrMaxTexture3DWidth);
  p.maxTexture3D[1] = get(cudaDevAttrMaxTexture3DHeight);
  p.maxTexture3D[2] = get(cudaDevAttrMaxTexture3DDepth);
  p.maxTexture3DAlt[0] = get(cudaDevAttrMaxTexture3DWidthAlt);
  p.maxTexture3DAlt[1] = get(cudaDevAttrMaxTexture3DHeightAlt);
  p.maxTexture3DAlt[2] = get(cudaDevAttrMaxTexture3DDepthAlt);
  p.maxTextureCubemap = get(cudaDevAttrMaxTextureCubemapWidth);
  p.maxTexture1DLayered[0] = get(cudaDevAttrMaxTexture1DLayeredWidth);
  p.maxTexture1DLayered[1] = get(cudaDevAttrMaxTexture1DLayeredLayers);
  p.maxTexture2DLayered[0] = get(cudaDevAttrMaxTexture2DLayeredWidth);
  p.maxTexture2DLayered[1] = get(cudaDevAttrMaxTexture2DLayeredHeight);
  p.maxTexture2DLayered[2] = get(cudaDevAttrMaxTexture2DLayeredLayers);
  p.maxTextureCubemapLayered[0] = get(cudaDevAttrMaxTextureCubemapLayeredWidth);
  p.maxTextureCubemapLayered[1] = get(cudaDevAttrMaxTextureCubemapLayeredLayers);
  p.maxSurface1D = get(cudaDevAttrMaxSurface1DWidth);
  p.maxSurface2D[0] = get(cudaDevAttrMaxSurface2DWidth);
  p.maxSurface2D[1] = get(cudaDevAttrMaxSurface2DHeight);
  p.maxSurface3D[0] = get(cudaDevAttrMaxSurface3DWidth);
  p.maxSurface3D[1] = get(cudaDevAttrMaxSurface3DHeight);
  p.maxSurface3D[2] = get(cudaDevAttrMaxSurface3DDepth);
  p.maxSurface1DLayered[0] = get(cudaDevAttrMaxSurface1DLayeredWidth);
  p.maxSurface1DLayered[1] = get(cudaDevAttrMaxSurface1DLayeredLayers);
  p.maxSurface2DLayered[0] = get(cudaDevAttrMaxSurface2DLayeredWidth);
  p.maxSurface2DLayered[1] = get(cudaDevAttrMaxSurface2DLayeredHeight);
  p.maxSurface2DLayered[2] = get(cudaDevAttrMaxSurface2DLayeredLayers);
  p.maxSurfaceCubemap = get(cudaDevAttrMaxSurfaceCubemapWidth);
  p.maxSurfaceCubemapLayered[0] = get(cudaDevAttrMaxSurfaceCubemapLayeredWidth);
  p.maxSurfaceCubemapLayered[1] = get(cudaDevAttrMaxSurfaceCubemapLayeredLayers);
  p.pciBusID = get(cudaDevAttrPciBusId);
  p.pciDeviceID = get(cudaDevAttrPciDeviceId);
  p.pciDomainID = get(cudaDevAttrPciDomainId);
  p.tccDriver = get(cudaDevAttrTccDriver);
  p.isMultiGpuBoard = get(cudaDevAttrIsMultiGpuBoard);
  p.multiGpuBoardGroupID = get(cudaDevAttrMultiGpuBoardGroupID);
  p.hostNativeAtomicSupported = get(cudaDevAttrHostNativeAtomicSupported);
  p.pageableMemoryAccess = get(cudaDevAttrPageableMemoryAccess);
  p.pageableMemoryAccessUsesHostPageTables = get(cudaDevAttrPageableMemoryAccessUsesHostPageTables);
  p.directManagedMemAccessFromHost = get(cudaDevAttrDirectManagedMemAccessFromHost);
  p.sparseCudaArraySupported = get(cudaDevAttrSparseCudaArraySupported);
  p.hostRegisterReadOnlySupported = get(cudaDevAttrHostRegisterReadOnlySupported);
  p.timelineSemaphoreInteropSupported = get(cudaDevAttrTimelineSemaphoreInteropSupported);
  p.gpuDirectRDMASupported = get(cudaDevAttrGPUDirectRDMASupported);
  p.gpuDirectRDMAFlushWritesOptions =
      static_cast<unsigned>(get(cudaDevAttrGPUDirectRDMAFlushWritesOptions));
  p.gpuDirectRDMAWritesOrdering = get(cudaDevAttrGPUDirectRDMAWritesOrdering);
  p.memoryPoolSupportedHandleTypes =
      static_cast<unsigned>(get(cudaDevAttrMemoryPoolSupportedHandleTypes));
  p.deferredMappingCudaArraySupported = get(cudaDevAttrDeferredMappingCudaArraySupported);
  p.ipcEventSupported = get(cudaDevAttrIpcEventSupport);
  p.clusterLaunch = get(cudaDevAttrClusterLaunch);
#if CUDART_VERSION >= 13000
  p.deviceNumaConfig = get(cudaDevAttrNumaConfig);
  p.deviceNumaId = get(cudaDevAttrNumaId);
  p.mpsEnabled = get(cudaDevAttrMpsEnabled);
  p.hostNumaId = get(cudaDevAttrHostNumaId);
  p.gpuPciDeviceID = static_cast<unsigned>(get(cudaDevAttrGpuPciDeviceId));
  p.gpuPciSubsystemID = static_cast<unsigned>(get(cudaDevAttrGpuPciSubsystemId));
  p.hostNumaMultinodeIpcSupported = get(cudaDevAttrHostNumaMultinodeIpcSupported);
#endif
}

/// The step in which L2 is set aside for what shall stay: a sixteenth, as an H200 has it; 0 where
/// none can be.
std::size_t persisting_step(const emu::Profile& profile) {
  return profile.attribute(cudaDevAttrMaxPersistingL2CacheSize) == 0
             ? 0
             : static_cast<std::size_t>(profile.attribute(cudaDevAttrL2CacheSize)) / 16;
}

// Limits that can only be asked for; CUDA 12's headers haven't got their names.
constexpr int kShmemSize = 7, kCigEnabled = 8;
constexpr std::size_t kMostStack = 512 << 10;  // of a thread, on every architecture
constexpr std::size_t kLeastFifo = 512 << 10;

/// Empty for a limit that the device hasn't got. From Hopper on as an H200 has them.
std::optional<std::size_t> default_limit(const emu::Profile& profile, cudaLimit limit) {
  switch (static_cast<int>(limit)) {
    case cudaLimitStackSize: return 1024;
    case cudaLimitPrintfFifoSize:
      return profile.architecture() < 90
                 ? std::size_t{1} << 20
                 : std::size_t{65536} *
                       static_cast<std::size_t>(profile.attribute(cudaDevAttrMultiProcessorCount));
    case cudaLimitMallocHeapSize: return std::size_t{8} << 20;
    case cudaLimitDevRuntimePendingLaunchCount: return 2048;
    case cudaLimitMaxL2FetchGranularity: return 64;
    case cudaLimitPersistingL2CacheSize: return 3 * persisting_step(profile);
    case kShmemSize:
      return static_cast<std::size_t>(profile.attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    case kCigEnabled: return 0;
    default: return std::nullopt;
  }
}

std::size_t round_up(std::size_t value, std::size_t step) {
  return step == 0 ? value : (value + step - 1) / step * step;
}

/// "0000:00:06.0": domain, bus and device.
std::string bus_address(Runtime& runtime, int device) {
  const emu::Profile& p = *runtime.profile();
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0",
                static_cast<unsigned>(p.attribute(cudaDevAttrPciDomainId)),
                static_cast<unsigned>(p.attribute(cudaDevAttrPciBusId) + device),
                static_cast<unsigned>(p.attribute(cudaDevAttrPciDeviceId)));
  return text;
}

}  // namespace

namespace emu {
/// What a function answers that the device doesn't have; for runtime_refused.cpp.
int refused(const char* function) {
  return api(Needs::kDevice, [&](Runtime&) {
    say(std::string(function) + " is not supported");
    return cudaErrorNotSupported;
  });
}
int ignored() {
  return fine(Needs::kDevice);
}
int advised(const void* pointer) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const Allocation* a = runtime.memory().find(reinterpret_cast<Address>(pointer), 1);
    return a != nullptr && a->kind == Allocation::Kind::kManaged ? cudaSuccess
                                                                 : cudaErrorInvalidValue;
  });
}
}  // namespace emu

const char* emu::error_name(cudaError_t error) {
  const ErrorText* known = error_text(error);
  return known == nullptr ? kNoSuchError : known->name;
}

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return give(Needs::kNothing, count,
              [](Runtime& runtime) { return static_cast<int>(runtime.devices()); });
}
cudaError_t cudaGetDevice(int* device) {
  return give(Needs::kNothing, device,
              [](Runtime&) { return static_cast<int>(emu::current_device()); });
}
cudaError_t cudaSetDevice(int device) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
    if (!runtime.is_device(device)) return cudaErrorInvalidDevice;
    emu::current_device() = static_cast<unsigned>(device);
    return cudaSuccess;
  });
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
    return runtime.is_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {  // they are all alike
  return give(Needs::kNothing, device, [](Runtime&) { return 0; });
}
cudaError_t cudaSetValidDevices(int*, int) {
  return fine(Needs::kNothing);
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
    const unsigned schedule = flags & unsigned{cudaDeviceScheduleMask};
    if ((flags & ~unsigned{cudaDeviceMask}) != 0 || (schedule & (schedule - 1)) != 0) {
      return cudaErrorInvalidValue;
    }
    runtime.device_flags = flags;
    return cudaSuccess;
  });
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return give(Needs::kNothing, flags, [](Runtime& runtime) {
    return runtime.device_flags | unsigned{cudaDeviceMapHost};  // which every device does
  });
}

/// Under the name of its version: CUDA 12's headers call it cudaGetDeviceProperties_v2.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (!runtime.is_device(device)) return cudaErrorInvalidDevice;
    fill(*properties, *runtime.profile());
    properties->pciBusID += device;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!runtime.is_device(device)) return cudaErrorInvalidDevice;
    const auto& all = runtime.profile()->attributes;
    const auto at = all.find(which);
    if (at == all.end()) return cudaErrorInvalidValue;
    *value = at->second + (which == cudaDevAttrPciBusId ? device : 0);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (!runtime.is_device(device) || !runtime.is_device(peer)) return cudaErrorInvalidDevice;
    *can = device != peer;
    return cudaSuccess;
  });
}
cudaError_t cudaDriverGetVersion(int* version) {
  return give(Needs::kNothing, version, [](Runtime&) { return CUDART_VERSION; });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return give(Needs::kNothing, version, [](Runtime&) { return CUDART_VERSION; });
}

cudaError_t cudaDeviceSynchronize() {
  if (const auto no =
          emu::refuse_while_capturing(emu::Touches::kAllStreams, "cudaDeviceSynchronize")) {
    return *no;
  }
  return api(Needs::kWaits, [](Runtime& runtime) {
    if (emu::Operations* const order = runtime.operations()) {
      order->host_waits_for_all(runtime.default_line(emu::current_device()));
    }
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceReset() {
  return api(Needs::kNothing, [](Runtime& runtime) {
    runtime.reset();
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    runtime.cache_config = config;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return give(Needs::kDevice, config, [](Runtime& runtime) { return runtime.cache_config; });
}
/// Banks have had 4 bytes since Maxwell, whatever was asked for.
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return give(Needs::kDevice, config, [](Runtime&) { return cudaSharedMemBankSizeFourByte; });
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return api(Needs::kDevice, [&](Runtime&) {
    const int number = static_cast<int>(config);
    const bool known =
        number >= cudaSharedMemBankSizeDefault && number <= cudaSharedMemBankSizeEightByte;
    return known ? cudaSuccess : cudaErrorInvalidValue;
  });
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    // A program hands in whatever number it likes.
    const int number = static_cast<int>(limit);
    if (number < 0 || number > kCigEnabled) return cudaErrorInvalidValue;
    if (!default_limit(*runtime.profile(), limit) || number >= kShmemSize) {
      return cudaErrorUnsupportedLimit;
    }
    if (limit == cudaLimitStackSize) {
      if (value > kMostStack) return cudaErrorInvalidValue;
      value = round_up(value, 16);
    }
    if (limit == cudaLimitPrintfFifoSize) {
      if (runtime.has_printed) return cudaErrorInvalidValue;
      value = std::max(value, kLeastFifo);
    }
    if (limit == cudaLimitPersistingL2CacheSize) {
      value = round_up(value, persisting_step(*runtime.profile()));
    }
    runtime.limits[limit] = value;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const auto otherwise = default_limit(*runtime.profile(), limit);
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!otherwise) return cudaErrorUnsupportedLimit;
    const auto set = runtime.limits.find(limit);
    *value = set == runtime.limits.end() ? *otherwise : set->second;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
    if (text == nullptr || length < 1) return cudaErrorInvalidValue;
    if (!runtime.is_device(device)) return cudaErrorInvalidDevice;
    const std::string address = bus_address(runtime, device);
    if (static_cast<std::size_t>(length) <= address.size()) return cudaErrorInvalidValue;
    std::snprintf(text, static_cast<std::size_t>(length), "%s", address.c_str());
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
    if (device == nullptr || text == nullptr) return cudaErrorInvalidValue;
    const std::string_view asked = text;
    if (asked.empty() ||
        asked.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos) {
      return cudaErrorInvalidValue;
    }
    for (int k = 0; runtime.is_device(k); ++k) {
      const std::string own = bus_address(runtime, k);
      if (own != text && own.substr(own.find(':') + 1) != text) continue;
      *device = k;
      return cudaSuccess;
    }
    return cudaErrorInvalidDevice;
  });
}
// Each device can access each other's memory, once that was asked for. None is its own peer.
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (flags != 0) return cudaErrorInvalidValue;
    if (!runtime.is_device(peer)) return cudaErrorInvalidDevice;
    const unsigned own = emu::current_device(), other = static_cast<unsigned>(peer);
    if (other == own) return cudaErrorPeerAccessUnsupported;
    return runtime.peers.emplace(own, other).second ? cudaSuccess
                                                    : cudaErrorPeerAccessAlreadyEnabled;
  });
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!runtime.is_device(peer)) return cudaErrorInvalidDevice;
    return runtime.peers.erase({emu::current_device(), static_cast<unsigned>(peer)}) > 0
               ? cudaSuccess
               : cudaErrorPeerAccessNotEnabled;
  });
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr which, int device, int peer) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!runtime.is_device(device) || !runtime.is_device(peer) || device == peer) {
      return cudaErrorInvalidDevice;
    }
    if (value == nullptr) return cudaErrorInvalidValue;
    *value = which == cudaDevP2PAttrPerformanceRank ? 0 : 1;
    return cudaSuccess;
  });
}
/// There is no driver under the runtime, and so none of its functions.
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  return api(Needs::kNothing, [&](Runtime&) {
    if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
    *function = nullptr;
    if (found != nullptr) *found = cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
  });
}
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* found) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, found);
}
cudaError_t cudaCtxResetPersistingL2Cache() {
  return fine(Needs::kDevice);
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return api(Needs::kNothing, [&](Runtime&) {
    if (mode == nullptr) return cudaErrorInvalidValue;
    std::swap(*mode, emu::thread_capture_mode());
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api(Needs::kDevice, [&](Runtime&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return cudaSuccess;
  });
}
cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {.x = x, .y = y, .z = z, .w = w, .f = f};
}
cudaError_t cudaProfilerStart() {
  return fine(Needs::kDevice);
}
cudaError_t cudaProfilerStop() {
  return fine(Needs::kDevice);
}

cudaError_t cudaGetLastError() {
  asked();
  return std::exchange(last_error(), cudaSuccess);
}
cudaError_t cudaPeekAtLastError() {
  asked();
  return last_error();
}
const char* cudaGetErrorName(cudaError_t error) {
  if (error != cudaSuccess) asked();
  return emu::error_name(error);
}
const char* cudaGetErrorString(cudaError_t error) {
  if (error != cudaSuccess) asked();
  const ErrorText* known = error_text(error);
  return known == nullptr ? kNoSuchError : known->text;
}

}  // extern "C"
