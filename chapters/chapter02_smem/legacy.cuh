#pragma once

namespace chapter02::legacy {

// begin smem-classic
/// The classic form, kept for its faults. Do not copy.
__global__ void smem_classic(const int* in, int* partial, unsigned n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  if (t >= n) return;  // fault 1: the index in the block again, and an exit before barriers

  tile[t] = in[blockIdx.x * blockDim.x + t];  // so this reads past the end of the input
  __syncthreads();

  if (blockDim.x >= 1024 && t < 512) tile[t] += tile[t + 512];
  __syncthreads();
  if (blockDim.x >= 512 && t < 256) tile[t] += tile[t + 256];
  __syncthreads();
  if (blockDim.x >= 256 && t < 128) tile[t] += tile[t + 128];
  __syncthreads();
  if (blockDim.x >= 128 && t < 64) tile[t] += tile[t + 64];
  __syncthreads();

  if (t < 32) {
    // fault 2: lanes run in step by custom, not by contract; and in a block of fewer than
    // 64 threads slot t + 32 was never written
    volatile int* v = tile;
    v[t] = v[t] + v[t + 32];
    v[t] = v[t] + v[t + 16];
    v[t] = v[t] + v[t + 8];
    v[t] = v[t] + v[t + 4];
    v[t] = v[t] + v[t + 2];
    v[t] = v[t] + v[t + 1];
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end smem-classic

// begin stride-classic
/// A classic grid-stride sum, kept for its faults. Do not copy.
__global__ void stride_classic(const int* in, int* partial, unsigned n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const unsigned stride = gridDim.x * blockDim.x;

  for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += stride) {
    tile[t] += in[i];  // fault 1: adds to whatever the slot held before
  }
  __syncthreads();

  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }

  partial[blockIdx.x] = tile[0];  // fault 2: every thread of the block writes it
}
// end stride-classic

}  // namespace chapter02::legacy
