// What the probes of textures, surfaces and arrays share: numbers that are the same everywhere,
// texels, and arrays and memory with texels in them.
#pragma once
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Random {
  u64 state;
  u64 operator()() {  // splitmix64
    u64 z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // A multiple of 2^-24 in [low, low + span): exact in single precision's reach.
  float within(float low, float span) {
    return low + span * (static_cast<float>((*this)() >> 40) / 16777216.0f);
  }
};

u64 hash(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  u64 now = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < bytes; ++i) now = (now ^ at[i]) * 0x100000001b3;
  return now;
}

#define ASK(call)                                                                            \
  do {                                                                                       \
    const cudaError_t status = (call);                                                       \
    std::printf("%s -> %d %s\n", #call, static_cast<int>(status), cudaGetErrorName(status)); \
    cudaGetLastError();                                                                      \
  } while (false)

// A texture's contents: where they lie and what they are.
struct Source {
  cudaResourceDesc resource = {};
  cudaArray_t array = nullptr;
  void* memory = nullptr;
  bool integers = false;
  int channels = 1;
  ~Source() {
    if (array) cudaFreeArray(array);
    if (memory) cudaFree(memory);
  }
};

struct Texels {
  int bits;  // of a channel
  cudaChannelFormatKind kind;
  int channels;
  int bytes() const { return bits / 8 * channels; }
  cudaChannelFormatDesc desc() const {
    return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
  }
};

// How a float texel is made: 0 in (-1, 1), 1 any bits, 2 numbers 0 and 1 in turn, 3 far apart.
std::vector<unsigned char> contents(const Texels& t, int count, int how, u64 seed) {
  Random random{seed};
  std::vector<unsigned char> to(static_cast<std::size_t>(count * t.bytes()));
  for (int i = 0; i < count * t.channels; ++i) {
    u32 bits = static_cast<u32>(random());
    if (t.kind == cudaChannelFormatKindFloat && how != 1) {
      float x = random.within(-1, 2);
      if (how == 2) x = static_cast<float>(i / t.channels % 2);
      if (how == 3) x = std::ldexp(x, static_cast<int>(random() % 40) - 20);
      if (t.bits == 32)
        std::memcpy(&bits, &x, 4);
      else {
        const __half h = __float2half(x);
        unsigned short s;
        std::memcpy(&s, &h, 2);
        bits = s;
      }
    }
    std::memcpy(&to[static_cast<std::size_t>(i * t.bits / 8)], &bits,
                static_cast<std::size_t>(t.bits / 8));
  }
  return to;
}

// An array of that size; depth of layers where `flags` say so.
void make_array(Source& s, const Texels& t, int width, int height, int depth, unsigned flags,
                int how) {
  const auto desc = t.desc();
  const int h = height ? height : 1, d = depth ? depth : 1;
  if (depth) {
    cudaMalloc3DArray(&s.array, &desc,
                      make_cudaExtent(static_cast<size_t>(width), static_cast<size_t>(height),
                                      static_cast<size_t>(depth)),
                      flags);
  } else {
    cudaMallocArray(&s.array, &desc, static_cast<size_t>(width), static_cast<size_t>(height),
                    flags);
  }
  const auto texels =
      contents(t, width * h * d, how, static_cast<u64>(width * 1000003 + height * 1009 + depth));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<unsigned char*>(texels.data()),
                                    static_cast<size_t>(width * t.bytes()),
                                    static_cast<size_t>(width), static_cast<size_t>(h));
  copy.dstArray = s.array;
  copy.extent =
      make_cudaExtent(static_cast<size_t>(width), static_cast<size_t>(h), static_cast<size_t>(d));
  copy.kind = cudaMemcpyHostToDevice;
  const cudaError_t status = cudaMemcpy3D(&copy);
  if (status != cudaSuccess) std::printf("filling: %s\n", cudaGetErrorName(status));
  s.resource.resType = cudaResourceTypeArray;
  s.resource.res.array.array = s.array;
  s.channels = t.channels;
  s.integers = t.kind != cudaChannelFormatKindFloat;
}

void make_linear(Source& s, const Texels& t, int width, int how) {
  const auto texels = contents(t, width, how, static_cast<u64>(width));
  cudaMalloc(&s.memory, texels.size());
  cudaMemcpy(s.memory, texels.data(), texels.size(), cudaMemcpyDefault);
  s.resource.resType = cudaResourceTypeLinear;
  s.resource.res.linear = {s.memory, t.desc(), texels.size()};
  s.channels = t.channels;
  s.integers = t.kind != cudaChannelFormatKindFloat;
}

void make_pitched(Source& s, const Texels& t, int width, int height, int how) {
  const auto texels =
      contents(t, width * height, how, static_cast<u64>(width * 1000003 + height * 1009));
  size_t pitch = 0;
  cudaMallocPitch(&s.memory, &pitch, static_cast<size_t>(width * t.bytes()),
                  static_cast<size_t>(height));
  cudaMemcpy2D(s.memory, pitch, texels.data(), static_cast<size_t>(width * t.bytes()),
               static_cast<size_t>(width * t.bytes()), static_cast<size_t>(height),
               cudaMemcpyDefault);
  s.resource.resType = cudaResourceTypePitch2D;
  s.resource.res.pitch2D = {s.memory, t.desc(), static_cast<size_t>(width),
                            static_cast<size_t>(height), pitch};
  s.channels = t.channels;
  s.integers = t.kind != cudaChannelFormatKindFloat;
}

constexpr Texels kFloat1 = {32, cudaChannelFormatKindFloat, 1},
                 kFloat2 = {32, cudaChannelFormatKindFloat, 2},
                 kFloat4 = {32, cudaChannelFormatKindFloat, 4},
                 kHalf1 = {16, cudaChannelFormatKindFloat, 1},
                 kHalf4 = {16, cudaChannelFormatKindFloat, 4},
                 kU8 = {8, cudaChannelFormatKindUnsigned, 1},
                 kU8x4 = {8, cudaChannelFormatKindUnsigned, 4},
                 kS8 = {8, cudaChannelFormatKindSigned, 1},
                 kU16 = {16, cudaChannelFormatKindUnsigned, 1},
                 kS16 = {16, cudaChannelFormatKindSigned, 1},
                 kU32 = {32, cudaChannelFormatKindUnsigned, 1},
                 kS32x2 = {32, cudaChannelFormatKindSigned, 2},
                 kU8x2 = {8, cudaChannelFormatKindUnsigned, 2},
                 kS16x4 = {16, cudaChannelFormatKindSigned, 4};

}  // namespace
