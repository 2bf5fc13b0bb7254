// What hardware answers of textures, surfaces and CUDA arrays: fetches and filtered reads bit for
// bit, and what the runtime says to good and bad requests.
//
// By hand, on a machine with an H200:
//   nvcc -std=c++17 -arch=sm_90 -o probe textures.cu && ./probe && for m in 1 2 3; do ./probe $m;
//   done
// textures.h200.txt is what that printed, after a line with the GPU and the driver. A line of
// results has a name, a hash of all results, and the first of them in hexadecimal. `./probe all`
// prints all.
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

bool whole = false;

#define ASK(call)                                                                            \
  do {                                                                                       \
    const cudaError_t status = (call);                                                       \
    std::printf("%s -> %d %s\n", #call, static_cast<int>(status), cudaGetErrorName(status)); \
    cudaGetLastError();                                                                      \
  } while (false)

enum Call { kFetch1D, kTex1D, kTex2D, kTex3D, kLayered1D, kLayered2D, kGather0, kGather1, kLod2D };

struct Point {
  float x, y, z;
};

template <class T>
__global__ void read(cudaTextureObject_t from, Call call, const Point* at, int n, T* to) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const Point p = at[i];
  switch (call) {
    case kFetch1D: to[i] = tex1Dfetch<T>(from, __float2int_rd(p.x)); break;
    case kTex1D: to[i] = tex1D<T>(from, p.x); break;
    case kTex2D: to[i] = tex2D<T>(from, p.x, p.y); break;
    case kTex3D: to[i] = tex3D<T>(from, p.x, p.y, p.z); break;
    case kLayered1D: to[i] = tex1DLayered<T>(from, p.x, __float2int_rd(p.z)); break;
    case kLayered2D: to[i] = tex2DLayered<T>(from, p.x, p.y, __float2int_rd(p.z)); break;
    case kGather0: to[i] = tex2Dgather<T>(from, p.x, p.y, 0); break;
    case kGather1: to[i] = tex2Dgather<T>(from, p.x, p.y, 1); break;
    case kLod2D: to[i] = tex2DLod<T>(from, p.x, p.y, p.z); break;
  }
}

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

struct How {
  cudaTextureFilterMode filter = cudaFilterModePoint;
  cudaTextureAddressMode address = cudaAddressModeClamp;
  bool normalised = false;
  bool as_float = false;
};

cudaTextureDesc describe(const How& how) {
  cudaTextureDesc d = {};
  for (auto& one : d.addressMode) one = how.address;
  d.filterMode = how.filter;
  d.normalizedCoords = how.normalised;
  d.readMode = how.as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  d.borderColor[0] = 0.25f, d.borderColor[1] = -3, d.borderColor[2] = 7, d.borderColor[3] = 100;
  return d;
}

void look(const std::string& name, const Source& s, const How& how, Call call,
          const std::vector<Point>& points, int shown = 24, bool four = false) {
  const cudaTextureDesc d = describe(how);
  cudaTextureObject_t texture = 0;
  const cudaError_t made = cudaCreateTextureObject(&texture, &s.resource, &d, nullptr);
  if (made != cudaSuccess) {
    std::printf("%s: create %d %s\n", name.c_str(), static_cast<int>(made), cudaGetErrorName(made));
    cudaGetLastError();
    return;
  }
  Point* at;
  int4* to;
  const int n = static_cast<int>(points.size());
  cudaMalloc(&at, sizeof(Point) * points.size()), cudaMalloc(&to, sizeof(int4) * points.size());
  cudaMemcpy(at, points.data(), sizeof(Point) * points.size(), cudaMemcpyDefault);
  const unsigned blocks = static_cast<unsigned>((n + 127) / 128);
  if (s.integers && !how.as_float)
    read<<<blocks, 128>>>(texture, call, at, n, to);
  else
    read<<<blocks, 128>>>(texture, call, at, n, reinterpret_cast<float4*>(to));
  std::vector<int4> got(points.size());
  const cudaError_t status =
      cudaMemcpy(got.data(), to, sizeof(int4) * got.size(), cudaMemcpyDefault);
  std::printf("%s: %s", name.c_str(), status == cudaSuccess ? "" : cudaGetErrorName(status));
  const int each = four ? 4 : s.channels;
  std::vector<u32> kept;
  for (const int4& one : got) {
    const int c[4] = {one.x, one.y, one.z, one.w};
    for (int i = 0; i < each; ++i) kept.push_back(static_cast<u32>(c[i]));
  }
  std::printf("%016llx", static_cast<unsigned long long>(hash(kept.data(), kept.size() * 4)));
  for (std::size_t i = 0; i < kept.size() && (whole || i < static_cast<std::size_t>(shown)); ++i)
    std::printf(" %x", kept[i]);
  std::printf("\n");
  cudaDestroyTextureObject(texture);
  cudaFree(at), cudaFree(to);
}

