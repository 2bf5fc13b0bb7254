// CUDA arrays: making and freeing them, and copies to and from them.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "cudart/copy.hpp"
#include "cudart/images.hpp"

namespace emu {

Array* Images::find(cudaArray_const_t array) const {
  if (const auto at = arrays.find(array); at != arrays.end()) return at->second.get();
  for (const auto& [key, all] : levels) {
    for (const auto& one : all->levels) {
      if (static_cast<const void*>(one.get()) == array) return one.get();
    }
  }
  return nullptr;
}

std::optional<TexelFormat> format_of(const cudaChannelFormatDesc& d) {
  const std::array<int, 4> bits = {d.x, d.y, d.z, d.w};
  const auto channels = static_cast<std::size_t>(std::ranges::find(bits, 0) - bits.begin());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i] != (i < channels ? d.x : 0)) return std::nullopt;
  }
  const bool is_float = d.f == cudaChannelFormatKindFloat;
  const bool known =
      is_float || d.f == cudaChannelFormatKindSigned || d.f == cudaChannelFormatKindUnsigned;
  if (!known || (channels != 1 && channels != 2 && channels != 4)) return std::nullopt;
  if (d.x != 32 && d.x != 16 && (d.x != 8 || is_float)) return std::nullopt;
  return TexelFormat{.kind = is_float                             ? TexelFormat::Kind::kFloat
                             : d.f == cudaChannelFormatKindSigned ? TexelFormat::Kind::kSigned
                                                                  : TexelFormat::Kind::kUnsigned,
                     .bits = static_cast<std::uint8_t>(d.x),
                     .channels = static_cast<std::uint8_t>(channels)};
}

namespace {

constexpr std::size_t kRowAlignment = 32;

Array* array_of(Runtime& runtime, cudaArray_const_t array) {
  return runtime.images->find(array);
}

/// Whether there is an array of that extent with those flags. (Which are known: the others an H200
/// takes and forgets.)
bool fits(const Profile& p, const cudaExtent& e, unsigned flags) {
  const auto within = [&](std::size_t size, cudaDeviceAttr which) {
    return size <= static_cast<std::size_t>(p.attribute(which));
  };
  const bool layered = flags & cudaArrayLayered, cube = flags & cudaArrayCubemap;
  if (e.width == 0 || (flags & cudaArrayTextureGather && (e.height == 0 || e.depth != 0))) {
    return false;
  }
  if (cube) {
    return e.width == e.height && (layered ? e.depth % 6 == 0 && e.depth > 0 : e.depth == 6) &&
           within(e.width, cudaDevAttrMaxTextureCubemapWidth);
  }
  if (layered) {
    return e.depth != 0 &&
           (e.height == 0 ? within(e.width, cudaDevAttrMaxTexture1DLayeredWidth) &&
                                within(e.depth, cudaDevAttrMaxTexture1DLayeredLayers)
                          : within(e.width, cudaDevAttrMaxTexture2DLayeredWidth) &&
                                within(e.height, cudaDevAttrMaxTexture2DLayeredHeight) &&
                                within(e.depth, cudaDevAttrMaxTexture2DLayeredLayers));
  }
  if (e.depth != 0) {
    return e.height != 0 && within(e.width, cudaDevAttrMaxTexture3DWidth) &&
           within(e.height, cudaDevAttrMaxTexture3DHeight) &&
           within(e.depth, cudaDevAttrMaxTexture3DDepth);
  }
  return e.height == 0 ? within(e.width, cudaDevAttrMaxTexture1DWidth)
                       : within(e.width, cudaDevAttrMaxTexture2DWidth) &&
                             within(e.height, cudaDevAttrMaxTexture2DHeight);
}

/// An array whose texels have no place yet.
std::unique_ptr<Array> describe(const cudaChannelFormatDesc& desc, const TexelFormat& format,
                                const cudaExtent& e, unsigned flags) {
  auto made = std::make_unique<Array>();
  made->desc = desc;
  made->extent = e;
  made->flags = flags & (cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap |
                         cudaArrayTextureGather);
  Image& image = made->image;
  using Shape = Image::Shape;
  const bool sheets = flags & (cudaArrayLayered | cudaArrayCubemap);
  image.shape = sheets     ? e.height ? Shape::kSheets : Shape::kLines
                : e.depth  ? Shape::kDeep
                : e.height ? Shape::kFlat
                           : Shape::kLine;
  image.format = format;
  image.width = static_cast<std::uint32_t>(e.width);
  image.height = static_cast<std::uint32_t>(std::max<std::size_t>(e.height, 1));
  image.depth = static_cast<std::uint32_t>(std::max<std::size_t>(e.depth, 1));
  image.pitch = (e.width * format.bytes() + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  image.sheet = image.pitch * image.height;
  image.bytes = image.sheet * image.depth;
  return made;
}

cudaError_t make_array(const char* call, cudaArray_t* array, const cudaChannelFormatDesc* desc,
                       const cudaExtent& e, unsigned flags) {
  if (const auto no = refuse_while_capturing(Touches::kNoStream, call)) return *no;
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (array == nullptr || desc == nullptr || !fits(*runtime.profile(), e, flags)) {
      return cudaErrorInvalidValue;
    }
    const auto format = format_of(*desc);
    if (!format) return cudaErrorInvalidChannelDescriptor;
    auto made = describe(*desc, *format, e, flags);
    const auto at = runtime.memory().allocate(made->image.bytes, call);
    if (!at) return runtime.out_of_memory(call, made->image.bytes);
    made->image.base = *at;
    *array = reinterpret_cast<cudaArray_t>(made.get());
    runtime.images->arrays.emplace(made.get(), std::move(made));
    return cudaSuccess;
  });
}

