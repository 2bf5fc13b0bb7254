// judge: chapter14/2
// rejected: wrong: should be
// n times a speed is more than 32 bits hold.
#include "../shares.cuh"

__global__ void shares(const int* in, const unsigned* speed, long long* sums, std::size_t n) {
  unsigned before = 0, all = 0;
  for (unsigned g = 0; g < gridDim.x; ++g) {
    if (g < blockIdx.x) before += speed[g];
    all += speed[g];
  }
  const auto size = static_cast<unsigned>(n);
  const std::size_t first = size * before / all / 4 * 4;
  const std::size_t end = size * (before + speed[blockIdx.x]) / all / 4 * 4;
  const long long sum = sum_between(in, first, blockIdx.x + 1 == gridDim.x ? n : end);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
