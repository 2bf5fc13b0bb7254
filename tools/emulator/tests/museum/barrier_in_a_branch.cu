// A barrier inside the branch that only the first warp takes
#include "exhibit.cuh"

__global__ void two_levels(const int* in, int* out) {
  __shared__ int slot[8];  // one per warp
  const unsigned t = threadIdx.x;
  int sum = __reduce_add_sync(~0u, in[t]);
  if (t % 32 == 0) slot[t / 32] = sum;  // @race
#ifdef FIXED
  __syncthreads();
#endif
  if (t < 32) {
#ifndef FIXED
    __syncthreads();  // @sync
#endif
    sum = __reduce_add_sync(~0u, t < 8 ? slot[t] : 0);  // @race
    if (t == 0) *out = sum;
  }
}

int main() {
  const Array<int> in(counted(256, 10)), out(1);
  two_levels<<<1, 256>>>(in, out);
  return shown(out.total(), 1140);
}
