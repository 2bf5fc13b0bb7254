// Memory: allocating, copying, setting, and the program's own variables on the device.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "cudart/copy.hpp"
#include "machine/text.hpp"

namespace {

using emu::Address;
using emu::Allocation;
using emu::api;
using emu::copy_rows;
using emu::Needs;
using emu::operation;
using emu::Part;
using emu::part_of;
using emu::Runtime;
using Kind = Allocation::Kind;
using emu::Operations;
using emu::StreamCall;

constexpr std::size_t kPitch = 512;  // as cudaMallocPitch gives on an H200

Address address_of(const void* pointer) {
  return reinterpret_cast<Address>(pointer);
}

/// Where a device pointer's bytes are; null unless one allocation holds all of them.
std::byte* on_device(Runtime& runtime, const void* pointer, std::size_t size) {
  const Allocation* a = runtime.memory().find(address_of(pointer), size);
  return a == nullptr ? nullptr : a->host + (address_of(pointer) - a->base);
}

bool is_host_memory(const Allocation* a) {
  return a != nullptr && (a->kind == Kind::kPinned || a->kind == Kind::kRegistered);
}

bool in_device_range(const void* pointer) {
  return address_of(pointer) >= emu::kSharedWindow && address_of(pointer) < emu::kGlobalEnd;
}

/// Whether the kind calls this side of a copy the device's.
bool is_device_side(cudaMemcpyKind kind, bool source) {
  return kind == cudaMemcpyDeviceToDevice ||
         kind == (source ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
}

/// The bytes behind one side of a copy; null when they can't be reached. What the kind calls the
/// device's must be memory that the device reaches. The other side is where its address says:
/// addresses are unified, and an H200 copies between device pointers whatever the kind.
std::byte* side(Runtime& runtime, const void* pointer, std::size_t size, cudaMemcpyKind kind,
                bool source) {
  return is_device_side(kind, source) || in_device_range(pointer)
             ? on_device(runtime, pointer, size)
             : static_cast<std::byte*>(const_cast<void*>(pointer));
}

/// What is wrong with one side of a copy or a set; empty where nothing is.
std::string wrong_side(Runtime& runtime, const char* which, const void* pointer, std::size_t size,
                       bool by_kind) {
  if (on_device(runtime, pointer, size) != nullptr) return "";
  if (!by_kind && !in_device_range(pointer)) return "";
  if (pointer == nullptr) return std::string("its ") + which + " is a null pointer";
  const std::string start =
      std::string("its ") + which + ", " + emu::hexadecimal(address_of(pointer));
  if (const auto symbol = runtime.symbols.find(pointer); symbol != runtime.symbols.end()) {
    return start + ", is the host's own address of " + symbol->second.name +
           ": cudaMemcpyToSymbol, cudaMemcpyFromSymbol and cudaGetSymbolAddress know the device's";
  }
  if (!in_device_range(pointer)) {
    return start + ", is host memory, and the copy's kind calls it the device's";
  }
  if (const Allocation* a = runtime.memory().freed(address_of(pointer))) {
    return start + ", is memory that was freed: " + std::to_string(a->size) + " bytes (" + a->what +
           ")";
  }
  const Allocation* a = runtime.memory().find(address_of(pointer), 1);
  if (a == nullptr) return start + ", is in no allocation";
  const std::uint64_t left = a->base + a->size - address_of(pointer);
  const std::string asked = emu::elements_for_bytes(left, size, a->what);
  return start + ", has " + std::to_string(left) + " bytes (" + a->what + "), and " +
         std::to_string(size) + " are asked for" + (asked.empty() ? "" : ": " + asked);
}

/// Says, once per kind, that a copy's kind calls a device pointer the host's: the documentation
/// leaves the result undefined.
void warn_of_kind(const void* to, const void* from, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return;
  const bool wrong_to = in_device_range(to) && !is_device_side(kind, false);
  const bool wrong_from = in_device_range(from) && !is_device_side(kind, true);
  if (!wrong_to && !wrong_from) return;
  static bool told[cudaMemcpyDefault] = {};
  if (std::exchange(told[kind], true)) return;
  constexpr const char* kNames[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                    "cudaMemcpyDeviceToHost"};
  emu::say(std::string("a copy with ") + kNames[kind] + " has a device pointer as its " +
           (wrong_to && wrong_from ? "source and destination"
            : wrong_to             ? "destination"
                                   : "source") +
           ": CUDA leaves that undefined, here the pointers decide");
}

/// Tells the race check what a copy touches, and when the call comes back: as CUDA's documentation
/// promises ("API synchronization behavior"), and no sooner.
void tell_order(Runtime& runtime, const StreamCall& call, const void* to, std::size_t to_pitch,
                const void* from, std::size_t from_pitch, std::size_t width, std::size_t height) {
  Operations* const order = runtime.operations();
  if (order == nullptr) return;
  order->touch_rows(Operations::kReads, address_of(from), from_pitch, width, height);
  order->touch_rows(Operations::kWrites, address_of(to), to_pitch, width, height);
  enum class Memory { kPageable, kPinned, kManaged, kDevice };
  const auto memory_of = [&](const void* pointer) {
    const Allocation* a = runtime.memory().find(address_of(pointer), 1);
    if (a == nullptr) return Memory::kPageable;
    if (a->kind == Kind::kManaged) return Memory::kManaged;
    return is_host_memory(a) ? Memory::kPinned : Memory::kDevice;
  };
  const Memory target = memory_of(to), source = memory_of(from);
  const auto on_host = [](Memory m) { return m == Memory::kPageable || m == Memory::kPinned; };
  if (on_host(target) && on_host(source)) {
    order->returns(Operations::Returns::kOnceDone);
  } else if (!call.waits || (target == Memory::kDevice && source == Memory::kDevice)) {
    order->returns(Operations::Returns::kAtOnce);
  } else {
    order->returns(target == Memory::kDevice && source == Memory::kPageable
                       ? Operations::Returns::kOnceRead
                       : Operations::Returns::kOnceDone);
  }
}

}  // namespace

namespace emu {

cudaError_t copy_rows(Runtime& runtime, const StreamCall& call, void* to, std::size_t to_pitch,
                      const void* from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (width == 0 || height == 0) return cudaSuccess;
  if (height > 1 && (to_pitch < width || from_pitch < width)) return cudaErrorInvalidPitchValue;
  // An extent past the end of the address space is past the end of everything.
  const std::size_t widest = std::max(to_pitch, from_pitch);
  if (height > 1 && widest > (SIZE_MAX - width) / (height - 1)) return cudaErrorInvalidValue;
  std::byte* target = side(runtime, to, to_pitch * (height - 1) + width, kind, false);
  const std::byte* source = side(runtime, from, from_pitch * (height - 1) + width, kind, true);
  if (target == nullptr || source == nullptr) {
    const std::string why = wrong_side(runtime, "destination", to, to_pitch * (height - 1) + width,
                                       is_device_side(kind, false)) +
                            wrong_side(runtime, "source", from, from_pitch * (height - 1) + width,
                                       is_device_side(kind, true));
    runtime.because(why);
    return cudaErrorInvalidValue;
  }
  warn_of_kind(to, from, kind);
  tell_order(runtime, call, to, to_pitch, from, from_pitch, width, height);
  for (std::size_t row = 0; row < height; ++row) {
    std::memmove(target + row * to_pitch, source + row * from_pitch, width);
    runtime.tell([&](emu::Observer& o) {
      const Address target_at = ::address_of(to) + row * to_pitch;
      const Address source_at = ::address_of(from) + row * from_pitch;
      if (in_device_range(to) && in_device_range(from)) {
        o.host_copied(target_at, source_at, width);
      } else if (in_device_range(to)) {
        o.host_wrote(target_at, width);
      } else if (in_device_range(from)) {
        o.host_read(source_at, width);
      }
    });
  }
  return cudaSuccess;
}

std::optional<Part> part_of(const cudaPitchedPtr& volume, const cudaPos& at,
                            const cudaExtent& extent) {
  const auto fits = [](std::size_t begin, std::size_t size, std::size_t all) {
    return begin <= all && size <= all - begin;
  };
  constexpr std::size_t kMost = std::size_t{1} << 46;  // no product of two overflows an address
  if (volume.pitch > kMost || volume.ysize > kMost || extent.depth > kMost || at.z > kMost ||
      !fits(at.x, extent.width, volume.pitch)) {
    return std::nullopt;
  }
  // A plane alone may be given without its height.
  const bool one_plane = extent.depth <= 1 && at.z == 0 && volume.ysize == 0;
  if (!one_plane && !fits(at.y, extent.height, volume.ysize)) return std::nullopt;
  const unsigned __int128 plane = static_cast<unsigned __int128>(volume.pitch) * volume.ysize;
  if (plane * (at.z + extent.depth) > kMost ||
      static_cast<unsigned __int128>(volume.pitch) * (at.y + extent.height) > kMost) {
    return std::nullopt;
  }
  const auto bytes = static_cast<std::size_t>(plane);
  return Part{static_cast<std::byte*>(volume.ptr) + at.z * bytes + at.y * volume.pitch + at.x,
              volume.pitch, bytes};
}

}  // namespace emu

namespace {

std::size_t span_of(const Part& part, const cudaExtent& extent) {
  return part.plane * (extent.depth - 1) + part.pitch * (extent.height - 1) + extent.width;
}

cudaError_t copy_volume(const cudaMemcpy3DParms* p, const StreamCall& call) {
  return operation(call, [&](Runtime& runtime) {
    if (p == nullptr) return cudaErrorInvalidValue;
    if (p->srcArray != nullptr || p->dstArray != nullptr) {
      return emu::copy_arrays(runtime, *p, call);
    }
    const cudaExtent& e = p->extent;
    if (p->kind < cudaMemcpyHostToHost || p->kind > cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    if (e.width == 0 || e.height == 0 || e.depth == 0) return cudaSuccess;
    if (e.width > p->dstPtr.pitch || e.width > p->srcPtr.pitch) return cudaErrorInvalidPitchValue;
    const auto to = part_of(p->dstPtr, p->dstPos, e), from = part_of(p->srcPtr, p->srcPos, e);
    if (!to || !from || side(runtime, to->first, span_of(*to, e), p->kind, false) == nullptr ||
        side(runtime, from->first, span_of(*from, e), p->kind, true) == nullptr) {
      return cudaErrorInvalidValue;
    }
    for (std::size_t z = 0; z < e.depth; ++z) {
      const cudaError_t status =
          copy_rows(runtime, call, to->first + z * to->plane, to->pitch,
                    from->first + z * from->plane, from->pitch, e.width, e.height, p->kind);
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  });
}

cudaError_t copy_plane(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                       std::size_t width, std::size_t height, cudaMemcpyKind kind,
                       const StreamCall& call) {
  return operation(call, [&](Runtime& runtime) {
    if (height == 1 && (width > to_pitch || width > from_pitch)) return cudaErrorInvalidValue;
    return copy_rows(runtime, call, to, to_pitch, from, from_pitch, width, height, kind);
  });
}

cudaError_t copy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind,
                 const StreamCall& call) {
  return operation(call, [&](Runtime& runtime) {
    return copy_rows(runtime, call, to, size, from, size, size, 1, kind);
  });
}

/// A set comes back at once, but where the host may look at what it sets.
void tell_order_of_set(Runtime& runtime, const StreamCall& call, const void* to, std::size_t pitch,
                       std::size_t width, std::size_t height) {
  Operations* const order = runtime.operations();
  if (order == nullptr) return;
  order->touch_rows(Operations::kWrites, address_of(to), pitch, width, height);
  const Allocation* a = runtime.memory().find(address_of(to), 1);
  const bool host_looks = is_host_memory(a) || (a != nullptr && a->kind == Kind::kManaged);
  order->returns(call.waits && host_looks ? Operations::Returns::kOnceDone
                                          : Operations::Returns::kAtOnce);
}

cudaError_t set_rows(Runtime& runtime, const StreamCall& call, void* to, std::size_t pitch,
                     int value, std::size_t width, std::size_t height) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (height > 1 && pitch < width) return cudaErrorInvalidValue;
  if (height > 1 && pitch > (SIZE_MAX - width) / (height - 1)) return cudaErrorInvalidValue;
  std::byte* target = on_device(runtime, to, pitch * (height - 1) + width);
  if (target == nullptr) {
    runtime.because(wrong_side(runtime, "destination", to, pitch * (height - 1) + width, true));
    return cudaErrorInvalidValue;
  }
  tell_order_of_set(runtime, call, to, pitch, width, height);
  for (std::size_t row = 0; row < height; ++row) {
    std::memset(target + row * pitch, value, width);
    runtime.tell([&](emu::Observer& o) { o.host_set(address_of(to) + row * pitch, width); });
  }
  return cudaSuccess;
}

/// The frame of a set, which is not waited for.
template <class Body>
cudaError_t set_operation(const StreamCall& call, const Body& body) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    return runtime.operate(call, [&] { return body(runtime); });
  });
}

