/// \file
/// Arrays, textures and surfaces.
#pragma once
#include "case.cuh"

namespace features::images {

/// 8 × 8 floats, x + 10 y, in a CUDA array.
inline cudaArray_t array() {
  constexpr int kSide = 8;
  std::vector<float> values(kSide * kSide);
  for (int i = 0; i < kSide * kSide; ++i)
    values[i] = static_cast<float>(i % kSide + 10 * (i / kSide));
  const auto channel = cudaCreateChannelDesc<float>();
  cudaArray_t made;
  cuda(cudaMallocArray(&made, &channel, kSide, kSide, cudaArraySurfaceLoadStore));
  cuda(cudaMemcpy2DToArray(made, 0, 0, values.data(), kSide * sizeof(float), kSide * sizeof(float),
                           kSide, cudaMemcpyHostToDevice));
  return made;
}

inline cudaTextureObject_t texture(cudaArray_t from, cudaTextureFilterMode filter,
                                   cudaTextureAddressMode address) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = from;
  cudaTextureDesc wanted{};
  wanted.filterMode = filter;
  wanted.addressMode[0] = wanted.addressMode[1] = address;
  wanted.readMode = cudaReadModeElementType;
  wanted.normalizedCoords = address == cudaAddressModeWrap;
  cudaTextureObject_t made;
  cuda(cudaCreateTextureObject(&made, &resource, &wanted, nullptr));
  return made;
}

__global__ void look(cudaTextureObject_t from, float* out, float x, float y) {
  *out = tex2D<float>(from, x, y);
}

FEATURE("images", arrays, "CUDA arrays: copies there and back") {
  const cudaArray_t made = array();
  float row[8];
  cuda(cudaMemcpy2DFromArray(row, sizeof row, made, 0, 3, sizeof row, 1, cudaMemcpyDeviceToHost));
  return row[2] == 32.0f;
}
FEATURE("images", point_textures, "textures: the nearest element") {
  Values<float> out(1);
  look<<<1, 1>>>(texture(array(), cudaFilterModePoint, cudaAddressModeClamp), out.get(), 5.5f,
                 99.0f);
  launched();
  return out[0] == 75.0f;
}
FEATURE("images", linear_textures, "textures: linear filtering") {
  Values<float> out(1);
  look<<<1, 1>>>(texture(array(), cudaFilterModeLinear, cudaAddressModeClamp), out.get(), 3.0f,
                 2.5f);
  launched();
  return out[0] == 22.5f;
}
FEATURE("images", wrapped_textures, "textures that wrap around, with normalised coordinates") {
  Values<float> out(1);
  look<<<1, 1>>>(texture(array(), cudaFilterModePoint, cudaAddressModeWrap), out.get(), 1.1875f,
                 0.0625f);
  launched();
  return out[0] == 1.0f;
}

__global__ void fetch(cudaTextureObject_t from, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(from, static_cast<int>(threadIdx.x));
}
FEATURE("images", linear_memory_textures, "textures of linear memory (tex1Dfetch)") {
  Values<int> in(counting(64)), out(64);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = in.get();
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = 64 * sizeof(int);
  cudaTextureDesc wanted{};
  wanted.readMode = cudaReadModeElementType;
  cudaTextureObject_t made;
  cuda(cudaCreateTextureObject(&made, &resource, &wanted, nullptr));
  fetch<<<1, 64>>>(made, out.get());
  launched();
  return out[63] == 63;
}

__global__ void paint(cudaSurfaceObject_t to) {
  const float value = surf2Dread<float>(to, static_cast<int>(threadIdx.x * sizeof(float)), 1);
  surf2Dwrite(value + 0.5f, to, static_cast<int>(threadIdx.x * sizeof(float)), 0);
}
FEATURE("images", surfaces, "surfaces: reads and writes") {
  const cudaArray_t made = array();
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = made;
  cudaSurfaceObject_t surface;
  cuda(cudaCreateSurfaceObject(&surface, &resource));
  paint<<<1, 8>>>(surface);
  launched();
  float row[8];
  cuda(cudaMemcpy2DFromArray(row, sizeof row, made, 0, 0, sizeof row, 1, cudaMemcpyDeviceToHost));
  return row[7] == 17.5f;
}

FEATURE("images", mipmaps, "mipmapped arrays") {
  const auto channel = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t made;
  cuda(cudaMallocMipmappedArray(&made, &channel, make_cudaExtent(8, 8, 0), 3));
  cudaArray_t level;
  cuda(cudaGetMipmappedArrayLevel(&level, made, 1));
  cudaExtent extent;
  cuda(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
  return extent.width == 4;
}

}  // namespace features::images
