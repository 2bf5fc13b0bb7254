#include <cstddef>
#include <cuda/atomic>

/// *out becomes the sum of n ints. Each block stands for a GPU. Block 0 collects what the others
/// have stored in their slots. All flags are 0 before and after it.
__global__ void sum(const int* in, long long* slots, unsigned* flags, long long* out,
                    std::size_t n) {
  __shared__ long long part[32];
  const unsigned t = threadIdx.x;
  const unsigned gpu = blockIdx.x;
  const std::size_t share = (n + gridDim.x - 1) / gridDim.x;
  const std::size_t end = share * (gpu + 1) < n ? share * (gpu + 1) : n;

  long long mine = 0;
  for (std::size_t i = share * gpu + t; i < end; i += blockDim.x) mine += in[i];
  for (unsigned bits = 16; bits > 0; bits /= 2) mine += __shfl_xor_sync(0xffffffff, mine, bits);
  if (t % 32 == 0) part[t / 32] = mine;
  __syncthreads();
  if (t != 0) return;
  for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) mine += part[warp];

  if (gpu > 0) {
    slots[gpu] = mine;
    // [blank] raise the flag, so that no GPU sees it before the sum
    //= static_cast<volatile unsigned*>(flags)[gpu] = 1;
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> flag(flags[gpu]);
    flag.store(1, cuda::memory_order_release);
    // [/blank]
    return;
  }
  for (unsigned other = 1; other < gridDim.x; ++other) {
    // [blank] wait for the flag, so that the sum is read after it
    //= while (static_cast<volatile unsigned*>(flags)[other] == 0) {
    //= }
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> flag(flags[other]);
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    // [/blank]
    mine += slots[other];
    flags[other] = 0;
  }
  *out = mine;
}