cudaError_t set(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                const StreamCall& call) {
  return set_operation(call, [&](Runtime& runtime) {
    return set_rows(runtime, call, to, pitch, value, width, height);
  });
}

cudaError_t set_volume(const cudaPitchedPtr& volume, int value, const cudaExtent& e,
                       const StreamCall& call) {
  return set_operation(call, [&](Runtime& runtime) {
    if (e.width == 0 || e.height == 0 || e.depth == 0) return cudaSuccess;
    const auto to = part_of(volume, {}, e);
    if (!to || on_device(runtime, to->first, span_of(*to, e)) == nullptr) {
      return cudaErrorInvalidValue;
    }
    for (std::size_t z = 0; z < e.depth; ++z) {
      const cudaError_t status =
          set_rows(runtime, call, to->first + z * to->plane, to->pitch, value, e.width, e.height);
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  });
}

cudaError_t allocate(void** pointer, std::size_t size) {
  if (const auto no = emu::refuse_while_capturing(emu::Touches::kNoStream, "cudaMalloc")) {
    return *no;
  }
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (size == 0) return cudaSuccess;
    const auto address = runtime.memory().allocate(size, "cudaMalloc");
    if (!address) return runtime.out_of_memory("cudaMalloc", size);
    *pointer = reinterpret_cast<void*>(*address);
    return cudaSuccess;
  });
}

