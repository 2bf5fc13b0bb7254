// PTX written by hand inside a kernel.
#include "check.cuh"

__device__ unsigned lane() {
  unsigned value;
  asm("mov.u32 %0, %%laneid;" : "=r"(value));
  return value;
}
__device__ int add_three(int a, int b, int c) {
  int sum;
  asm("{\n\t.reg .s32 t;\n\tadd.s32 t, %1, %2;\n\tadd.s32 %0, t, %3;\n\t}"
      : "=r"(sum)
      : "r"(a), "r"(b), "r"(c));
  return sum;
}
__device__ unsigned long long wide(unsigned a, unsigned b) {
  unsigned long long product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
}

__global__ void all(unsigned* out, unsigned long long* products) {
  const unsigned i = threadIdx.x;
  out[i] = lane();
  out[64 + i] = add_three(i, 2 * i, -5);
  products[i] = wide(i + 0xfffffff0u, 0xffffffffu);
  unsigned reversed, count, picked, permuted;
  asm("brev.b32 %0, %1;" : "=r"(reversed) : "r"(i));
  asm("popc.b32 %0, %1;" : "=r"(count) : "r"(i));
  asm("bfe.u32 %0, %1, 2, 3;" : "=r"(picked) : "r"(i));
  asm("prmt.b32 %0, %1, %2, 0x0123;" : "=r"(permuted) : "r"(i), "r"(0));
  out[128 + i] = reversed ^ (count << 16) ^ (picked << 8) ^ permuted;
  asm volatile("st.global.u32 [%0], %1;" ::"l"(out + 192 + i), "r"(i * 7) : "memory");
  unsigned ballot;
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.lt.u32 p, %1, 40;\n\tvote.sync.ballot.b32 %0, p, 0xffffffff;\n\t}"
      : "=r"(ballot)
      : "r"(i));
  out[256 + i] = ballot;
}

unsigned reversed_bits(unsigned v) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i) r |= (v >> i & 1u) << (31 - i);
  return r;
}

int main() {
  Buffer<unsigned> out(320);
  Buffer<unsigned long long> products(64);
  all<<<1, 64>>>(out.get(), products.get());
  LAUNCHED();
  const auto got = out.host();
  const auto wide_products = products.host();
  for (unsigned i = 0; i < 64; ++i) {
    CHECK(got[i] == i % 32);
    CHECK(got[64 + i] == 3 * i - 5);
    CHECK(wide_products[i] == static_cast<unsigned long long>(i + 0xfffffff0u) * 0xffffffffull);
    const unsigned count = __builtin_popcount(i);
    CHECK(got[128 + i] == (reversed_bits(i) ^ (count << 16) ^ ((i >> 2 & 7) << 8) ^ (i << 24)));
    CHECK(got[192 + i] == i * 7);
    CHECK(got[256 + i] == (i < 32 ? 0xffffffffu : 0xffu));
  }
  return done();
}
