// One warp loads 32 integers, Stride apart: how many sectors of 32 bytes does it touch?
#include <cstdio>

template <unsigned Stride>
__global__ void load(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x * Stride];
}

int main() {
  int* data = nullptr;
  cudaMalloc(&data, 1024 * sizeof(int));
  cudaMemset(data, 0, 1024 * sizeof(int));
  load<1><<<1, 32>>>(data, data);
  load<2><<<1, 32>>>(data, data);
  load<8><<<1, 32>>>(data, data);
  load<32><<<1, 32>>>(data, data);
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
