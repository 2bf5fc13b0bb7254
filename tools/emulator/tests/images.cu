// What test_images.py runs: each program asks for one thing of textures, surfaces and arrays, and
// prints how it ended.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

constexpr int kSide = 8;

__global__ void read_line(cudaTextureObject_t from, float* to) {
  *to = tex1D<float>(from, 0.5f);
}
__global__ void read_flat(cudaTextureObject_t from, float* to) {
  *to = tex2D<float>(from, 0.5f, 0.5f);
}
__global__ void read_deep(cudaTextureObject_t from, float* to) {
  *to = tex3D<float>(from, 0.5f, 0.5f, 0.5f);
}
__global__ void read_level(cudaTextureObject_t from, float* to) {
  *to = tex2DLod<float>(from, 0.5f, 0.5f, 1);
}
__global__ void read_cube(cudaTextureObject_t from, float* to) {
  *to = texCubemap<float>(from, 1, 0, 0);
}
__global__ void read_cubes(cudaTextureObject_t from, float* to) {
  *to = texCubemapLayered<float>(from, 1, 0, 0, 0);
}
__global__ void read_gradient(cudaTextureObject_t from, float* to) {
  *to = tex2DGrad<float>(from, 0, 0, make_float2(1, 0), make_float2(0, 1));
}
__global__ void read_resident(cudaTextureObject_t from, float* to) {
  bool there = false;
  *to = tex2D<float>(from, 0, 0, &there) + (there ? 1.0f : 0.0f);
}
__global__ void ask_width(cudaTextureObject_t from, unsigned* to) {
  asm("txq.width.b32 %0, [%1];" : "=r"(*to) : "l"(from));
}
__global__ void add_to(cudaSurfaceObject_t to) {
  asm volatile("sured.b.add.1d.u32.trap [%0, {%1}], %2;" ::"l"(to), "r"(0), "r"(1));
}
__global__ void fetch(cudaTextureObject_t from, float* to) {
  *to = tex1Dfetch<float>(from, 3);
}
__global__ void shift(cudaSurfaceObject_t s, int by, float* to) {
  const int x = static_cast<int>(threadIdx.x);
  to[x] = surf1Dread<float>(s, (x + by) * 4);
}
__global__ void paint(cudaSurfaceObject_t s, int apart) {
  const int x = static_cast<int>(threadIdx.x);
  surf1Dwrite(static_cast<float>(x), s, x * apart * 4);
}

struct Things {
  cudaArray_t array = nullptr;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
};

cudaError_t texture_of(Things& things, const cudaResourceDesc& resource, bool linear,
                       bool as_float = false, bool srgb = false) {
  cudaTextureDesc desc = {};
  desc.addressMode[0] = desc.addressMode[1] = desc.addressMode[2] = cudaAddressModeClamp;
  desc.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
  desc.readMode = as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  desc.sRGB = srgb;
  return cudaCreateTextureObject(&things.texture, &resource, &desc, nullptr);
}

