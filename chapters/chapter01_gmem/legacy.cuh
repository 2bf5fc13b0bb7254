#pragma once

namespace chapter01::legacy {

// begin gmem-classic
/// The classic form, kept for its three faults. Do not copy.
__global__ void gmem_classic(int* in, int* partial, unsigned n) {
  const unsigned t = threadIdx.x;
  if (t >= n) return;  // fault 1: compares the index in the block, so no tail is ever cut off
  int* tile = in + blockIdx.x * blockDim.x;

  if (blockDim.x >= 1024 && t < 512) tile[t] += tile[t + 512];
  __syncthreads();  // fault 2: threads that returned above never get here
  if (blockDim.x >= 512 && t < 256) tile[t] += tile[t + 256];
  __syncthreads();
  if (blockDim.x >= 256 && t < 128) tile[t] += tile[t + 128];
  __syncthreads();
  if (blockDim.x >= 128 && t < 64) tile[t] += tile[t + 64];
  __syncthreads();

  if (t < 32) {
    // fault 3: no __syncwarp; volatile does not order one lane's store before another's load
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
// end gmem-classic

}  // namespace chapter01::legacy
