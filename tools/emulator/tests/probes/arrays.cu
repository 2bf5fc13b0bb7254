// What CUDA's runtime says of arrays, texture objects and surface objects: good requests and bad.
//
// By hand, on a machine with an H200:
//   nvcc -std=c++17 -arch=sm_90 -o probe arrays.cu && ./probe
// arrays.h200.txt is what that printed, after a line with the GPU and the driver.
#include <sys/wait.h>
#include <unistd.h>

#include "texels.cuh"

namespace {

void show(const cudaExtent& e, unsigned flags) {
  std::printf("%zu %zu %zu; %u\n", e.width, e.height, e.depth, flags);
}

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
  ASK(cudaDestroyTextureObject(0));
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

constexpr Texels kBytes = {8, cudaChannelFormatKindUnsigned, 1};

// Copies: where they go, and which are refused.
void copies() {
  constexpr size_t w = 6, h = 4, d = 3;
  std::vector<unsigned> host(w * h * d), back(w * h * d);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned>(i);
  const auto word = cudaCreateChannelDesc<unsigned>();
  cudaArray_t flat = nullptr, deep = nullptr, layers = nullptr, line = nullptr, wide = nullptr;
  ASK(cudaMallocArray(&flat, &word, w, h));
  ASK(cudaMallocArray(&line, &word, w));
  ASK(cudaMalloc3DArray(&deep, &word, make_cudaExtent(w, h, d)));
  ASK(cudaMalloc3DArray(&layers, &word, make_cudaExtent(w, h, d), cudaArrayLayered));
  const auto four = cudaCreateChannelDesc<uint4>();
  ASK(cudaMallocArray(&wide, &four, w, h));
  unsigned* memory;
  cudaMalloc(&memory, 4096);
  cudaMemset(memory, 0, 4096);
  const auto print = [&](const char* name, size_t n) {
    std::printf("%s:", name);
    for (size_t i = 0; i < n; ++i) std::printf(" %u", back[i]);
    std::printf("\n");
    back.assign(back.size(), 0);
  };
  const auto from_host = [&](cudaArray_t to, cudaExtent extent) {
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr(host.data(), w * 4, w, h);
    c.dstArray = to;
    c.extent = extent;
    c.kind = cudaMemcpyHostToDevice;
    return c;
  };
  const auto to_host = [&](cudaArray_t from, cudaExtent extent) {
    cudaMemcpy3DParms c = {};
    c.srcArray = from;
    c.dstPtr = make_cudaPitchedPtr(back.data(), w * 4, w, h);
    c.extent = extent;
    c.kind = cudaMemcpyDeviceToHost;
    return c;
  };
  auto c = from_host(deep, make_cudaExtent(w, h, d));
  ASK(cudaMemcpy3D(&c));
  c = to_host(deep, make_cudaExtent(w, h, d));
  ASK(cudaMemcpy3D(&c));
  print("deep", w * h * d);
  c = to_host(deep, make_cudaExtent(2, 2, 2));
  c.srcPos = make_cudaPos(3, 1, 1);
  c.dstPos = make_cudaPos(4, 0, 0);
  ASK(cudaMemcpy3D(&c));
  print("a part of deep", w * h * d);
  c = to_host(deep, make_cudaExtent(5, 2, 2));
  c.srcPos = make_cudaPos(3, 1, 1);
  ASK(cudaMemcpy3D(&c));
  c = to_host(deep, make_cudaExtent(2, 2, 3));
  c.srcPos = make_cudaPos(3, 1, 1);
  ASK(cudaMemcpy3D(&c));
  c = to_host(deep, make_cudaExtent(2, 2, 0));
  ASK(cudaMemcpy3D(&c));
  c = to_host(deep, make_cudaExtent(w, h, d));
  c.kind = cudaMemcpyHostToDevice;
  ASK(cudaMemcpy3D(&c));
  c.kind = cudaMemcpyDefault;
  ASK(cudaMemcpy3D(&c));
  c.dstArray = layers;
  ASK(cudaMemcpy3D(&c));
  c.srcPtr = c.dstPtr;
  ASK(cudaMemcpy3D(&c));
  c = {};
  c.srcArray = deep, c.dstArray = layers, c.extent = make_cudaExtent(w, h, d),
  c.kind = cudaMemcpyDeviceToDevice;
  ASK(cudaMemcpy3D(&c));
  c = to_host(layers, make_cudaExtent(w, h, 1));
  c.srcPos.z = 2;
  ASK(cudaMemcpy3D(&c));
  print("layer 2", w * h);
  c = {};
  c.srcArray = deep, c.dstArray = flat, c.extent = make_cudaExtent(w, h, 1),
  c.srcPos = make_cudaPos(0, 0, 1), c.kind = cudaMemcpyDeviceToDevice;
  ASK(cudaMemcpy3D(&c));
  ASK(cudaMemcpy2DFromArray(back.data(), w * 4, flat, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
  print("sheet 1", w * h);
  c.dstArray = wide;
  ASK(cudaMemcpy3D(&c));
  c.extent = make_cudaExtent(1, 1, 1);
  ASK(cudaMemcpy3D(&c));
  c = from_host(line, make_cudaExtent(w, 1, 1));
  ASK(cudaMemcpy3D(&c));
  c = from_host(line, make_cudaExtent(w, 0, 0));
  ASK(cudaMemcpy3D(&c));
  c = from_host(line, make_cudaExtent(w, 2, 1));
  ASK(cudaMemcpy3D(&c));
  ASK(cudaMemcpy2DToArray(line, 0, 0, host.data() + 7, w * 4, w * 4, 1, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DToArray(line, 0, 1, host.data() + 7, w * 4, w * 4, 1, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DFromArray(back.data(), w * 4, line, 0, 0, w * 4, 1, cudaMemcpyDeviceToHost));
  print("line", w);
  ASK(cudaMemcpy2DFromArray(memory, 256, flat, 4, 1, 8, 2, cudaMemcpyDeviceToDevice));
  ASK(cudaMemcpy2D(back.data(), 8, memory, 256, 8, 2, cudaMemcpyDeviceToHost));
  print("to memory", 4);
  ASK(cudaMemcpy2DToArray(flat, 8, 2, memory, 256, 8, 2, cudaMemcpyDeviceToDevice));
  ASK(cudaMemcpy2DToArrayAsync(flat, 0, 0, host.data(), w * 4, 8, 2, cudaMemcpyHostToDevice, 0));
  ASK(cudaMemcpy2DFromArrayAsync(back.data(), w * 4, flat, 0, 0, w * 4, h, cudaMemcpyDeviceToHost,
                                 0));
  ASK(cudaDeviceSynchronize());
  print("flat", w * h);
  ASK(cudaMemcpy2DArrayToArray(flat, 4, 0, flat, 0, 2, 8, 2, cudaMemcpyDeviceToDevice));
  ASK(cudaMemcpy2DArrayToArray(flat, 0, 0, wide, 16, 0, 16, 2, cudaMemcpyDeviceToDevice));
  ASK(cudaMemcpy2DArrayToArray(flat, 0, 0, wide, 0, 0, 8, 2, cudaMemcpyDeviceToDevice));
  ASK(cudaMemcpy2DArrayToArray(flat, 0, 0, flat, 0, 2, 8, 2, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DArrayToArray(flat, 0, 0, flat, 0, 2, 8, 3, cudaMemcpyDeviceToDevice));
  ASK(cudaMemcpy2DFromArray(back.data(), w * 4, flat, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
  print("flat again", w * h);
  ASK(cudaMemcpy2DToArray(flat, 0, 0, host.data(), w * 4, 0, 2, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DToArray(flat, 0, 0, nullptr, w * 4, 8, 2, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DToArray(nullptr, 0, 0, host.data(), w * 4, 8, 2, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DToArray(deep, 0, 0, host.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DToArray(layers, 0, 0, host.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  cudaMemcpy3DParms none = {};
  ASK(cudaMemcpy3D(&none));
  c = to_host(flat, make_cudaExtent(w, h, 1));
  ASK(cudaMemcpy3DAsync(&c, 0));
  ASK(cudaDeviceSynchronize());
  ASK(cudaFreeArray(flat));
}

void mipmaps() {
  const auto f = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t m = nullptr;
  ASK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(13, 7, 0), 3));
  cudaChannelFormatDesc desc;
  cudaExtent e;
  unsigned flags = 99;
  for (unsigned level = 0; level < 4; ++level) {
    cudaArray_t one = nullptr;
    ASK(cudaGetMipmappedArrayLevel(&one, m, level));
    if (!one) continue;
    ASK(cudaArrayGetInfo(&desc, &e, &flags, one));
    show(e, flags);
    cudaArray_t again = nullptr;
    ASK(cudaGetMipmappedArrayLevel(&again, m, level));
    std::printf("the same: %d\n", one == again);
  }
  cudaArray_t one = nullptr;
  ASK(cudaGetMipmappedArrayLevel(nullptr, m, 0));
  ASK(cudaGetMipmappedArrayLevel(&one, nullptr, 0));
  for (const bool normalised : {false, true}) {
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
    d.normalizedCoords = normalised;
    cudaTextureObject_t t = 0;
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    cudaSurfaceObject_t s = 0;
    ASK(cudaCreateSurfaceObject(&s, &r));
  }
  ASK(cudaFreeMipmappedArray(m));
  ASK(cudaFreeMipmappedArray(nullptr));
  ASK(cudaMallocMipmappedArray(nullptr, &f, make_cudaExtent(16, 16, 0), 3));
  ASK(cudaMallocMipmappedArray(&m, nullptr, make_cudaExtent(16, 16, 0), 3));
  ASK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(0, 16, 0), 3));
  for (const unsigned levels : {0u, 1u, 5u, 6u, 100u}) {
    std::printf("%u levels: ", levels);
    ASK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(16, 16, 0), levels));
    for (unsigned level = 0; level < 6; ++level) {
      cudaArray_t a = nullptr;
      if (cudaGetMipmappedArrayLevel(&a, m, level) != cudaSuccess) break;
      cudaArrayGetInfo(nullptr, &e, nullptr, a);
      show(e, 0);
    }
    cudaGetLastError();
  }
  ASK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(16, 0, 0), 3));
  ASK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(16, 8, 4), 3));
  ASK(cudaGetMipmappedArrayLevel(&one, m, 2));
  ASK(cudaArrayGetInfo(nullptr, &e, &flags, one));
  show(e, flags);
  ASK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(16, 8, 4), 3, cudaArrayLayered));
  ASK(cudaGetMipmappedArrayLevel(&one, m, 2));
  ASK(cudaArrayGetInfo(nullptr, &e, &flags, one));
  show(e, flags);
}

// Texture and surface objects of arrays with and without the flags for them.
void objects() {
  const auto f = cudaCreateChannelDesc<float>();
  for (const unsigned flags : {0u, 2u, 8u, 10u, 1u, 4u}) {
    for (const int depth : {0, 6}) {
      for (const int height : {0, 8}) {
        cudaArray_t a = nullptr;
        std::printf("flags %u, 8 %d %d: ", flags, height, depth);
        const auto e = make_cudaExtent(8, static_cast<size_t>(height), static_cast<size_t>(depth));
        const cudaError_t made = cudaMalloc3DArray(&a, &f, e, flags);
        cudaGetLastError();
        std::printf("%s", cudaGetErrorName(made));
        if (made == cudaSuccess) {
          cudaResourceDesc r = {};
          r.resType = cudaResourceTypeArray;
          r.res.array.array = a;
          cudaTextureDesc d = {};
          cudaTextureObject_t t = 0;
          cudaSurfaceObject_t s = 0;
          std::printf(" texture %s",
                      cudaGetErrorName(cudaCreateTextureObject(&t, &r, &d, nullptr)));
          std::printf(" surface %s", cudaGetErrorName(cudaCreateSurfaceObject(&s, &r)));
          cudaGetLastError();
          cudaFreeArray(a);
        }
        std::printf("\n");
      }
    }
  }
  cudaArray_t a = nullptr;
  cudaMallocArray(&a, &f, 16, 8, cudaArraySurfaceLoadStore);
  cudaResourceDesc r = {}, r2 = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaSurfaceObject_t s = 0;
  ASK(cudaCreateSurfaceObject(&s, &r));
  ASK(cudaCreateSurfaceObject(nullptr, &r));
  ASK(cudaCreateSurfaceObject(&s, nullptr));
  ASK(cudaGetSurfaceObjectResourceDesc(&r2, s));
  std::printf("%d %d\n", r2.resType, r2.res.array.array == a);
  ASK(cudaGetSurfaceObjectResourceDesc(&r2, 0));
  ASK(cudaDestroySurfaceObject(s));
  ASK(cudaDestroySurfaceObject(0));
  cudaTextureObject_t t = 0;
  cudaTextureDesc d = {}, d2 = {};
  d.addressMode[0] = cudaAddressModeMirror, d.filterMode = cudaFilterModeLinear;
  d.borderColor[1] = 2, d.maxAnisotropy = 3, d.normalizedCoords = 1, d.mipmapLevelBias = 1.5f;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  ASK(cudaGetTextureObjectTextureDesc(&d2, t));
  std::printf("%d %d %d %d %g %d %u %g %d %d\n", d2.addressMode[0], d2.addressMode[1],
              d2.filterMode, d2.readMode, static_cast<double>(d2.borderColor[1]),
              d2.normalizedCoords, d2.maxAnisotropy, static_cast<double>(d2.mipmapLevelBias),
              d2.sRGB, d2.seamlessCubemap);
  ASK(cudaGetTextureObjectResourceDesc(&r2, 0));
  cudaResourceViewDesc v = {};
  ASK(cudaGetTextureObjectResourceViewDesc(&v, t));
  v = {};
  v.format = cudaResViewFormatFloat1, v.width = 16, v.height = 8;
  ASK(cudaCreateTextureObject(&t, &r, &d, &v));
  ASK(cudaGetTextureObjectResourceViewDesc(&v, t));
  std::printf("%d %zu %zu %zu\n", v.format, v.width, v.height, v.depth);
  v.width = 15;
  ASK(cudaCreateTextureObject(&t, &r, &d, &v));
  d = {};
  d.sRGB = 1;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  d = {};
  d.disableTrilinearOptimization = 1;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  d = {};
  d.seamlessCubemap = 1;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  d = {};
  d.maxAnisotropy = 99;
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  r.resType = static_cast<cudaResourceType>(9);
  ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  ASK(cudaCreateSurfaceObject(&s, &r));
  size_t width = 0;
  const auto bytes = kBytes.desc();
  const auto four = cudaCreateChannelDesc<float4>();
  ASK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &bytes, 0));
  std::printf("%zu\n", width);
  ASK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &four, 0));
  std::printf("%zu\n", width);
  ASK(cudaDeviceGetTexture1DLinearMaxWidth(nullptr, &four, 0));
  ASK(cudaDeviceGetTexture1DLinearMaxWidth(&width, nullptr, 0));
  ASK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &four, 7));
}

