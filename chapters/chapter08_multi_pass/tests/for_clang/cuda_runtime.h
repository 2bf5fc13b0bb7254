// What take_home.cuh uses of the CUDA runtime, for clang: those of a toolkit are newer than clang
// 14 can read. With this in their place it compiles the header's host and device code.
#pragma once
#include <cstddef>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
#include <__clang_cuda_builtin_vars.h>

enum cudaError_t { cudaSuccess, cudaErrorInvalidValue };
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39
};
using cudaStream_t = struct CUstream_st*;
extern "C" {
cudaError_t cudaGetDevice(int*);
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t);
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
}

__device__ inline void __threadfence() {
  __nvvm_membar_gl();
}
__device__ inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  asm volatile("redux.sync.add.u32 %0, %0, %1;" : "+r"(value) : "r"(mask));
  return value;
}
__device__ inline unsigned atomicInc(unsigned* at, unsigned last) {
  return __nvvm_atom_inc_gen_ui(at, last);
}
__device__ inline unsigned long long atomicAdd(unsigned long long* at, unsigned long long value) {
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
__device__ inline unsigned long long atomicExch(unsigned long long* at, unsigned long long value) {
  return __atomic_exchange_n(at, value, __ATOMIC_RELAXED);
}
template <class T>
__device__ T __shfl_xor_sync(unsigned mask, T value, int lanes) {
  int words[sizeof(T) / 4];
  __builtin_memcpy(words, &value, sizeof value);
  for (int& word : words) word = __nvvm_shfl_sync_bfly_i32(mask, word, lanes, 0x1f);
  __builtin_memcpy(&value, words, sizeof value);
  return value;
}
