// judge: chapter02/1
// rejected: compile: doesnt_compile.cu:8
// Not a program.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  const unsigned t = threadIdx.x;
  partial[blockIdx.x] = tile[0];
}
