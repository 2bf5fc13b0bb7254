// Room for as many bytes as there are elements
#include "exhibit.cuh"

__global__ void squares(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i * i;  // @memory
}

int main() {
  constexpr int kN = 1000;
  int *squared, last = -1;
#ifdef FIXED
  cudaMalloc(&squared, kN * sizeof(int));
#else
  cudaMalloc(&squared, kN);
#endif
  squares<<<4, 256>>>(squared, kN);
  cudaMemcpy(&last, squared + kN - 1, sizeof last, cudaMemcpyDeviceToHost);  // @host
  cudaFree(squared);
  return shown(last, 999 * 999);
}
