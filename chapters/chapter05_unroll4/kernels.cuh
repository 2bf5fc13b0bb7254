#pragma once
#include <cstddef>

#include "../chapter02_smem/kernels.cuh"

namespace chapter05 {

// begin first-add
/// First add during load: each thread fetches two elements and adds them on the way.
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; the last block's share may be short
/// \pre gridDim.x * 2 * blockDim.x >= n
__global__ void first_add(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * (2 * blockDim.x) + t;

  int sum = i < n ? in[i] : 0;
  if (i + blockDim.x < n) sum += in[i + blockDim.x];  // each load has its own guard
  tile[t] = sum;
  __syncthreads();

  chapter02::add_up(tile);

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end first-add

// begin unroll-load
/// The sum of thread t's elements of this block's share: Factor tiles of blockDim.x elements.
/// The loads do not depend on one another, so all of them can be in flight at once.
template <unsigned Factor>
__device__ int load_and_add(const int* in, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * (Factor * blockDim.x) + threadIdx.x;
  int sum = 0;
#pragma unroll
  for (unsigned k = 0; k < Factor; ++k) {
    const std::size_t i = first + k * blockDim.x;
    sum += i < n ? in[i] : 0;
  }
  return sum;
}
// end unroll-load

// begin unroll-factor
/// A thread block folds Factor blocks of data into one tile, then climbs the same tree.
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; the last block's share may be short
/// \pre gridDim.x * Factor * blockDim.x >= n
template <unsigned Factor>
__global__ void unroll(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  tile[threadIdx.x] = load_and_add<Factor>(in, n);
  __syncthreads();

  chapter02::add_up(tile);

  if (threadIdx.x == 0) partial[blockIdx.x] = tile[0];
}
// end unroll-factor

// begin halving-tree
/// unroll<4> with a loop that need not round up, and all its barriers.
///
/// \pre blockDim.x is a power of two, at most 1024
__global__ void halving(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  tile[t] = load_and_add<4>(in, n);
  __syncthreads();

  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end halving-tree

// begin last-warp-sync
/// unroll<4> whose last warp finishes without barriers of the whole block.
///
/// \pre blockDim.x is a power of two, at most 1024
__global__ void last_warp_sync(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  tile[t] = load_and_add<4>(in, n);
  __syncthreads();

  for (unsigned half = blockDim.x / 2; half > 32; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t < 32) chapter02::fold_last_warp(tile);

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end last-warp-sync

// begin warp-sum
/// The sum of `value` over the first `lanes` lanes of a warp, in each of them.
/// Lanes exchange registers: no memory, and no barrier but the one inside each shuffle.
///
/// \pre lanes is a power of two, at most 32, and exactly these lanes call
__device__ inline int warp_sum(int value, unsigned lanes) {
  const unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
  for (unsigned offset = lanes / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(mask, value, offset);  // xor keeps partners inside the mask
  }
  return value;
}
// end warp-sum

// begin last-warp-shuffle
/// unroll<4> whose last warp passes registers from lane to lane.
///
/// \pre blockDim.x is a power of two, at most 1024
__global__ void last_warp_shuffle(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  tile[t] = load_and_add<4>(in, n);
  __syncthreads();

  for (unsigned half = blockDim.x / 2; half >= 32; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }

  if (t < 32) {
    const int sum = warp_sum(tile[t], min(blockDim.x, 32u));
    if (t == 0) partial[blockIdx.x] = sum;
  }
}
// end last-warp-shuffle

// begin warp-redux
/// The sum of `value` over a whole warp, in all its lanes.
__device__ inline int whole_warp_sum(int value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffff, value);  // one instruction since Ampere
#else
  return warp_sum(value, 32);
#endif
}
// end warp-redux

// begin sums-by-warp
/// The sum of every thread's value, in thread 0: each warp adds up its own, and the first warp adds
/// up the warps' sums. All threads of the block call it, a whole number of warps.
///
/// \param slot  shared memory for one int per warp
__device__ inline int add_by_warps(int value, int* slot) {
  const unsigned t = threadIdx.x;
  value = whole_warp_sum(value);
  if (t % 32 == 0) slot[t / 32] = value;
  __syncthreads();  // the only one
  if (t >= 32) return 0;
  return whole_warp_sum(t < blockDim.x / 32 ? slot[t] : 0);
}

/// unroll with sums by warp in place of the tree.
///
/// \pre as unroll, and blockDim.x is a multiple of 32
template <unsigned Factor>
__global__ void by_warps(const int* in, int* partial, std::size_t n) {
  __shared__ int slot[32];  // as many as the largest block has warps
  const int sum = add_by_warps(load_and_add<Factor>(in, n), slot);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
// end sums-by-warp

// begin complete-unroll
/// The block size as a template argument: every loop bound is known, every loop disappears.
///
/// \tparam Block  threads per block: a power of two, at most 1024
/// \pre blockDim.x == Block
template <unsigned Block>
__global__ void complete(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[Block];
  const unsigned t = threadIdx.x;
  tile[t] = load_and_add<4>(in, n);
  __syncthreads();

#pragma unroll
  for (unsigned half = Block / 2; half >= 32; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }

  if (t < 32) {
    const int sum = warp_sum(tile[t], Block < 32 ? Block : 32);
    if (t == 0) partial[blockIdx.x] = sum;
  }
}
// end complete-unroll

}  // namespace chapter05
