// judge: chapter14/1
// rejected: goal: system scope for all that orders
// Fences that order what threads of this GPU see.
#include "../shares.cuh"

__global__ void sum(const int* in, long long* slots, unsigned* flags, long long* out,
                    std::size_t n) {
  const auto raise = [](unsigned* flag) {
    __threadfence();
    *static_cast<volatile unsigned*>(flag) = 1;
  };
  const auto wait = [](unsigned* flag) {
    while (*static_cast<volatile unsigned*>(flag) == 0) {
    }
    __threadfence();
  };
  hand_over(in, slots, flags, out, n, raise, wait);
}
