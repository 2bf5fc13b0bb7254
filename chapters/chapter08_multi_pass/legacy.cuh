#pragma once
#include <cstddef>

#include "kernels.cuh"

namespace chapter08::legacy {

// begin no-fence
/// last_block as it is often written: do not copy.
__global__ void no_fence(const int* in, long long* partial, unsigned* ticket, long long* out,
                         std::size_t n) {
  __shared__ bool last;
  const long long sum = block_sum(thread_share(in, n));
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;  // fault: the ticket may be seen before this is
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;

  long long rest = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) rest += partial[b];
  rest = block_sum(rest);
  if (threadIdx.x == 0) *out = rest;
}
// end no-fence

// begin stale-sums
/// The same for blocks that keep a running total over several launches: do not copy.
__global__ void stale(const int* in, long long* partial, unsigned* ticket, long long* out,
                      std::size_t n) {
  __shared__ bool last;
  const long long sum = block_sum(thread_share(in, n));
  if (threadIdx.x == 0) {
    partial[blockIdx.x] += sum;  // brings the neighbours' totals into the L1, as they are now
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;

  long long rest = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
    rest += partial[b];  // fault: this may be older than the tickets
  }
  rest = block_sum(rest);
  if (threadIdx.x == 0) *out = rest;
}
// end stale-sums

// begin in-int
/// The whole sum, added in 32 bits. Do not copy: it is right until it isn't.
__global__ void in_int(const int* in, int* out, std::size_t n) {
  __shared__ int tile[1024];
  int sum = 0;  // fault: 1 + 2 + … + 65536 is more than an int holds
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  tile[threadIdx.x] = sum;
  __syncthreads();
  chapter06::add_up(tile);
  if (threadIdx.x == 0) *out = tile[0];
}
// end in-int

}  // namespace chapter08::legacy
