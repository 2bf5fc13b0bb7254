#pragma once
#include <cstddef>

#include "../chapter02_smem/kernels.cuh"

namespace chapter03 {

// begin interleaved-mask
/// chapter02's interleaved with a cheaper way to ask whether this thread adds.
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; the last block's share may be short
/// \pre gridDim.x * blockDim.x >= n
__global__ void interleaved_mask(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];  // as many as the largest block has threads
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[t] = i < n ? in[i] : 0;  // past the end: add nothing, but stay for the barriers
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned low = t & (2 * s - 1);  // remainder by a power of two: the low bits
    if (low == 0 && t + s < blockDim.x) tile[t] += tile[t + s];
    __syncthreads();
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end interleaved-mask

// begin strided-index
/// The same additions, made by the first threads of the block in place of scattered ones.
///
/// \pre as interleaved_mask
__global__ void strided(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];  // as many as the largest block has threads
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[t] = i < n ? in[i] : 0;  // past the end: add nothing, but stay for the barriers
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned slot = 2 * s * t;  // neighbouring threads take slots 2 * s apart
    if (slot + s < blockDim.x) tile[slot] += tile[slot + s];
    __syncthreads();
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end strided-index

// begin path-work
/// The work of path number Path: flips bits of x and flips them back, 16 times in all, so x
/// returns as it came. Each path is code of its own, because it has its own pattern.
template <unsigned Path>
__device__ unsigned walk(unsigned x) {
#pragma unroll 1  // stay a loop, which no compiler turns into predicated instructions
  for (unsigned round = 0; round < 16; ++round) x ^= (Path + 1) * 0x9e3779b9u;
  return x;
}

/// Takes path number `path` of those from First to First + Count - 1, by halving: in a
/// warp whose lanes want k different paths, k - 1 branches part the lanes.
template <unsigned First, unsigned Count>
__device__ unsigned take(unsigned path, unsigned x) {
  if constexpr (Count == 1) {
    return walk<First>(x);
  } else {
    constexpr unsigned kHalf = Count / 2;
    if (path < First + kHalf) return take<First, kHalf>(path, x);
    return take<First + kHalf, kHalf>(path, x);
  }
}
// end path-work

// begin mixed-paths
/// smem with some work on each element before the tree. There are `paths` kinds of work,
/// dealt out lane by lane.
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; the last block's share may be short
/// \param paths    kinds of work, 1 to 32
/// \pre gridDim.x * blockDim.x >= n
__global__ void mixed(const int* in, int* partial, std::size_t n, unsigned paths) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  const unsigned kind = t % 32 % paths;  // by lane
  const unsigned x = i < n ? in[i] : 0;
  tile[t] = static_cast<int>(take<0, 32>(kind, x));
  __syncthreads();

  chapter02::add_up(tile);

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end mixed-paths

// begin sorted-paths
/// The same work, the same amount of each kind, dealt out warp by warp.
///
/// \pre as mixed
__global__ void sorted(const int* in, int* partial, std::size_t n, unsigned paths) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  const unsigned kind = static_cast<unsigned>(i / 32) % paths;  // by warp
  const unsigned x = i < n ? in[i] : 0;
  tile[t] = static_cast<int>(take<0, 32>(kind, x));
  __syncthreads();

  chapter02::add_up(tile);

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end sorted-paths

}  // namespace chapter03