/// Frees as part of a stream's work, or by the host.
cudaError_t release(void* pointer, const StreamCall& call, bool in_stream) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (pointer == nullptr) return cudaSuccess;
    const Allocation* a = runtime.memory().find(address_of(pointer), 1);
    if (a == nullptr || a->base != address_of(pointer)) {
      const Allocation* before = runtime.memory().freed(address_of(pointer));
      const char* why = before != nullptr && before->base == address_of(pointer) ? "freed twice"
                        : a != nullptr ? "not the first address of what was allocated"
                                       : "no address of this device's memory";
      runtime.tell([&](emu::Observer& o) { o.refused_free(address_of(pointer), why); });
      return cudaErrorInvalidValue;
    }
    if (a->kind != Kind::kDevice && a->kind != Kind::kManaged) return cudaErrorInvalidValue;
    // cudaFree waits for work that uses the memory, where a pool didn't give it. CUDA says only
    // that it may, but its own libraries count on it.
    const auto pooled = runtime.pooled.find(a->base);
    const auto of_graph = runtime.graph_memory.find(a->base);
    if (in_stream) {
      runtime.tell_given(call, "frees", a->base, a->size);
    } else if (Operations* const order = runtime.operations();
               order &&
               (pooled != runtime.pooled.end() || of_graph != runtime.graph_memory.end())) {
      order->host_frees(call.name, *a, runtime.memory());
    }
    if (of_graph != runtime.graph_memory.end()) {  // its place is the graph's, for the next launch
      return std::exchange(of_graph->second->given, false) ? cudaSuccess : cudaErrorInvalidValue;
    }
    if (a->kind == Kind::kManaged) {
      return runtime.free_shared(pointer, Kind::kManaged) ? cudaSuccess : cudaErrorInvalidValue;
    }
    if (pooled != runtime.pooled.end()) {
      pooled->second.first->used -= pooled->second.second;
      runtime.pooled.erase(pooled);
    }
    runtime.memory().free(a->base);
    return cudaSuccess;
  });
}

