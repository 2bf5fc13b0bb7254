// judge: chapter03/2
// rejected: goal: shared memory is used only by warps that add
// Every thread takes part in every step, most of them for nothing.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const int other = tile[(t + s) % blockDim.x];
    __syncthreads();
    tile[t] += t % (2 * s) == 0 ? other : 0;
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
