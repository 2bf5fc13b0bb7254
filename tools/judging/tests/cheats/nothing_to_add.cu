// judge: chapter02/1
// rejected: memory: n = 0
// Takes for granted that there is an element.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n ? in[i] : 0 * *reinterpret_cast<const volatile int*>(in + n - 1);
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
