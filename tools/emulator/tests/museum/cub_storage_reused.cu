// Two block reductions share CUB's TempStorage, with no barrier in between
#include <cub/block/block_reduce.cuh>
#include <cuda/functional>

#include "exhibit.cuh"

__global__ void sum_and_largest(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ Reduce::TempStorage storage;
  const int value = in[threadIdx.x];
  const int sum = Reduce(storage).Sum(value);  // @race
#ifdef FIXED
  __syncthreads();
#endif
  const int most = Reduce(storage).Reduce(value, cuda::maximum<int>());  // @race
  if (threadIdx.x == 0) *out = sum - most;
}

int main() {
  const Array<int> in(counted(128, 10)), out(1);
  sum_and_largest<<<1, 128>>>(in, out);
  return shown(out.total(), 559);
}
