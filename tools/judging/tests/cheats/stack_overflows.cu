// judge: chapter02/1
// rejected: memory: a thread's stack overflows
// Calls itself too often.
#include <cstddef>
__device__ __noinline__ int deeper(const int* in, std::size_t i, unsigned left, volatile int* x) {
  if (left == 0) return in[i];
  volatile int y = *x;
  return deeper(in, i, left - 1, &y) + y;
}
__global__ void sum(const int* in, int* partial, std::size_t n) {
  volatile int none = 0;
  int s = 0;
  const std::size_t begin = std::size_t{blockIdx.x} * blockDim.x;
  for (std::size_t i = begin; threadIdx.x == 0 && i < begin + blockDim.x && i < n; ++i) {
    s += deeper(in, i, 5000, &none);
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = s;
}
