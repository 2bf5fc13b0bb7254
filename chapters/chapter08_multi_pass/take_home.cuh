/// \file
/// The sum of an array in device memory, in one launch. Copy this file into your own project: it
/// needs the CUDA runtime and C++17, and nothing else of this book.
///
///     std::size_t bytes = 0;
///     take_home::workspace_bytes(&bytes);                // once; the same for every n and type
///     cudaMalloc(&workspace, bytes);                     // once per stream
///     take_home::clear_workspace(workspace, bytes, stream);  // once; each sum leaves it clear
///     take_home::sum(in, n, out, workspace, bytes, stream);  // as often as you like
///
/// Every function returns the first error that it meets.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace take_home {

// begin take-home-types
/// The type to add up elements of type In in, unless you know better. Integers get 64 bits: a sum
/// that outgrows 32 wraps without a word, and on large arrays the wider addition hides behind the
/// memory. A float sum doesn't wrap. It rounds, and in the end it becomes infinite, so floats stay
/// what they are.
template <class In>
using sum_t =
    std::conditional_t<std::is_floating_point_v<In>, In,
                       std::conditional_t<std::is_signed_v<In>, long long, unsigned long long>>;

/// What the kernel keeps its sums in. Integers lose their sign until the end: unsigned addition
/// gives the same bits, and where it overflows C++ says what happens.
template <class Sum>
using Register = std::conditional_t<
    std::is_floating_point_v<Sum>, Sum,
    std::conditional_t<sizeof(Sum) == sizeof(unsigned), unsigned, unsigned long long>>;

/// As much as one load instruction can bring a thread.
template <class In>
struct alignas(16) Vector {
  static constexpr unsigned kSize = 16 / sizeof(In);
  In element[kSize];
};

constexpr unsigned kThreads = 256;       // per block
constexpr unsigned kLoads = 4;           // vectors that a thread has in flight
constexpr unsigned kMostBlocks = 65535;  // more would outgrow the counts in `hand_in`
constexpr unsigned kWords = 3;           // of the workspace, which blocks meet at
// end take-home-types

// begin take-home-aligned
/// How n elements fall into vectors. A load of 16 bytes must begin at a multiple of 16, and `in`
/// need not: the few elements before the first multiple, and those behind the last whole vector,
/// are single ones.
template <class In, class Index>
struct Split {
  static constexpr unsigned kSize = Vector<In>::kSize;
  const In* in;
  Index n, head, vectors;  ///< elements, single ones in front, vectors

  __device__ Split(const In* elements, Index size) : in(elements), n(size) {
    const auto place = reinterpret_cast<std::uintptr_t>(in) / sizeof(In);
    const Index to_aligned = static_cast<Index>((kSize - place % kSize) % kSize);
    head = n < to_aligned ? n : to_aligned;
    vectors = (n - head) / kSize;
  }
  __device__ const Vector<In>* begin() const {
    return reinterpret_cast<const Vector<In>*>(in + head);
  }
  /// The single element that this thread takes: there are at most 6, one each for the first few
  /// threads of the grid. The others add 0.
  __device__ In single(Index thread) const {
    const Index singles = n - kSize * vectors;
    return thread < singles ? in[thread < head ? thread : thread + kSize * vectors] : In{0};
  }
};
// end take-home-aligned

// begin take-home-share
/// Adds up what a thread has loaded, starting from 0. That makes a float sum of short pieces, and
/// each element goes through fewer roundings than in one long sum.
template <class T, class In>
__device__ T add(const Vector<In> (&v)[kLoads]) {
  T sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kLoads; ++k) {
#pragma unroll
    for (unsigned e = 0; e < Vector<In>::kSize; ++e) sum += static_cast<T>(v[k].element[e]);
  }
  return sum;
}

/// This thread's share of a tile that need not be full. Each load has its own guard, so that all
/// four are still in flight together.
template <class T, class In>
__device__ T guarded_tile(const Vector<In>* tile, unsigned vectors) {
  Vector<In> v[kLoads];
#pragma unroll
  for (unsigned k = 0; k < kLoads; ++k) {
    const unsigned at = threadIdx.x + k * kThreads;
    v[k] = at < vectors ? tile[at] : Vector<In>{};
  }
  return add<T>(v);
}

