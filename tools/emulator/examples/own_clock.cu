// A kernel that times itself by a clock of its own, as many do. Do not copy it.
#include <cstdio>

__global__ void work(clock_t* took) {
  const clock_t start = clock();
  for (int i = 0; i < 100; ++i) __syncthreads();  // stands in for some work
  *took = clock() - start;                        // all threads write to one place
}

int main() {
  clock_t* took = nullptr;
  cudaMalloc(&took, sizeof *took);
  for (const unsigned blocks : {1u, 4096u}) {
    work<<<blocks, 256>>>(took);
    clock_t ticks = 0;
    const cudaError_t status = cudaMemcpy(&ticks, took, sizeof ticks, cudaMemcpyDeviceToHost);
    if (status != cudaSuccess) {
      std::printf("%s\n", cudaGetErrorString(status));
      return 1;
    }
    std::printf("blocks: %4u  ticks of the clock: %ld\n", blocks, ticks);
  }
}
