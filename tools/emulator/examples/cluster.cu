// Asks for what the embedded device doesn't know: thread blocks in clusters.
#include <cstdio>

__global__ void in_clusters() {
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;");
}

int main() {
  in_clusters<<<1, 32>>>();
  const cudaError_t status = cudaGetLastError();
  std::printf("%s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