// Requests that may end a process: each is asked alone.
struct Objects {
  cudaArray_t array = nullptr;
  cudaMipmappedArray_t levels = nullptr;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
  Objects() {
    const auto f = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &f, 16, 8, cudaArraySurfaceLoadStore);
    cudaMallocMipmappedArray(&levels, &f, make_cudaExtent(16, 8, 0), 2);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    const cudaTextureDesc d = {};
    cudaCreateTextureObject(&texture, &r, &d, nullptr);
    cudaCreateSurfaceObject(&surface, &r);
  }
};

void memcpy_of_nothing() {
  ASK(cudaMemcpy3D(nullptr));
}
void texture_desc_to_nowhere() {
  Objects o;
  ASK(cudaGetTextureObjectTextureDesc(nullptr, o.texture));
}
void resource_desc_to_nowhere() {
  Objects o;
  ASK(cudaGetTextureObjectResourceDesc(nullptr, o.texture));
}
void surface_desc_to_nowhere() {
  Objects o;
  ASK(cudaGetSurfaceObjectResourceDesc(nullptr, o.surface));
}
void texture_destroyed_twice() {
  Objects o;
  ASK(cudaDestroyTextureObject(o.texture));
  ASK(cudaDestroyTextureObject(o.texture));
}
void surface_destroyed_twice() {
  Objects o;
  ASK(cudaDestroySurfaceObject(o.surface));
  ASK(cudaDestroySurfaceObject(o.surface));
}
void no_such_texture() {
  Objects o;
  ASK(cudaDestroyTextureObject(12345));
}
void array_freed_twice() {
  Objects o;
  ASK(cudaFreeArray(o.array));
  ASK(cudaFreeArray(o.array));
}
void level_freed() {
  Objects o;
  cudaArray_t level = nullptr;
  ASK(cudaGetMipmappedArrayLevel(&level, o.levels, 1));
  ASK(cudaFreeArray(level));
  ASK(cudaFreeMipmappedArray(o.levels));
}
void levels_freed_twice() {
  Objects o;
  ASK(cudaFreeMipmappedArray(o.levels));
  ASK(cudaFreeMipmappedArray(o.levels));
}
void asked_of_the_wrong_kind() {
  Objects o;
  cudaResourceDesc r = {};
  ASK(cudaGetTextureObjectResourceDesc(&r, o.surface));
  ASK(cudaGetSurfaceObjectResourceDesc(&r, o.texture));
  ASK(cudaDestroySurfaceObject(o.texture));
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  void (*const parts[])() = {requests,
                             copies,
                             mipmaps,
                             objects,
                             memcpy_of_nothing,
                             texture_desc_to_nowhere,
                             resource_desc_to_nowhere,
                             surface_desc_to_nowhere,
                             texture_destroyed_twice,
                             surface_destroyed_twice,
                             no_such_texture,
                             array_freed_twice,
                             level_freed,
                             levels_freed_twice,
                             asked_of_the_wrong_kind};
  int number = 0;
  for (const auto part : parts) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      part();
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("part %d: ended with %d\n", number++, status);
  }
}
