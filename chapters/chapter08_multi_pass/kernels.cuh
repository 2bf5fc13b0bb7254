#pragma once
#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>

#include "../chapter06_dynamic_smem/kernels.cuh"
#include "../chapter07_effective_bandwidth/kernels.cuh"

namespace chapter08 {

// begin block-sum
/// The sum of all threads' values, in every thread of a block of any size. All threads call it.
__device__ inline long long block_sum(long long value) {
  __shared__ long long tile[1024];
  tile[threadIdx.x] = value;
  __syncthreads();
  chapter06::add_up(tile);
  return tile[0];
}
// end block-sum

// begin sum-pass
/// Elements per thread in one pass.
constexpr unsigned kPerThread = 8;

/// One pass: a sum of kPerThread * blockDim.x elements per block.
///
/// \param in   n elements in device memory; left as they are
/// \param out  gridDim.x sums, one per block
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
/// How many passes it takes from n values to one, if each makes one value of `share`.
///
/// \pre n >= 1 and share >= 2
__host__ __device__ constexpr unsigned passes(std::size_t n, std::size_t share) {
  unsigned count = 1;  // even one value takes a pass to become a sum
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

// begin atomic-thread
/// Every thread adds its share to one value.
///
/// \param in   n elements in device memory; left as they are
/// \param out  the sum is added to what it holds. It is unsigned because atomicAdd has no signed
///             64-bit form. In two's complement that makes no difference: the bits are the same
__global__ void atomic_thread(const int* in, unsigned long long* out, std::size_t n) {
  atomicAdd(out, static_cast<unsigned long long>(thread_share(in, n)));
}
// end atomic-thread

// begin atomic-block
/// Every block adds its sum to one value.
__global__ void atomic_block(const int* in, unsigned long long* out, std::size_t n) {
  const long long sum = block_sum(thread_share(in, n));
  if (threadIdx.x == 0) atomicAdd(out, static_cast<unsigned long long>(sum));
}
// end atomic-block

// begin last-block
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
    __threadfence();  // release: a block that sees this ticket sees this sum
    const unsigned before = atomicInc(ticket, gridDim.x - 1);  // after gridDim.x - 1 comes 0
    __threadfence();  // acquire: reads from here on are no older than the tickets seen
    last = before == gridDim.x - 1;
  }
  __syncthreads();  // hands on what thread 0 has seen to the whole block
  if (!last) return;

  long long rest = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) rest += partial[b];
  rest = block_sum(rest);
  if (threadIdx.x == 0) *out = rest;
}
// end last-block

// begin grid-sync
/// All blocks wait for each other. Then block 0 adds up what they have left.
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

// begin one-word
/// Bits of a word that count blocks, and the largest grid that they can count.
constexpr unsigned kCountBits = 10;
constexpr unsigned kMostBlocks = (1u << kCountBits) - 1;

/// Sum and count in one word. The count is below, so that the sum's carries leave it alone. Only
/// this word is handed over, so nothing needs a fence.
///
/// \param word  0, and 0 again when the kernel ends
/// \pre gridDim.x <= kMostBlocks, and the sum of any of the blocks fits 54 bits, as that of 2^22
///      ints always does
__global__ void one_word(const int* in, unsigned long long* word, long long* out, std::size_t n) {
  const long long sum = block_sum(thread_share(in, n));
  if (threadIdx.x != 0) return;

  const unsigned long long mine = (static_cast<unsigned long long>(sum) << kCountBits) + 1;
  const unsigned long long all = atomicAdd(word, mine) + mine;
  if (all % (1u << kCountBits) == gridDim.x) {  // this block is the last
    *out = static_cast<long long>(all) >> kCountBits;
    *word = 0;
  }
}
// end one-word

