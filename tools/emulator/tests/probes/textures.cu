// What hardware reads through textures: fetches and filtered reads, bit for bit.
//
// By hand, on a machine with an H200:
//   nvcc -std=c++17 -arch=sm_90 -o probe textures.cu && ./probe
// textures.h200.txt is what that printed, after a line with the GPU and the driver. A line of
// results has a name, a hash of all results, and the first of them in hexadecimal. `./probe all`
// prints all. `./probe weights FILE` writes the weights of filtering in two and in three
// directions, as floats.
#include "texels.cuh"

namespace {

bool whole = false;

enum Call {
  kFetch1D,
  kTex1D,
  kTex2D,
  kTex3D,
  kLayered1D,
  kLayered2D,
  kGather0,
  kGather1,
  kGather2,
  kGather3,
  kLod1D,
  kLod2D,
  kCube
};

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
    case kGather2: to[i] = tex2Dgather<T>(from, p.x, p.y, 2); break;
    case kGather3: to[i] = tex2Dgather<T>(from, p.x, p.y, 3); break;
    case kLod1D: to[i] = tex1DLod<T>(from, p.x, p.z); break;
    case kLod2D: to[i] = tex2DLod<T>(from, p.x, p.y, p.z); break;
    case kCube: to[i] = texCubemap<T>(from, p.x, p.y, p.z); break;
  }
}

struct How {
  cudaTextureFilterMode filter = cudaFilterModePoint;
  cudaTextureAddressMode address = cudaAddressModeClamp;
  bool normalised = false;
  bool as_float = false;
  cudaTextureFilterMode between = cudaFilterModePoint;  // levels
  float least = 0, most = 0, bias = 0;                  // of levels
  bool bits = false;                                    // a border of bits rather than numbers
  bool mixed = false;                                   // wrap, mirror and border for x, y and z
};

