// judge: chapter08/2
// rejected: race: nothing orders these two: the value may be old
// Volatile accesses don't race, and no fence orders them before the ticket.
#include "../last_block.cuh"

__global__ void sum(const int* in, unsigned* partial, unsigned* ticket, unsigned* out,
                    std::size_t n) {
  __shared__ bool last;
  const unsigned t = threadIdx.x, mine = sum_of_share(in, n);
  if (t == 0) {
    static_cast<volatile unsigned*>(partial)[blockIdx.x] = mine;
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  unsigned rest = 0;
  for (unsigned b = t; b < gridDim.x; b += blockDim.x)
    rest += static_cast<volatile unsigned*>(partial)[b];
  rest = block_sum(rest);
  if (t == 0) *out = rest;
}
