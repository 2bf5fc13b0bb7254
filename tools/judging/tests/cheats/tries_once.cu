// judge: chapter02/1
// rejected: race: tile
// mbarrier.try_wait may give up before the phase is over: this tries once, and goes on.
#include <cstdint>

#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ std::uint64_t bar;
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  if (t == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
  __syncthreads();
  const std::size_t i = element();
  tile[t] = i < n ? in[i] : 0;
  asm volatile(
      "{ .reg .pred over; mbarrier.arrive.shared.b64 _, [%0];"
      " mbarrier.try_wait.parity.shared.b64 over, [%0], 0; }" ::"r"(at)
      : "memory");
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
