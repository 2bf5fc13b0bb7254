// judge: chapter08/1
// rejected: race: nothing orders these two: the value may be old
// Reads the total, adds and writes it back, by relaxed atomics: what other blocks add gets lost.
#include <cuda/atomic>

__global__ void sum(const int* in, unsigned long long* total, std::size_t n) {
  __shared__ long long tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  long long mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t; i < n; i += stride) mine += in[i];
  tile[t] = mine;
  __syncthreads();
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }
  if (t > 0) return;
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> all(*total);
  const unsigned long long before = all.load(cuda::memory_order_relaxed);
  all.store(before + static_cast<unsigned long long>(tile[0]), cuda::memory_order_relaxed);
}
