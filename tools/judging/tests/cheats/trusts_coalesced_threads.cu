// judge: chapter02/1
// rejected: wrong: where the lanes of a warp run apart
// Takes the threads that happen to run together for all of its warp.
#include <cooperative_groups.h>

#include <cstddef>
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  int mine = i < n ? in[i] : 0;
  tile[t] = 0;
  const auto here = cooperative_groups::coalesced_threads();
  for (unsigned o = 16; o > 0; o /= 2) {
    const int other = here.shfl_down(mine, o);
    if (here.thread_rank() + o < here.size()) mine += other;
  }
  if (t % 32 == 0) tile[t] = mine;
  __syncthreads();
  int s = 0;
  for (unsigned k = 0; t == 0 && k < blockDim.x; k += 32) s += tile[k];
  if (t == 0) partial[blockIdx.x] = s;
}
