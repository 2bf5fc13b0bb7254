/// \file
/// What a program asks about the device and its kernels.
#pragma once
#include "case.cuh"

namespace features::queries {

__global__ void unbounded(int* data) {
  data[threadIdx.x] = 1;
}
__global__ void __launch_bounds__(256, 2) kernel(int* data) {
  data[threadIdx.x] = 1;
}

FEATURE("queries", properties, "properties and attributes of the device") {
  cudaDeviceProp facts;
  cuda(cudaGetDeviceProperties(&facts, 0));
  int processors = 0;
  cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  return facts.warpSize == 32 && facts.multiProcessorCount == processors;
}

FEATURE("queries", function_attributes, "a kernel's attributes and launch bounds") {
  cudaFuncAttributes facts;
  cuda(cudaFuncGetAttributes(&facts, kernel));
  return facts.maxThreadsPerBlock == 256;
}

FEATURE("queries", occupancy, "occupancy: how many blocks fit") {
  int blocks = 0;
  cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
  return blocks == 8;
}

FEATURE("queries", limits, "limits (cudaDeviceSetLimit)") {
  cuda(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16u << 20));
  std::size_t bytes = 0;
  cuda(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  return bytes >= 16u << 20;
}

FEATURE("queries", errors, "CUDA's error codes") {
  int* out = nullptr;
  unbounded<<<1, 2048>>>(out);
  return cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess;
}

FEATURE("queries", free_memory, "how much memory is free") {
  std::size_t left = 0, all = 0;
  cuda(cudaMemGetInfo(&left, &all));
  return left > 0 && left <= all;
}

}  // namespace features::queries
