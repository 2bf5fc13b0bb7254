// How long does a kernel take? Asked of a clock inside of it, as it is often done. Do not copy.
#include <cstdio>

__global__ void work(clock_t* took) {
  const clock_t start = clock();
  for (int i = 0; i < 100; ++i) __syncthreads();  // in the place of some work
  *took = clock() - start;                        // each thread its own, all to one place
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
