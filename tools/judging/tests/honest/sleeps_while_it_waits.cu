// judge: chapter14/1
// Sleeps between two looks at a flag.
#include <cstddef>
__global__ void sum(const int* in, long long* slots, unsigned* flags, long long* out,
                    std::size_t n) {
  __shared__ long long part[32];
  const unsigned t = threadIdx.x, gpu = blockIdx.x;
  const std::size_t share = (n + gridDim.x - 1) / gridDim.x;
  const std::size_t from = min(share * gpu, n), to = min(from + share, n);
  long long mine = 0;
  for (std::size_t i = from + t; i < to; i += blockDim.x) mine += in[i];
  for (unsigned bits = 16; bits > 0; bits /= 2) mine += __shfl_down_sync(~0u, mine, bits);
  if (t % 32 == 0) part[t / 32] = mine;
  __syncthreads();
  if (t > 0) return;
  for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) mine += part[warp];

  volatile long long* sums = slots;
  volatile unsigned* flag = flags;
  if (gpu > 0) {
    sums[gpu] = mine;
    __threadfence_system();
    flag[gpu] = 1;
    return;
  }
  for (unsigned other = 1; other < gridDim.x; ++other) {
    while (flag[other] == 0) __nanosleep(20);
    __threadfence_system();
    mine += sums[other];
    flag[other] = 0;
  }
  *out = mine;
}
