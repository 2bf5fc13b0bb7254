// judge: chapter02/1
// cuda::barrier's wait looks at the clock, and sleeps.
#include <cstddef>
#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  const unsigned t = threadIdx.x;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  tile[t] = i < n ? in[i] : 0;
  bar.arrive_and_wait();
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t] += tile[t + half];
    bar.arrive_and_wait();
    width = half;
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
