// judge: chapter02/1
// Calls itself, five calls deep.
#include <cstddef>
__device__ int added(volatile int* slots, unsigned from, unsigned to) {
  if (to - from == 1) return slots[from];
  const unsigned middle = (from + to) / 2;
  return added(slots, from, middle) + added(slots, middle, to);
}
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int slots[32];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  const unsigned lanes = min(32u, blockDim.x - t / 32 * 32);
  const int mine = __reduce_add_sync(0xffffffffu >> (32 - lanes), i < n ? in[i] : 0);
  if (t % 32 == 0) slots[t / 32] = mine;
  __syncthreads();
  if (t == 0) partial[blockIdx.x] = added(slots, 0, (blockDim.x + 31) / 32);
}
