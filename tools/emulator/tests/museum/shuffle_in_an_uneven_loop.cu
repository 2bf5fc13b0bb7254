// Shuffles inside a loop that some lanes leave a turn early
#include "exhibit.cuh"

__device__ int warp_sum(int value) {
  for (int away = 16; away > 0; away /= 2) value += __shfl_xor_sync(~0u, value, away);
  return value;
}

__global__ void lane_sums(const int* in, int* out, int n) {
  int sum = 0;
#ifdef FIXED
  for (int i = threadIdx.x; i < n; i += 32) sum += in[i];
  sum = warp_sum(sum);
#else
  for (int i = threadIdx.x; i < n; i += 32) sum += warp_sum(in[i]);  // @sync @sum
#endif
  if (threadIdx.x == 0) *out = sum;
}

int main() {
  const Array<int> in(counted(77, 10)), out(1);
  lane_sums<<<1, 32>>>(in, out, 77);
  return shown(out.total(), 336);
}