// begin two-words
/// Adds up all blocks' sums without a fence: one thread per block hands its block's sum in.
///
/// A 64-bit sum goes in halves, each to the upper 48 bits of a word whose lower 16 bits
/// count. The block that is last at one word need not be last at the other: then the first of the
/// two leaves its total in a third word, and the second adds them.
///
/// \param words  three that are 0, and are 0 again when the kernel ends
/// \pre gridDim.x <= 65535, so that neither a half's total nor the count outgrows its bits
__device__ inline void hand_in(long long sum, unsigned long long* words, long long* out) {
  const unsigned long long low = (static_cast<unsigned long long>(sum & 0xffffffff) << 16) + 1;
  const unsigned long long high = (static_cast<unsigned long long>(sum >> 32) << 16) + 1;
  const unsigned long long lows = atomicAdd(words, low) + low;  // both in flight at once
  const unsigned long long highs = atomicAdd(words + 1, high) + high;
  const bool last_low = lows % 65536 == gridDim.x;
  const bool last_high = highs % 65536 == gridDim.x;
  if (!last_low && !last_high) return;

  unsigned long long low_total = lows >> 16;
  auto high_total = static_cast<unsigned long long>(static_cast<long long>(highs) >> 16);
  if (last_low) words[0] = 0;
  if (last_high) words[1] = 0;
  if (last_low != last_high) {
    const unsigned long long mine = 2 * (last_low ? low_total : high_total) + 1;  // never 0
    const unsigned long long other = atomicExch(words + 2, mine);
    if (other == 0) return;  // the other total is still to come
    (last_low ? high_total : low_total) =
        static_cast<unsigned long long>(static_cast<long long>(other) >> 1);
    words[2] = 0;
  }
  *out = static_cast<long long>(low_total + (high_total << 32));
}
// end two-words

// begin word-of-32
/// Hands in a 32-bit sum, which may wrap: one word holds the whole of it and the count.
__device__ inline void hand_in(unsigned sum, unsigned long long* words, unsigned* out) {
  const unsigned long long mine = (static_cast<unsigned long long>(sum) << 32) + 1;
  const unsigned long long all = atomicAdd(words, mine) + mine;
  if (static_cast<unsigned>(all) == gridDim.x) {
    *out = static_cast<unsigned>(all >> 32);
    words[0] = 0;
  }
}
// end word-of-32

// begin handed-in
/// chapter07's wide, to the end in one launch: each block hands in what it left as a partial sum.
///
/// \param in     n elements in device memory, at any address; left as they are
/// \param words  one that is 0, and is 0 again when the kernel ends
/// \param out    the sum
/// \pre as wide; and each block's sum fits an int, for blocks add in int
template <unsigned Loads>
__global__ void handed_in(const int* in, unsigned long long* words, unsigned* out, std::size_t n) {
  __shared__ int slot[32];
  const int sum = chapter05::add_by_warps(chapter07::load_wide_and_add<Loads>(in, n), slot);
  if (threadIdx.x == 0) hand_in(static_cast<unsigned>(sum), words, out);
}
// end handed-in

// begin tile-share
/// 16-byte loads that a thread has in flight at once.
constexpr unsigned kLoads = 4;

/// How n elements at any address fall into vectors of 16 bytes: up to three come before the first
/// vector, and up to three behind the last.
template <class Index>
struct Vectors {
  const int* in;
  Index n, head, count;  ///< elements, those before the vectors, vectors

  __device__ Vectors(const int* elements, Index size) : in(elements), n(size) {
    const Index to_aligned = -(reinterpret_cast<std::uintptr_t>(in) / sizeof(int)) % 4;
    head = n < to_aligned ? n : to_aligned;
    count = (n - head) / 4;
  }
  __device__ const int4* begin() const { return reinterpret_cast<const int4*>(in + head); }
  /// The element outside the vectors that a thread takes. The first few take one, the others a 0.
  __device__ int single(Index thread) const {
    return thread < n - 4 * count ? in[thread < head ? thread : thread + 4 * count] : 0;
  }
};