void tell_of_free(Runtime& runtime, const char* call, const void* pointer, Kind kind) {
  Operations* const order = runtime.operations();
  if (order == nullptr) return;
  const Allocation* a = runtime.memory().find(address_of(pointer), 1);
  if (a != nullptr && a->kind == kind) order->host_frees(call, *a, runtime.memory());
}

cudaError_t allocate_shared(void** pointer, std::size_t size, unsigned flags, const char* what,
                            Kind kind) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    constexpr unsigned kPinned =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    const bool valid = kind == Kind::kManaged
                           ? flags == cudaMemAttachGlobal || flags == cudaMemAttachHost
                           : (flags & ~kPinned) == 0;
    if (pointer == nullptr || !valid) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (size == 0) return cudaSuccess;
    *pointer = runtime.allocate_shared(size, what, kind);
    if (*pointer == nullptr) return runtime.out_of_memory(what, size);
    if (kind == Kind::kPinned) {
      runtime.host_flags[address_of(*pointer)] = flags | unsigned{cudaHostAllocMapped};
    }
    return cudaSuccess;
  });
}

cudaError_t copy_symbol(const void* symbol, void* host, std::size_t size, std::size_t offset,
                        bool to_symbol, cudaMemcpyKind kind, const StreamCall& call) {
  return operation(call, [&](Runtime& runtime) {
    const auto [status, variable] = runtime.find_variable(symbol);
    if (status != cudaSuccess) return status;
    if (offset > variable->size || size > variable->size - offset) return cudaErrorInvalidValue;
    // What a symbol stands for is the device's, so that these kinds have the wrong direction.
    const cudaMemcpyKind away = to_symbol ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    if (kind == cudaMemcpyHostToHost || kind == away) return cudaErrorInvalidMemcpyDirection;
    void* device = reinterpret_cast<void*>(variable->address + offset);
    return to_symbol ? copy_rows(runtime, call, device, size, host, size, size, 1, kind)
                     : copy_rows(runtime, call, host, size, device, size, size, 1, kind);
  });
}

