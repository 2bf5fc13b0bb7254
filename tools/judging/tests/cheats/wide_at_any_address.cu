// judge: chapter07/2
// rejected: memory: a misaligned address
// Wide loads wherever the input begins.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  const int4* fours = reinterpret_cast<const int4*>(in);
  const int4 v = i < n / 4 ? fours[i] : int4{};
  tile[t] = v.x + v.y + v.z + v.w;
  if (i == 0) {
    for (std::size_t at = n / 4 * 4; at < n; ++at) tile[t] += in[at];
  }
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
