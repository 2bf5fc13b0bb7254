// judge: chapter02/1
// rejected: form: reads the clock
// Waits for a barrier, but not for long.
#include <cuda/barrier>
#include <cuda/std/chrono>

#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  auto token = bar.arrive();
  const bool soon = bar.try_wait_for(std::move(token), cuda::std::chrono::nanoseconds(1000));
  const std::size_t i = element();
  tile[t] = soon && i < n ? in[i] : 0;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
