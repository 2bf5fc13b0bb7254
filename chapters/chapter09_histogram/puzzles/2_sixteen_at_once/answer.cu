#include <cstddef>
#include <cstdint>

/// Counts how often each value occurs in n bytes at any address.
__global__ void histogram(const unsigned char* in, unsigned* bins, std::size_t n) {
  __shared__ unsigned mine[256];
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();

  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  // [blank] load 16 bytes at once; atomicAdd(&mine[value], 1u) for each byte
  //= for (std::size_t i = first; i < n; i += threads) atomicAdd(&mine[in[i]], 1u);
  const std::size_t to_multiple = -reinterpret_cast<std::uintptr_t>(in) % 16;
  const std::size_t head = to_multiple < n ? to_multiple : n;
  const std::size_t count = (n - head) / 16;
  const uint4* wide = reinterpret_cast<const uint4*>(in + head);
  for (std::size_t i = first; i < count; i += threads) {
    const uint4 v = wide[i];
    for (const unsigned word : {v.x, v.y, v.z, v.w}) {
      for (unsigned shift = 0; shift < 32; shift += 8) atomicAdd(&mine[word >> shift & 0xff], 1u);
    }
  }
  for (std::size_t i = first; i < head; i += threads) atomicAdd(&mine[in[i]], 1u);
  for (std::size_t i = head + 16 * count + first; i < n; i += threads) atomicAdd(&mine[in[i]], 1u);
  // [/blank]
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) atomicAdd(&bins[bin], mine[bin]);
}
