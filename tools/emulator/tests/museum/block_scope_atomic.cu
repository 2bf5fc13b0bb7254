// atomicAdd_block() on bins that all blocks share
#include "exhibit.cuh"

__global__ void histogram(const int* in, int* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
  atomicAdd(&bins[in[i]], 1);
#else
  atomicAdd_block(&bins[in[i]], 1);  // @race
#endif
}

int main() {
  const Array<int> in(counted(1024, 64)), bins(std::vector<int>(64, 0));
  histogram<<<4, 256>>>(in, bins);
  return shown(bins.total(), 1024);
}
