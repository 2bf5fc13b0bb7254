// judge: chapter14/1
// As chapter 14 writes it.
#include "../shares.cuh"

__global__ void sum(const int* in, long long* slots, unsigned* flags, long long* out,
                    std::size_t n) {
  const auto raise = [](unsigned* flag) {
    asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
  };
  const auto wait = [](unsigned* flag) {
    unsigned up = 0;
    while (up == 0) {
      asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(up) : "l"(flag) : "memory");
    }
  };
  hand_over(in, slots, flags, out, n, raise, wait);
}
