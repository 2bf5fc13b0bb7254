// A launch with more threads than a block can have, and a program that never asks.
#include <cstdio>

__global__ void twice(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

int main() {
  constexpr int kN = 4096;
  float* x = nullptr;
  cudaMallocManaged(&x, kN * sizeof(float));
  for (int i = 0; i < kN; ++i) x[i] = 1;
  twice<<<kN / 2048, 2048>>>(x);
  cudaDeviceSynchronize();
  std::printf("%g\n", x[0]);
  cudaFree(x);
}
