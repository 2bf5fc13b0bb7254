// judge: chapter05/2
// Four loads in a function that is called four times: none waits for another.
#include <cstddef>

__device__ __noinline__ int load(const int* in, std::size_t i, std::size_t n) {
  return i < n ? in[i] : 0;
}

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * 4 * blockDim.x + t;
  const int a = load(in, i, n), b = load(in, i + blockDim.x, n);
  const int c = load(in, i + 2 * blockDim.x, n), d = load(in, i + 3 * blockDim.x, n);
  tile[t] = a + b + c + d;
  __syncthreads();
  for (unsigned w = blockDim.x; w > 1;) {
    const unsigned half = (w + 1) / 2;
    if (t + half < w) tile[t] += tile[t + half];
    __syncthreads();
    w = half;
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
