// The second pass has more threads than there are partial sums
#include "exhibit.cuh"

__global__ void pass(const int* in, int* out) {
  __shared__ int tile[256];
  const unsigned t = threadIdx.x;
  tile[t] = in[blockIdx.x * blockDim.x + t];  // @memory @sum
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = tile[0];
}

int main() {
  constexpr int kBlocks = 64;
  const Array<int> in(counted(kBlocks * 256, 10)), partial(kBlocks), sum(1);
  pass<<<kBlocks, 256>>>(in, partial);
#ifdef FIXED
  pass<<<1, kBlocks>>>(partial, sum);
#else
  pass<<<1, 256>>>(partial, sum);
#endif
  return shown(sum.total(), 73716);
}