/// This thread's share of the array. Blocks take tiles of kLoads * kThreads vectors in turn.
template <class T, class In>
__device__ T share(const In* in, std::size_t n) {
  const Split<In, std::size_t> all(in, n);
  const In one = all.single(std::size_t{blockIdx.x} * kThreads + threadIdx.x);
  constexpr std::size_t kTile = kLoads * kThreads;

  T sum = 0;
  std::size_t first = blockIdx.x * kTile;
  for (; first + kTile <= all.vectors; first += gridDim.x * kTile) {
    Vector<In> v[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      // neighbours load neighbours: a warp's load is 512 bytes in one piece
      v[k] = all.begin()[first + threadIdx.x + k * kThreads];
    }
    sum += add<T>(v);
  }
  if (first < all.vectors) {
    sum += guarded_tile<T>(all.begin() + first, static_cast<unsigned>(all.vectors - first));
  }
  return sum + static_cast<T>(one);
}
// end take-home-share

// begin take-home-block
/// The sum of `value` over a warp, in all of its lanes.
template <class T>
__device__ T warp_sum(T value) {
#pragma unroll
  for (unsigned lanes = 16; lanes > 0; lanes /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, lanes);
  }
  return value;
}

/// From compute capability 8.0 on, one instruction adds 32 bits over a warp ...
__device__ inline unsigned warp_sum(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffff, value);
#else
  return warp_sum<>(value);  // by shuffles, as above
#endif
}

/// ... and three add 64, in pieces of 27, 27 and 10 bits: 32 of each still fit in 32 bits.
__device__ inline unsigned long long warp_sum(unsigned long long value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  constexpr unsigned kPiece = (1u << 27) - 1;
  const unsigned long long low = warp_sum(static_cast<unsigned>(value) & kPiece);
  const unsigned long long middle = warp_sum(static_cast<unsigned>(value >> 27) & kPiece);
  const unsigned long long high = warp_sum(static_cast<unsigned>(value >> 54));
  return low + (middle << 27) + (high << 54);
#else
  return warp_sum<>(value);
#endif
}

/// The sum of every thread's value, in the first warp. Warps leave one value each, so one barrier
/// is enough. Before the second call in a kernel there has to be another.
///
/// \pre all threads of a block of kThreads call it, and the block has one dimension
template <class T>
__device__ T block_sum(T value) {
  __shared__ T slot[kThreads / 32];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) slot[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  return warp_sum(threadIdx.x < kThreads / 32 ? slot[threadIdx.x] : T{0});
}
// end take-home-block

// begin take-home-words
/// Hands in a block's sum of 32 bits, called by one thread of each block. In the last one to do so
/// it returns true, and `sum` is the total.
///
/// Sum and count share one 64-bit word: the block that completes the count gets the total in the
/// same value. There is nothing to order, so this needs no fence.
///
/// \param words  the workspace, cleared once; clear again when the last block has handed in
/// \pre a grid of one dimension, in which each block hands in once
__device__ inline bool hand_in(unsigned& sum, unsigned long long* words) {
  const unsigned long long mine = (static_cast<unsigned long long>(sum) << 32) + 1;
  const unsigned long long all = atomicAdd(words, mine) + mine;
  if (static_cast<unsigned>(all) != gridDim.x) return false;
  sum = static_cast<unsigned>(all >> 32);
  words[0] = 0;  // for the next launch
  return true;
}

