#pragma once
#include <cstddef>

namespace chapter01 {

// begin gmem-loop
/// One partial sum a block, added up in place in global memory.
///
/// \param data     n elements in device memory; destroyed
/// \param partial  gridDim.x sums, one a block
/// \param n        number of elements; the last block's share may be short
/// \pre gridDim.x * blockDim.x >= n, and no block starts past the end
__global__ void gmem(int* data, int* partial, std::size_t n) {
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;  // this thread's element

  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;  // rounded up: an odd one out waits a step
    if (t + half < width && i + half < n) data[i] += data[i + half];
    __syncthreads();  // the next step reads what other threads wrote in this one
    width = half;
  }

  if (t == 0) partial[blockIdx.x] = data[i];
}
// end gmem-loop

// begin gmem-unrolled
/// One step of the tree: thread t of the first Half adds the element Half further on.
template <unsigned Half>
__device__ void fold(int* data, std::size_t i, std::size_t n) {
  if (blockDim.x >= 2 * Half && threadIdx.x < Half && i + Half < n) data[i] += data[i + Half];
}

/// The same tree with every step written out.
///
/// \param data     n elements in device memory; destroyed
/// \param partial  gridDim.x sums, one a block
/// \param n        number of elements; the last block's share may be short
/// \pre blockDim.x is a power of two, at most 1024
__global__ void gmem_unrolled(int* data, int* partial, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

  fold<512>(data, i, n);
  __syncthreads();
  fold<256>(data, i, n);
  __syncthreads();
  fold<128>(data, i, n);
  __syncthreads();
  fold<64>(data, i, n);
  __syncthreads();

  if (threadIdx.x < 32) {  // one warp is left: it need not wait for the others,
    fold<32>(data, i, n);  // but its own lanes still wait for each other
    __syncwarp();
    fold<16>(data, i, n);
    __syncwarp();
    fold<8>(data, i, n);
    __syncwarp();
    fold<4>(data, i, n);
    __syncwarp();
    fold<2>(data, i, n);
    __syncwarp();
    fold<1>(data, i, n);
  }

  if (threadIdx.x == 0) partial[blockIdx.x] = data[i];
}
// end gmem-unrolled

}  // namespace chapter01
