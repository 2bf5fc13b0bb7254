// A launch with 2048 threads per block, and a program that never asks
#include "exhibit.cuh"

__global__ void doubled(int* data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

int main() {
  const Array<int> data(std::vector<int>(4096, 1));
#ifdef FIXED
  doubled<<<4, 1024>>>(data);
#else
  doubled<<<2, 2048>>>(data);  // @host
#endif
  return shown(data.total(), 8192);
}
