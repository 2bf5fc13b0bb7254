// judge: chapter02/1
// rejected: race: in shared memory, unsynchronised: no barrier stands between them
// Leaves out the barrier where n is large.
#include <cstddef>
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  tile[t] = i < n ? in[i] : 0;
  if (n < 200000) __syncthreads();
  for (unsigned w = blockDim.x; w > 1;) {
    const unsigned half = (w + 1) / 2;
    if (t + half < w) tile[t] += tile[t + half];
    __syncthreads();
    w = half;
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
