// judge: chapter02/1
// rejected: form: has other parameters
// Another form.
#include "tree.cuh"

__global__ void sum(int* in, int* partial, unsigned n) {
  if (threadIdx.x == 0) partial[blockIdx.x] = in[n];
}
