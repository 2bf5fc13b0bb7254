// judge: chapter14/1
// rejected: race: another block's write
// An acquire that no release answers.
#include <cuda/atomic>

#include "../shares.cuh"

__global__ void sum(const int* in, long long* slots, unsigned* flags, long long* out,
                    std::size_t n) {
  const auto raise = [](unsigned* flag) { *static_cast<volatile unsigned*>(flag) = 1; };
  const auto wait = [](unsigned* flag) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> its(*flag);
    while (its.load(cuda::memory_order_acquire) == 0) {
    }
  };
  hand_over(in, slots, flags, out, n, raise, wait);
}