// --- Copies ---------------------------------------------------------------------------------

std::byte* first_of(const Image& image) {
  return reinterpret_cast<std::byte*>(image.base);
}

bool inside(std::size_t begin, std::size_t size, std::size_t all) {
  return begin <= all && size <= all - begin;
}

/// What a copy between an array and memory may be called.
bool may_be(cudaMemcpyKind kind, bool to_array) {
  return kind == cudaMemcpyDefault || kind == cudaMemcpyDeviceToDevice ||
         kind == (to_array ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
}

struct Rows {
  std::size_t x, y;  ///< of the array: bytes, and rows
  std::size_t width, height;
};

/// Between an array's rows and memory.
cudaError_t copy_plane(cudaArray_const_t array, const Rows& rows, void* memory, std::size_t pitch,
                       bool to_array, cudaMemcpyKind kind, const StreamCall& call) {
  return operation(call, [&](Runtime& runtime) {
    if (!may_be(kind, to_array)) return cudaErrorInvalidMemcpyDirection;
    if (pitch < rows.width) return cudaErrorInvalidPitchValue;
    const Array* const a = array_of(runtime, array);
    if (a == nullptr) return cudaErrorInvalidResourceHandle;
    if (rows.width == 0 || rows.height == 0) return cudaSuccess;
    const Image& image = a->image;
    if (memory == nullptr || !inside(rows.x, rows.width, image.width * image.format.bytes()) ||
        !inside(rows.y, rows.height, image.height)) {
      return cudaErrorInvalidValue;
    }
    std::byte* const at = first_of(image) + rows.y * image.pitch + rows.x;
    return to_array ? copy_rows(runtime, call, at, image.pitch, memory, pitch, rows.width,
                                rows.height, kind)
                    : copy_rows(runtime, call, memory, pitch, at, image.pitch, rows.width,
                                rows.height, kind);
  });
}

/// f(where in the array, bytes from the first, bytes) for each row's part of so many bytes.
template <class F>
cudaError_t each_row(const Image& image, std::size_t x, std::size_t y, std::size_t bytes,
                     const F& f) {
  const std::size_t row = image.width * image.format.bytes();
  if (x > row || y > image.height || bytes > (image.height - y) * row - std::min(x, row)) {
    return cudaErrorInvalidValue;
  }
  for (std::size_t done = 0; done < bytes; x = 0, ++y) {
    const std::size_t part = std::min(row - x, bytes - done);
    const cudaError_t status = f(first_of(image) + y * image.pitch + x, done, part);
    if (status != cudaSuccess) return status;
    done += part;
  }
  return cudaSuccess;
}

/// Bytes that go on in the next row where one ends.
cudaError_t copy_line(cudaArray_const_t array, std::size_t x, std::size_t y, void* memory,
                      std::size_t bytes, bool to_array, cudaMemcpyKind kind,
                      const StreamCall& call) {
  return operation(call, [&](Runtime& runtime) {
    if (!may_be(kind, to_array)) return cudaErrorInvalidMemcpyDirection;
    const Array* const a = array_of(runtime, array);
    if (a == nullptr) return cudaErrorInvalidResourceHandle;
    return each_row(a->image, x, y, bytes, [&](std::byte* at, std::size_t from, std::size_t part) {
      std::byte* const there = static_cast<std::byte*>(memory) + from;
      return to_array ? copy_rows(runtime, call, at, part, there, part, part, 1, kind)
                      : copy_rows(runtime, call, there, part, at, part, part, 1, kind);
    });
  });
}

}  // namespace

