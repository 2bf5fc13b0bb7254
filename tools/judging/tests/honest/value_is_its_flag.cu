// judge: chapter08/2
// No fence: each sum says by itself that it is there. Its slot holds a number that only this
// launch's sum replaces, and the last block looks until it has.
#include <cuda/atomic>

#include "../last_block.cuh"

__device__ unsigned long long said[1 << 16];
__device__ auto slot(unsigned block) {
  return cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(said[block]);
}

__global__ void sum(const int* in, unsigned* partial, unsigned* ticket, unsigned* out,
                    std::size_t n) {
  __shared__ bool last;
  const unsigned t = threadIdx.x, mine = sum_of_share(in, n);
  if (t == 0) {
    slot(blockIdx.x).store(1ull << 32 | mine, cuda::memory_order_relaxed);
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  unsigned rest = 0;
  for (unsigned b = t; b < gridDim.x; b += blockDim.x) {
    unsigned long long one = 0;
    while ((one = slot(b).load(cuda::memory_order_relaxed)) >> 32 == 0) {
    }
    rest += static_cast<unsigned>(one);
    slot(b).store(0, cuda::memory_order_relaxed);
  }
  rest = block_sum(rest);
  if (t == 0) {
    *out = rest;
    *partial = rest;
  }
}
