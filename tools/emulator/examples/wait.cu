// A half of a warp waits for all of its lanes, the other half at the block's barrier: for ever.
#include <cstdio>

__global__ void meet() {
  if (threadIdx.x < 16) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

int main() {
  meet<<<1, 32>>>();
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
