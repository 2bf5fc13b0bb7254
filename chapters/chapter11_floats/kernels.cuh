#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace chapter11 {

// begin every-element
/// Calls add(x) for each element of this thread's share: 16-byte loads, Loads of them in flight,
/// and a grid that strides through the data. All kernels of this chapter read like this. They
/// differ in what `add` does.
///
/// \param in  n floats in device memory, at any address
template <unsigned Loads, class Add>
__device__ void every_element(const float* in, std::size_t n, const Add& add) {
  // A 16-byte load needs an address that is a multiple of 16: up to three elements come before one.
  const std::size_t to_aligned = -(reinterpret_cast<std::uintptr_t>(in) / sizeof(float)) % 4;
  const std::size_t head = n < to_aligned ? n : to_aligned;
  const float4* fours = reinterpret_cast<const float4*>(in + head);
  const std::size_t count = (n - head) / 4;
  const std::size_t step = std::size_t{gridDim.x} * (Loads * blockDim.x);

  for (std::size_t first = std::size_t{blockIdx.x} * (Loads * blockDim.x) + threadIdx.x;
       first < count; first += step) {
    float4 v[Loads];
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) {
      const std::size_t i = first + k * blockDim.x;
      v[k] = i < count ? fours[i] : float4{};  // zeros change no sum
    }
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) {
      add(v[k].x);
      add(v[k].y);
      add(v[k].z);
      add(v[k].w);
    }
  }

  if (blockIdx.x == 0) {  // and up to six elements before the first four and behind the last
    for (std::size_t i = threadIdx.x; i < n - 4 * count; i += blockDim.x) {
      add(in[i < head ? i : i + 4 * count]);
    }
  }
}
// end every-element

// begin plain-float
/// One float. Every addition rounds.
struct Plain {
  float sum;
  __device__ void add(float x) { sum += x; }
  __device__ void merge(const Plain& other) { sum += other.sum; }
  __device__ float value() const { return sum; }
};
// end plain-float

// begin kahan-float
/// Kahan: what the last addition rounded away is taken from the next element first.
struct Kahan {
  float sum, excess;  // the sum is too large by `excess`
  __device__ void add(float x) {
    const float wanted = x - excess;
    const float next = sum + wanted;
    excess = (next - sum) - wanted;
    sum = next;
  }
  __device__ void merge(const Kahan& other) {
    add(other.sum);
    add(-other.excess);
  }
  __device__ float value() const { return sum; }
};
// end kahan-float

