#include <climits>
#include <cstddef>

/// The largest element of each block's share.
__global__ void largest(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  // [blank] fill the tile, and climb the tree
  //= tile[t] = i < n ? in[i] : 0;
  tile[t] = i < n ? in[i] : INT_MIN;
  __syncthreads();

  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t] = max(tile[t], tile[t + half]);
    __syncthreads();
    width = half;
  }
  // [/blank]

  if (t == 0) partial[blockIdx.x] = tile[0];
}
