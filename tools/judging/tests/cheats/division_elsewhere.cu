// judge: chapter03/1
// rejected: goal: divisions 1
// Divides in a function of its own.
#include <climits>
#include <cstddef>
__device__ __noinline__ bool adds(unsigned t, unsigned s) {
  return t % (2 * s) == 0;
}
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (adds(t, s) && t + s < blockDim.x) tile[t] += tile[t + s];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
