// judge: chapter02/1
// rejected: refused: its launch bounds allow 256 threads
// Promises less than the puzzle asks.
#include "tree.cuh"

__global__ void __launch_bounds__(256) sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
