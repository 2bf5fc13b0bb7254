// A shuffle inside a loop that some lanes leave a turn early
#include "exhibit.cuh"

__global__ void lane_sums(const int* in, int* out, int n) {
  int sum = 0;
#ifdef FIXED
  for (int i = threadIdx.x; i < n; i += 32) sum += in[i];
  for (int away = 16; away > 0; away /= 2) sum += __shfl_xor_sync(~0u, sum, away);
#else
  for (int i = threadIdx.x; i < n; i += 32) {
    int part = in[i];
    for (int away = 16; away > 0; away /= 2)
      part += __shfl_xor_sync(~0u, part, away);  // @sync @sum
    sum += part;
  }
#endif
  if (threadIdx.x == 0) *out = sum;
}

int main() {
  const Array<int> in(counted(77, 10)), out(1);
  lane_sums<<<1, 32>>>(in, out, 77);
  return shown(out.total(), 336);
}
