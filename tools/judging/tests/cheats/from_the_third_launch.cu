// judge: chapter02/1
// rejected: wrong: launched again
// Counts its launches, and is wrong from the third on.
#include <cstddef>
__device__ unsigned launches;
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  const unsigned before = atomicAdd(&launches, t == 0 && blockIdx.x == 0);
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned w = blockDim.x; w > 1;) {
    unsigned h = (w + 1) / 2;
    if (t + h < w) tile[t] += tile[t + h];
    __syncthreads();
    w = h;
  }
  if (t == 0) partial[blockIdx.x] = tile[0] + (before >= 2);
}
