// One lane stores, its whole warp reads, with no __syncwarp() in between
#include "exhibit.cuh"

__global__ void shared_by_warp(const int* in, int* out) {
  __shared__ int slot[4];
  const unsigned t = threadIdx.x, warp = t / 32;
  const int sum = __reduce_add_sync(~0u, in[t]);
  if (t % 32 == 0) slot[warp] = sum;  // @race
#ifdef FIXED
  __syncwarp();
#endif
  out[t] = slot[warp];  // @race @init @sum
}

int main() {
  const Array<int> in(counted(128, 10)), out(128);
  shared_by_warp<<<1, 128>>>(in, out);
  return shown(out.total(), 32 * 568);
}
