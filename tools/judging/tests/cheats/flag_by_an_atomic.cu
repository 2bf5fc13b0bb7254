// judge: chapter14/1
// rejected: goal: no atomics, which not every link carries
// An atomic raises the flag.
#include "../shares.cuh"

__global__ void sum(const int* in, long long* slots, unsigned* flags, long long* out,
                    std::size_t n) {
  const auto raise = [](unsigned* flag) {
    __threadfence_system();
    atomicExch_system(flag, 1);
  };
  const auto wait = [](unsigned* flag) {
    while (*static_cast<volatile unsigned*>(flag) == 0) {
    }
    __threadfence_system();
  };
  hand_over(in, slots, flags, out, n, raise, wait);
}