// begin neumaier-float
/// Neumaier: what additions round away is added up beside the sum, and counted in at the end. The
/// larger operand is the one that loses nothing, which Kahan takes to be the sum.
struct Neumaier {
  float sum, lost;
  __device__ void add(float x) {
    const float next = sum + x;
    lost += fabsf(sum) >= fabsf(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  __device__ void merge(const Neumaier& other) {
    add(other.sum);
    lost += other.lost;
  }
  __device__ float value() const { return sum + lost; }
};
// end neumaier-float

// begin in-double
/// A double: 29 bits more.
struct Double {
  double sum;
  __device__ void add(float x) { sum += x; }
  __device__ void merge(const Double& other) { sum += other.sum; }
  __device__ float value() const { return static_cast<float>(sum); }
};
// end in-double

// begin merge-block
/// What the lane `delta` above has, word by word: a shuffle moves 32 bits.
template <class Total>
__device__ Total from_lane_above(const Total& mine, unsigned delta, unsigned mask) {
  unsigned word[sizeof(Total) / sizeof(unsigned)];
  memcpy(word, &mine, sizeof mine);
#pragma unroll
  for (unsigned& each : word) each = __shfl_down_sync(mask, each, delta);
  Total moved;
  memcpy(&moved, word, sizeof moved);
  return moved;
}

/// Merges what a warp's lanes have, in a tree, into its first lane's. The last warp of a block may
/// have fewer than 32.
template <class Total>
__device__ Total merge_warp(Total mine) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned lanes = min(32u, blockDim.x - (threadIdx.x - lane));
  const unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
  for (unsigned delta = 16; delta > 0; delta /= 2) {
    const Total other = from_lane_above(mine, delta, mask);
    if (lane + delta < lanes) mine.merge(other);
  }
  return mine;
}

/// Merges what all threads of a block have into thread 0's. All of them call.
///
/// \param slot  one Total per warp, in shared memory
template <class Total>
__device__ Total merge_block(Total mine, Total* slot) {
  const unsigned t = threadIdx.x;
  mine = merge_warp(mine);
  if (t % 32 == 0) slot[t / 32] = mine;
  __syncthreads();
  if (t < 32) mine = merge_warp(t * 32 < blockDim.x ? slot[t] : Total{});
  return mine;
}
// end merge-block

// begin hand-in
/// What all threads of all blocks have becomes one Total, and *out its value. The last block to
/// finish merges what all have left, in the order of the blocks. So the same block and grid give
/// the same bits; another grid need not.
///
/// \param partial  gridDim.x Totals, one per block
/// \param ticket   a word that is 0 before the launch and after it
/// \param slot     32 Totals in shared memory
template <class Total>
__device__ void hand_in(Total mine, float* out, Total* partial, unsigned* ticket, Total* slot) {
  __shared__ bool last;
  const unsigned t = threadIdx.x;
  mine = merge_block(mine, slot);
  if (t == 0) {
    partial[blockIdx.x] = mine;
    __threadfence();  // the writer's: this partial before this ticket
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;  // and back to 0
    __threadfence();  // the reader's: no partial older than the tickets it has seen
  }
  __syncthreads();
  if (!last) return;

  Total rest{};
  for (unsigned b = t; b < gridDim.x; b += blockDim.x) rest.merge(partial[b]);
  rest = merge_block(rest, slot);
  if (t == 0) *out = rest.value();
}
// end hand-in

// begin float-sum
/// The sum of n floats as Total adds them.
///
/// \param in   n floats in device memory, at any address
/// \param out  their sum; partial and ticket as `hand_in` takes them
template <class Total, unsigned Loads>
__global__ void sum(const float* in, float* out, Total* partial, unsigned* ticket, std::size_t n) {
  __shared__ Total slot[32];
  Total mine{};
  every_element<Loads>(in, n, [&](float x) { mine.add(x); });
  hand_in(mine, out, partial, ticket, slot);
}
// end float-sum

// begin float-atomics
/// The same with one atomic per block: the blocks' sums meet in whatever order blocks end.
///
/// \param out  0 before the launch
template <unsigned Loads>
__global__ void sum_in_any_order(const float* in, float* out, std::size_t n) {
  __shared__ Plain slot[32];
  Plain mine{};
  every_element<Loads>(in, n, [&](float x) { mine.add(x); });
  mine = merge_block(mine, slot);
  if (threadIdx.x == 0) atomicAdd(out, mine.sum);
}
// end float-atomics

// begin exact-state
/// A float is a whole number of up to 24 bits, times a power of two that its exponent says. So all
/// floats are multiples of 2^-149, and a sum of them in whole numbers is exact, whatever the order.
/// It takes 16 bins: a bin for every 16 exponents, in units of 2^(16 k - 150) for bin k.
constexpr unsigned kBins = 16;
/// Digits of a total in units of 2^(16 k - 150): a bin's 64 bits reach into higher digits.
constexpr unsigned kDigits = 20;

/// What the blocks hand their bins in to. All zeros before a launch, and after it.
struct Exact {
  unsigned long long digit[kDigits];
  unsigned special;  ///< 1: an element is +inf, 2: one is -inf, 4: one is NaN
  unsigned ticket;
};
// end exact-state

// begin exact-carry
/// Lane k of a warp holds digit k of a number, of any size and sign. Afterwards each digit is from
/// 0 to 65535, but for lane 31's, which has the sign.
__device__ inline long long carry(long long digit) {
  const unsigned lane = threadIdx.x % 32;
  for (;;) {
    const long long up = lane < 31 ? digit >> 16 : 0;
    if (!__any_sync(0xffffffff, up != 0)) return digit;
    const long long from_below = __shfl_up_sync(0xffffffff, up, 1);
    digit += (lane > 0 ? from_below : 0) - up * 65536;
  }
}
// end exact-carry

// begin exact-round
/// The float nearest to a number in digits, one per lane of a warp; of two that are as near, the
/// even one. This is the only place where anything is rounded.
__device__ inline float rounded(long long digit) {
  digit = carry(digit);
  const bool negative = __shfl_sync(0xffffffff, digit, 31) < 0;
  if (negative) digit = carry(-digit);

  const unsigned some = __ballot_sync(0xffffffff, digit != 0);
  if (some == 0) return 0;
  const int top = 31 - __clz(static_cast<int>(some));
  // Three digits are 33 bits or more, of which a float keeps 24. Of all below it matters only
  // whether there is something: the lowest bit tells it.
  long long leading = 0;
  for (int k = 0; k < 3; ++k) {
    const long long next = __shfl_sync(0xffffffff, digit, top >= k ? top - k : 0);
    leading = leading * 65536 + (top >= k ? next : 0);
  }
  if (top > 2 && (some & ((1u << (top - 2)) - 1)) != 0) leading |= 1;
  const float magnitude = ldexpf(__ll2float_rn(leading), 16 * (top - 2) - 150);
  return negative ? -magnitude : magnitude;
}
// end exact-round

// begin exact-special
/// Which infinities and NaNs went into a sum, as a sum of bits. \param watch  that sum, scaled down
__device__ inline unsigned special_of(float watch) {
  if (isnan(watch)) return 4;
  if (isinf(watch)) return watch > 0 ? 1 : 2;
  return 0;
}
/// The sum of elements of these kinds.
__device__ inline float special_sum(unsigned kinds) {
  if (kinds == 1) return __int_as_float(0x7f800000);
  if (kinds == 2) return __int_as_float(static_cast<int>(0xff800000));
  return __int_as_float(0x7fffffff);  // NaN, or infinities of both signs
}
// end exact-special

// begin exact-sum
/// The exact sum of n floats, rounded once: the same bits for every block, every grid, every order
/// and every card. Each thread has its own bins, which no other touches.
///
/// A sum beyond the largest float is an infinity; with a NaN, or infinities of both signs, among
/// the elements it is NaN; an exact 0 is +0, as is the sum of no elements.
/// \param in     n floats in device memory, at any address
/// \param out    their sum
/// \param state  all zeros, and all zeros again when the kernel ends
/// \tparam Block  threads per block: a power of two from 32 to 1024. An H200's SM has shared memory
///                for the bins of 1536 threads, so the compiler is to leave registers for as many.
/// \pre blockDim.x == Block; kBins * Block * 8 bytes of dynamic shared memory; a thread has at most
///      2^22 elements
template <unsigned Block, unsigned Loads>
__global__ void __launch_bounds__(Block, 1536 / Block)
    exact(const float* in, float* out, Exact* state, std::size_t n) {
  extern __shared__ long long bin[];  // [kBins][Block]: lanes side by side, so no bank conflict
  const unsigned t = threadIdx.x;
  const unsigned lane = t % 32;
  for (unsigned k = 0; k < kBins; ++k) bin[k * Block + t] = 0;

  float watch = 0;  // too small to overflow, and no number once an element is none
  every_element<Loads>(in, n, [&](float x) {
    const unsigned k = (__float_as_uint(x) >> 27) & 15;  // the upper four bits of the exponent
    // x in bin k's units is x * 2^(150 - 16 k): in two steps, as no float is 2^150.
    const float scale = __uint_as_float((127 + 75 - 8 * k) << 23);
    bin[k * Block + t] += __float2ll_rz(x * scale * scale);
    watch += x * 0x1p-40f;
  });
  const unsigned special = special_of(watch);
  __syncthreads();

  // Each warp adds up some of the bins and hands them in, in halves: that leaves room for the sums
  // of all threads of all blocks.
  for (unsigned k = t / 32; k < kBins; k += Block / 32) {
    unsigned long long low = 0;
    long long high = 0;
    for (unsigned i = lane; i < Block; i += 32) {
      low += bin[k * Block + i] & 0xffffffff;
      high += bin[k * Block + i] >> 32;
    }
    for (unsigned delta = 16; delta > 0; delta /= 2) {
      low += __shfl_down_sync(0xffffffff, low, delta);
      high += __shfl_down_sync(0xffffffff, high, delta);
    }
    if (lane == 0 && low != 0) atomicAdd(&state->digit[k], low);
    if (lane == 0 && high != 0) {
      atomicAdd(&state->digit[k + 2], static_cast<unsigned long long>(high));
    }
  }
  if (special != 0) atomicOr(&state->special, special);
  __threadfence();  // the writer's: these digits before this ticket
  __syncthreads();
  if (t >= 32) return;

  unsigned last = 0;
  if (lane == 0) last = atomicInc(&state->ticket, gridDim.x - 1) == gridDim.x - 1;
  if (__shfl_sync(0xffffffff, last, 0) == 0) return;
  __threadfence();  // the reader's: no digit older than the tickets

  const unsigned long long digit = lane < kDigits ? atomicExch(&state->digit[lane], 0ull) : 0;
  const float total = rounded(static_cast<long long>(digit));
  if (lane == 0) {
    const unsigned kinds = atomicExch(&state->special, 0u);
    *out = kinds == 0 ? total : special_sum(kinds);
  }
}
// end exact-sum

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
  unsigned ones = 0x3c003c00;  // two of 1.0
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %8}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(ones));
}
__device__ inline void add_product_with_ones(float (&d)[4], const Eight<__nv_bfloat16>& a) {
  unsigned word[4];
  memcpy(word, &a, sizeof word);
  unsigned ones = 0x3f803f80;  // two of 1.0
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %8}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(ones));
}

/// The tensor core adds: 256 elements of a warp per instruction, in floats. Before compute
/// capability 8.0 it takes no such matrix, and floats are added one by one.
///
/// \pre all lanes of a warp call
template <class T>
struct ByMatrix {
  float rows[4] = {};
  __device__ void add(const Eight<T>& eight) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    add_product_with_ones(rows, eight);
#else
    for (const Pair<T>& pair : eight.pair) rows[0] += floats_of(pair).x + floats_of(pair).y;
#endif
  }
  __device__ float total() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    // All columns are alike: the lanes that hold column 0 speak for the others.
    return threadIdx.x % 4 == 0 ? rows[0] + rows[2] : 0;
#else
    return rows[0];
#endif
  }
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
  Way<T> way;
  Plain mine{};
  every_half<Loads>(
      in, n, [&](const Eight<T>& eight) { way.add(eight); }, [&](float x) { mine.add(x); });
  mine.add(way.total());
  hand_in(mine, out, partial, ticket, slot);
}
// end half-sum

}  // namespace chapter11
