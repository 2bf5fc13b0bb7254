// How long does a kernel take? Asked of a clock inside of it, as it is often done. Do not copy.
#include <cstdio>

__global__ void sum(const int* in, int* partial, clock_t* took) {
  const clock_t start = clock();
  __shared__ int tile[256];
  const unsigned t = threadIdx.x;
  tile[t] = in[blockIdx.x * 256 + t];
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) tile[t] += tile[t + half];
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
  *took = clock() - start;  // each thread its own, all to one place
}

int main() {
  constexpr unsigned kMost = 4096;
  int* in = nullptr;
  int* partial = nullptr;
  clock_t* took = nullptr;
  cudaMalloc(&in, kMost * 256 * sizeof(int));
  cudaMalloc(&partial, kMost * sizeof(int));
  cudaMalloc(&took, sizeof(clock_t));
  cudaMemset(in, 0, kMost * 256 * sizeof(int));
  for (const unsigned grid : {1u, kMost}) {
    sum<<<grid, 256>>>(in, partial, took);
    clock_t ticks = 0;
    const cudaError_t status = cudaMemcpy(&ticks, took, sizeof ticks, cudaMemcpyDeviceToHost);
    if (status != cudaSuccess) {
      std::printf("%s\n", cudaGetErrorString(status));
      return 1;
    }
    std::printf("blocks: %4u  ticks of the clock: %ld\n", grid, ticks);
  }
}
