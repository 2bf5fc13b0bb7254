// The last warp trusts volatile to keep its lanes in step
#include "exhibit.cuh"

__global__ void in_step(const int* in, int* out) {
  __shared__ int tile[64];
  volatile int* const s = tile;
  const unsigned t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t >= 32) return;
  for (unsigned half = 32; half > 0; half /= 2) {
    const int sum = s[t] + s[t + half];  // @race
#ifdef FIXED
    __syncwarp();
#endif
    s[t] = sum;  // @race
#ifdef FIXED
    __syncwarp();
#endif
  }
  if (t == 0) *out = s[0];
}

int main() {
  const Array<int> in(counted(64, 10)), out(1);
  in_step<<<1, 64>>>(in, out);
  return shown(out.total(), 276);
}
