// Texture and surface objects: what a kernel's handle stands for.
#include <algorithm>
#include <cstring>
#include <limits>

#include "cudart/images.hpp"
#include "cudart/runtime.hpp"

namespace {

using emu::Address;
using emu::api;
using emu::Array;
using emu::Image;
using emu::Images;
using emu::Needs;
using emu::Runtime;
using emu::TexelFormat;
using emu::Texture;

std::size_t alignment(const Runtime& runtime, cudaDeviceAttr which) {
  return static_cast<std::size_t>(runtime.profile()->attribute(which));
}

/// What is there behind an address: no more than its allocation has.
std::uint64_t reachable(Runtime& runtime, Address base, std::uint64_t bytes) {
  const emu::Allocation* a = runtime.memory().find(base, 1);
  return a == nullptr ? 0 : std::min(bytes, a->base + a->size - base);
}

/// The texels that a description names.
cudaError_t take_resource(Runtime& runtime, const cudaResourceDesc& r, Texture& to) {
  Image& image = to.image;
  switch (r.resType) {
    case cudaResourceTypeArray: {
      const Array* const a = runtime.images->find(r.res.array.array);
      if (a == nullptr) return cudaErrorInvalidResourceHandle;
      image = a->image;
      to.cube = a->flags & cudaArrayCubemap;
      if (to.cube && a->flags & cudaArrayLayered) to.unsupported = "layers of cubemaps";
      return cudaSuccess;
    }
    case cudaResourceTypeMipmappedArray: {
      const auto at = runtime.images->levels.find(r.res.mipmap.mipmap);
      if (at == runtime.images->levels.end()) return cudaErrorInvalidResourceHandle;
      image = at->second->levels.front()->image;
      image.bytes = at->second->bytes;
      for (const auto& one : at->second->levels) to.levels.push_back(one->image);
      if (image.layered() || image.shape == Image::Shape::kDeep) {
        to.unsupported = "levels of layers or of three dimensions in a texture";
      }
      return cudaSuccess;
    }
    case cudaResourceTypeLinear:
    case cudaResourceTypePitch2D: break;
    default: return cudaErrorInvalidValue;
  }
  const bool linear = r.resType == cudaResourceTypeLinear;
  const auto format = emu::format_of(linear ? r.res.linear.desc : r.res.pitch2D.desc);
  if (!format) return cudaErrorInvalidChannelDescriptor;
  image.format = *format;
  image.base = reinterpret_cast<Address>(linear ? r.res.linear.devPtr : r.res.pitch2D.devPtr);
  if (image.base % alignment(runtime, cudaDevAttrTextureAlignment)) return cudaErrorInvalidValue;
  if (linear) {
    const std::size_t texels = r.res.linear.sizeInBytes / format->bytes();
    image.shape = Image::Shape::kMemory;
    image.width = static_cast<std::uint32_t>(
        std::min<std::size_t>(texels, std::numeric_limits<std::uint32_t>::max()));
    image.bytes = reachable(runtime, image.base, r.res.linear.sizeInBytes);
    return cudaSuccess;
  }
  const auto& p = r.res.pitch2D;
  const auto most = [&](cudaDeviceAttr which) { return alignment(runtime, which); };
  if (p.pitchInBytes % most(cudaDevAttrTexturePitchAlignment) || p.width == 0 || p.height == 0 ||
      p.width > most(cudaDevAttrMaxTexture2DLinearWidth) ||
      p.height > most(cudaDevAttrMaxTexture2DLinearHeight) ||
      p.pitchInBytes > most(cudaDevAttrMaxTexture2DLinearPitch)) {
    return cudaErrorInvalidValue;
  }
  image.shape = Image::Shape::kFlat;
  image.width = static_cast<std::uint32_t>(p.width);
  image.height = static_cast<std::uint32_t>(p.height);
  image.pitch = p.pitchInBytes;
  image.bytes =
      reachable(runtime, image.base, p.pitchInBytes * (p.height - 1) + p.width * format->bytes());
  return cudaSuccess;
}

/// How they are read.
cudaError_t take_texture(const cudaTextureDesc& d, Texture& to) {
  const TexelFormat& format = to.image.format;
  for (const auto mode : d.addressMode) {
    if (mode < cudaAddressModeWrap || mode > cudaAddressModeBorder) return cudaErrorInvalidValue;
  }
  if (d.filterMode != cudaFilterModePoint && d.filterMode != cudaFilterModeLinear) {
    return cudaErrorInvalidValue;
  }
  to.linear = d.filterMode == cudaFilterModeLinear && to.image.shape != Image::Shape::kMemory;
  to.as_float = d.readMode == cudaReadModeNormalizedFloat;
  to.normalised = d.normalizedCoords != 0;
  const bool is_float = format.kind == TexelFormat::Kind::kFloat;
  if (to.linear && !is_float && (!to.as_float || format.bits == 32)) {
    return cudaErrorInvalidFilterSetting;
  }
  if (to.as_float && format.bits == 32) return cudaErrorInvalidNormSetting;
  if (d.seamlessCubemap) return cudaErrorInvalidValue;
  if (d.sRGB && format.bits == 8) to.unsupported = "textures with sRGB";
  if (to.linear && format.bits == 8 && format.kind == TexelFormat::Kind::kSigned) {
    to.unsupported = "linear filtering of signed texels of 8 bits";
  }
  to.least = d.minMipmapLevelClamp;
  to.most = d.maxMipmapLevelClamp;
  to.bias = d.mipmapLevelBias;
  to.between_levels = d.mipmapFilterMode == cudaFilterModeLinear;
  if (!to.levels.empty() && (!is_float || format.bits != 32 || !to.normalised)) {
    to.unsupported = "levels of anything but floats of 32 bits, with normalised coordinates";
  }
  constexpr Texture::Mode kModes[] = {Texture::Mode::kWrap, Texture::Mode::kClamp,
                                      Texture::Mode::kMirror, Texture::Mode::kBorder};
  for (std::size_t i = 0; i < to.modes.size(); ++i) to.modes[i] = kModes[d.addressMode[i]];
  const bool clamps = to.modes[0] == Texture::Mode::kClamp && to.modes[1] == to.modes[0];
  if (to.cube && (!to.normalised || !clamps)) {
    to.unsupported = "cubemaps without normalised coordinates and cudaAddressModeClamp";
  }
  std::memcpy(to.border.data(), d.borderColor, sizeof d.borderColor);
  return cudaSuccess;
}

/// The view that shows the texels as they are. Others are refused.
bool shows_all(const cudaResourceViewDesc& v, const Image& image) {
  const unsigned width = image.format.bits == 8 ? 0 : image.format.bits == 16 ? 1 : 2;
  const unsigned channels = image.format.channels == 4 ? 2 : image.format.channels - 1u;
  const unsigned format = image.format.kind == TexelFormat::Kind::kFloat
                              ? cudaResViewFormatHalf1 + (width - 1) * 3 + channels
                              : cudaResViewFormatUnsignedChar1 + width * 6 +
                                    (image.format.kind == TexelFormat::Kind::kSigned ? 3 : 0) +
                                    channels;
  return v.format == cudaResViewFormatNone || static_cast<unsigned>(v.format) == format;
}

template <class Map>
cudaError_t destroy(Runtime& runtime, Map Images::*kept, unsigned long long handle) {
  (runtime.images.get()->*kept).erase(handle);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* desc, const cudaResourceViewDesc* view) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (texture == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    if (desc == nullptr) return cudaErrorInvalidResourceHandle;
    Texture made;
    cudaError_t status = take_resource(runtime, *resource, made);
    if (status == cudaSuccess) status = take_texture(*desc, made);
    if (status != cudaSuccess) return status;
    emu::TextureRequest request{*resource, *desc, {}};
    if (view != nullptr) {
      request.view = *view;
      const Array* const a = resource->resType == cudaResourceTypeArray
                                 ? runtime.images->find(resource->res.array.array)
                                 : nullptr;
      if (a != nullptr && shows_all(*view, made.image) &&
          (view->width != a->extent.width || view->height != a->extent.height ||
           view->depth != a->extent.depth)) {
        return cudaErrorInvalidValue;
      }
      if (a == nullptr || !shows_all(*view, made.image)) {
        emu::say(
            "cudaCreateTextureObject: views of a resource as something else are not supported");
        return cudaErrorNotSupported;
      }
    }
    Images& all = *runtime.images;
    const bool border = std::ranges::any_of(
        desc->addressMode, [](auto mode) { return mode == cudaAddressModeBorder; });
    if (!border) std::fill_n(request.texture.borderColor, 4, 0.0f);
    *texture = all.next_handle++;
    all.objects.textures.emplace(*texture, made);
    all.textures.emplace(*texture, request);
    return cudaSuccess;
  });
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    runtime.images->objects.textures.erase(texture);
    return destroy(runtime, &Images::textures, texture);
  });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const auto at = runtime.images->textures.find(texture);
    if (resource == nullptr || at == runtime.images->textures.end()) return cudaErrorInvalidValue;
    *resource = at->second.resource;
    return cudaSuccess;
  });
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* desc, cudaTextureObject_t texture) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (desc == nullptr) return cudaErrorInvalidResourceHandle;
    const auto at = runtime.images->textures.find(texture);
    if (at == runtime.images->textures.end()) return cudaErrorInvalidValue;
    *desc = at->second.texture;
    return cudaSuccess;
  });
}
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                 cudaTextureObject_t texture) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const auto at = runtime.images->textures.find(texture);
    if (view == nullptr || at == runtime.images->textures.end()) return cudaErrorInvalidValue;
    *view = at->second.view;
    return cudaSuccess;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                    const cudaResourceDesc* resource) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (surface == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray) {
      return cudaErrorInvalidValue;
    }
    const Array* const a = runtime.images->find(resource->res.array.array);
    if (a == nullptr) return cudaErrorInvalidResourceHandle;
    Images& all = *runtime.images;
    *surface = all.next_handle++;
    all.objects.surfaces.emplace(*surface, a->image);
    all.surfaces.emplace(*surface, *resource);
    return cudaSuccess;
  });
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    runtime.images->objects.surfaces.erase(surface);
    return destroy(runtime, &Images::surfaces, surface);
  });
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t surface) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (resource == nullptr) return cudaErrorInvalidDevice;  // which an H200 says
    const auto at = runtime.images->surfaces.find(surface);
    if (at == runtime.images->surfaces.end()) return cudaErrorInvalidValue;
    *resource = at->second;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width,
                                                 const cudaChannelFormatDesc* desc, int device) {
  return api(Needs::kNothing, [&](Runtime& runtime) {
    if (width == nullptr || desc == nullptr) return cudaErrorInvalidValue;
    if (!runtime.is_device(device)) return cudaErrorInvalidDevice;
    const auto format = emu::format_of(*desc);
    if (!format) return cudaErrorInvalidChannelDescriptor;
    *width = std::min(std::size_t{1} << 30, (std::size_t{1} << 32) / format->bytes());
    return cudaSuccess;
  });
}

}  // extern "C"
