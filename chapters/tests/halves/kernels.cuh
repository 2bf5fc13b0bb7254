#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../chapter11_floats/kernels.cuh"

namespace chapter11 {

// begin every-half
template <class T>
using Pair = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;

__device__ inline float2 floats_of(__half2 pair) {
  return __half22float2(pair);
}
__device__ inline float2 floats_of(__nv_bfloat162 pair) {
  return __bfloat1622float2(pair);
}
__device__ inline float float_of_half(__half x) {
  return __half2float(x);
}
__device__ inline float float_of_half(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

/// Eight elements of 16 bits, as one load brings them.
template <class T>
struct Eight {
  Pair<T> pair[4];
};

/// Calls add(eight) for eight elements at a time, with the block's threads side by side and Loads
/// loads in flight, and add(one) for those before the first eight and behind the last. All threads
/// of a block make the same calls of the first kind: eight zeros where the data have ended.
///
/// \param in  n elements in device memory, at any address
template <unsigned Loads, class T, class AddEight, class AddOne>
__device__ void every_half(const T* in, std::size_t n, const AddEight& add_eight,
                           const AddOne& add_one) {
  const std::size_t to_aligned = -(reinterpret_cast<std::uintptr_t>(in) / sizeof(T)) % 8;
  const std::size_t head = n < to_aligned ? n : to_aligned;
  const uint4* eights = reinterpret_cast<const uint4*>(in + head);
  const std::size_t count = (n - head) / 8;
  const std::size_t step = std::size_t{gridDim.x} * (Loads * blockDim.x);

  for (std::size_t first = std::size_t{blockIdx.x} * (Loads * blockDim.x); first < count;
       first += step) {
    uint4 v[Loads];
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) {
      const std::size_t i = first + k * blockDim.x + threadIdx.x;
      v[k] = i < count ? eights[i] : uint4{};
    }
#pragma unroll
    for (const uint4& each : v) {
      Eight<T> eight;
      memcpy(&eight, &each, sizeof eight);
      add_eight(eight);
    }
  }

  if (blockIdx.x == 0) {  // and up to 14 elements one by one
    for (std::size_t i = threadIdx.x; i < n - 8 * count; i += blockDim.x) {
      add_one(float_of_half(in[i < head ? i : i + 8 * count]));
    }
  }
}
// end every-half

// begin half-plain
/// Each element becomes a float, and is added as one.
template <class T>
struct InFloats {
  float sum = 0;
  __device__ void add(const Eight<T>& eight) {
#pragma unroll
    for (const Pair<T>& pair : eight.pair) {
      const float2 both = floats_of(pair);
      sum += both.x;
      sum += both.y;
    }
  }
  __device__ float total() const {
    return sum;
  }
};
// end half-plain

// begin half-packed
/// Two sums in a register, each with as few bits as an element: one instruction adds two.
template <class T>
struct InPairs {
  Pair<T> sums{};
  __device__ void add(const Eight<T>& eight) {
#pragma unroll
    for (const Pair<T>& pair : eight.pair) sums = __hadd2(sums, pair);
  }
  __device__ float total() const {
    return floats_of(sums).x + floats_of(sums).y;
  }
};
// end half-packed

// begin half-groups
/// Eight elements at a time by packed additions, and their sum as a float: two roundings to 16 bits
/// on an element's way, however many there are.
template <class T>
struct InGroups {
  float sum = 0;
  __device__ void add(const Eight<T>& eight) {
    const Pair<T> low = __hadd2(eight.pair[0], eight.pair[1]);
    const Pair<T> high = __hadd2(eight.pair[2], eight.pair[3]);
    const float2 both = floats_of(__hadd2(low, high));
    sum += both.x + both.y;
  }
  __device__ float total() const { return sum; }
};
// end half-groups

// begin half-matrix
/// Adds the product of a matrix a and one of ones to d: each row of d then has grown by the sum of
/// a's row. A lane has eight elements of a, wherever they lie in it, and two rows' sums.
__device__ inline void add_product_with_ones(float (&d)[4], const Eight<__half>& a) {
  unsigned word[4];
  memcpy(word, &a, sizeof word);
  constexpr unsigned kOnes = 0x3c003c00;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %8}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(kOnes));
}
__device__ inline void add_product_with_ones(float (&d)[4], const Eight<__nv_bfloat16>& a) {
  unsigned word[4];
  memcpy(word, &a, sizeof word);
  constexpr unsigned kOnes = 0x3f803f80;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %8}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(kOnes));
}

/// The tensor core adds: 256 elements of a warp per instruction, in floats.
///
/// \pre all lanes of a warp call
template <class T>
struct ByMatrix {
  float rows[4] = {};
  __device__ void add(const Eight<T>& eight) { add_product_with_ones(rows, eight); }
  /// All columns are alike: the lanes that hold column 0 speak for the others.
  __device__ float total() const { return threadIdx.x % 4 == 0 ? rows[0] + rows[2] : 0; }
};
// end half-matrix

// begin half-sum
/// The sum of n elements of 16 bits, as Way adds what a thread reads, and as floats from there.
///
/// \param in       n elements in device memory, at any address
/// \param out      their sum
/// \param partial  gridDim.x floats, one per block
/// \param ticket   a word that is 0 before the launch and after it
/// \pre blockDim.x is a multiple of 32
template <template <class> class Way, unsigned Loads, class T>
__global__ void sum_of_halves(const T* in, float* out, Plain* partial, unsigned* ticket,
                              std::size_t n) {
  __shared__ Plain slot[32];
  __shared__ bool last;
  const unsigned t = threadIdx.x;

  Way<T> way;
  Plain mine{};
  every_half<Loads>(
      in, n, [&](const Eight<T>& eight) { way.add(eight); }, [&](float x) { mine.add(x); });
  mine.add(way.total());
  mine = merge_block(mine, slot);
  if (t == 0) {
    partial[blockIdx.x] = mine;
    __threadfence();  // the writer's: this partial before this ticket
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;  // and back to 0
    __threadfence();  // the reader's: no partial older than the tickets it has seen
  }
  __syncthreads();
  if (!last) return;

  Plain rest{};
  for (unsigned b = t; b < gridDim.x; b += blockDim.x) rest.merge(partial[b]);
  rest = merge_block(rest, slot);
  if (t == 0) *out = rest.value();
}
// end half-sum

}  // namespace chapter11
