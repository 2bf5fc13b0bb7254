// judge: chapter08/2
// rejected: form: asks for a cooperative launch
// Waits for all blocks, as only a cooperative launch can.
#include <cooperative_groups.h>
#include "tree.cuh"
__global__ void sum(const int* in, unsigned* partial, unsigned* ticket, unsigned* out,
                    std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned mine = 0;
  for (std::size_t i = element(); i < n; i += stride) mine += in[i];
  tile[t] = static_cast<int>(mine);
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = static_cast<unsigned>(tile[0]);
  cooperative_groups::this_grid().sync();
  if (t != 0 || blockIdx.x != 0) return;
  unsigned all = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) all += partial[b];
  *out = all;
}
