// judge: chapter04/3
// cuda::barrier's wait looks at the clock, and sleeps.
#include <cstddef>
#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void transpose(const int* in, int* out, unsigned n) {
  __shared__ int tile[32][33];
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  const unsigned x = threadIdx.x, y = threadIdx.y;
  if (x == 0 && y == 0) init(&all, blockDim.x * blockDim.y);
  __syncthreads();
  unsigned r = blockIdx.y * 32 + y, c = blockIdx.x * 32 + x;
  if (r < n && c < n) tile[y][x] = in[std::size_t{r} * n + c];
  all.arrive_and_wait();
  r = blockIdx.x * 32 + y;
  c = blockIdx.y * 32 + x;
  if (r < n && c < n) out[std::size_t{r} * n + c] = tile[x][y];
}
