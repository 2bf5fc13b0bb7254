// A launch that forgets the bytes of dynamic shared memory
#include "exhibit.cuh"

__global__ void block_sum(const int* in, int* out) {
  extern __shared__ int dynamic_tile[];
  const unsigned t = threadIdx.x;
  dynamic_tile[t] = in[t];  // @memory
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) dynamic_tile[t] += dynamic_tile[t + half];
    __syncthreads();
  }
  if (t == 0) *out = dynamic_tile[0];
}

int main() {
  const Array<int> in(counted(256, 10)), out(1);
#ifdef FIXED
  block_sum<<<1, 256, 256 * sizeof(int)>>>(in, out);
#else
  block_sum<<<1, 256>>>(in, out);
#endif
  return shown(out.total(), 1140);
}
