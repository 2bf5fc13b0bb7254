// judge: chapter02/1
// Tries again until the phase is over, as PTX asks for.
#include <cstddef>
#include <cstdint>

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ std::uint64_t bar;
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  if (t == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
  __syncthreads();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  tile[t] = i < n ? in[i] : 0;
  asm volatile(
      "{ .reg .pred over; mbarrier.arrive.shared.b64 _, [%0];"
      "AGAIN: mbarrier.try_wait.parity.shared.b64 over, [%0], 0; @!over bra AGAIN; }" ::"r"(at)
      : "memory");
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