/// The same for 64 bits, in two halves: each goes into the upper 48 bits of a word of its own, and
/// the lower 16 count. The block that is last at one word need not be last at the other. Then the
/// first of the two leaves its total in a third word, and the second picks it up.
///
/// \pre as above, and gridDim.x <= kMostBlocks. Past that the count overflows, and no block returns
///      true
__device__ inline bool hand_in(unsigned long long& sum, unsigned long long* words) {
  const unsigned long long low = ((sum & 0xffffffff) << 16) + 1;
  const unsigned long long high = ((sum >> 32) << 16) + 1;
  const unsigned long long lows = atomicAdd(words, low) + low;  // both are in flight together
  const unsigned long long highs = atomicAdd(words + 1, high) + high;
  const bool last_low = lows % 65536 == gridDim.x;
  const bool last_high = highs % 65536 == gridDim.x;
  if (!last_low && !last_high) return false;

  unsigned long long low_total = lows >> 16;
  unsigned long long high_total = highs >> 16;
  if (last_low) words[0] = 0;
  if (last_high) words[1] = 0;
  if (last_low != last_high) {
    const unsigned long long mine = 2 * (last_low ? low_total : high_total) + 1;  // never 0
    const unsigned long long other = atomicExch(words + 2, mine);
    if (other == 0) return false;  // the other total is still to come
    (last_low ? high_total : low_total) = other >> 1;
    words[2] = 0;
  }
  sum = low_total + (high_total << 32);
  return true;
}
// end take-home-words

// begin take-home-last-block
/// The same for floating point, called by all threads: true in the last block's thread 0.
///
/// Float sums don't fit beside a count, and atomics would add them in another order each time. So
/// every block leaves its sum in memory, and the last one adds them up, in the order of the blocks:
/// the same array at the same address gives the same bits each time.
///
/// \param sum    in thread 0 the block's sum, and afterwards, where this returns true, the total
/// \param words  the workspace, cleared once; behind its first kWords it has room for a partial sum
///               for each of resident_blocks() blocks, and for no more
/// \pre kThreads threads per block; a grid of one dimension and of at most resident_blocks() blocks
template <class T>
__device__ bool add_up_partials(T& sum, unsigned long long* words) {
  __shared__ bool last;
  auto* ticket = reinterpret_cast<unsigned*>(words);
  auto* partial = reinterpret_cast<T*>(words + kWords);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();  // release: a block that sees this ticket taken sees this sum
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;  // goes back to 0 by itself
    __threadfence();  // acquire: what is read below is no older than the tickets seen above
  }
  __syncthreads();  // tells the whole block what thread 0 found out
  if (!last) return false;

  T rest = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kThreads) rest += partial[b];
  sum = block_sum(rest);
  return threadIdx.x == 0;
}
// end take-home-last-block

// begin take-home-kernel
/// The sum of n elements. `sum` below launches it.
///
/// \param in     n elements in device memory, at any address that suits one element
/// \param words  the workspace: kWords that are 0, and are 0 again when the kernel ends; then room
///               for a partial sum per block
template <class In, class Sum>
__global__ void __launch_bounds__(kThreads)
    sum_kernel(const In* in, std::size_t n, unsigned long long* words, Sum* out) {
  using T = Register<Sum>;
  // One block, one tile: 32-bit indices, no loop, and no other block to meet.
  if (gridDim.x == 1 && n <= kLoads * kThreads * Vector<In>::kSize) {
    const Split<In, unsigned> tile(in, static_cast<unsigned>(n));
    const In one = tile.single(threadIdx.x);
    const T sum = guarded_tile<T>(tile.begin(), tile.vectors) + static_cast<T>(one);
    const T total = block_sum(sum);
    if (threadIdx.x == 0) *out = static_cast<Sum>(total);
    return;
  }
  T sum = block_sum(share<T>(in, n));
  if constexpr (std::is_floating_point_v<T>) {
    if (add_up_partials(sum, words)) *out = sum;
  } else {
    if (threadIdx.x == 0 && hand_in(sum, words)) *out = static_cast<Sum>(sum);
  }
}
// end take-home-kernel

// begin take-home-grid
/// As many blocks as the current device has room for. More would only wait for the first to end.
inline cudaError_t resident_blocks(unsigned* blocks) {
  int device = 0;
  int sm_count = 0;
  int threads = 0;  // per SM
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  if (error != cudaSuccess) return error;
  const unsigned all =
      static_cast<unsigned>(sm_count) * (static_cast<unsigned>(threads) / kThreads);
  *blocks = all < kMostBlocks ? all : kMostBlocks;
  return cudaSuccess;
}

