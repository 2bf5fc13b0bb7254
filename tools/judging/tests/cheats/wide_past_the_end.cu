// judge: chapter07/1
// rejected: memory: an illegal address
// The last wide load reaches past the end.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  const int4* fours = reinterpret_cast<const int4*>(in);
  const int4 v = 4 * i < n ? fours[i] : int4{};
  tile[t] = v.x + (4 * i + 1 < n ? v.y : 0) + (4 * i + 2 < n ? v.z : 0) + (4 * i + 3 < n ? v.w : 0);
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
