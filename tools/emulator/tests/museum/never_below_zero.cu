// A loop that ends when an unsigned number falls below 0
#include "exhibit.cuh"

__global__ void endless(const int* in, int* out) {
  __shared__ int tile[64];
  const unsigned t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
#ifdef FIXED
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
#else
  for (unsigned half = blockDim.x / 2; half >= 0; half /= 2) {  // @nvcc @sync
#endif
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t == 0) *out = tile[0];
}

int main() {
  const Array<int> in(counted(64, 10)), out(1);
  endless<<<1, 64>>>(in, out);
  return shown(out.total(), 276);
}
