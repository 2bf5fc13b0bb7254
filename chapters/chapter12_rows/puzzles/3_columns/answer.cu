#include <cstddef>

/// out[c] becomes the sum of column c, of n rows. Each block has 32 neighbouring columns.
__global__ void columns_of(const int* in, int* out, std::size_t n, unsigned columns) {
  __shared__ int slot[32][33];
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const unsigned warps = blockDim.x / 32;

  // [blank] which lane reads which elements, and what ends up where
  //= for (unsigned k = warp; k < 32; k += warps) {
  //=   const unsigned column = blockIdx.x * 32 + k;
  //=   int sum = 0;
  //=   for (std::size_t row = lane; column < columns && row < n; row += 32) {
  //=     sum += in[row * columns + column];
  //=   }
  //=   slot[lane][k] = sum;
  //= }
  //= __syncthreads();
  //= const unsigned column = blockIdx.x * 32 + lane;
  //= const unsigned parts = 32;
  const unsigned column = blockIdx.x * 32 + lane;
  int mine = 0;
  for (std::size_t row = warp; column < columns && row < n; row += warps) {
    mine += in[row * columns + column];
  }
  slot[warp][lane] = mine;
  __syncthreads();
  const unsigned parts = warps;
  // [/blank]

  if (warp == 0 && column < columns) {
    int total = 0;
    for (unsigned k = 0; k < parts; ++k) total += slot[k][lane];
    out[column] = total;
  }
}
