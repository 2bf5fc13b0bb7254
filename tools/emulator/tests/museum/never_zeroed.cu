// A counter in shared memory that starts as whatever was there
#include "exhibit.cuh"

__global__ void count_even(const int* in, int* out) {
  __shared__ int even;
#ifdef FIXED
  if (threadIdx.x == 0) even = 0;
#endif
  __syncthreads();
  if (in[threadIdx.x] % 2 == 0) atomicAdd(&even, 1);  // @init @sum
  __syncthreads();
  if (threadIdx.x == 0) *out = even;
}

int main() {
  const Array<int> in(counted(256, 10)), out(1);
  count_even<<<1, 256>>>(in, out);
  return shown(out.total(), 128);
}
