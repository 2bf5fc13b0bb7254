// All threads add to one place with +=
#include "exhibit.cuh"

__global__ void dot(const int* a, const int* b, int* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
  if (i < n) atomicAdd(sum, a[i] * b[i]);
#else
  if (i < n) *sum += a[i] * b[i];  // @race @sum
#endif
}

int main() {
  const Array<int> a(counted(1000, 10)), b(counted(1000, 5)), sum(std::vector<int>(1, 0));
  dot<<<4, 256>>>(a, b, sum, 1000);
  return shown(sum.total(), 11000);
}