// Coordinates in units of texels; for normalised ones divided by the size.
std::vector<Point> wide(int n, float w, float h, float d, u64 seed) {
  Random random{seed};
  std::vector<Point> to;
  for (int i = 0; i < n; ++i) {
    const float x = random.within(-1.5f * w, 4 * w), y = random.within(-1.5f * h, 4 * h);
    to.push_back({x, y, random.within(-d, 3 * d)});
  }
  return to;
}
std::vector<Point> inside(int n, float w, float h, float d, u64 seed) {
  Random random{seed};
  std::vector<Point> to;
  for (int i = 0; i < n; ++i) {
    const float x = random.within(0, w), y = random.within(0, h);
    to.push_back({x, y, random.within(0, d)});
  }
  return to;
}
std::vector<Point> scaled(std::vector<Point> p, float w, float h, float d) {
  for (Point& one : p) one = {one.x / w, one.y / h, one.z / d};
  return p;
}
std::vector<Point> fine(float from, float step, int n) {
  std::vector<Point> to;
  for (int i = 0; i < n; ++i)
    to.push_back({from + step * static_cast<float>(i), from + step * static_cast<float>(i), 0.5f});
  return to;
}
// Places where a rule may turn: borders, halves, and what is no coordinate.
std::vector<Point> edges(float w) {
  std::vector<Point> to;
  const float some[] = {-0.0f,       0,        0.5f,    1,        1.5f,   w - 1,      w - 0.5f,
                        w,           w + 0.5f, 2 * w,   3 * w,    -w,     -0.5f,      -1,
                        16777216,    1e10f,    -1e10f,  1e38f,    -1e38f, INFINITY,   -INFINITY,
                        NAN,         1e-30f,   -1e-30f, 65535.5f, 32768,  -32768.25f, 2147483648.f,
                        4294967296.f};
  for (const float x : some) {
    for (const float one : {std::nextafter(x, -INFINITY), x, std::nextafter(x, INFINITY)})
      to.push_back({one, 0.5f, 0.5f});
  }
  return to;
}

