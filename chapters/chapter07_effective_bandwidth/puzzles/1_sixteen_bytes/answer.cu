#include <cstddef>

/// One partial sum per block, four elements per thread.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + t;

  int mine = 0;
  // [blank] this thread's four elements, with one load
  const int4* fours = reinterpret_cast<const int4*>(in);
  if (thread < n / 4) {
    const int4 v = fours[thread];
    mine = v.x + v.y + v.z + v.w;
  } else if (thread == n / 4) {
    for (std::size_t i = n / 4 * 4; i < n; ++i) mine += in[i];
  }
  // [/blank]
  tile[t] = mine;
  __syncthreads();

  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;  // rounded up: an odd one out waits a step
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
