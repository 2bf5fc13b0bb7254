#pragma once
#include <cstddef>

namespace chapter01 {

// begin gmem-interleaved
/// One partial sum per block, in place in global memory: every second thread adds its neighbour's
/// element to its own, then every fourth, every eighth, …
///
/// \param data     n elements in device memory; destroyed
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; the last block's share may be short
/// \pre gridDim.x * blockDim.x >= n, and no block starts past the end
__global__ void gmem_interleaved(int* data, int* partial, std::size_t n) {
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;  // this thread's element

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0 && t + s < blockDim.x && i + s < n) data[i] += data[i + s];
    __syncthreads();  // the next step reads what other threads wrote in this one
  }

  if (t == 0) partial[blockIdx.x] = data[i];
}
// end gmem-interleaved

// begin gmem-loop
/// One partial sum per block, added up in place in global memory.
///
/// \param data     n elements in device memory; destroyed
/// \param partial  gridDim.x sums, one per block
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

// begin gmem-early-exit
/// A barrier for the first `threads` threads of the block alone.
///
/// \pre threads is a multiple of 32
__device__ inline void sync_first(unsigned threads) {
  asm volatile("barrier.sync 1, %0;" ::"r"(threads) : "memory");
}

/// gmem, whose warps leave as soon as they have nothing left to add.
///
/// \pre as gmem, and blockDim.x is a multiple of 32
__global__ void gmem_early_exit(int* data, int* partial, std::size_t n) {
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    const unsigned staying = (half + 31) / 32 * 32;  // whole warps
    if (t >= staying) return;                        // and no barrier from here on counts this warp
    if (t + half < width && i + half < n) data[i] += data[i + half];
    sync_first(staying);
    width = half;
  }

  if (t == 0) partial[blockIdx.x] = data[i];
}
// end gmem-early-exit

// begin gmem-unrolled
/// One step of the tree: thread t of the first Half adds the element Half further on.
template <unsigned Half>
__device__ void fold(int* data, std::size_t i, std::size_t n) {
  if (blockDim.x >= 2 * Half && threadIdx.x < Half && i + Half < n) data[i] += data[i + Half];
}

/// The same tree with every step written out.
///
/// \param data     n elements in device memory; destroyed
/// \param partial  gridDim.x sums, one per block
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
