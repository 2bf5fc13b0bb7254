#include <cstddef>

/// The transpose of n rows of n ints, a tile of 32 by 32 per block.
__global__ void transpose(const int* in, int* out, unsigned n) {
  // [blank] read tile by tile, write tile by tile
  //= const unsigned r = blockIdx.y * 32 + threadIdx.y, c = blockIdx.x * 32 + threadIdx.x;
  //= if (r < n && c < n) out[std::size_t{c} * n + r] = in[std::size_t{r} * n + c];
  __shared__ int tile[32][33];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned r = blockIdx.y * 32 + y, c = blockIdx.x * 32 + x;
  if (r < n && c < n) tile[y][x] = in[std::size_t{r} * n + c];
  __syncthreads();

  const unsigned row = blockIdx.x * 32 + y, column = blockIdx.y * 32 + x;
  if (row < n && column < n) out[std::size_t{row} * n + column] = tile[x][y];
  // [/blank]
}