const char* name_of(cudaTextureAddressMode mode) {
  return mode == cudaAddressModeClamp    ? "clamp"
         : mode == cudaAddressModeBorder ? "border"
         : mode == cudaAddressModeWrap   ? "wrap"
                                         : "mirror";
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

void linear_memory() {
  std::vector<Point> points;
  for (int i = -3; i < 70; ++i) points.push_back({static_cast<float>(i), 0, 0});
  for (const float far : {1000.f, 134217727.f, -2147483648.f, 2147483520.f})
    points.push_back({far, 0, 0});
  const struct {
    const char* name;
    Texels texels;
  } kinds[] = {{"f32", kFloat1},  {"f32x2", kFloat2}, {"f32x4", kFloat4}, {"f16", kHalf1},
               {"f16x4", kHalf4}, {"u8", kU8},        {"u8x2", kU8x2},    {"u8x4", kU8x4},
               {"s8", kS8},       {"u16", kU16},      {"s16", kS16},      {"s16x4", kS16x4},
               {"u32", kU32},     {"s32x2", kS32x2}};
  for (const auto& [name, texels] : kinds) {
    Source s;
    make_linear(s, texels, 64, 1);
    look(std::string("fetch ") + name, s, {}, kFetch1D, points, 32, true);
    if (texels.kind != cudaChannelFormatKindFloat) {
      look(std::string("fetch normalised ") + name, s,
           {cudaFilterModePoint, cudaAddressModeClamp, false, true}, kFetch1D, points, 32, true);
    }
  }
  // Every integer of 8 and 16 bits as a float.
  for (const Texels& t : {kU8, kS8, kU16, kS16}) {
    const int n = 1 << t.bits;
    Source s;
    cudaMalloc(&s.memory, static_cast<size_t>(n * t.bytes()));
    std::vector<unsigned char> texels;
    std::vector<Point> at;
    for (int i = 0; i < n; ++i) {
      for (int b = 0; b < t.bytes(); ++b) texels.push_back(static_cast<unsigned char>(i >> 8 * b));
      at.push_back({static_cast<float>(i), 0, 0});
    }
    cudaMemcpy(s.memory, texels.data(), texels.size(), cudaMemcpyDefault);
    s.resource.resType = cudaResourceTypeLinear;
    s.resource.res.linear = {s.memory, t.desc(), texels.size()};
    s.integers = true;
    const bool keep = whole;
    if (t.bits == 16) whole = false;
    look(std::string("as float ") + (t.kind == cudaChannelFormatKindSigned ? "s" : "u") +
             std::to_string(t.bits),
         s, {cudaFilterModePoint, cudaAddressModeClamp, false, true}, kFetch1D, at,
         t.bits == 8 ? 256 : 1000);
    whole = keep;
  }
}

void one_dimension() {
  Source ramp, some, power;
  make_array(ramp, kFloat1, 32, 0, 0, 0, 2);
  make_array(some, kFloat1, 13, 0, 0, 0, 0);
  make_array(power, kFloat1, 16, 0, 0, 0, 3);
  const How linear = {cudaFilterModeLinear, cudaAddressModeClamp, false, false};
  // Between 0 and 1 the result is the weight.
  look("weights 1d, up", ramp, linear, kTex1D, fine(2.5f, 1 / 2048.f, 2048), 300);
  look("weights 1d, down", ramp, linear, kTex1D, fine(3.5f, 1 / 2048.f, 2048), 300);
  look("weights 1d, off a half", ramp, linear, kTex1D,
       fine(2.5f + 1 / 512.f - 8 / 4194304.f, 1 / 4194304.f, 16), 16);
  look("weights 1d, far", ramp, linear, kTex1D, fine(28.5f, 1 / 2048.f, 2048), 100);
  look("weights 1d, normalised", ramp, {cudaFilterModeLinear, cudaAddressModeClamp, true, false},
       kTex1D, fine(2.5f / 32, 1 / 65536.f, 2048), 300);
  look("linear 1d, inside", some, linear, kTex1D, inside(512, 13, 1, 1, 5), 64);
  look("linear 1d, far apart", power, linear, kTex1D, inside(512, 16, 1, 1, 6), 64);
  for (const bool normalised : {false, true}) {
    for (const auto mode : {cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap,
                            cudaAddressModeMirror}) {
      for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
        const How how = {filter, mode, normalised, false};
        const std::string name = std::string("1d ") +
                                 (filter == cudaFilterModePoint ? "point " : "linear ") +
                                 name_of(mode) + (normalised ? " normalised" : "");
        for (const auto& [which, source, w] :
             {std::tuple{"13", &some, 13.f}, std::tuple{"16", &power, 16.f}}) {
          auto p = wide(512, w, 1, 1, 7), e = edges(w);
          if (normalised) p = scaled(p, w, 1, 1), e = edges(1);
          look(name + " " + which + " wide", *source, how, kTex1D, p, 32);
          look(name + " " + which + " edges", *source, how, kTex1D, e, 87);
        }
      }
    }
  }
}

