// judge: chapter14/2
// rejected: wrong: should be
// A float has 24 bits, and a share's begin has to be exact.
#include "../shares.cuh"

__global__ void shares(const int* in, const unsigned* speed, long long* sums, std::size_t n) {
  float before = 0, all = 0;
  for (unsigned g = 0; g < gridDim.x; ++g) {
    if (g < blockIdx.x) before += speed[g];
    all += speed[g];
  }
  const auto first = static_cast<std::size_t>(n * (before / all)) / 4 * 4;
  const auto end = static_cast<std::size_t>(n * ((before + speed[blockIdx.x]) / all)) / 4 * 4;
  const long long sum = sum_between(in, first, blockIdx.x + 1 == gridDim.x ? n : end);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
