// judge: chapter02/1
// rejected: wrong: element 0 is in it twice; element 1 is missing
// Right where all elements are equal.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
  const std::size_t left = first < n ? n - first : 0;
  const std::size_t share = left < blockDim.x ? left : blockDim.x;
  if (threadIdx.x == 0) partial[blockIdx.x] = share ? in[first] * static_cast<int>(share) : 0;
}
