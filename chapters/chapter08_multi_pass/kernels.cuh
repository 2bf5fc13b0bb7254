#pragma once
#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>

#include "../chapter06_dynamic_smem/kernels.cuh"

namespace chapter08 {

// begin block-sum uses typed-tree
/// The sum of every thread's value, in all threads of the block. Of any size; all threads call it.
__device__ inline long long block_sum(long long value) {
  __shared__ long long tile[1024];
  tile[threadIdx.x] = value;
  __syncthreads();
  chapter06::add_up(tile);
  return tile[0];
}
// end block-sum

// begin sum-pass uses block-sum
/// Elements of a thread in one pass.
constexpr unsigned kPerThread = 8;

/// One pass: a sum of kPerThread * blockDim.x elements a block.
///
/// \param in   n elements in device memory; left as they are
/// \param out  gridDim.x sums, one a block
/// \pre gridDim.x * kPerThread * blockDim.x >= n
template <class In>
__global__ void sum_pass(const In* in, long long* out, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * (kPerThread * blockDim.x) + threadIdx.x;
  long long sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kPerThread; ++k) {
    const std::size_t i = first + k * blockDim.x;
    sum += i < n ? in[i] : 0;
  }

  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
// end sum-pass

// begin pass-count
/// How many passes leave one value of n, when each makes one of `share`.
///
/// \pre n >= 1 and share >= 2
__host__ __device__ constexpr unsigned passes(std::size_t n, std::size_t share) {
  unsigned count = 1;  // of one value, too, a pass makes a sum
  while (n > share) {
    n = n / share + (n % share != 0 ? 1 : 0);
    ++count;
  }
  return count;
}
// end pass-count

// begin thread-share
/// The sum of the elements that a grid-stride loop gives this thread.
__device__ inline long long thread_share(const int* in, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  long long sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    sum += in[i];
  }
  return sum;
}
// end thread-share

// begin atomic-thread uses thread-share
/// Every thread adds its share to one value.
///
/// \param in   n elements in device memory; left as they are
/// \param out  the sum is added to what it holds; unsigned, for there is no signed atomicAdd of 64
///             bits, and no difference: in two's complement both add the same bits
__global__ void atomic_thread(const int* in, unsigned long long* out, std::size_t n) {
  atomicAdd(out, static_cast<unsigned long long>(thread_share(in, n)));
}
// end atomic-thread

// begin atomic-block uses thread-share block-sum
/// Every block adds its sum to one value.
__global__ void atomic_block(const int* in, unsigned long long* out, std::size_t n) {
  const long long sum = block_sum(thread_share(in, n));
  if (threadIdx.x == 0) atomicAdd(out, static_cast<unsigned long long>(sum));
}
// end atomic-block

// begin last-block uses thread-share block-sum
/// The block that finishes last adds up what all blocks have left.
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x elements of scratch memory
/// \param ticket   0, and 0 again when the kernel ends
/// \param out      the sum
__global__ void last_block(const int* in, long long* partial, unsigned* ticket, long long* out,
                           std::size_t n) {
  __shared__ bool last;
  const long long sum = block_sum(thread_share(in, n));
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();  // release: who sees this block's ticket taken sees its sum
    const unsigned before = atomicInc(ticket, gridDim.x - 1);  // from gridDim.x - 1 on to 0
    __threadfence();  // acquire: what is read from here on is no older than the tickets seen
    last = before == gridDim.x - 1;
  }
  __syncthreads();  // hands on to the whole block what thread 0 has seen
  if (!last) return;

  long long rest = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) rest += partial[b];
  rest = block_sum(rest);
  if (threadIdx.x == 0) *out = rest;
}
// end last-block

// begin grid-sync uses thread-share block-sum
/// All blocks wait for each other; then block 0 adds up what they have left.
///
/// \pre a cooperative launch: all blocks fit the device at once
__global__ void grid_sync(const int* in, long long* partial, long long* out, std::size_t n) {
  const long long sum = block_sum(thread_share(in, n));
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;

  cooperative_groups::this_grid().sync();  // a barrier and its fences, for the whole grid
  if (blockIdx.x != 0) return;

  long long rest = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) rest += partial[b];
  rest = block_sum(rest);
  if (threadIdx.x == 0) *out = rest;
}
// end grid-sync

// begin add-and-count
/// How a sum and the number of blocks that have added to it share a word of 64 bits: the count
/// below, the sum above it, so that the sum's carries leave the count alone.
template <class T>
struct OneWord;

template <>
struct OneWord<long long> {
  static constexpr unsigned kCountBits = 10;
  /// So many ints of any value fit the other 54 bits: 2^22 times -2^31 is -2^53.
  static constexpr std::size_t kMostElements = std::size_t{1} << 22;
};

