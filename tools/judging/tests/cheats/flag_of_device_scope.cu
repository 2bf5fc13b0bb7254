// judge: chapter14/1
// rejected: goal: system scope for all that orders
// Release and acquire, on this GPU alone.
#include <cuda/atomic>

#include "../shares.cuh"

__global__ void sum(const int* in, long long* slots, unsigned* flags, long long* out,
                    std::size_t n) {
  const auto raise = [](unsigned* flag) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> its(*flag);
    its.store(1, cuda::memory_order_release);
  };
  const auto wait = [](unsigned* flag) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> its(*flag);
    while (its.load(cuda::memory_order_acquire) == 0) {
    }
  };
  hand_over(in, slots, flags, out, n, raise, wait);
}
