#pragma once
#include <cstddef>

#include "../chapter08_multi_pass/kernels.cuh"
#include "../chapter11_floats/kernels.cuh"

namespace chapter14 {

/// What GPUs hand over: a 64-bit sum, as its bits. In two's complement they add up alike.
using Word = unsigned long long;

// begin system-scope
/// Stores a word in any GPU's memory. A thread that acquires it, on any GPU, sees everything that
/// this thread wrote or saw before.
__device__ inline void store_release(unsigned* word, unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
  __threadfence_system();
  *static_cast<volatile unsigned*>(word) = value;
#else
  asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
#endif
}
/// Loads a word that another GPU may store.
__device__ inline unsigned load_acquire(const unsigned* word) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
  const unsigned value = *static_cast<const volatile unsigned*>(word);
  __threadfence_system();
#else
  unsigned value;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
#endif
  return value;
}
/// Stores a word that atomics of other GPUs have touched, where nothing else is to be handed on.
__device__ inline void store_relaxed(Word* word, Word value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
  *static_cast<volatile Word*>(word) = value;
#else
  asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
#endif
}
// end system-scope

// begin send-words
/// Stores what this GPU has in a slot in GPU 0's memory, and then says so by a flag there.
///
/// \param words  `count` words in this GPU's memory
/// \param slot   room for as many in GPU 0's, which this GPU can access
/// \param flag   0 in GPU 0's, and 1 when all words are there
/// \pre one block of 32 threads
__global__ void send(const Word* words, unsigned count, Word* slot, unsigned* flag) {
  for (unsigned k = threadIdx.x; k < count; k += 32) slot[k] = words[k];
  __syncwarp();  // lane 0 now sees what all lanes stored
  if (threadIdx.x == 0) store_release(flag, 1);
}
// end send-words

// begin collect-words
/// Waits for what all other GPUs send, and adds it to what GPU 0 has. On GPU 0.
///
/// \param own    `count` words of GPU 0's
/// \param slots  `count` words of each GPU; GPU 0's own are not used
/// \param flags  a word of each GPU: 1 once its slot is filled, and 0 again when the kernel ends
/// \param out    `count` sums
/// \pre one block of 32 threads. Nothing is sent again before the kernel has ended
__global__ void collect(const Word* own, unsigned count, const Word* slots, unsigned* flags,
                        unsigned gpus, Word* out) {
  for (unsigned g = 1 + threadIdx.x; g < gpus; g += 32) {
    while (load_acquire(flags + g) == 0) {
    }
    flags[g] = 0;
  }
  __syncwarp();  // all lanes now see what each has acquired
  for (unsigned k = threadIdx.x; k < count; k += 32) {
    Word sum = own[k];
    for (unsigned g = 1; g < gpus; ++g) sum += slots[g * count + k];
    out[k] = sum;
  }
}
// end collect-words

// begin system-hand-in
/// chapter08's hand_in where the words may lie on another GPU: it differs in the atomics' scope,
/// and in who takes part.
///
/// \param words    three in GPU 0's memory; they are 0, and are 0 again when all have handed in
/// \param parties  how many hand in, on all GPUs: at most 65535
/// \param out      in GPU 0's memory
__device__ inline void hand_in(long long sum, Word* words, long long* out, unsigned parties) {
  const Word low = (static_cast<Word>(sum & 0xffffffff) << 16) + 1;
  const Word high = (static_cast<Word>(sum >> 32) << 16) + 1;
  const Word lows = atomicAdd_system(words, low) + low;
  const Word highs = atomicAdd_system(words + 1, high) + high;
  const bool last_low = lows % 65536 == parties;
  const bool last_high = highs % 65536 == parties;
  if (!last_low && !last_high) return;

  Word low_total = lows >> 16;
  auto high_total = static_cast<Word>(static_cast<long long>(highs) >> 16);
  if (last_low) store_relaxed(words, 0);
  if (last_high) store_relaxed(words + 1, 0);
  if (last_low != last_high) {
    const Word mine = 2 * (last_low ? low_total : high_total) + 1;  // never 0
    const Word other = atomicExch_system(words + 2, mine);
    if (other == 0) return;  // the other total is still to come
    (last_low ? high_total : low_total) = static_cast<Word>(static_cast<long long>(other) >> 1);
    store_relaxed(words + 2, 0);
  }
  *out = static_cast<long long>(low_total + (high_total << 32));
}
// end system-hand-in

// begin across-gpus
/// chapter08's whole, one launch per GPU: all blocks of all GPUs hand in to the same three words.
///
/// \param in  this GPU's n elements, at any address; left as they are
/// \pre blockDim.x is a multiple of 32
__global__ void across(const int* in, Word* words, long long* out, std::size_t n,
                       unsigned parties) {
  const long long sum = chapter08::sum_by_warps(chapter08::vector_share<long long>(in, n));
  if (threadIdx.x == 0) hand_in(sum, words, out, parties);
}
// end across-gpus

// begin sum-hand-in
/// One GPU's sum, when it is there: GPUs hand in instead of blocks.
///
/// \pre one thread
__global__ void hand_in_sum(const long long* sum, Word* words, long long* out, unsigned gpus) {
  hand_in(*sum, words, out, gpus);
}
// end sum-hand-in

// begin exact-words
/// An exact sum of floats before it is rounded, as words that add up: chapter11's digits, and how
/// many GPUs have found +inf, -inf and NaN, in 21 bits each.
constexpr unsigned kExactWords = chapter11::kDigits + 1;
constexpr unsigned kKindBits = 21;

/// A ticket after which chapter11's exact takes no block for the last. It counts on from 0, one
/// short. So the digits stay where they are, and nothing is rounded.
constexpr unsigned kNoneIsLast = 0xffffffff;

/// Takes the words out of what chapter11's exact has left, and makes that ready for the next
/// launch.
///
/// \param state  its digits and kinds become 0, and its ticket kNoneIsLast again
/// \param words  kExactWords
/// \pre one block of 32 threads
__global__ void take_words(chapter11::Exact* state, Word* words) {
  const unsigned t = threadIdx.x;
  if (t < chapter11::kDigits) {
    words[t] = state->digit[t];
    state->digit[t] = 0;
  }
  if (t == chapter11::kDigits) {
    const Word kinds = state->special;
    words[t] = (kinds & 1) | (kinds >> 1 & 1) << kKindBits | (kinds >> 2 & 1) << (2 * kKindBits);
    state->special = 0;
    state->ticket = kNoneIsLast;
  }
}

/// The sum that the words of all GPUs have made, rounded once: the same bits for any number of GPUs
/// and any shares.
///
/// \pre one block of 32 threads
__global__ void round_words(const Word* words, float* out) {
  const unsigned lane = threadIdx.x;
  const Word digit = lane < chapter11::kDigits ? words[lane] : 0;
  const float total = chapter11::rounded(static_cast<long long>(digit));
  if (lane != 0) return;
  const Word counts = words[chapter11::kDigits];
  unsigned kinds = 0;
  for (unsigned k = 0; k < 3; ++k) {
    if ((counts >> (k * kKindBits) & ((1u << kKindBits) - 1)) != 0) kinds |= 1u << k;
  }
  *out = kinds == 0 ? total : chapter11::special_sum(kinds);
}
// end exact-words

}  // namespace chapter14
