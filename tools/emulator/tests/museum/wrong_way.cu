// A copy back from the device that says "host to device"
#include "exhibit.cuh"

__global__ void answer(int* out) {
  *out = 42;
}

int main() {
  const Array<int> out(1);
  int found = 0;
  answer<<<1, 1>>>(out);
#ifdef FIXED
  cudaMemcpy(&found, out, sizeof found, cudaMemcpyDeviceToHost);
#else
  cudaMemcpy(&found, out, sizeof found, cudaMemcpyHostToDevice);  // @host
#endif
  return shown(found, 42);
}