/// An array with the objects for it, filled with zeros or not at all.
template <class T>
Things make(int height, int depth, bool linear, bool as_float = false, bool srgb = false,
            bool filled = true) {
  Things things;
  const auto channel = cudaCreateChannelDesc<T>();
  const cudaExtent extent =
      make_cudaExtent(kSide, static_cast<size_t>(height), static_cast<size_t>(depth));
  cudaMalloc3DArray(&things.array, &channel, extent, cudaArraySurfaceLoadStore);
  static char zeros[kSide * kSide * kSide * sizeof(T)];
  if (filled) {
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(zeros, kSide * sizeof(T), kSide, kSide);
    copy.dstArray = things.array;
    copy.extent = make_cudaExtent(kSide, height ? static_cast<size_t>(height) : 1,
                                  depth ? static_cast<size_t>(depth) : 1);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
  }
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = things.array;
  texture_of(things, resource, linear, as_float, srgb);
  cudaCreateSurfaceObject(&things.surface, &resource);
  return things;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  float* to = nullptr;
  cudaMalloc(&to, 4096);
  cudaMemset(to, 0, 4096);
  Things things;  // those that are freed
  cudaError_t status = cudaSuccess;
  if (what == "cubemap") {
    const auto channel = cudaCreateChannelDesc<float>();
    cudaMalloc3DArray(&things.array, &channel, make_cudaExtent(kSide, kSide, 6), cudaArrayCubemap);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = things.array;
    texture_of(things, resource, false);
    read_cube<<<1, 1>>>(things.texture, to);
  }
  if (what == "layers_of_cubes") read_cubes<<<1, 1>>>(make<float>(kSide, 0, false).texture, to);
  if (what == "gradient") read_gradient<<<1, 1>>>(make<float>(kSide, 0, false).texture, to);
  if (what == "resident") read_resident<<<1, 1>>>(make<float>(kSide, 0, false).texture, to);
  if (what == "shape") read_deep<<<1, 1>>>(make<float>(kSide, 0, false).texture, to);
  if (what == "signed_bytes") {
    read_flat<<<1, 1>>>(make<signed char>(kSide, 0, true, true).texture, to);
  }
  if (what == "srgb") {
    read_flat<<<1, 1>>>(make<unsigned char>(kSide, 0, false, true, true).texture, to);
  }
  if (what == "query") {
    ask_width<<<1, 1>>>(make<float>(kSide, 0, false).texture, reinterpret_cast<unsigned*>(to));
  }
  if (what == "reduction") add_to<<<1, 1>>>(make<unsigned>(0, 0, false).surface);
  if (what == "levels") {
    cudaMipmappedArray_t levels = nullptr;
    const auto channel = cudaCreateChannelDesc<float>();
    cudaMallocMipmappedArray(&levels, &channel, make_cudaExtent(kSide, kSide, 0), 2);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = levels;
    texture_of(things, resource, false);
    read_level<<<1, 1>>>(things.texture, to);
  }
  if (what == "view") {
    things = make<float>(kSide, 0, false);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = things.array;
    const cudaTextureDesc desc = {};
    cudaResourceViewDesc view = {};
    view.format = cudaResViewFormatUnsignedInt1;
    view.width = view.height = kSide;
    cudaTextureObject_t texture = 0;
    status = cudaCreateTextureObject(&texture, &resource, &desc, &view);
  }
  if (what == "freed") {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {to, cudaCreateChannelDesc<float>(), 4096};
    texture_of(things, resource, false);
    float* other = nullptr;
    cudaMalloc(&other, 4);
    cudaFree(to);
    fetch<<<1, 1>>>(things.texture, other);
  }
  if (what == "destroyed") {
    things = make<float>(0, 0, false);
    cudaDestroyTextureObject(things.texture);
    read_line<<<1, 1>>>(things.texture, to);
  }
  if (what == "graph") {
    things = make<float>(0, 0, false);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    static const float seven[kSide] = {7, 7, 7, 7, 7, 7, 7, 7};
    cudaMemcpy2DToArrayAsync(things.array, 0, 0, seven, sizeof seven, sizeof seven, 1,
                             cudaMemcpyHostToDevice, stream);
    cudaGraph_t graph;
    cudaStreamEndCapture(stream, &graph);
    float row[2][kSide];
    const auto look = [&](int i) {
      cudaMemcpy2DFromArray(row[i], sizeof row[i], things.array, 0, 0, sizeof row[i], 1,
                            cudaMemcpyDeviceToHost);
    };
    look(0);
    cudaGraphExec_t ready;
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, stream);
    cudaStreamSynchronize(stream);
    look(1);
    std::printf("%g then %g\n", static_cast<double>(row[0][2]), static_cast<double>(row[1][2]));
  }
  if (what == "sound") {
    things = make<float>(0, 0, true);
    paint<<<1, kSide>>>(things.surface, 1);
    shift<<<1, kSide>>>(things.surface, 0, to);
    read_line<<<1, 1>>>(things.texture, to);
  }
  if (what == "outside") {
    things = make<float>(0, 0, false);
    shift<<<1, kSide>>>(things.surface, 1, to);
  }
  if (what == "unwritten") {
    read_line<<<1, 1>>>(make<float>(0, 0, false, false, false, false).texture, to);
  }
  if (what == "unwritten_surface") {
    shift<<<1, kSide>>>(make<float>(0, 0, false, false, false, false).surface, 0, to);
  }
  if (what == "race") paint<<<1, 2 * kSide>>>(make<float>(0, 0, false).surface, 0);
  if (status == cudaSuccess) status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  cudaFreeArray(things.array);
  if (what != "freed") cudaFree(to);
  std::printf("%s\n", cudaGetErrorString(status));
}
