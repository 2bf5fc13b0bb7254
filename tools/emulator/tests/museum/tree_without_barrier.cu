// A tree whose steps don't wait for each other
#include "exhibit.cuh"

__global__ void tree_sum(const int* in, int* out) {
  __shared__ int tile[512];
  const unsigned t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];  // @race @sum
#ifdef FIXED
    __syncthreads();
#endif
  }
  if (t == 0) *out = tile[0];
}

int main() {
  const Array<int> in(counted(512, 10)), out(1);
  tree_sum<<<1, 512>>>(in, out);
  return shown(out.total(), 2296);
}
