// A block stores its sum, then raises a flag, with no fence in between
#include "exhibit.cuh"

__global__ void chain(const int* in, int* sums, int* flags) {
  if (threadIdx.x != 0) return;
  int sum = in[blockIdx.x];
  if (blockIdx.x > 0) {
    while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0) continue;
#ifdef FIXED
    __threadfence();
#endif
    sum += sums[blockIdx.x - 1];  // @race
  }
  sums[blockIdx.x] = sum;  // @race
#ifdef FIXED
  __threadfence();
#endif
  atomicExch(&flags[blockIdx.x], 1);
}

int main() {
  const Array<int> in(std::vector<int>(8, 1)), sums(8), flags(std::vector<int>(8, 0));
  chain<<<8, 32>>>(in, sums, flags);
  return shown(sums.total(), 36);
}
