// A grid of n / block blocks, rounded down  // @sum
#include "exhibit.cuh"

__global__ void add_all(const int* in, int* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int mine = __reduce_add_sync(~0u, i < n ? in[i] : 0);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

int main() {
  constexpr int kN = 1000, kBlock = 256;
  const Array<int> in(counted(kN, 10)), sum(std::vector<int>(1, 0));
#ifdef FIXED
  const int blocks = (kN + kBlock - 1) / kBlock;
#else
  const int blocks = kN / kBlock;
#endif
  add_all<<<blocks, kBlock>>>(in, sum, kN);
  return shown(sum.total(), 4500);
}