/// Adds up what a thread has loaded, in Sum.
template <class Sum>
__device__ Sum add(const int4 (&v)[kLoads]) {
  Sum sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kLoads; ++k) {
    sum += v[k].x;
    sum += v[k].y;
    sum += v[k].z;
    sum += v[k].w;
  }
  return sum;
}

/// This thread's share of a tile of at most kLoads * blockDim.x words, with a guard for each load.
template <class Sum>
__device__ Sum tile_share(const int4* tile, unsigned words) {
  int4 v[kLoads];
#pragma unroll
  for (unsigned k = 0; k < kLoads; ++k) {
    const unsigned at = threadIdx.x + k * blockDim.x;
    v[k] = at < words ? tile[at] : int4{};
  }
  return add<Sum>(v);
}
// end tile-share

// begin vector-share
/// This thread's share of the input. A block takes a whole tile, and with more tiles than blocks,
/// every gridDim.x-th. The last tile need not be whole.
template <class Sum>
__device__ Sum vector_share(const int* in, std::size_t n) {
  const Vectors<std::size_t> vectors(in, n);
  const int one = vectors.single(std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  const std::size_t tile = kLoads * blockDim.x;

  Sum sum = 0;
  std::size_t first = blockIdx.x * tile;
  for (; first + tile <= vectors.count; first += gridDim.x * tile) {
    int4 v[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      v[k] = vectors.begin()[first + threadIdx.x + k * blockDim.x];
    }
    sum += add<Sum>(v);
  }
  if (first < vectors.count) {
    sum += tile_share<Sum>(vectors.begin() + first, static_cast<unsigned>(vectors.count - first));
  }
  return sum + one;
}
// end vector-share

// begin warp-slots
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
/// The sum of `value` over a warp, in all its lanes: one instruction adds 32 bits ...
__device__ inline unsigned warp_sum(unsigned value) {
  return __reduce_add_sync(0xffffffff, value);
}

/// ... and three add 64, in pieces of 27, 27 and 10 bits: the sum of 32 of them fits 32 bits.
__device__ inline long long warp_sum(long long value) {
  constexpr unsigned kPiece = (1u << 27) - 1;
  const auto bits = static_cast<unsigned long long>(value);
  const unsigned long long low = warp_sum(static_cast<unsigned>(bits) & kPiece);
  const unsigned long long middle = warp_sum(static_cast<unsigned>(bits >> 27) & kPiece);
  const unsigned long long high = warp_sum(static_cast<unsigned>(bits >> 54));
  return static_cast<long long>(low + (middle << 27) + (high << 54));
}
#else
/// The sum of `value` over a warp, in all its lanes.
template <class T>
__device__ T warp_sum(T value) {
#pragma unroll
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  return value;
}
#endif

/// The sum of all threads' values, in the first warp: one barrier, and one slot per warp.
/// All threads call it, a whole number of warps.
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

// begin whole-sum
/// The sum of n elements, added in Sum, in one launch: wide loads, one barrier and no fence.
///
/// \param in     n elements in device memory, at any address; left as they are
/// \param words  three to hand sums in by; they are 0, and are 0 again when the kernel ends
/// \param out    the sum
/// \tparam Sum   long long; or unsigned, for the sum modulo 2^32
/// \pre blockDim.x is a multiple of 32, gridDim.x <= 65535
template <class Sum>
__global__ void whole(const int* in, unsigned long long* words, Sum* out, std::size_t n) {
  // No more than a tile: 32-bit indices, no loop, and no other block to wait for.
  if (gridDim.x == 1 && n <= 4 * kLoads * blockDim.x) {
    const Vectors<unsigned> tile(in, static_cast<unsigned>(n));
    const int one = tile.single(threadIdx.x);
    const Sum sum = sum_by_warps(tile_share<Sum>(tile.begin(), tile.count) + one);
    if (threadIdx.x == 0) *out = sum;
    return;
  }
  const Sum sum = sum_by_warps(vector_share<Sum>(in, n));
  if (threadIdx.x == 0) hand_in(sum, words, out);
}
// end whole-sum

}  // namespace chapter08
