// judge: chapter06/1
// rejected: goal: shared_bytes
// Two kernels use the tile, so PTX declares it outside of both.
#include "tree.cuh"

__device__ int* tile_of() {
  __shared__ int tile[1024];
  return tile;
}
__global__ void other(int* x) {
  tile_of()[threadIdx.x] = 1;
  __syncthreads();
  x[threadIdx.x] = tile_of()[threadIdx.x ^ 1];
}
__global__ void sum(const int* in, int* partial, std::size_t n) {
  int* tile = tile_of();
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
