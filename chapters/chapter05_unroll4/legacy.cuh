#pragma once

namespace chapter05::legacy {

// begin volatile-warp
/// The last warp as it was written before Volta: correct only while lanes happen to run in step.
__device__ inline void volatile_warp(volatile int* tile, unsigned t) {
  tile[t] = tile[t] + tile[t + 32];
  tile[t] = tile[t] + tile[t + 16];
  tile[t] = tile[t] + tile[t + 8];
  tile[t] = tile[t] + tile[t + 4];
  tile[t] = tile[t] + tile[t + 2];
  tile[t] = tile[t] + tile[t + 1];
}
// end volatile-warp

// begin last-warp-classic
/// First add during load with the last warp unrolled, the classic way. Do not copy.
__global__ void last_warp_classic(const int* in, int* partial, unsigned n) {
  extern __shared__ int tile[];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * (2 * blockDim.x) + t;

  tile[t] = i < n ? in[i] + in[i + blockDim.x] : 0;  // fault 1: only the first load is guarded
  __syncthreads();

  for (unsigned half = blockDim.x / 2; half > 32; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t < 32) volatile_warp(tile, t);  // fault 2: no __syncwarp; t + 32 may not exist

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end last-warp-classic

// begin unroll4-classic
/// Four data blocks per thread block, the classic way. Do not copy.
__global__ void unroll4_classic(const int* in, int* partial, unsigned n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const unsigned idx = blockIdx.x * blockDim.x * 4 + t;
  if (t >= n) return;

  int sum = 0;
  if (idx + 3 * blockDim.x <= n) {  // fault 1: drops the tail, and <= is one too many
    sum = in[idx] + in[idx + blockDim.x] + in[idx + 2 * blockDim.x] + in[idx + 3 * blockDim.x];
  }
  tile[t] = sum;
  __syncthreads();

  for (unsigned half = blockDim.x / 2; half > 32; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t < 32) volatile_warp(tile, t);  // fault 2: as above

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end unroll4-classic

}  // namespace chapter05::legacy
