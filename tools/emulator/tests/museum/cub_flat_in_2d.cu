// CUB is told of 256 threads in a row, and the block is 16 by 16
#include <cub/block/block_reduce.cuh>

#include "exhibit.cuh"

__global__ void of_a_square(const int* in, int* out) {
#ifdef FIXED
  using Reduce = cub::BlockReduce<int, 16, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 16>;
#else
  using Reduce = cub::BlockReduce<int, 256>;
#endif
  __shared__ Reduce::TempStorage storage;
  const unsigned t = threadIdx.y * blockDim.x + threadIdx.x;
  const int sum = Reduce(storage).Sum(in[t]);  // @race @init @sum
  if (t == 0) *out = sum;
}

int main() {
  const Array<int> in(counted(256, 10)), out(1);
  of_a_square<<<1, dim3(16, 16)>>>(in, out);
  return shown(out.total(), 1140);
}
