// __syncthreads() between two steps that all blocks share
#include <cooperative_groups.h>

#include "exhibit.cuh"

__global__ void fold(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int half = n / 2; half > 0; half /= 2) {
    if (i < half) data[i] += data[i + half];  // @race @sum
#ifdef FIXED
    cooperative_groups::this_grid().sync();
#else
    __syncthreads();
#endif
  }
}

int main() {
  int n = 2048, sum = 0;
  const Array<int> data(counted(n, 10));
  int* first = data;
  void* arguments[] = {&first, &n};
  cudaLaunchCooperativeKernel(fold, 4, 256, arguments);
  cudaMemcpy(&sum, first, sizeof sum, cudaMemcpyDeviceToHost);
  return shown(sum, 9208);
}
