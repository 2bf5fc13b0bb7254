// judge: chapter14/1
// rejected: race: another block's write
// Of system scope, and in no order.
#include <cuda/atomic>

#include "../shares.cuh"

__global__ void sum(const int* in, long long* slots, unsigned* flags, long long* out,
                    std::size_t n) {
  const auto raise = [](unsigned* flag) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> its(*flag);
    its.store(1, cuda::memory_order_relaxed);
  };
  const auto wait = [](unsigned* flag) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> its(*flag);
    while (its.load(cuda::memory_order_relaxed) == 0) {
    }
  };
  hand_over(in, slots, flags, out, n, raise, wait);
}