cudaError_t are_devices(int one, int other) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    return runtime.is_device(one) && runtime.is_device(other) ? cudaSuccess
                                                              : cudaErrorInvalidDevice;
  });
}

/// Calls that only advise: right, and without effect here.
cudaError_t advice() {
  return api(Needs::kDevice, [](Runtime&) { return cudaSuccess; });
}

}  // namespace

/// Rows of elements of 1, 2 or 4 bytes, as cudaGraphAddMemsetNode's.
cudaError_t emu::Runtime::set_elements(const cudaMemsetParams& set) {
  const std::size_t bytes = set.width * set.elementSize;
  for (std::size_t row = 0; row < set.height; ++row) {
    auto* const to = static_cast<std::byte*>(set.dst) + row * set.pitch;
    std::byte* const at = on_device(*this, to, bytes);
    if (at == nullptr) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < bytes; i += set.elementSize) {
      std::memcpy(at + i, &set.value, set.elementSize);
    }
    tell([&](emu::Observer& o) { o.host_set(reinterpret_cast<Address>(to), bytes); });
    if (Operations* const order = operations()) {
      order->touch(Operations::kWrites, reinterpret_cast<Address>(to), bytes);
    }
  }
  return cudaSuccess;
}

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t size) {
  return allocate(pointer, size);
}
cudaError_t cudaFree(void* pointer) {
  return release(pointer, {"cudaFree"}, false);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (const auto no = emu::refuse_in_capture(stream, "cudaFreeAsync")) return *no;
  return release(pointer, {"cudaFreeAsync", stream}, true);
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  if (pitch == nullptr || width > SIZE_MAX - kPitch ||
      (height != 0 && width + kPitch > SIZE_MAX / height)) {
    return api(Needs::kDevice, [](Runtime&) { return cudaErrorInvalidValue; });
  }
  *pitch = height == 0 ? 0 : (width + kPitch - 1) / kPitch * kPitch;
  return allocate(pointer, *pitch * height);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* volume, cudaExtent extent) {
  std::size_t rows = 0, pitch = 0;
  if (volume == nullptr || __builtin_mul_overflow(extent.height, extent.depth, &rows)) {
    return api(Needs::kDevice, [](Runtime&) { return cudaErrorInvalidValue; });
  }
  void* pointer = nullptr;
  const cudaError_t status = cudaMallocPitch(&pointer, &pitch, extent.width, rows);
  if (status == cudaSuccess) *volume = {pointer, pitch, extent.width, extent.height};
  return status;
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t size, unsigned flags) {
  return allocate_shared(pointer, size, flags, "cudaMallocManaged", Kind::kManaged);
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned flags) {
  return allocate_shared(pointer, size, flags, "cudaHostAlloc", Kind::kPinned);
}
cudaError_t cudaMallocHost(void** pointer, std::size_t size) {
  return allocate_shared(pointer, size, 0, "cudaMallocHost", Kind::kPinned);
}
cudaError_t cudaFreeHost(void* pointer) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    tell_of_free(runtime, "cudaFreeHost", pointer, Kind::kPinned);
    return pointer == nullptr || runtime.free_shared(pointer, Kind::kPinned)
               ? cudaSuccess
               : cudaErrorInvalidValue;
  });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned flags) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    constexpr unsigned kAll = cudaHostRegisterPortable | cudaHostRegisterMapped |
                              cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    if (pointer == nullptr || size == 0 || in_device_range(pointer) || (flags & ~kAll) != 0) {
      return cudaErrorInvalidValue;
    }
    if (!runtime.memory().map(pointer, size, "cudaHostRegister", Kind::kRegistered)) {
      return cudaErrorHostMemoryAlreadyRegistered;
    }
    runtime.host_flags[address_of(pointer)] = flags | unsigned{cudaHostRegisterMapped};
    return cudaSuccess;
  });
}
cudaError_t cudaHostUnregister(void* pointer) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const Allocation* a = runtime.memory().find(address_of(pointer), 1);
    if (a == nullptr || a->kind != Kind::kRegistered) return cudaErrorHostMemoryNotRegistered;
    if (a->base != address_of(pointer)) return cudaErrorInvalidValue;
    tell_of_free(runtime, "cudaHostUnregister", pointer, Kind::kRegistered);
    runtime.memory().free(a->base);
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const Allocation* a = runtime.memory().find(address_of(host), 1);
    if (device == nullptr || flags != 0 || !is_host_memory(a)) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}
cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const Allocation* a = runtime.memory().find(address_of(host), 1);
    if (flags == nullptr || !is_host_memory(a)) return cudaErrorInvalidValue;
    *flags = runtime.host_flags[a->base];
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    void* const itself = const_cast<void*>(pointer);
    const Allocation* a = runtime.memory().find(address_of(pointer), 1);
    if (a == nullptr) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = -2;  // cudaInvalidDeviceId
      attributes->hostPointer = itself;
      return cudaSuccess;
    }
    attributes->devicePointer = itself;
    attributes->device = static_cast<int>(a->device);
    switch (a->kind) {
      case Kind::kDevice:
      case Kind::kVariable: attributes->type = cudaMemoryTypeDevice; break;
      case Kind::kPinned:
      case Kind::kRegistered:
        attributes->type = cudaMemoryTypeHost;
        attributes->hostPointer = itself;
        break;
      case Kind::kManaged:
        attributes->type = cudaMemoryTypeManaged;
        attributes->hostPointer = itself;
        break;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (free != nullptr) *free = runtime.memory().free_bytes();
    if (total != nullptr) *total = runtime.profile()->global_bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
  return copy(to, from, size, kind, {"cudaMemcpy", nullptr, true});
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemcpy, [=] {
        return cudaMemcpyAsync(to, from, size, kind, nullptr);
      })) {
    return *taken;
  }
  return copy(to, from, size, kind, {"cudaMemcpyAsync", stream});
}
cudaError_t cudaMemcpyPeer(void* to, int target, const void* from, int source, std::size_t size) {
  if (const cudaError_t bad = are_devices(target, source); bad != cudaSuccess) return bad;
  return copy(to, from, size, cudaMemcpyDeviceToDevice, {"cudaMemcpyPeer", nullptr, true});
}
cudaError_t cudaMemcpyPeerAsync(void* to, int target, const void* from, int source,
                                std::size_t size, cudaStream_t stream) {
  if (const cudaError_t bad = are_devices(target, source); bad != cudaSuccess) return bad;
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemcpy, [=] {
        return cudaMemcpyPeerAsync(to, target, from, source, size, nullptr);
      })) {
    return *taken;
  }
  return copy(to, from, size, cudaMemcpyDeviceToDevice, {"cudaMemcpyPeerAsync", stream});
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy_plane(to, to_pitch, from, from_pitch, width, height, kind,
                    {"cudaMemcpy2D", nullptr, true});
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemcpy, [=] {
        return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
      })) {
    return *taken;
  }
  return copy_plane(to, to_pitch, from, from_pitch, width, height, kind,
                    {"cudaMemcpy2DAsync", stream});
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return copy_volume(parameters, {"cudaMemcpy3D", nullptr, true});
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  if (parameters != nullptr) {
    if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemcpy, [kept = *parameters] {
          return cudaMemcpy3DAsync(&kept, nullptr);
        })) {
      return *taken;
    }
  }
  return copy_volume(parameters, {"cudaMemcpy3DAsync", stream});
}
cudaError_t cudaMemset3D(cudaPitchedPtr volume, int value, cudaExtent extent) {
  return set_volume(volume, value, extent, {"cudaMemset3D", nullptr, true});
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr volume, int value, cudaExtent extent,
                              cudaStream_t stream) {
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemset, [=] {
        return cudaMemset3DAsync(volume, value, extent, nullptr);
      })) {
    return *taken;
  }
  return set_volume(volume, value, extent, {"cudaMemset3DAsync", stream});
}