/// A tile per block, and no more blocks than are resident: from there on they take turns.
template <class In>
cudaError_t grid_for(std::size_t n, unsigned* blocks) {
  constexpr std::size_t kTile = std::size_t{kLoads} * kThreads * Vector<In>::kSize;
  const cudaError_t error = resident_blocks(blocks);
  if (error != cudaSuccess) return error;
  const std::size_t tiles = n / kTile + (n % kTile != 0 ? 1 : 0);
  if (tiles < *blocks) *blocks = tiles > 0 ? static_cast<unsigned>(tiles) : 1;  // n = 0 writes a 0
  return cudaSuccess;
}
// end take-home-grid

// begin take-home-workspace
/// Bytes of device memory that a sum needs on the current device, whatever its n and its types.
inline cudaError_t workspace_bytes(std::size_t* bytes) {
  unsigned blocks = 0;
  const cudaError_t error = resident_blocks(&blocks);
  if (error == cudaSuccess) *bytes = (kWords + std::size_t{blocks}) * sizeof(unsigned long long);
  return error;
}

/// Makes a new workspace ready, in the order of the stream. Every sum leaves it ready for the next,
/// so call this once, and again only after a launch that failed half-way.
inline cudaError_t clear_workspace(void* workspace, std::size_t bytes,
                                   cudaStream_t stream = nullptr) {
  return cudaMemsetAsync(workspace, 0, bytes, stream);
}
// end take-home-workspace

// begin take-home-sum
/// Queues the sum of n elements on a stream and returns at once. One launch; it allocates nothing,
/// copies nothing and waits for nothing.
///
/// \param in         n elements in device memory, aligned for one element; any n from 0 on
/// \param out        one value in device memory. Its type is the type that is added in
///                   (`sum_t<In>` if you have no other wish)
/// \param workspace  device memory from clear_workspace, at a multiple of 8. Sums that may run at
///                   the same time, in different streams, need one each
/// \param bytes      its size, at least workspace_bytes
/// \return what is wrong with the arguments (cudaErrorInvalidValue) or with the launch
template <class In, class Sum>
cudaError_t sum(const In* in, std::size_t n, Sum* out, void* workspace, std::size_t bytes,
                cudaStream_t stream = nullptr) {
  static_assert(std::is_arithmetic_v<In> && (sizeof(In) == 4 || sizeof(In) == 8),
                "elements are numbers of 4 or 8 bytes");
  static_assert(std::is_arithmetic_v<Sum> && (sizeof(Sum) == 4 || sizeof(Sum) == 8),
                "a sum is a number of 4 or 8 bytes");
  static_assert(std::is_floating_point_v<Sum> || !std::is_floating_point_v<In>,
                "a sum of floats is a float or a double");
  const auto aligned = [](const void* address, std::size_t to) {
    return address != nullptr && reinterpret_cast<std::uintptr_t>(address) % to == 0;
  };
  std::size_t needed = 0;
  cudaError_t error = workspace_bytes(&needed);
  if (error != cudaSuccess) return error;
  const bool fits = bytes >= needed && aligned(workspace, sizeof(unsigned long long));
  if (!fits || !aligned(out, alignof(Sum)) || (n > 0 && !aligned(in, alignof(In)))) {
    return cudaErrorInvalidValue;
  }
  unsigned blocks = 0;
  error = grid_for<In>(n, &blocks);
  if (error != cudaSuccess) return error;

  // Not <<<...>>> and cudaGetLastError: that would hand you, and clear, an error that some earlier
  // call has left behind. (Like most calls, this one may still report that an earlier kernel failed
  // while it ran.)
  auto* words = static_cast<unsigned long long*>(workspace);
  void* arguments[] = {&in, &n, &words, &out};
  return cudaLaunchKernel(reinterpret_cast<const void*>(&sum_kernel<In, Sum>), dim3(blocks),
                          dim3(kThreads), arguments, 0, stream);
}
// end take-home-sum

}  // namespace take_home
