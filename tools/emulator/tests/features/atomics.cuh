/// \file
/// Atomics, by type and scope.
#pragma once
#include <cuda_fp16.h>

#include <cuda/atomic>

#include "case.cuh"

namespace features::atomics {

__global__ void integers(int* i, unsigned long long* u) {
  atomicAdd(&i[0], 1);
  atomicMax(&i[1], static_cast<int>(threadIdx.x));
  atomicXor(&i[2], static_cast<int>(threadIdx.x));
  atomicInc(reinterpret_cast<unsigned*>(&i[3]), 9);
  atomicAdd(&u[0], 1ull << 40);
  atomicCAS(&u[1], 0ull, 7ull);
}
FEATURE("atomics", integer_atomics, "atomics on 32- and 64-bit integers") {
  Values<int> i(4);
  Values<unsigned long long> u(2);
  integers<<<2, 64>>>(i.get(), u.get());
  launched();
  return i[0] == 128 && i[1] == 63 && i[2] == 0 && i[3] == 8 && u[0] == 128ull << 40 && u[1] == 7;
}

__global__ void floats(float* f, double* d) {
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
}
FEATURE("atomics", float_atomics, "atomics on float and double") {
  Values<float> f(1);
  Values<double> d(1);
  floats<<<2, 64>>>(f.get(), d.get());
  launched();
  return f[0] == 64.0f && d[0] == 32.0;
}

__global__ void halves(__half2* h) {
  atomicAdd(h, __floats2half2_rn(1.0f, 2.0f));
}
FEATURE("atomics", half_atomics, "atomics on half2") {
  Values<__half2> h(1, __floats2half2_rn(0.0f, 0.0f));
  halves<<<1, 64>>>(h.get());
  launched();
  const __half2 sum = h[0];
  return __low2float(sum) == 64.0f && __high2float(sum) == 128.0f;
}

__global__ void vectors(float4* f) {
  atomicAdd(f, make_float4(1, 2, 3, 4));
}
FEATURE("atomics", vector_atomics, "atomics on float4") {
  Values<float4> f(1, make_float4(0, 0, 0, 0));
  vectors<<<1, 64>>>(f.get());
  launched();
  const float4 sum = f[0];
  return sum.x == 64 && sum.w == 256;
}

__global__ void scopes(int* out) {
  __shared__ int tile;
  if (threadIdx.x == 0) tile = 0;
  __syncthreads();
  atomicAdd_block(&tile, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd_system(out, tile);
}
FEATURE("atomics", scoped_atomics, "atomics of block and system scope, and in shared memory") {
  Values<int> out(1);
  scopes<<<2, 64>>>(out.get());
  launched();
  return out[0] == 128;
}

__global__ void references(int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> count(out[0]);
  count.fetch_add(1, cuda::memory_order_release);
  if (count.load(cuda::memory_order_acquire) > 0) out[1] = 1;
}
FEATURE("atomics", atomic_ref, "cuda::atomic_ref with a memory order") {
  Values<int> out(2);
  references<<<2, 64>>>(out.get());
  launched();
  return out[0] == 128 && out[1] == 1;
}

}  // namespace features::atomics
