// Memory pools. Every allocation is the device's own and freed at once, so that a pool has only to
// know what was asked of it and how much of it is in use.
#include <algorithm>
#include <cstring>

#include "cudart/runtime.hpp"

namespace {

using emu::api;
using emu::Needs;
using emu::Pool;
using emu::Runtime;

Pool* find(Runtime& runtime, cudaMemPool_t handle) {
  auto* pool = reinterpret_cast<Pool*>(handle);
  return pool == &runtime.default_pool || runtime.pools.contains(pool) ? pool : nullptr;
}

cudaMemPool_t handle(Pool* pool) {
  return reinterpret_cast<cudaMemPool_t>(pool);
}

bool of_device(const cudaMemLocation* location) {
  return location != nullptr && location->type == cudaMemLocationTypeDevice && location->id == 0;
}

cudaError_t no_second_pool() {
  emu::say("memory pools of a second device are not supported");
  return cudaErrorNotSupported;
}

/// The attributes that are ints; the others are numbers of bytes.
bool is_flag(cudaMemPoolAttr attribute) {
  return attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

/// The frame of a call about the device's pool, by the device's number.
template <class Body>
cudaError_t of_device_number(int device, const Body& body) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!runtime.is_device(device)) return cudaErrorInvalidDevice;
    return device == 0 ? body(runtime) : no_second_pool();
  });
}

template <class Body>
cudaError_t on_pool(cudaMemPool_t handle, const Body& body) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    Pool* pool = find(runtime, handle);
    return pool == nullptr ? cudaErrorInvalidValue : body(runtime, *pool);
  });
}

cudaError_t allocate(void** pointer, std::size_t size, Pool* from, const emu::StreamCall& call) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (size == 0) {
      *pointer = nullptr;
      return cudaSuccess;
    }
    if (emu::current_device() != 0 || runtime.device_of(call.stream) != 0) return no_second_pool();
    Pool& pool = from == nullptr ? *runtime.current_pool : *from;
    const auto address = runtime.memory().allocate(size, "cudaMallocAsync");
    if (!address) return runtime.out_of_memory("cudaMallocAsync", size);
    runtime.pooled[*address] = {&pool, size};
    runtime.tell_given(call, "allocates", *address, size);
    pool.used += size;
    pool.most_used = std::max(pool.most_used, pool.used);
    *pointer = reinterpret_cast<void*>(*address);
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream) {
  if (const auto no = emu::refuse_in_capture(stream, "cudaMallocAsync")) return *no;
  return allocate(pointer, size, nullptr, {"cudaMallocAsync", stream});
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return on_pool(pool, [](Runtime&, Pool&) { return cudaSuccess; }) == cudaSuccess
             ? allocate(pointer, size, reinterpret_cast<Pool*>(pool),
                        {"cudaMallocFromPoolAsync", stream})
             : cudaErrorInvalidValue;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return of_device_number(device, [&](Runtime& runtime) {
    if (pool == nullptr) return cudaErrorInvalidValue;
    *pool = handle(&runtime.default_pool);
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return of_device_number(device, [&](Runtime& runtime) {
    if (pool == nullptr) return cudaErrorInvalidValue;
    *pool = handle(runtime.current_pool);
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return of_device_number(device, [&](Runtime& runtime) {
    Pool* own = find(runtime, pool);
    if (own == nullptr) return cudaErrorInvalidValue;
    runtime.current_pool = own;
    return cudaSuccess;
  });
}
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType) {
  return of_device(location) ? cudaDeviceGetDefaultMemPool(pool, 0)
                             : api(Needs::kDevice, [](Runtime&) { return cudaErrorNotSupported; });
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                              cudaMemAllocationType) {
  return of_device(location) ? cudaDeviceGetMemPool(pool, 0)
                             : api(Needs::kDevice, [](Runtime&) { return cudaErrorNotSupported; });
}
cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType,
                              cudaMemPool_t pool) {
  return of_device(location) ? cudaDeviceSetMemPool(0, pool)
                             : api(Needs::kDevice, [](Runtime&) { return cudaErrorNotSupported; });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (pool == nullptr || properties == nullptr ||
        properties->allocType != cudaMemAllocationTypePinned || !of_device(&properties->location)) {
      return cudaErrorInvalidValue;
    }
    auto made = std::make_unique<Pool>();
    runtime.pools.insert(made.get());
    *pool = handle(made.release());
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return on_pool(pool, [](Runtime& runtime, Pool& own) {
    if (&own == &runtime.default_pool) return cudaErrorInvalidValue;
    if (runtime.current_pool == &own) runtime.current_pool = &runtime.default_pool;
    // Its allocations live on until they are freed.
    std::erase_if(runtime.pooled, [&](const auto& a) { return a.second.first == &own; });
    runtime.pools.erase(&own);
    delete &own;
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return on_pool(pool, [](Runtime&, Pool&) { return cudaSuccess; });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return on_pool(pool, [&](Runtime&, Pool& own) {
    if (value == nullptr) return cudaErrorInvalidValue;
    int flag = 0;
    std::uint64_t bytes = 0;
    if (is_flag(attribute)) {
      std::memcpy(&flag, value, sizeof flag);
    } else {
      std::memcpy(&bytes, value, sizeof bytes);
    }
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies: own.follow_events = flag; break;
      case cudaMemPoolReuseAllowOpportunistic: own.opportunistic = flag; break;
      case cudaMemPoolReuseAllowInternalDependencies: own.internal_dependencies = flag; break;
      case cudaMemPoolAttrReleaseThreshold: own.threshold = bytes; break;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        if (bytes != 0) return cudaErrorInvalidValue;  // it can be set back, no more
        own.most_used = own.used;
        break;
      default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return on_pool(pool, [&](Runtime&, Pool& own) {
    if (value == nullptr) return cudaErrorInvalidValue;
    const auto give = [&](const auto& what) { std::memcpy(value, &what, sizeof what); };
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies: give(own.follow_events); break;
      case cudaMemPoolReuseAllowOpportunistic: give(own.opportunistic); break;
      case cudaMemPoolReuseAllowInternalDependencies: give(own.internal_dependencies); break;
      case cudaMemPoolAttrReleaseThreshold: give(own.threshold); break;
      // What isn't in use isn't kept either.
      case cudaMemPoolAttrReservedMemCurrent:
      case cudaMemPoolAttrUsedMemCurrent: give(own.used); break;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh: give(own.most_used); break;
      default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list,
                                 std::size_t count) {
  return on_pool(pool, [&](Runtime&, Pool&) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!of_device(&list[i].location)) return cudaErrorInvalidDevice;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return on_pool(pool, [&](Runtime&, Pool&) {
    if (flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
    *flags = of_device(location) ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

}  // extern "C"
