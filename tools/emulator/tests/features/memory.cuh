/// \file
/// Memory as the host asks for it and copies it.
#pragma once
#include <cstring>

#include "case.cuh"

namespace features::memory {

__global__ void twice(int* data) {
  data[threadIdx.x] *= 2;
}

FEATURE("memory", managed, "managed memory") {
  int* data;
  cuda(cudaMallocManaged(&data, 64 * sizeof(int)));
  for (int i = 0; i < 64; ++i) data[i] = i;
  twice<<<1, 64>>>(data);
  launched();
  const bool right = data[63] == 126;
  cuda(cudaFree(data));
  return right;
}

FEATURE("memory", pinned, "pinned and mapped host memory") {
  int *host, *device;
  cuda(cudaHostAlloc(&host, 64 * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < 64; ++i) host[i] = i;
  cuda(cudaHostGetDevicePointer(&device, host, 0));
  twice<<<1, 64>>>(device);
  launched();
  const bool right = host[63] == 126;
  cuda(cudaFreeHost(host));
  return right;
}

FEATURE("memory", registered, "registered host memory") {
  std::vector<int> host(4096, 3);
  cuda(cudaHostRegister(host.data(), host.size() * sizeof(int), cudaHostRegisterMapped));
  int* device;
  cuda(cudaHostGetDevicePointer(&device, host.data(), 0));
  twice<<<1, 64>>>(device);
  launched();
  cuda(cudaHostUnregister(host.data()));
  return host[63] == 6 && host[64] == 3;
}

FEATURE("memory", pitched, "pitched memory and two-dimensional copies") {
  char* data;
  std::size_t pitch;
  cuda(cudaMallocPitch(&data, &pitch, 100, 4));
  char host[4][100], back[4][100] = {};
  for (int i = 0; i < 400; ++i) host[i / 100][i % 100] = static_cast<char>(i % 127);
  cuda(cudaMemcpy2D(data, pitch, host, 100, 100, 4, cudaMemcpyHostToDevice));
  cuda(cudaMemcpy2D(back, 100, data, pitch, 100, 4, cudaMemcpyDeviceToHost));
  return pitch >= 100 && std::memcmp(host, back, sizeof host) == 0;
}

FEATURE("memory", volumes, "three-dimensional memory and copies") {
  cudaPitchedPtr data;
  const cudaExtent extent = make_cudaExtent(16, 3, 2);
  cuda(cudaMalloc3D(&data, extent));
  cuda(cudaMemset3D(data, 7, extent));
  char back[2][3][16] = {};
  cudaMemcpy3DParms copy{};
  copy.srcPtr = data;
  copy.dstPtr = make_cudaPitchedPtr(back, 16, 16, 3);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  cuda(cudaMemcpy3D(&copy));
  return back[1][2][15] == 7;
}

FEATURE("memory", pools, "stream-ordered allocation (cudaMallocAsync)") {
  cudaStream_t stream;
  cuda(cudaStreamCreate(&stream));
  int *data, back[64];
  cuda(cudaMallocAsync(&data, sizeof back, stream));
  cuda(cudaMemsetAsync(data, 0, sizeof back, stream));
  twice<<<1, 64, 0, stream>>>(data);
  cuda(cudaMemcpyAsync(back, data, sizeof back, cudaMemcpyDeviceToHost, stream));
  cuda(cudaFreeAsync(data, stream));
  cuda(cudaStreamSynchronize(stream));
  return back[63] == 0;
}

FEATURE("memory", advice, "prefetching and advice for managed memory") {
  int* data;
  cuda(cudaMallocManaged(&data, 4096));
  cudaMemLocation location{};
  location.type = cudaMemLocationTypeDevice;
  cuda(cudaMemAdvise(data, 4096, cudaMemAdviseSetReadMostly, location));
  cuda(cudaMemPrefetchAsync(data, 4096, location, 0, nullptr));
  cuda(cudaDeviceSynchronize());
  return true;
}

FEATURE("memory", pointers, "what a pointer points to (cudaPointerGetAttributes)") {
  Values<int> data(1);
  cudaPointerAttributes facts;
  cuda(cudaPointerGetAttributes(&facts, data.get()));
  return facts.type == cudaMemoryTypeDevice;
}

FEATURE("memory", peers, "access between devices (cudaDeviceEnablePeerAccess)") {
  int devices;
  cuda(cudaGetDeviceCount(&devices));
  if (devices < 2) refused("there is one device");
  cuda(cudaDeviceEnablePeerAccess(1, 0));
  return true;
}

FEATURE("memory", processes, "memory shared between processes (cudaIpcGetMemHandle)") {
  Values<int> data(1);
  cudaIpcMemHandle_t handle;
  cuda(cudaIpcGetMemHandle(&handle, data.get()));
  return true;
}

}  // namespace features::memory