cudaError_t copy_arrays(Runtime& runtime, const cudaMemcpy3DParms& p, const StreamCall& call) {
  const Array *const from = p.srcArray ? array_of(runtime, p.srcArray) : nullptr,
                     *const to = p.dstArray ? array_of(runtime, p.dstArray) : nullptr;
  if ((p.srcArray && !from) || (p.dstArray && !to)) return cudaErrorInvalidResourceHandle;
  const cudaExtent& e = p.extent;
  if (e.width == 0 || e.height == 0 || e.depth == 0) return cudaSuccess;
  // Each side is one or the other, and the kind says that the array is the device's.
  if ((p.srcArray && p.srcPtr.ptr) || (p.dstArray && p.dstPtr.ptr)) return cudaErrorInvalidValue;
  const bool named = (!from || may_be(p.kind, false)) && (!to || may_be(p.kind, true));
  const std::size_t texel = (from ? from : to)->image.format.bytes();
  if (!named || (from && to && to->image.format.bytes() != texel)) return cudaErrorInvalidValue;
  const cudaExtent bytes = {e.width * texel, e.height, e.depth};
  const auto part = [&](const Array* array, const cudaPitchedPtr& memory,
                        const cudaPos& at) -> std::optional<Part> {
    if (array == nullptr) return part_of(memory, {at.x * texel, at.y, at.z}, bytes);
    const Image& i = array->image;
    if (!inside(at.x, e.width, i.width) || !inside(at.y, e.height, i.height) ||
        !inside(at.z, e.depth, i.depth)) {
      return std::nullopt;
    }
    return Part{first_of(i) + at.z * i.sheet + at.y * i.pitch + at.x * texel, i.pitch, i.sheet};
  };
  const auto source = part(from, p.srcPtr, p.srcPos), target = part(to, p.dstPtr, p.dstPos);
  if (!source || !target) return cudaErrorInvalidValue;
  for (std::size_t z = 0; z < e.depth; ++z) {
    const cudaError_t status =
        copy_rows(runtime, call, target->first + z * target->plane, target->pitch,
                  source->first + z * source->plane, source->pitch, bytes.width, e.height, p.kind);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

}  // namespace emu

using emu::api;
using emu::Array;
using emu::Needs;
using emu::Runtime;

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                            std::size_t width, std::size_t height, unsigned flags) {
  return emu::make_array("cudaMallocArray", array, desc, {width, height, 0}, flags);
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                              cudaExtent extent, unsigned flags) {
  return emu::make_array("cudaMalloc3DArray", array, desc, extent, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (array == nullptr) return cudaSuccess;
    const Array* const a = runtime.images->find(array);
    if (a == nullptr) return cudaErrorInvalidResourceHandle;
    if (a->of_levels) return cudaSuccess;  // nothing is freed yet
    runtime.memory().free(a->image.base);
    runtime.images->arrays.erase(array);
    return cudaSuccess;
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const Array* const a = runtime.images->find(array);
    if (a == nullptr) return cudaErrorInvalidResourceHandle;
    if (desc != nullptr) *desc = a->desc;
    if (extent != nullptr) *extent = a->extent;
    if (flags != nullptr) *flags = a->flags;
    return cudaSuccess;
  });
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const Array* const a = runtime.images->find(array);
    if (a == nullptr) return cudaErrorInvalidResourceHandle;
    if (desc == nullptr) return cudaErrorInvalidValue;
    *desc = a->desc;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* desc,
                                     cudaExtent extent, unsigned count, unsigned flags) {
  constexpr const char* kCall = "cudaMallocMipmappedArray";
  if (const auto no = emu::refuse_while_capturing(emu::Touches::kNoStream, kCall)) return *no;
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (array == nullptr || desc == nullptr || !emu::fits(*runtime.profile(), extent, flags)) {
      return cudaErrorInvalidValue;
    }
    const auto format = emu::format_of(*desc);
    if (!format) return cudaErrorInvalidChannelDescriptor;
    auto all = std::make_unique<emu::Levels>();
    const bool sheets = flags & (cudaArrayLayered | cudaArrayCubemap);
    count = std::max(count, 1u);
    for (cudaExtent e = extent; all->levels.size() < count;) {
      auto one = emu::describe(*desc, *format, e, flags);
      one->of_levels = true;
      one->image.base = all->bytes;  // from the first on
      constexpr std::uint64_t kStep = emu::kAllocationAlignment;
      all->bytes += (one->image.bytes + kStep - 1) / kStep * kStep;
      all->levels.push_back(std::move(one));
      if (e.width <= 1 && e.height <= 1 && (sheets || e.depth <= 1)) break;
      const auto half = [](std::size_t n) { return n > 1 ? n / 2 : n; };
      e = {half(e.width), half(e.height), sheets ? e.depth : half(e.depth)};
    }
    const auto at = runtime.memory().allocate(all->bytes, kCall);
    if (!at) return runtime.out_of_memory(kCall, all->bytes);
    all->base = *at;
    for (const auto& one : all->levels) one->image.base += *at;
    *array = reinterpret_cast<cudaMipmappedArray_t>(all.get());
    runtime.images->levels.emplace(all.get(), std::move(all));
    return cudaSuccess;
  });
}
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* array, cudaMipmappedArray_const_t levels,
                                       unsigned level) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (array == nullptr) return cudaErrorInvalidValue;
    const auto at = runtime.images->levels.find(levels);
    if (at == runtime.images->levels.end()) return cudaErrorInvalidResourceHandle;
    if (level >= at->second->levels.size()) return cudaErrorInvalidValue;
    *array = reinterpret_cast<cudaArray_t>(at->second->levels[level].get());
    return cudaSuccess;
  });
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t levels) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (levels == nullptr) return cudaSuccess;
    const auto at = runtime.images->levels.find(levels);
    if (at == runtime.images->levels.end()) return cudaErrorInvalidResourceHandle;
    runtime.memory().free(at->second->base);
    runtime.images->levels.erase(at);
    return cudaSuccess;
  });
}