void more_dimensions() {
  Source flat, pitched, deep, lines, sheets, gathered, special;
  make_array(flat, kFloat1, 13, 7, 0, 0, 0);
  make_pitched(pitched, kFloat1, 13, 7, 0);
  make_array(deep, kFloat1, 9, 7, 5, 0, 0);
  make_array(lines, kFloat1, 13, 0, 5, cudaArrayLayered, 0);
  make_array(sheets, kFloat1, 13, 7, 5, cudaArrayLayered, 0);
  make_array(gathered, kFloat2, 13, 7, 0, cudaArrayTextureGather, 0);
  make_array(special, kFloat1, 16, 16, 0, 0, 1);
  for (const bool normalised : {false, true}) {
    for (const auto mode : {cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap,
                            cudaAddressModeMirror}) {
      for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
        const How how = {filter, mode, normalised, false};
        const std::string name = std::string(filter == cudaFilterModePoint ? "point " : "linear ") +
                                 name_of(mode) + (normalised ? " normalised" : "");
        const auto p = [&](float w, float h, float d, bool layers = false) {
          auto to = wide(512, w, h, d, 11);
          return normalised ? scaled(to, w, h, layers ? 1 : d) : to;
        };
        look("2d " + name, flat, how, kTex2D, p(13, 7, 1), 32);
        look("2d pitched " + name, pitched, how, kTex2D, p(13, 7, 1), 16);
        look("3d " + name, deep, how, kTex3D, p(9, 7, 5), 32);
        look("1d layered " + name, lines, how, kLayered1D, p(13, 1, 5, true), 16);
        look("2d layered " + name, sheets, how, kLayered2D, p(13, 7, 5, true), 16);
        look("gather x " + name, gathered, how, kGather0, p(13, 7, 1), 32, true);
        look("gather y " + name, gathered, how, kGather1, p(13, 7, 1), 16, true);
      }
    }
  }
  const How linear = {cudaFilterModeLinear, cudaAddressModeClamp, false, false};
  look("linear 2d, inside", flat, linear, kTex2D, inside(1024, 13, 7, 1, 3), 128);
  look("linear 3d, inside", deep, linear, kTex3D, inside(1024, 9, 7, 5, 3), 128);
  look("linear 2d, any bits", special, linear, kTex2D, inside(512, 16, 16, 1, 4), 128);
  look("linear 2d, lod 0.5", flat, linear, kLod2D, inside(64, 13, 7, 1, 4), 16);
  const struct {
    const char* name;
    Texels texels;
  } kinds[] = {{"f32x2", kFloat2}, {"f32x4", kFloat4}, {"f16", kHalf1}, {"f16x4", kHalf4},
               {"u8", kU8},        {"u8x4", kU8x4},    {"s8", kS8},     {"u16", kU16},
               {"s16", kS16},      {"u32", kU32}};
  for (const auto& [name, texels] : kinds) {
    Source s, ramp;
    make_array(s, texels, 16, 8, 0, 0, 0);
    const bool integers = texels.kind != cudaChannelFormatKindFloat;
    const auto p = inside(512, 16, 8, 1, 21);
    look(std::string("2d point ") + name, s, {}, kTex2D, p, 32);
    look(std::string("2d point border ") + name, s,
         {cudaFilterModePoint, cudaAddressModeBorder, false, false}, kTex2D, wide(64, 16, 8, 1, 8),
         32, true);
    look(std::string("2d linear ") + name, s,
         {cudaFilterModeLinear, cudaAddressModeClamp, false, integers}, kTex2D, p, 128);
    look(std::string("2d linear border ") + name, s,
         {cudaFilterModeLinear, cudaAddressModeBorder, false, integers}, kTex2D,
         wide(128, 16, 8, 1, 8), 32, true);
    look(std::string("2d linear elements ") + name, s,
         {cudaFilterModeLinear, cudaAddressModeClamp, false, false}, kTex2D, p, 16);
    // One line of it, so that no second direction adds.
    Source line;
    make_array(line, texels, 16, 0, 0, 0, 0);
    look(std::string("1d linear ") + name, line,
         {cudaFilterModeLinear, cudaAddressModeClamp, false, integers}, kTex1D, p, 128);
  }
}

// ---- surfaces ----

