#include <cstddef>

/// The word where slot i lies, one of 1024.
__device__ constexpr unsigned place(unsigned i) {
  // [blank] another order for each row of 32
  //= return i;
  return i ^ (i / 32 % 32);
  // [/blank]
}

/// One partial sum per block, with strided indices.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[place(t)] = i < n ? in[i] : 0;
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned slot = 2 * s * t;
    if (slot + s < blockDim.x) tile[place(slot)] += tile[place(slot + s)];
    __syncthreads();
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
