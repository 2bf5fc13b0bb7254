// Some threads count before others have cleared the bins
#include "exhibit.cuh"

__global__ void digits(const int* in, int* out, int n) {
  __shared__ int bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;  // @race
#ifdef FIXED
  __syncthreads();
#endif
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[in[i]], 1);  // @race
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
  const Array<int> in(counted(3000, 64)), out(64);
  digits<<<1, 256>>>(in, out, 3000);
  return shown(out.total(), 3000);
}