cudaTextureDesc describe(const How& how) {
  cudaTextureDesc d = {};
  for (auto& one : d.addressMode) one = how.address;
  d.filterMode = how.filter;
  d.normalizedCoords = how.normalised;
  d.readMode = how.as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  d.borderColor[0] = 0.25f, d.borderColor[1] = -3, d.borderColor[2] = 7, d.borderColor[3] = 100;
  if (how.bits) {
    const u32 some[] = {0x81828384, 0x01020304, 0x7f008001, 0x0000fffe};
    std::memcpy(d.borderColor, some, sizeof some);
  }
  if (how.mixed) {
    d.addressMode[0] = cudaAddressModeWrap, d.addressMode[1] = cudaAddressModeMirror;
    d.addressMode[2] = cudaAddressModeBorder;
  }
  d.mipmapFilterMode = how.between;
  d.mipmapLevelBias = how.bias;
  d.minMipmapLevelClamp = how.least, d.maxMipmapLevelClamp = how.most;
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
  cudaError_t status = cudaGetLastError();
  std::vector<int4> got(points.size());
  if (status == cudaSuccess)
    status = cudaMemcpy(got.data(), to, sizeof(int4) * got.size(), cudaMemcpyDefault);
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

// What the pages above leave out: borders of integers, modes by direction, gathers of others.
void further() {
  const struct {
    const char* name;
    Texels texels;
  } kinds[] = {{"f32x4", kFloat4}, {"f16x4", kHalf4}, {"u8", kU8},       {"u8x4", kU8x4},
               {"s8", kS8},        {"u16", kU16},     {"s16x4", kS16x4}, {"u32", kU32}};
  for (const auto& [name, texels] : kinds) {
    Source s, g;
    make_array(s, texels, 16, 8, 0, 0, 0);
    make_array(g, texels, 16, 8, 0, cudaArrayTextureGather, 0);
    const bool integers = texels.kind != cudaChannelFormatKindFloat;
    How how = {cudaFilterModePoint, cudaAddressModeBorder, false, false};
    how.bits = true;
    look(std::string("border bits ") + name, s, how, kTex2D, {{-9, -9, 0}}, 4, true);
    how.as_float = integers;
    look(std::string("border bits as float ") + name, s, how, kTex2D, {{-9, -9, 0}}, 4, true);
    how.bits = false;
    look(std::string("border as float ") + name, s, how, kTex2D, wide(64, 16, 8, 1, 8), 32, true);
    how = {};
    const auto p = wide(128, 16, 8, 1, 9);
    for (const Call call : {kGather0, kGather1, kGather2, kGather3}) {
      how.as_float = false;
      const std::string which = std::to_string(call - kGather0) + " " + name;
      look("gather " + which, g, how, call, p, 32, true);
      how.as_float = integers;
      if (integers) look("gather as float " + which, g, how, call, p, 32, true);
    }
  }
  Source flat, deep, line, sheet;
  make_array(flat, kFloat1, 13, 7, 0, 0, 0);
  make_array(deep, kFloat1, 9, 7, 5, 0, 0);
  make_array(line, kFloat1, 1, 0, 0, 0, 0);
  make_array(sheet, kFloat1, 1, 1, 0, 0, 0);
  for (const bool normalised : {false, true}) {
    for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
      How how = {filter, cudaAddressModeClamp, normalised, false};
      how.mixed = true;
      const std::string name = std::string(filter == cudaFilterModePoint ? "point" : "linear") +
                               (normalised ? " normalised" : "");
      auto p = wide(256, 13, 7, 1, 12), q = wide(256, 9, 7, 5, 12);
      if (normalised) p = scaled(p, 13, 7, 1), q = scaled(q, 9, 7, 5);
      look("mixed 2d " + name, flat, how, kTex2D, p, 32);
      look("mixed 3d " + name, deep, how, kTex3D, q, 32);
      look("one texel 1d " + name, line, how, kTex1D, wide(64, 2, 2, 1, 13), 16);
      look("one texel 2d " + name, sheet, how, kTex2D, wide(64, 2, 2, 1, 13), 16);
    }
  }
  // Each texel of 8 bits, and what lies between it and the next.
  for (const Texels& t : {kU8, kS8}) {
    Source all;
    make_array(all, t, 256, 0, 0, 0, 0);
    std::vector<unsigned char> texels;
    for (int i = 0; i < 256; ++i) texels.push_back(static_cast<unsigned char>(i * 77));
    cudaMemcpy2DToArray(all.array, 0, 0, texels.data(), 256, 256, 1, cudaMemcpyHostToDevice);
    look(std::string("all texels of 8 bits, ") + (t.kind == kS8.kind ? "s8" : "u8"), all,
         {cudaFilterModeLinear, cudaAddressModeClamp, false, true}, kTex1D,
         fine(0.5f, 1 / 32.f, 8192), 32);
  }
  // Normalised coordinates times the size: what is rounded, and how.
  Source ramp;
  make_array(ramp, kFloat1, 13, 0, 0, 0, 0);
  for (const auto mode : {cudaAddressModeClamp, cudaAddressModeWrap, cudaAddressModeMirror}) {
    for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
      const std::string name =
          std::string(filter == cudaFilterModePoint ? "point " : "linear ") + name_of(mode);
      Random random{77};
      std::vector<Point> near;
      // Just at the turn from a texel or a weight to the next.
      for (int i = 0; i < 512; ++i) {
        float x = static_cast<float>(random() % (13 * 512)) / 512 / 13;
        const int steps = static_cast<int>(random() % 9) - 4;
        for (int k = 0; k < std::abs(steps); ++k) x = std::nextafter(x, steps < 0 ? -9.f : 9.f);
        if (random() & 1) x += static_cast<float>(random() % 7) - 3;
        near.push_back({x, 0, 0});
      }
      look("near a turn, " + name, ramp, {filter, mode, true, false}, kTex1D, near, 32);
      // Coordinates that aren't normalised, far and near.
      if (mode != cudaAddressModeClamp) continue;
      for (Point& one : near) one.x *= 13;
      look("near a turn, texels, " + name, ramp, {filter, mode, false, false}, kTex1D, near, 32);
    }
  }
}

// ---- levels ----

