// What the device is, versions, limits and errors.
#include <algorithm>
#include <utility>

#include "runtime.hpp"

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
#include "errors.inc"
};
constexpr const char* kNoSuchError = "unrecognized error code";

const ErrorText* error_text(cudaError_t error) {
  const auto* at = std::ranges::lower_bound(kErrors, static_cast<int>(error), {}, &ErrorText::code);
  return at != std::end(kErrors) && at->code == static_cast<int>(error) ? at : nullptr;
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
}  // namespace emu

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return give(Needs::kNothing, count, [](Runtime&) { return 1; });
}
cudaError_t cudaGetDevice(int* device) {
  return give(Needs::kNothing, device, [](Runtime&) { return 0; });
}
cudaError_t cudaSetDevice(int device) {
  return api(Needs::kNothing,
             [&](Runtime&) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return cudaSetDevice(device);
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  return cudaGetDevice(device);
}
cudaError_t cudaSetValidDevices(int*, int) {
  return fine(Needs::kNothing);
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
    runtime.device_flags = flags;
    return cudaSuccess;
  });
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return give(Needs::kNothing, flags, [](Runtime& runtime) { return runtime.device_flags; });
}

/// Under the name of its version: CUDA 12's headers call it cudaGetDeviceProperties_v2.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    fill(*properties, *runtime.profile());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    const auto& all = runtime.profile()->attributes;
    const auto at = all.find(which);
    if (at == all.end()) return cudaErrorInvalidValue;
    *value = at->second;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  return give(Needs::kNothing, can, [](Runtime&) { return 0; });
}
cudaError_t cudaDriverGetVersion(int* version) {
  return give(Needs::kNothing, version, [](Runtime&) { return CUDART_VERSION; });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return give(Needs::kNothing, version, [](Runtime&) { return CUDART_VERSION; });
}

cudaError_t cudaDeviceSynchronize() {
  return fine(Needs::kDevice);
}
cudaError_t cudaDeviceReset() {
  return api(Needs::kNothing, [](Runtime& runtime) {
    runtime.reset();
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return fine(Needs::kDevice);
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return give(Needs::kDevice, config, [](Runtime&) { return cudaFuncCachePreferNone; });
}
cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) {
  return fine(Needs::kDevice);
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
  return std::exchange(last_error(), cudaSuccess);
}
cudaError_t cudaPeekAtLastError() {
  return last_error();
}
const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* known = error_text(error);
  return known == nullptr ? kNoSuchError : known->name;
}
const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* known = error_text(error);
  return known == nullptr ? kNoSuchError : known->text;
}

}  // extern "C"
