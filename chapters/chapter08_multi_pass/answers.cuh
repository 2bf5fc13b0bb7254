#pragma once
#include <cstddef>
#include <cuda/atomic>

#include "kernels.cuh"

namespace chapter08::answers {

// begin answer-pass-count
static_assert(passes(std::size_t{1} << 30, 256 * kPerThread) == 3);
static_assert(passes(std::size_t{1} << 33, 256 * kPerThread) == 3, "2048 * 2048 * 2048");
static_assert(passes((std::size_t{1} << 33) + 1, 256 * kPerThread) == 4);
static_assert(passes(std::size_t{1} << 30, 1024 * kPerThread) == 3, "two reach 2^26");
static_assert(passes(std::size_t{1} << 30, 32 * kPerThread) == 4);
// end answer-pass-count

// begin answer-acq-rel
/// last_block, with the order asked of the ticket itself and not of two fences.
__global__ void last_block_acq_rel(const int* in, long long* partial, unsigned* ticket,
                                   long long* out, std::size_t n) {
  __shared__ bool last;
  const long long sum = block_sum(thread_share(in, n));
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    const cuda::atomic_ref<unsigned, cuda::thread_scope_device> tickets(*ticket);
    last = tickets.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    if (last) tickets.store(0, cuda::memory_order_relaxed);  // atomic_ref has no atomicInc
  }
  __syncthreads();
  if (!last) return;

  long long rest = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) rest += partial[b];
  rest = block_sum(rest);
  if (threadIdx.x == 0) *out = rest;
}
// end answer-acq-rel

}  // namespace chapter08::answers
