// judge: chapter02/3
// rejected: slow: right at the
// Each thread holds its element against every other of its block. That takes long, and ends.
#include <climits>
#include <cstddef>
__global__ void largest(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  tile[t] = i < n ? in[i] : INT_MIN;
  __syncthreads();
  unsigned smaller = 0;
#pragma unroll 1
  for (unsigned k = 0; k < blockDim.x; ++k) {
    const int other = tile[k];
    smaller += other < tile[t] || (other == tile[t] && k < t) || (other == tile[t] && k == t);
  }
  if (smaller == blockDim.x) partial[blockIdx.x] = tile[t];
}