cudaError_t cudaMemset(void* to, int value, std::size_t size) {
  return set(to, size, value, size, 1, {"cudaMemset", nullptr, true});
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t size, cudaStream_t stream) {
  if (size == 0)
    return set(to, size, value, size, 1,
               {"cudaMemsetAsync", stream});  // in no graph, even of a lost capture
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemset,
                                      [=] { return cudaMemsetAsync(to, value, size, nullptr); })) {
    return *taken;
  }
  return set(to, size, value, size, 1, {"cudaMemsetAsync", stream});
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return set(to, pitch, value, width, height, {"cudaMemset2D", nullptr, true});
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemset, [=] {
        return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
      })) {
    return *taken;
  }
  return set(to, pitch, value, width, height, {"cudaMemset2DAsync", stream});
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t size,
                               std::size_t offset, cudaMemcpyKind kind) {
  return copy_symbol(symbol, const_cast<void*>(from), size, offset, true, kind,
                     {"cudaMemcpyToSymbol", nullptr, true});
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t size,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemcpy, [=] {
        return cudaMemcpyToSymbolAsync(symbol, from, size, offset, kind, nullptr);
      })) {
    return *taken;
  }
  return copy_symbol(symbol, const_cast<void*>(from), size, offset, true, kind,
                     {"cudaMemcpyToSymbolAsync", stream});
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t size, std::size_t offset,
                                 cudaMemcpyKind kind) {
  return copy_symbol(symbol, to, size, offset, false, kind,
                     {"cudaMemcpyFromSymbol", nullptr, true});
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t size,
                                      std::size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemcpy, [=] {
        return cudaMemcpyFromSymbolAsync(to, symbol, size, offset, kind, nullptr);
      })) {
    return *taken;
  }
  return copy_symbol(symbol, to, size, offset, false, kind, {"cudaMemcpyFromSymbolAsync", stream});
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const auto [status, variable] = runtime.find_variable(symbol);
    if (status == cudaSuccess) *pointer = reinterpret_cast<void*>(variable->address);
    return status;
  });
}
cudaError_t cudaGetSymbolSize(std::size_t* size, const void* symbol) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (size == nullptr) return cudaErrorInvalidValue;
    const auto [status, variable] = runtime.find_variable(symbol);
    if (status == cudaSuccess) *size = variable->size;
    return status;
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, std::size_t, unsigned) {
  return advice();
}

}  // extern "C"
