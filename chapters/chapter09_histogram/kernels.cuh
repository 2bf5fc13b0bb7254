#pragma once
#include <cstddef>
#include <cstdint>

namespace chapter09 {

/// A byte has 256 values, and each value has a bin.
inline constexpr unsigned kBins = 256;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
/// For cards before Volta, which lack it: the lanes of \p mask that have this lane's value.
inline __device__ unsigned __match_any_sync(unsigned mask, unsigned value) {
  unsigned alike = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned bit = 1u << lane;
    if ((mask & bit) && __shfl_sync(mask, value, static_cast<int>(lane)) == value) alike |= bit;
  }
  return alike;
}
#endif

// begin bins-in-global
/// Counts how often each value occurs, with one atomic in global memory per byte.
///
/// \param in    n bytes in device memory
/// \param bins  kBins counts in device memory, which the launch has set to zero
/// \param n     number of bytes, less than 2^32
__global__ void count_global(const unsigned char* in, unsigned* bins, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    atomicAdd(&bins[in[i]], 1u);
  }
}
// end bins-in-global

// begin bins-merged
/// count_global, with one atomic for all lanes that hold the same value.
__global__ void count_merged(const unsigned char* in, unsigned* bins, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    const unsigned value = in[i];
    // Any lanes that happen to be here together will do: a count has no favourite order.
    const unsigned alike = __match_any_sync(__activemask(), value);
    const unsigned lane = threadIdx.x % 32;
    if (lane + 1 == static_cast<unsigned>(__ffs(static_cast<int>(alike)))) {  // the first of them
      atomicAdd(&bins[value], static_cast<unsigned>(__popc(alike)));
    }
  }
}
// end bins-merged

// begin bins-in-shared
/// One histogram per block in shared memory, added to the one in global memory at the end.
__global__ void count_shared(const unsigned char* in, unsigned* bins, std::size_t n) {
  __shared__ unsigned mine[kBins];
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();

  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    atomicAdd(&mine[in[i]], 1u);
  }
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    atomicAdd(&bins[bin], mine[bin]);
  }
}
// end bins-in-shared

// begin sixteen-bytes
/// Hands 16 bytes to `count`, one after the other.
template <class Count>
__device__ void each_of(const uint4& bytes, Count count) {
  for (const unsigned word : {bytes.x, bytes.y, bytes.z, bytes.w}) {
    count(word & 0xff);
    count(word >> 8 & 0xff);
    count(word >> 16 & 0xff);
    count(word >> 24);
  }
}

/// Hands the n bytes to `count`, each in one thread of the grid, loading 16 at a time.
///
/// A load of 16 bytes must begin at a multiple of 16. `in` need not: the bytes before the first
/// multiple and after the last are loaded one by one.
/// \tparam Loads  how many loads a thread has in flight before it counts
template <unsigned Loads, class Count>
__device__ void each_byte(const unsigned char* in, std::size_t n, Count count) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t to_multiple = -reinterpret_cast<std::uintptr_t>(in) % 16;
  const std::size_t head = to_multiple < n ? to_multiple : n;
  const std::size_t end = (n - head) / 16;
  const auto* wide = reinterpret_cast<const uint4*>(in + head);

  std::size_t i = thread;
  for (; i + (Loads - 1) * threads < end; i += Loads * threads) {
    uint4 bytes[Loads];
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) bytes[k] = wide[i + k * threads];
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) each_of(bytes[k], count);
  }
  for (; i < end; i += threads) each_of(wide[i], count);

  for (i = thread; i < head; i += threads) count(in[i]);
  for (i = head + 16 * end + thread; i < n; i += threads) count(in[i]);
}
// end sixteen-bytes

// begin bins-wide
/// count_shared, loading 16 bytes at a time.
__global__ void count_wide(const unsigned char* in, unsigned* bins, std::size_t n) {
  __shared__ unsigned mine[kBins];
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();

  each_byte<1>(in, n, [](unsigned value) { atomicAdd(&mine[value], 1u); });
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    atomicAdd(&bins[bin], mine[bin]);
  }
}
// end bins-wide

// begin bins-per-warp
/// count_wide with a copy of the bins for each warp, one after the other.
///
/// \pre launched with kBins * sizeof(unsigned) bytes of dynamic shared memory per warp
__global__ void count_per_warp(const unsigned char* in, unsigned* bins, std::size_t n) {
  extern __shared__ unsigned copies[];
  const unsigned warps = (blockDim.x + 31) / 32;
  for (unsigned i = threadIdx.x; i < warps * kBins; i += blockDim.x) copies[i] = 0;
  __syncthreads();

  unsigned* mine = copies + threadIdx.x / 32 * kBins;
  each_byte<1>(in, n, [mine](unsigned value) { atomicAdd(&mine[value], 1u); });
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    unsigned sum = 0;
    for (unsigned warp = 0; warp < warps; ++warp) sum += copies[warp * kBins + bin];
    atomicAdd(&bins[bin], sum);
  }
}
// end bins-per-warp

// begin bins-per-lane
/// count_wide with a copy of the bins for each lane, side by side: the copies of one bin lie in the
/// 32 banks, so that no two lanes of a warp ever meet in one.
///
/// \pre launched with 32 * kBins * sizeof(unsigned) bytes of dynamic shared memory
template <unsigned Loads>
__global__ void count_per_lane(const unsigned char* in, unsigned* bins, std::size_t n) {
  extern __shared__ unsigned copies[];
  for (unsigned i = threadIdx.x; i < 32 * kBins; i += blockDim.x) copies[i] = 0;
  __syncthreads();

  unsigned* mine = copies + threadIdx.x % 32;
  each_byte<Loads>(in, n, [mine](unsigned value) { atomicAdd(&mine[32 * value], 1u); });
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    unsigned sum = 0;
    for (unsigned k = 0; k < 32; ++k) sum += copies[32 * bin + (k + threadIdx.x) % 32];
    atomicAdd(&bins[bin], sum);
  }
}
// end bins-per-lane

// begin read-bytes
/// Adds the bytes up and counts nothing: the time it takes to read them.
///
/// \param sums  one value per thread of the grid
template <unsigned Loads>
__global__ void add_bytes(const unsigned char* in, unsigned* sums, std::size_t n) {
  unsigned sum = 0;
  each_byte<Loads>(in, n, [&sum](unsigned value) { sum += value; });
  sums[std::size_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}
// end read-bytes

// begin atomics-meet
/// n additions of 1 in shared memory, n / threads by each thread, always to the same word: in every
/// warp, lane k's is word k * stride.
///
/// \param sums  the 32 * 32 words of each block
/// \param one   1, which the compiler can't know; where it is Known, a literal 1 is added
/// \pre stride <= 32
template <bool Known>
__global__ void meet(unsigned* sums, std::size_t n, unsigned stride, unsigned one) {
  __shared__ unsigned words[32 * 32];
  for (unsigned i = threadIdx.x; i < 32 * 32; i += blockDim.x) words[i] = 0;
  __syncthreads();

  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const auto turns = static_cast<unsigned>(n / threads + (thread < n % threads ? 1 : 0));
  unsigned* word = &words[threadIdx.x % 32 * stride];
#pragma unroll 16
  for (unsigned turn = 0; turn < turns; ++turn) atomicAdd(word, Known ? 1u : one);
  __syncthreads();

  for (unsigned i = threadIdx.x; i < 32 * 32; i += blockDim.x) {
    sums[std::size_t{blockIdx.x} * 32 * 32 + i] = words[i];
  }
}
// end atomics-meet

}  // namespace chapter09
