// A whole warp reads an array of 8 slots
#include "exhibit.cuh"

__global__ void largest(const int* in, int* out) {
  __shared__ int slot[8];  // one per warp
  const unsigned t = threadIdx.x;
  const int most = __reduce_max_sync(~0u, in[t]);
  if (t % 32 == 0) slot[t / 32] = most;
  __syncthreads();
  if (t < 32) {
#ifdef FIXED
    const int mine = t < 8 ? slot[t] : slot[0];
#else
    const int mine = slot[t];  // @memory
#endif
    const int all = __reduce_max_sync(~0u, mine);
    if (t == 0) *out = all;
  }
}

int main() {
  std::vector<int> values = counted(256, 100);
  for (int& value : values) value -= 200;  // all below 0, which a slot of zeros would hide
  const Array<int> in(values), out(1);
  largest<<<1, 256>>>(in, out);
  return shown(out.total(), -101);
}