template <class T>
__global__ void surface(cudaSurfaceObject_t s, int dimensions, const int* x, const int* y, int n,
                        T* to, int mode) {
  for (int i = 0; i < n; ++i) {
    T got{};
    const auto zero = cudaBoundaryModeZero;
    const auto clamp = cudaBoundaryModeClamp;
    const auto trap = cudaBoundaryModeTrap;
    if (dimensions == 1) {
      if (mode == 0) surf1Dread(&got, s, x[i], zero);
      if (mode == 1) surf1Dread(&got, s, x[i], clamp);
      if (mode == 2) surf1Dread(&got, s, x[i], trap);
    } else if (dimensions == 2) {
      if (mode == 0) surf2Dread(&got, s, x[i], y[i], zero);
      if (mode == 1) surf2Dread(&got, s, x[i], y[i], clamp);
      if (mode == 2) surf2Dread(&got, s, x[i], y[i], trap);
    } else {
      if (mode == 0) surf3Dread(&got, s, x[i], y[i], 1, zero);
      if (mode == 1) surf3Dread(&got, s, x[i], y[i], 9, clamp);
    }
    to[i] = got;
  }
}
__global__ void surface_write(cudaSurfaceObject_t s, const int* x, const int* y, int n, int mode) {
  for (int i = 0; i < n; ++i) {
    const auto value = static_cast<unsigned>(0x1000 + i);
    if (mode == 0) surf2Dwrite(value, s, x[i], y[i], cudaBoundaryModeZero);
    if (mode == 1) surf2Dwrite(value, s, x[i], y[i], cudaBoundaryModeClamp);
    if (mode == 2) surf2Dwrite(value, s, x[i], y[i], cudaBoundaryModeTrap);
  }
}

void surfaces(int trap) {
  Source line, flat, deep;
  constexpr Texels texels = {32, cudaChannelFormatKindUnsigned, 1};
  make_array(line, texels, 13, 0, 0, cudaArraySurfaceLoadStore, 1);
  make_array(flat, texels, 13, 7, 0, cudaArraySurfaceLoadStore, 1);
  make_array(deep, texels, 9, 7, 5, cudaArraySurfaceLoadStore, 1);
  cudaSurfaceObject_t one = 0, two = 0, three = 0;
  ASK(cudaCreateSurfaceObject(&one, &line.resource));
  ASK(cudaCreateSurfaceObject(&two, &flat.resource));
  ASK(cudaCreateSurfaceObject(&three, &deep.resource));
  constexpr int n = 16;
  // Bytes: whole texels, parts of one, before the first and past the last.
  const int host_x[n] = {0, 4, 48, 52, -4, 1, 2, 3, 50, 100, 8, 1 << 30, -(1 << 30), 20, 20, 20};
  const int host_y[n] = {0, 1, 6, 6, 0, 1, 2, 3, 4, 5, -1, 0, 0, 7, 1000, 3};
  int *x, *y;
  unsigned* to;
  unsigned got[64];
  cudaMalloc(&x, sizeof host_x), cudaMalloc(&y, sizeof host_y), cudaMalloc(&to, 256);
  cudaMemcpy(x, host_x, sizeof host_x, cudaMemcpyDefault),
      cudaMemcpy(y, host_y, sizeof host_y, cudaMemcpyDefault);
  const auto show = [&](const char* name, cudaError_t status, int words) {
    std::printf("%s: %s", name, cudaGetErrorName(status));
    for (int i = 0; status == cudaSuccess && i < words; ++i) std::printf(" %x", got[i]);
    std::printf("\n");
  };
  if (trap) {
    // 1: a read past the end; 2: a write past the end; 3: a read within a texel.
    const int place[1] = {trap == 3 ? 2 : 52};
    cudaMemcpy(x, place, 4, cudaMemcpyDefault);
    if (trap == 2)
      surface_write<<<1, 1>>>(two, x, y, 1, 2);
    else
      surface<<<1, 1>>>(two, 2, x, y, 1, to, 2);
    show("trap", cudaMemcpy(got, to, 4, cudaMemcpyDefault), 1);
    return;
  }
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    for (int mode = 0; mode < 2; ++mode) {
      const std::string name =
          "surface " + std::to_string(dimensions) + "d " + (mode ? "clamp" : "zero");
      const auto s = dimensions == 1 ? one : dimensions == 2 ? two : three;
      surface<<<1, 1>>>(s, dimensions, x, y, n, to, mode);
      show((name + " u32").c_str(), cudaMemcpy(got, to, 64, cudaMemcpyDefault), n);
      surface<<<1, 1>>>(s, dimensions, x, y, n, reinterpret_cast<unsigned char*>(to), mode);
      show((name + " u8").c_str(), cudaMemcpy(got, to, 16, cudaMemcpyDefault), 4);
      surface<<<1, 1>>>(s, dimensions, x, y, n, reinterpret_cast<uint2*>(to), mode);
      show((name + " u32x2").c_str(), cudaMemcpy(got, to, 128, cudaMemcpyDefault), 32);
    }
  }
  for (int mode = 0; mode < 2; ++mode) {
    surface_write<<<1, 1>>>(two, x, y, n, mode);
    std::vector<u32> back(13 * 7);
    const cudaError_t status =
        cudaMemcpy2DFromArray(back.data(), 52, flat.array, 0, 0, 52, 7, cudaMemcpyDeviceToHost);
    std::printf("surface write %d: %s", mode, cudaGetErrorName(status));
    for (const u32 v : back) std::printf(" %x", v);
    std::printf("\n");
  }
  ASK(cudaDestroySurfaceObject(one));
  ASK(cudaDestroySurfaceObject(one));
  ASK(cudaDestroySurfaceObject(0));
}

