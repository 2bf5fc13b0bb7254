// judge: chapter05/2
// cuda::pipeline counts who is done with it by an atomic.
#include <cooperative_groups.h>
#include <cstddef>
#include <cuda/pipeline>
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  auto block = cooperative_groups::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * (4 * blockDim.x) + t;
  __shared__ int stage[2][1024];
  int mine = 0;
  for (int k = 0; k < 4; ++k) {
    pipe.producer_acquire();
    const std::size_t i = first + k * blockDim.x;
    if (i < n) cuda::memcpy_async(&stage[k % 2][t], in + i, sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    if (i < n) mine += stage[k % 2][t];
    pipe.consumer_release();
  }
  tile[t] = mine;
  __syncthreads();
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