struct Levels {
  cudaMipmappedArray_t all = nullptr;
  Source source;  // of all of them
  Levels(const Texels& t, int width, int height, int count) {
    const auto desc = t.desc();
    cudaMallocMipmappedArray(
        &all, &desc, make_cudaExtent(static_cast<size_t>(width), static_cast<size_t>(height), 0),
        static_cast<unsigned>(count));
    for (int level = 0; level < count; ++level) {
      cudaArray_t one;
      cudaExtent e{};
      cudaGetMipmappedArrayLevel(&one, all, static_cast<unsigned>(level));
      cudaArrayGetInfo(nullptr, &e, nullptr, one);
      const size_t h = e.height ? e.height : 1, bytes = static_cast<size_t>(t.bytes());
      const auto texels =
          contents(t, static_cast<int>(e.width * h), 0, static_cast<u64>(100 + level));
      std::printf(
          "level %d: %zu %zu %zu %d\n", level, e.width, e.height, e.depth,
          static_cast<int>(cudaMemcpy2DToArray(one, 0, 0, texels.data(), e.width * bytes,
                                               e.width * bytes, h, cudaMemcpyHostToDevice)));
    }
    source.resource.resType = cudaResourceTypeMipmappedArray;
    source.resource.res.mipmap.mipmap = all;
    source.channels = t.channels;
  }
  ~Levels() { cudaFreeMipmappedArray(all); }
};

void levels() {
  Levels flat(kFloat1, 16, 16, 5), odd(kFloat1, 13, 7, 3), line(kFloat1, 16, 0, 5);
  std::vector<Point> fine_levels;
  for (int i = -512; i < 2560; ++i)
    fine_levels.push_back({0.3f, 0.7f, static_cast<float>(i) / 512});
  auto some = scaled(inside(512, 16, 16, 6, 31), 16, 16, 1);
  for (Point& one : some) one.z -= 0.5f;
  for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    for (const auto between : {cudaFilterModePoint, cudaFilterModeLinear}) {
      const std::string name = std::string(filter == cudaFilterModePoint ? "point" : "linear") +
                               (between == cudaFilterModePoint ? ", point" : ", linear");
      How how = {filter, cudaAddressModeClamp, true, false, between, 0, 10};
      look("levels of 16, " + name, flat.source, how, kLod2D, some, 64);
      look("levels of 13, " + name, odd.source, how, kLod2D, some, 32);
      look("levels 1d, " + name, line.source, how, kLod1D, some, 32);
      look("plain read, " + name, flat.source, how, kTex2D, some, 32);
      look("fine levels, " + name, flat.source, how, kLod2D, fine_levels, 32);
      how.least = 0.75f, how.most = 2.25f;
      look("levels clamped, " + name, flat.source, how, kLod2D, some, 32);
      how.bias = 0.625f;
      look("levels biased, " + name, flat.source, how, kLod2D, some, 32);
    }
  }
}

void cubes() {
  Source cube;
  make_array(cube, kFloat1, 8, 8, 6, cudaArrayCubemap, 0);
  std::vector<Point> p;
  Random random{41};
  for (int i = 0; i < 2048; ++i) {
    const float x = random.within(-1, 2), y = random.within(-1, 2);
    p.push_back({x, y, random.within(-1, 2)});
  }
  std::vector<Point> simple;
  for (int i = 0; i < 343; ++i)
    simple.push_back({static_cast<float>(i % 7 - 3), static_cast<float>(i / 7 % 7 - 3),
                      static_cast<float>(i / 49 - 3)});
  for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    const std::string name = filter == cudaFilterModePoint ? "point" : "linear";
    const How how = {filter, cudaAddressModeClamp, true, false};
    look("cube, " + name, cube, how, kCube, p, 64);
    look("cube, simple, " + name, cube, how, kCube, simple, 64);
  }
}

// ---- weights ----

