// judge: chapter14/1
// As chapter 14 writes it.
#include "../shares.cuh"

__global__ void sum(const int* in, long long* slots, unsigned* flags, long long* out,
                    std::size_t n) {
  long long mine = sum_of_share(in, n);
  if (threadIdx.x != 0) return;
  if (blockIdx.x > 0) {
    slots[blockIdx.x] = mine;
    asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(flags + blockIdx.x), "r"(1) : "memory");
    return;
  }
  for (unsigned other = 1; other < gridDim.x; ++other) {
    unsigned flag = 0;
    while (flag == 0) {
      asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(flag) : "l"(flags + other) : "memory");
    }
    mine += slots[other];
    flags[other] = 0;
  }
  *out = mine;
}
