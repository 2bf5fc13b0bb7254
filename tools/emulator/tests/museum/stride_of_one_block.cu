// A grid-stride loop whose stride is one block
#include "exhibit.cuh"

__global__ void grid_stride(const int* in, int* sum, int n) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
  const int stride = gridDim.x * blockDim.x;
#else
  const int stride = blockDim.x;
#endif
  int mine = 0;
  for (int i = first; i < n; i += stride) mine += in[i];
  mine = __reduce_add_sync(~0u, mine);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);  // @sum
}

int main() {
  const Array<int> in(counted(1000, 10)), sum(std::vector<int>(1, 0));
  grid_stride<<<2, 128>>>(in, sum, 1000);
  return shown(sum.total(), 4500);
}
