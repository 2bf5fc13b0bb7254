// judge: chapter05/2
// rejected: goal: no load waits for another's value
// Each load needs the one before, in a function that gives the value back.
#include "tree.cuh"

__device__ __noinline__ int load(const int* in, std::size_t i, std::size_t n, int before) {
  int none;
  asm volatile("and.b32 %0, %1, 0;" : "=r"(none) : "r"(before));
  return i + none < n ? in[i + none] : 0;
}

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * 4 * blockDim.x + t;
  const int a = load(in, i, n, 0);
  const int b = load(in, i + blockDim.x, n, a);
  const int c = load(in, i + 2 * blockDim.x, n, b);
  tile[t] = a + b + c + load(in, i + 3 * blockDim.x, n, c);
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