// Texture with four channels: of each, one corner of a cell is 1 and all others are 0.
__global__ void weights_of(cudaTextureObject_t from, int dimensions, const uchar4* at, int n,
                           float4* to) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float x = 0.5f + static_cast<float>(at[i].x) / 256,
              y = 0.5f + static_cast<float>(at[i].y) / 256,
              z = 0.5f + static_cast<float>(at[i].z) / 256;
  to[i] = dimensions == 2 ? tex2D<float4>(from, x, y) : tex3D<float4>(from, x, y, z);
}

void weights(const char* to_file) {
  std::FILE* file = std::fopen(to_file, "wb");
  if (!file) std::exit(1);
  for (const int dimensions : {2, 3}) {
    std::vector<uchar4> at;
    Random random{51};
    if (dimensions == 2) {
      for (int i = 0; i < 65536; ++i)
        at.push_back({static_cast<unsigned char>(i), static_cast<unsigned char>(i >> 8), 0, 0});
    } else {
      const auto level = [](int i) { return static_cast<unsigned char>(i == 32 ? 255 : i * 8); };
      for (int i = 0; i < 33 * 33 * 33; ++i)
        at.push_back({level(i % 33), level(i / 33 % 33), level(i / 1089), 0});
      for (int i = 0; i < 131072; ++i) {
        const u64 r = random();
        at.push_back({static_cast<unsigned char>(r), static_cast<unsigned char>(r >> 8),
                      static_cast<unsigned char>(r >> 16), 0});
      }
      // All of two directions for some of the third.
      for (const int wx : {1, 3, 77, 128, 200, 255}) {
        for (int i = 0; i < 65536; i += 3)
          at.push_back({static_cast<unsigned char>(wx), static_cast<unsigned char>(i),
                        static_cast<unsigned char>(i >> 8), 0});
      }
    }
    const int n = static_cast<int>(at.size()), halves = dimensions == 2 ? 1 : 2;
    uchar4* device_at;
    float4* to;
    cudaMalloc(&device_at, at.size() * 4), cudaMalloc(&to, at.size() * 16);
    cudaMemcpy(device_at, at.data(), at.size() * 4, cudaMemcpyDefault);
    std::vector<std::vector<float4>> got;
    for (int half = 0; half < halves; ++half) {
      Source s;
      make_array(s, kFloat4, 2, 2, dimensions == 2 ? 0 : 2, 0, 0);
      std::vector<float> texels(dimensions == 2 ? 16 : 32);
      for (size_t c = 0; c < 4; ++c) texels[(static_cast<size_t>(half) * 4 + c) * 4 + c] = 1;
      cudaMemcpy3DParms copy = {};
      copy.srcPtr = make_cudaPitchedPtr(texels.data(), 32, 2, 2);
      copy.dstArray = s.array;
      copy.extent = make_cudaExtent(2, 2, dimensions == 2 ? 1 : 2);
      copy.kind = cudaMemcpyHostToDevice;
      if (cudaMemcpy3D(&copy) != cudaSuccess) std::exit(2);
      const cudaTextureDesc d = describe({cudaFilterModeLinear});
      cudaTextureObject_t texture = 0;
      if (cudaCreateTextureObject(&texture, &s.resource, &d, nullptr) != cudaSuccess) std::exit(3);
      weights_of<<<static_cast<unsigned>((n + 127) / 128), 128>>>(texture, dimensions, device_at, n,
                                                                  to);
      if (cudaGetLastError() != cudaSuccess) std::exit(5);
      got.emplace_back(at.size());
      if (cudaMemcpy(got.back().data(), to, at.size() * 16, cudaMemcpyDefault) != cudaSuccess)
        std::exit(4);
    }
    // Of each place wx, wy, wz and the weights of its corners, x first.
    for (size_t i = 0; i < at.size(); ++i) {
      std::fwrite(&at[i], 4, 1, file);
      for (const auto& half : got) std::fwrite(&half[i], 16, 1, file);
    }
  }
  std::fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "weights") == 0) {
    weights(argv[2]);
    return 0;
  }
  whole = argc > 1;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what is there stays, should a read be fatal
  linear_memory();
  one_dimension();
  more_dimensions();
  further();
  levels();
  cubes();
}
