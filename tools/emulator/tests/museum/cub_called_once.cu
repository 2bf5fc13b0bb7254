// CUB's sum is called for the size of its workspace, and never for the sum
#include <cub/device/device_reduce.cuh>

#include "exhibit.cuh"

int main() {
  const Array<int> in(counted(1000, 10)), out(1);
  cudaMemset(out, 0, sizeof(int));
  int *from = in, *to = out;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, from, to, 1000);
  const Array<char> workspace(bytes);
#ifdef FIXED
  cub::DeviceReduce::Sum(workspace, bytes, from, to, 1000);
#endif
  return shown(out.total(), 4500);  // @host
}
