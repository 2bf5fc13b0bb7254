#pragma once
#include <cstddef>

namespace chapter02 {

// begin interleaved-modulo
/// chapter01's gmem_interleaved with its tree in shared memory: every second thread adds its
/// neighbour's slot to its own, then every fourth, every eighth, …
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; the last block's share may be short
/// \pre gridDim.x * blockDim.x >= n
__global__ void interleaved(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];  // as many as the largest block has threads
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[t] = i < n ? in[i] : 0;  // past the end: add nothing, but stay for the barriers
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0 && t + s < blockDim.x) tile[t] += tile[t + s];
    __syncthreads();
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end interleaved-modulo

// begin smem-tree
/// Adds up tile[0 … blockDim.x) in place, for any block size; the sum ends in tile[0].
/// All threads of the block call it, after a barrier that follows their writes to the tile.
__device__ inline void add_up(int* tile) {
  const unsigned t = threadIdx.x;
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;  // rounded up: an odd one out waits a step
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();  // the next step reads what other threads wrote in this one
    width = half;
  }
}
// end smem-tree

// begin smem-loop
/// One partial sum per block, through shared memory.
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; the last block's share may be short
/// \pre gridDim.x * blockDim.x >= n
__global__ void smem(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];  // as many as the largest block has threads
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[t] = i < n ? in[i] : 0;  // past the end: add nothing, but stay for the barriers
  __syncthreads();

  add_up(tile);

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end smem-loop

// begin smem-unrolled
/// One step of the tree: thread t of the first Half adds the slot Half further on.
template <unsigned Half>
__device__ void fold(int* tile) {
  const unsigned t = threadIdx.x;
  if (blockDim.x >= 2 * Half && t < Half) tile[t] += tile[t + Half];
}

/// The steps that one warp takes alone, from 64 slots down to one.
__device__ inline void fold_last_warp(int* tile) {
  fold<32>(tile);
  __syncwarp();  // lanes may drift apart: each step waits for the stores of the one before
  fold<16>(tile);
  __syncwarp();
  fold<8>(tile);
  __syncwarp();
  fold<4>(tile);
  __syncwarp();
  fold<2>(tile);
  __syncwarp();
  fold<1>(tile);
}

/// The same tree with every step written out.
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; the last block's share may be short
/// \pre blockDim.x is a power of two, at most 1024
__global__ void smem_unrolled(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[t] = i < n ? in[i] : 0;
  __syncthreads();

  fold<512>(tile);
  __syncthreads();
  fold<256>(tile);
  __syncthreads();
  fold<128>(tile);
  __syncthreads();
  fold<64>(tile);
  __syncthreads();
  if (t < 32) fold_last_warp(tile);

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end smem-unrolled

// begin smem-stride
/// The grid-stride load: a fixed grid walks over the whole input.
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; any grid covers them
__global__ void smem_stride(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;  // all threads of the grid

  int sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t; i < n; i += stride) sum += in[i];
  tile[t] = sum;
  __syncthreads();

  add_up(tile);

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end smem-stride

}  // namespace chapter02