// ---- what the runtime says ----

void requests() {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  std::printf(
      "limits: alignment %zu pitch %zu surface %zu; 1d %d linear %d; 2d %d %d linear %d %d %d "
      "gather %d %d; 3d %d %d %d; 1d layered %d %d; "
      "2d layered %d %d %d; mipmap %d; surfaces 1d %d 2d %d %d 3d %d %d %d\n",
      p.textureAlignment, p.texturePitchAlignment, p.surfaceAlignment, p.maxTexture1D, 0,
      p.maxTexture2D[0], p.maxTexture2D[1], p.maxTexture2DLinear[0], p.maxTexture2DLinear[1],
      p.maxTexture2DLinear[2], p.maxTexture2DGather[0], p.maxTexture2DGather[1], p.maxTexture3D[0],
      p.maxTexture3D[1], p.maxTexture3D[2], p.maxTexture1DLayered[0], p.maxTexture1DLayered[1],
      p.maxTexture2DLayered[0], p.maxTexture2DLayered[1], p.maxTexture2DLayered[2],
      p.maxTexture2DMipmap[0], p.maxSurface1D, p.maxSurface2D[0], p.maxSurface2D[1],
      p.maxSurface3D[0], p.maxSurface3D[1], p.maxSurface3D[2]);
  size_t linear = 0;
  auto f = cudaCreateChannelDesc<float>();
  ASK(cudaDeviceGetTexture1DLinearMaxWidth(&linear, &f, 0));
  std::printf("%zu\n", linear);
  cudaArray_t a = nullptr, b = nullptr;
  ASK(cudaMallocArray(&a, &f, 0, 0));
  ASK(cudaMallocArray(&a, &f, 131073, 0));
  ASK(cudaMallocArray(&a, &f, 16, 70000));
  ASK(cudaMallocArray(&a, nullptr, 16, 0));
  ASK(cudaMallocArray(nullptr, &f, 16, 0));
  const cudaChannelFormatDesc three = {32, 32, 32, 0, cudaChannelFormatKindFloat},
                              odd = {8, 16, 0, 0, cudaChannelFormatKindUnsigned},
                              none = {0, 0, 0, 0, cudaChannelFormatKindUnsigned},
                              wide64 = {64, 0, 0, 0, cudaChannelFormatKindUnsigned},
                              f8 = {8, 0, 0, 0, cudaChannelFormatKindFloat};
  ASK(cudaMallocArray(&a, &three, 16, 0));
  ASK(cudaMallocArray(&a, &odd, 16, 0));
  ASK(cudaMallocArray(&a, &none, 16, 0));
  ASK(cudaMallocArray(&a, &wide64, 16, 0));
  ASK(cudaMallocArray(&a, &f8, 16, 0));
  ASK(cudaMallocArray(&a, &f, 16, 0, cudaArrayLayered));
  ASK(cudaMallocArray(&a, &f, 16, 8, 0x40));
  ASK(cudaMallocArray(&a, &f, 16, 8));
  ASK(cudaMallocArray(&b, &f, 16, 8));
  cudaChannelFormatDesc desc;
  cudaExtent extent;
  unsigned flags = 0;
  ASK(cudaArrayGetInfo(&desc, &extent, &flags, a));
  std::printf("%d %d %d %d %d; %zu %zu %zu; %u\n", desc.x, desc.y, desc.z, desc.w, desc.f,
              extent.width, extent.height, extent.depth, flags);
  ASK(cudaGetChannelDesc(&desc, a));
  std::vector<float> host(16 * 8), back(16 * 8);
  for (int i = 0; i < 128; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(i);
  ASK(cudaMemcpy2DToArray(a, 0, 0, host.data(), 64, 64, 8, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DToArray(a, 0, 0, host.data(), 64, 64, 9, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DToArray(a, 4, 0, host.data(), 64, 64, 8, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DToArray(a, 4, 1, host.data(), 64, 60, 7, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DToArray(a, 2, 0, host.data(), 64, 4, 1, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DToArray(a, 0, 0, host.data(), 60, 64, 8, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DToArray(a, 0, 0, host.data(), 64, 64, 8, cudaMemcpyDeviceToHost));
  ASK(cudaMemcpy2DToArray(a, 0, 0, host.data(), 64, 64, 8, cudaMemcpyDefault));
  ASK(cudaMemcpy2DFromArray(back.data(), 64, a, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
  std::printf("%d\n", std::memcmp(host.data(), back.data(), 512));
  ASK(cudaMemcpy2DFromArray(back.data(), 64, a, 4, 2, 60, 6, cudaMemcpyDefault));
  std::printf("%g %g %g\n", back[0], back[16], back[15]);
  ASK(cudaMemcpyToArray(a, 0, 0, host.data(), 512, cudaMemcpyHostToDevice));
  ASK(cudaMemcpyToArray(a, 32, 1, host.data(), 128, cudaMemcpyHostToDevice));
  ASK(cudaMemcpyToArray(a, 32, 1, host.data(), 512, cudaMemcpyHostToDevice));
  ASK(cudaMemcpyFromArray(back.data(), a, 32, 1, 128, cudaMemcpyDeviceToHost));
  std::printf("%g %g %g\n", back[0], back[8], back[31]);
  ASK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 64, 8, cudaMemcpyDeviceToDevice));
  ASK(cudaMemcpyArrayToArray(b, 0, 0, a, 0, 0, 512, cudaMemcpyDeviceToDevice));

  cudaTextureObject_t t = 0;
  cudaResourceDesc r = {}, r2 = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaTextureDesc d = {}, d2 = {};
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  std::printf("handle %llu\n", t < 100 ? static_cast<unsigned long long>(t) : 100ull);
  ASK(cudaGetTextureObjectResourceDesc(&r2, t));
  std::printf("%d\n", r2.res.array.array == a);
  ASK(cudaGetTextureObjectTextureDesc(&d2, t));
  ASK(cudaDestroyTextureObject(t));
  ASK(cudaDestroyTextureObject(t));
  ASK(cudaDestroyTextureObject(0));
  ASK(cudaDestroyTextureObject(12345));
  ASK(cudaCreateTextureObject(nullptr, &r, &d, nullptr));
  ASK(cudaCreateTextureObject(&t, nullptr, &d, nullptr));
  ASK(cudaCreateTextureObject(&t, &r, nullptr, nullptr));
  r.res.array.array = nullptr;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  r.res.array.array = a;
  d.readMode = cudaReadModeNormalizedFloat;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  d = {};
  d.filterMode = static_cast<cudaTextureFilterMode>(7);
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  d = {};
  d.addressMode[0] = static_cast<cudaTextureAddressMode>(9);
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  d = {};
  void* memory = nullptr;
  cudaMalloc(&memory, 1 << 20);
  r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear = {memory, f, 1 << 20};
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  d.filterMode = cudaFilterModeLinear;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  d = {};
  d.addressMode[0] = cudaAddressModeWrap;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  d = {};
  d.normalizedCoords = 1;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  d = {};
  for (const int off : {4, 16, 32, 256, 512}) {
    std::printf("off %d: ", off);
    r.res.linear = {static_cast<char*>(memory) + off, f, 1 << 12};
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  }
  r.res.linear = {memory, f, 0};
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  r.res.linear = {memory, f, 1 << 21};
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  r.res.linear = {memory, f, 1023};
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  r.res.linear = {memory, three, 1200};
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  r = {};
  r.resType = cudaResourceTypePitch2D;
  for (const size_t pitch : {size_t{64}, size_t{32}, size_t{80}, size_t{100}, size_t{60}}) {
    std::printf("pitch %zu: ", pitch);
    r.res.pitch2D = {memory, f, 15, 8, pitch};
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  }
  for (const int off : {4, 32, 256, 512}) {
    std::printf("pitched, off %d: ", off);
    r.res.pitch2D = {static_cast<char*>(memory) + off, f, 15, 8, 64};
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  }
  r.res.pitch2D = {memory, f, 15, 8, 64};
  d.addressMode[0] = d.addressMode[1] = cudaAddressModeWrap;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  d.normalizedCoords = 1;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  // Integers, filtered.
  cudaArray_t bytes = nullptr;
  auto u = cudaCreateChannelDesc<unsigned char>();
  ASK(cudaMallocArray(&bytes, &u, 16, 8));
  r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = bytes;
  d = {};
  d.filterMode = cudaFilterModeLinear;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  d.readMode = cudaReadModeNormalizedFloat;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  cudaSurfaceObject_t s = 0;
  ASK(cudaCreateSurfaceObject(&s, &r));
  r.res.array.array = nullptr;
  ASK(cudaCreateSurfaceObject(&s, &r));
  r.resType = cudaResourceTypeLinear;
  r.res.linear = {memory, f, 1 << 12};
  ASK(cudaCreateSurfaceObject(&s, &r));
  cudaMipmappedArray_t mip = nullptr;
  ASK(cudaMallocMipmappedArray(&mip, &f, make_cudaExtent(16, 16, 0), 3));
  ASK(cudaFreeMipmappedArray(mip));
  size_t pitch = 0;
  for (const size_t width : {size_t{1}, size_t{52}, size_t{512}, size_t{513}, size_t{5000}}) {
    ASK(cudaMallocPitch(&memory, &pitch, width, 3));
    std::printf("%zu\n", pitch);
  }
  ASK(cudaFreeArray(a));
  ASK(cudaFreeArray(nullptr));
  const cudaExtent e = make_cudaExtent(9, 7, 5);
  ASK(cudaMalloc3DArray(&a, &f, e, 0));
  ASK(cudaArrayGetInfo(&desc, &extent, &flags, a));
  std::printf("%zu %zu %zu; %u\n", extent.width, extent.height, extent.depth, flags);
  ASK(cudaMalloc3DArray(&a, &f, e, cudaArrayCubemap));
  ASK(cudaMalloc3DArray(&a, &f, make_cudaExtent(9, 0, 5), 0));
  ASK(cudaMalloc3DArray(&a, &f, make_cudaExtent(0, 7, 5), 0));
  ASK(cudaMalloc3DArray(&a, &f, make_cudaExtent(9, 0, 5), cudaArrayLayered));
  ASK(cudaMalloc3DArray(&a, &f, e, cudaArrayLayered | cudaArraySurfaceLoadStore));
  ASK(cudaArrayGetInfo(&desc, &extent, &flags, a));
  std::printf("%zu %zu %zu; %u\n", extent.width, extent.height, extent.depth, flags);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "all") != 0) {
    surfaces(std::atoi(argv[1]));
    return 0;
  }
  whole = argc > 1;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what is there stays, should a request be fatal
  linear_memory();
  one_dimension();
  more_dimensions();
  surfaces(0);
  requests();
}
