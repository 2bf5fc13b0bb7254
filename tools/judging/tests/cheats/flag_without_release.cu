// judge: chapter14/1
// rejected: race: another block's write
// An acquire that no release answers.
#include <cuda/atomic>

#include "../shares.cuh"

__device__ auto flag_of(unsigned* flags, unsigned gpu) {
  return cuda::atomic_ref<unsigned, cuda::thread_scope_system>(flags[gpu]);
}

__global__ void sum(const int* in, long long* slots, unsigned* flags, long long* out,
                    std::size_t n) {
  long long mine = sum_of_share(in, n);
  if (threadIdx.x != 0) return;
  if (blockIdx.x > 0) {
    slots[blockIdx.x] = mine;
    static_cast<volatile unsigned*>(flags)[blockIdx.x] = 1;
    return;
  }
  for (unsigned other = 1; other < gridDim.x; ++other) {
    while (flag_of(flags, other).load(cuda::memory_order_acquire) == 0) {
    }
    mine += slots[other];
    flags[other] = 0;
  }
  *out = mine;
}
