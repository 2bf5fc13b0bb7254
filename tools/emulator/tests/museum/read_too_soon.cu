// The host reads the result before the asynchronous copy has brought it
#include "exhibit.cuh"

__global__ void count_up(int* out) {
  for (int i = 0; i < 1000; ++i) atomicAdd(out, 1);
}

int main() {
  const Array<int> out(std::vector<int>(1, 0));
  int* found = nullptr;
  cudaMallocHost(&found, sizeof *found);  // pinned, or the copy would wait
  *found = 0;
  count_up<<<1, 32>>>(out);
  cudaMemcpyAsync(found, out, sizeof *found, cudaMemcpyDeviceToHost);
#ifdef FIXED
  cudaDeviceSynchronize();
#endif
  const int read = *static_cast<volatile int*>(found);  // @host
  cudaDeviceSynchronize();
  cudaFreeHost(found);
  return shown(read, 32000);
}
