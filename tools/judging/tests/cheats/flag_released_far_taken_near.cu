// judge: chapter14/1
// rejected: goal: system scope for all that orders
// The flag goes to all GPUs, and is looked at with this one's scope.
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
    flag_of(flags, blockIdx.x).store(1, cuda::memory_order_release);
    return;
  }
  for (unsigned other = 1; other < gridDim.x; ++other) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> its(flags[other]);
    while (its.load(cuda::memory_order_acquire) == 0) {
    }
    mine += slots[other];
    flags[other] = 0;
  }
  *out = mine;
}
