// judge: chapter14/2
// rejected: wrong: should be
// Right shares of n, which begin anywhere.
#include "../shares.cuh"

__global__ void shares(const int* in, const unsigned* speed, long long* sums, std::size_t n) {
  std::size_t before = 0, all = 0;
  for (unsigned g = 0; g < gridDim.x; ++g) {
    if (g < blockIdx.x) before += speed[g];
    all += speed[g];
  }
  const std::size_t first = n * before / all;
  const std::size_t end = n * (before + speed[blockIdx.x]) / all;
  const long long sum = sum_between(in, first, blockIdx.x + 1 == gridDim.x ? n : end);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
