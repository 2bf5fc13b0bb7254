// judge: chapter02/1
// rejected: wrong: element 0 is never added
// The same answer whatever the input.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  if (threadIdx.x == 0) partial[blockIdx.x] = 0;
}
