// judge: chapter08/2
// The same for sums that are volatile; the ticket by inline PTX.
#include "../last_block.cuh"

__global__ void sum(const int* in, unsigned* partial, unsigned* ticket, unsigned* out,
                    std::size_t n) {
  __shared__ bool last;
  const unsigned t = threadIdx.x, mine = sum_of_share(in, n);
  if (t == 0) {
    static_cast<volatile unsigned*>(partial)[blockIdx.x] = mine;
    unsigned before;
    asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(ticket), "r"(gridDim.x - 1)
                 : "memory");
    last = before == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  unsigned rest = 0;
  for (unsigned b = t; b < gridDim.x; b += blockDim.x) {
    rest += static_cast<volatile unsigned*>(partial)[b];
  }
  rest = block_sum(rest);
  if (t == 0) *out = rest;
}
