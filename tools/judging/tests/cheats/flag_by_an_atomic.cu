// judge: chapter14/1
// rejected: goal: no atomics, which not every link carries
// An atomic raises the flag.
#include "../shares.cuh"

__global__ void sum(const int* in, long long* slots, unsigned* flags, long long* out,
                    std::size_t n) {
  long long mine = sum_of_share(in, n);
  if (threadIdx.x != 0) return;
  if (blockIdx.x > 0) {
    slots[blockIdx.x] = mine;
    __threadfence_system();
    atomicExch_system(flags + blockIdx.x, 1);
    return;
  }
  for (unsigned other = 1; other < gridDim.x; ++other) {
    while (static_cast<volatile unsigned*>(flags)[other] == 0) {
    }
    __threadfence_system();
    mine += slots[other];
    flags[other] = 0;
  }
  *out = mine;
}
