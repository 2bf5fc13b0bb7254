#pragma once
#include <cstddef>

#include "kernels.cuh"

namespace chapter09::legacy {

// begin classic-256
/// count_shared as it is often shown: each thread has the bin of its number. Do not copy.
__global__ void classic_256(const unsigned char* in, unsigned* bins, std::size_t n) {
  __shared__ unsigned mine[kBins];
  mine[threadIdx.x] = 0;  // fault: right with 256 threads, and with no other number of them
  __syncthreads();

  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    atomicAdd(&mine[in[i]], 1u);
  }
  __syncthreads();

  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);  // fault: the same
}
// end classic-256

// begin no-barrier
/// count_shared without the barrier before it counts. Do not copy.
__global__ void no_barrier(const unsigned char* in, unsigned* bins, std::size_t n) {
  __shared__ unsigned mine[kBins];
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) mine[bin] = 0;
  // fault: another warp may still be about to zero what this one counts in

  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    atomicAdd(&mine[in[i]], 1u);
  }
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    atomicAdd(&bins[bin], mine[bin]);
  }
}
// end no-barrier

// begin no-atomic
/// count_shared with an ordinary addition. Do not copy.
__global__ void no_atomic(const unsigned char* in, unsigned* bins, std::size_t n) {
  __shared__ unsigned mine[kBins];
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();

  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    ++mine[in[i]];  // fault: a load, an addition and a store, with others in between
  }
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    atomicAdd(&bins[bin], mine[bin]);
  }
}
// end no-atomic

}  // namespace chapter09::legacy
