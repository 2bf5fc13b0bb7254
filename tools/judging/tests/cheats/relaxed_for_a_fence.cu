// judge: chapter08/2
// rejected: race: nothing orders these two: the value may be old
// Relaxed atomics instead of the fence: whole, and in no order.
#include <cuda/atomic>

#include "../last_block.cuh"

__global__ void sum(const int* in, unsigned* partial, unsigned* ticket, unsigned* out,
                    std::size_t n) {
  __shared__ bool last;
  const unsigned t = threadIdx.x, mine = sum_of_share(in, n);
  if (t == 0) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(partial[blockIdx.x])
        .store(mine, cuda::memory_order_relaxed);
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  unsigned rest = 0;
  for (unsigned b = t; b < gridDim.x; b += blockDim.x) {
    rest += cuda::atomic_ref<unsigned, cuda::thread_scope_device>(partial[b])
                .load(cuda::memory_order_relaxed);
  }
  rest = block_sum(rest);
  if (t == 0) *out = rest;
}
