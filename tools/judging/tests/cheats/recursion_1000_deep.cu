// judge: chapter02/1
// rejected: memory: a thread's stack overflows: a card gives its calls 1024 bytes
// A card's stack ends long before the thousandth call.
#include "tree.cuh"
__device__ __noinline__ int deeper(const int* in, unsigned left, int x) {
  if (left == 0) return x;
  return deeper(in, left - 1, x ^ 1) + (in == nullptr);
}
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n ? deeper(in, 1000, in[i]) : 0;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
