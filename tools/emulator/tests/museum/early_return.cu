// Threads without an element leave before the barrier, and without storing a 0
#include "exhibit.cuh"

__global__ void guarded(const int* in, int* out, int n) {
  __shared__ int tile[256];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
#ifdef FIXED
  tile[t] = i < n ? in[i] : 0;
#else
  if (i >= n) return;
  tile[t] = in[i];
#endif
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];  // @init @sum
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = tile[0];
}

int main() {
  const Array<int> in(counted(700, 10)), out(3);
  guarded<<<3, 256>>>(in, out, 700);
  return shown(out.total(), 3150);
}