// Copies of a plane.

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return emu::copy_plane(to, {x, y, width, height}, const_cast<void*>(from), pitch, true, kind,
                         {"cudaMemcpy2DToArray", nullptr, true});
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemcpy, [=] {
        return cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, nullptr);
      })) {
    return *taken;
  }
  return emu::copy_plane(to, {x, y, width, height}, const_cast<void*>(from), pitch, true, kind,
                         {"cudaMemcpy2DToArrayAsync", stream});
}
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind) {
  return emu::copy_plane(from, {x, y, width, height}, to, pitch, false, kind,
                         {"cudaMemcpy2DFromArray", nullptr, true});
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemcpy, [=] {
        return cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, nullptr);
      })) {
    return *taken;
  }
  return emu::copy_plane(from, {x, y, width, height}, to, pitch, false, kind,
                         {"cudaMemcpy2DFromArrayAsync", stream});
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return emu::operation({"cudaMemcpy2DArrayToArray", nullptr, true}, [&](Runtime& runtime) {
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    const Array *const source = runtime.images->find(from), *const target =
                                                                runtime.images->find(to);
    if (source == nullptr || target == nullptr) return cudaErrorInvalidResourceHandle;
    const auto fits = [&](const emu::Image& i, std::size_t at_x, std::size_t at_y) {
      return emu::inside(at_x, width, i.width * i.format.bytes()) &&
             emu::inside(at_y, height, i.height);
    };
    const emu::Image &s = source->image, &t = target->image;
    if (!fits(s, x, y) || !fits(t, to_x, to_y)) return cudaErrorInvalidValue;
    return emu::copy_rows(runtime, {"cudaMemcpy2DArrayToArray", nullptr, true},
                          emu::first_of(t) + to_y * t.pitch + to_x, t.pitch,
                          emu::first_of(s) + y * s.pitch + x, s.pitch, width, height, kind);
  });
}

// Copies of bytes in a row, which CUDA's headers still have and call old.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind) {
  return emu::copy_line(to, x, y, const_cast<void*>(from), bytes, true, kind,
                        {"cudaMemcpyToArray", nullptr, true});
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                   std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemcpy, [=] {
        return cudaMemcpyToArrayAsync(to, x, y, from, bytes, kind, nullptr);
      })) {
    return *taken;
  }
  return emu::copy_line(to, x, y, const_cast<void*>(from), bytes, true, kind,
                        {"cudaMemcpyToArrayAsync", stream});
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind) {
  return emu::copy_line(from, x, y, to, bytes, false, kind, {"cudaMemcpyFromArray", nullptr, true});
}
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeMemcpy, [=] {
        return cudaMemcpyFromArrayAsync(to, from, x, y, bytes, kind, nullptr);
      })) {
    return *taken;
  }
  return emu::copy_line(from, x, y, to, bytes, false, kind, {"cudaMemcpyFromArrayAsync", stream});
}
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                   cudaArray_const_t from, std::size_t x, std::size_t y,
                                   std::size_t bytes, cudaMemcpyKind kind) {
  return emu::operation({"cudaMemcpyArrayToArray", nullptr, true}, [&](Runtime& runtime) {
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    const Array *const source = runtime.images->find(from), *const target =
                                                                runtime.images->find(to);
    if (source == nullptr || target == nullptr) return cudaErrorInvalidResourceHandle;
    const std::size_t row = target->image.width * target->image.format.bytes();
    return emu::each_row(
        source->image, x, y, bytes, [&](std::byte* at, std::size_t done, std::size_t part) {
          const std::size_t begin = to_y * row + to_x + done;
          return emu::each_row(target->image, begin % row, begin / row, part,
                               [&](std::byte* there, std::size_t from_here, std::size_t piece) {
                                 return emu::copy_rows(
                                     runtime, {"cudaMemcpyArrayToArray", nullptr, true}, there,
                                     piece, at + from_here, piece, piece, 1, kind);
                               });
        });
  });
}

#pragma GCC diagnostic pop

}  // extern "C"
