// judge: chapter04/3
// rejected: goal: no bank conflicts
// Right, with the conflict that the puzzle is about.
#include "tree.cuh"

__global__ void transpose(const int* in, int* out, unsigned n) {
  __shared__ int tile[32][32];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned r = blockIdx.y * 32 + y, c = blockIdx.x * 32 + x;
  if (r < n && c < n) tile[y][x] = in[std::size_t{r} * n + c];
  __syncthreads();
  const unsigned row = blockIdx.x * 32 + y, column = blockIdx.y * 32 + x;
  if (row < n && column < n) out[std::size_t{row} * n + column] = tile[x][y];
}