template <>
struct OneWord<unsigned> {
  static constexpr unsigned kCountBits = 32;
  static constexpr std::size_t kMostElements = ~std::size_t{0};  // it is meant to wrap
};

/// The largest grid that either count has room for.
constexpr unsigned kMostBlocks = (1u << OneWord<long long>::kCountBits) - 1;

/// Adds a block's sum to the word; the last block to come moves the total to *out and leaves 0.
/// One thread of each block calls it.
template <class T>
__device__ void add_and_count(T sum, unsigned long long* word, T* out) {
  constexpr unsigned bits = OneWord<T>::kCountBits;
  const unsigned long long mine = (static_cast<unsigned long long>(sum) << bits) + 1;
  const unsigned long long all = atomicAdd(word, mine) + mine;
  if ((all & ((1ull << bits) - 1)) == gridDim.x) {
    *out = static_cast<T>(static_cast<long long>(all) >> bits);
    *word = 0;
  }
}
// end add-and-count

// begin one-word uses thread-share block-sum add-and-count
/// Sum and ticket in one atomic operation: nothing else is handed over, so nothing needs a fence.
///
/// \param word  0, and 0 again when the kernel ends
/// \pre gridDim.x <= kMostBlocks, n <= OneWord<long long>::kMostElements
__global__ void one_word(const int* in, unsigned long long* word, long long* out, std::size_t n) {
  const long long sum = block_sum(thread_share(in, n));
  if (threadIdx.x == 0) add_and_count(sum, word, out);
}
// end one-word

// begin vector-share
/// 16-byte loads that a thread has under way at once.
constexpr unsigned kLoads = 4;

/// The sum of this thread's elements, added in T and loaded four at a time. `in` may begin
/// anywhere: up to three elements before the first multiple of 16 bytes, and behind the last, go
/// one by one.
template <class T>
__device__ T vector_share(const int* in, std::size_t n) {
  const std::size_t to_aligned = -(reinterpret_cast<std::uintptr_t>(in) / sizeof(int)) % 4;
  const std::size_t head = n < to_aligned ? n : to_aligned;
  const int4* body = reinterpret_cast<const int4*>(in + head);
  const std::size_t vectors = (n - head) / 4;
  const std::size_t tail = head + 4 * vectors;

  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  T sum = 0;
  if (thread < head) sum += in[thread];
  if (thread < n - tail) sum += in[tail + thread];
  for (std::size_t i = thread; i < vectors; i += kLoads * stride) {
    int4 v[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      const std::size_t at = i + k * stride;
      v[k] = at < vectors ? body[at] : int4{};  // no load waits for another
    }
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      sum += v[k].x;
      sum += v[k].y;
      sum += v[k].z;
      sum += v[k].w;
    }
  }
  return sum;
}
// end vector-share

// begin warp-slots
/// The sum of `value` over a warp, in all its lanes.
template <class T>
__device__ T warp_sum(T value) {
#pragma unroll
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  return value;
}

/// The sum of every thread's value, in the first warp: one barrier, and a slot a warp.
/// All threads call it, a whole number of warps; not again without a barrier in between.
template <class T>
__device__ T sum_by_warps(T value) {
  __shared__ T slot[32];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) slot[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  return warp_sum(threadIdx.x < blockDim.x / 32 ? slot[threadIdx.x] : T{0});
}
// end warp-slots

// begin whole-sum uses vector-share warp-slots add-and-count
/// The sum of n elements, added in Sum, in one launch: long loads, one atomic operation a block,
/// and fences only where a word is too narrow.
///
/// \param in       n elements in device memory, at any address; left as they are
/// \param partial  gridDim.x elements of scratch memory
/// \param ticket   0, and 0 again when the kernel ends
/// \param word     the same
/// \param out      the sum
/// \pre blockDim.x is a multiple of 32, gridDim.x <= kMostBlocks
template <class Sum>
__global__ void whole(const int* in, Sum* partial, unsigned* ticket, unsigned long long* word,
                      Sum* out, std::size_t n) {
  const Sum sum = sum_by_warps(vector_share<Sum>(in, n));

  if (n <= OneWord<Sum>::kMostElements || gridDim.x == 1) {
    if (threadIdx.x != 0) return;
    if (gridDim.x == 1) {
      *out = sum;
    } else {
      add_and_count(sum, word, out);
    }
    return;
  }

  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;

  Sum rest = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) rest += partial[b];
  rest = sum_by_warps(rest);
  if (threadIdx.x == 0) *out = rest;
}
// end whole-sum

}  // namespace chapter08
