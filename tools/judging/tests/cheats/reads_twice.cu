// judge: chapter02/1
// rejected: goal: 16384 of 16640 global sectors come from reads_twice.cu:10 and reads_twice.cu:11
// Right, and reads everything twice.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n ? *static_cast<const volatile int*>(in + i) : 0;
  if (i < n) tile[t] = *static_cast<const volatile int*>(in + i);
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
