// judge: chapter14/1
// rejected: race: another block's write
// A release that no acquire answers.
#include <cuda/atomic>

#include "../shares.cuh"

__global__ void sum(const int* in, long long* slots, unsigned* flags, long long* out,
                    std::size_t n) {
  const auto raise = [](unsigned* flag) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> its(*flag);
    its.store(1, cuda::memory_order_release);
  };
  const auto wait = [](unsigned* flag) {
    while (*static_cast<volatile unsigned*>(flag) == 0) {
    }
  };
  hand_over(in, slots, flags, out, n, raise, wait);
}
