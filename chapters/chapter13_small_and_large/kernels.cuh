#pragma once
#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "../chapter08_multi_pass/kernels.cuh"

namespace chapter13 {

using Sum = long long;

// begin share-of-thread
/// The sum of the elements of some vectors.
template <unsigned Count>
__device__ Sum add(const int4 (&v)[Count]) {
  Sum sum = 0;
#pragma unroll
  for (unsigned k = 0; k < Count; ++k) {
    sum += v[k].x;
    sum += v[k].y;
    sum += v[k].z;
    sum += v[k].w;
  }
  return sum;
}

/// The sum of what one of `threads` threads takes of n elements at any address: every threads-th
/// vector of 16 bytes, with `Loads` of them in flight.
template <unsigned Loads>
__device__ Sum share(const int* in, std::size_t n, unsigned thread, unsigned threads) {
  const chapter08::Vectors<std::size_t> vectors(in, n);
  const int one = vectors.single(thread);
  const std::size_t hop = threads;

  Sum sum = 0;
  std::size_t i = thread;
  int4 v[Loads];
  for (; i + (Loads - 1) * hop < vectors.count; i += Loads * hop) {
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) v[k] = vectors.begin()[i + k * hop];
    sum += add(v);
  }
  if (i < vectors.count) {  // fewer than Loads are left
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) {
      v[k] = i + k * hop < vectors.count ? vectors.begin()[i + k * hop] : int4{};
    }
    sum += add(v);
  }
  return sum + one;
}
// end share-of-thread

/// Loads that a thread has in flight where few threads have all the work.
constexpr unsigned kLoads = 4;

// begin warp-alone
/// One warp: no barrier, no shared memory, and no other warp to wait for.
///
/// \param in   n elements in device memory, at any address; left as they are
/// \param out  the sum
/// \pre one block of 32 threads
__global__ void one_warp(const int* in, Sum* out, std::size_t n) {
  const Sum sum = chapter08::warp_sum(share<kLoads>(in, n, threadIdx.x, 32));
  if (threadIdx.x == 0) *out = sum;
}
// end warp-alone

// begin block-alone
/// One block: a barrier, and no other block to wait for. The bounds let the compiler take registers
/// for all loads at once, where it would save them for a second block per SM.
///
/// \pre one block; blockDim.x is a multiple of 32, here and below
__global__ void __launch_bounds__(1024, 1) one_block(const int* in, Sum* out, std::size_t n) {
  const Sum sum = chapter08::sum_by_warps(share<kLoads>(in, n, threadIdx.x, blockDim.x));
  if (threadIdx.x == 0) *out = sum;
}
// end block-alone

// begin dependent-launch
/// Lets the next kernel of the stream begin, if it was launched as a dependent one, as soon as all
/// blocks have said so.
__device__ inline void let_next_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  // An older device has no dependent launches.
#else
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}
/// Waits until the kernel before has ended and all that it wrote can be read. After an ordinary
/// launch that is so from the start.
__device__ inline void wait_for_last() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  // Nor anything to wait for.
#else
  cudaGridDependencySynchronize();
#endif
}
// end dependent-launch

// begin pass-of-two
/// The first of two passes: one sum per block.
///
/// \param partial  gridDim.x sums
__global__ void __launch_bounds__(1024, 1) first_pass(const int* in, Sum* partial, std::size_t n) {
  let_next_begin();
  const Sum sum = chapter08::sum_by_warps(
      share<kLoads>(in, n, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x));
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

/// The second: one block adds up what the first has left.
__global__ void second_pass(const Sum* partial, Sum* out, unsigned count) {
  wait_for_last();
  Sum sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) sum += partial[i];
  sum = chapter08::sum_by_warps(sum);
  if (threadIdx.x == 0) *out = sum;
}
// end pass-of-two

// begin hand-in-few
/// The sum of this many ints always fits the 54 bits that a word has beside its count.
constexpr std::size_t kMostOfFew = 1u << 22;

/// Many blocks, of which the last to hand in has the sum: chapter08's one_word over this chapter's
/// share.
///
/// \param word  0, and 0 again when the kernel ends
/// \pre gridDim.x <= chapter08::kMostBlocks, and the sum of any of the blocks fits 54 bits, as that
///      of kMostOfFew ints always does
__global__ void __launch_bounds__(1024, 1)
    few_blocks(const int* in, unsigned long long* word, Sum* out, std::size_t n) {
  const Sum sum = chapter08::sum_by_warps(
      share<1>(in, n, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x));
  if (threadIdx.x != 0) return;

  constexpr unsigned kBits = chapter08::kCountBits;
  const unsigned long long mine = (static_cast<unsigned long long>(sum) << kBits) + 1;
  const unsigned long long all = atomicAdd(word, mine) + mine;
  if (all % (1u << kBits) == gridDim.x) {  // this block is the last
    *out = static_cast<long long>(all) >> kBits;
    *word = 0;
  }
}
// end hand-in-few

// begin cluster-alone
/// Most blocks of a cluster, and most warps in it.
constexpr unsigned kMostInCluster = 16;
constexpr unsigned kMostWarps = kMostInCluster * 32;

/// The sum of all threads' values of a cluster, in the first warp of its first block: each warp
/// writes its own into that block's shared memory.
///
/// \param value  gives a thread's; it is asked while the cluster's other blocks still begin
template <class Value>
__device__ Sum sum_by_cluster(const Value& value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  return value();  // no older device has clusters, and none is launched there
#else
  __shared__ Sum slot[kMostWarps];
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const unsigned warps = blockDim.x / 32;
  const unsigned rank = cluster.block_rank();

  auto begun = cluster.barrier_arrive();
  const Sum mine = chapter08::warp_sum(value());
  cluster.barrier_wait(std::move(begun));  // a block that hasn't begun has no shared memory yet
  if (threadIdx.x % 32 == 0) {
    cluster.map_shared_rank(slot, 0)[rank * warps + threadIdx.x / 32] = mine;
  }
  auto written = cluster.barrier_arrive();
  if (rank != 0) return 0;
  cluster.barrier_wait(std::move(written));
  if (threadIdx.x >= 32) return 0;

  Sum sum = 0;
  for (unsigned w = threadIdx.x; w < cluster.num_blocks() * warps; w += 32) sum += slot[w];
  return chapter08::warp_sum(sum);
#endif
}

/// One cluster, and no other to wait for.
///
/// \pre the grid is one cluster, of at most kMostInCluster blocks
__global__ void __launch_bounds__(1024, 1) one_cluster(const int* in, Sum* out, std::size_t n) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const Sum sum =
      sum_by_cluster([=] { return share<kLoads>(in, n, thread, gridDim.x * blockDim.x); });
  if (thread == 0) *out = sum;
}
// end cluster-alone

// begin mbarriers
/// A barrier in shared memory that counts arrivals and, in its current phase, bytes. A phase is
/// over when all have come that were announced. Then the next begins.
using Barrier = unsigned long long;

__device__ inline unsigned in_shared(const void* address) {
  return static_cast<unsigned>(__cvta_generic_to_shared(address));
}
/// Phases of so many arrivals.
__device__ inline void init(Barrier* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(in_shared(barrier)), "r"(arrivals)
               : "memory");
}
/// Shows this thread's new barriers to the TMA, which looks at memory by a way of its own.
__device__ inline void show_barriers() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(in_shared(barrier)) : "memory");
}
/// Arrives, and announces so many bytes for this phase.
__device__ inline void arrive_for(Barrier* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(in_shared(barrier)),
               "r"(bytes)
               : "memory");
}
/// Waits until a phase of this parity is over: 0 for the first, then 1, then 0 again. Before the
/// first, one of parity 1 counts as over.
__device__ inline void wait(Barrier* barrier, unsigned parity) {
  unsigned over = 0;
  while (over == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(over)
        : "r"(in_shared(barrier)), "r"(parity)
        : "memory");
  }
}
// end mbarriers

// begin cluster-by-mail
/// Sends a value to a place in the shared memory of another block of the cluster. Its bytes count
/// at a barrier there.
__device__ inline void send(Sum value, Sum* to, Barrier* barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(
                   in_shared(to)),
               "l"(value), "r"(in_shared(barrier))
               : "memory");
}

/// Waits for the first phase of a barrier at which other blocks of the cluster count. `wait` makes
/// visible what its own block did, and this what all of them sent.
__device__ inline void wait_for_mail(Barrier* barrier) {
  unsigned over = 0;
  while (over == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; "
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(over)
        : "r"(in_shared(barrier))
        : "memory");
  }
}

/// One cluster, whose warps send their sums: each counts at the first block's barrier by itself,
/// when it is there.
///
/// \pre as one_cluster
__global__ void __launch_bounds__(1024, 1) sent_to_one(const int* in, Sum* out, std::size_t n) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  // As above: not launched on an older device.
#else
  __shared__ Sum slot[kMostWarps];
  __shared__ Barrier all_there;
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const unsigned warps = blockDim.x / 32;
  const unsigned rank = cluster.block_rank();

  if (rank == 0 && threadIdx.x == 0) {
    init(&all_there, 1);
    show_barriers();
    arrive_for(&all_there, gridDim.x * warps * sizeof(Sum));
  }
  auto ready = cluster.barrier_arrive();
  const Sum mine = chapter08::warp_sum(
      share<kLoads>(in, n, rank * blockDim.x + threadIdx.x, gridDim.x * blockDim.x));
  cluster.barrier_wait(std::move(ready));

  if (threadIdx.x % 32 == 0) {
    send(mine, cluster.map_shared_rank(slot, 0) + rank * warps + threadIdx.x / 32,
         cluster.map_shared_rank(&all_there, 0));
  }
  if (rank != 0 || threadIdx.x >= 32) return;

  wait_for_mail(&all_there);
  Sum sum = 0;
  for (unsigned w = threadIdx.x; w < gridDim.x * warps; w += 32) sum += slot[w];
  sum = chapter08::warp_sum(sum);
  if (threadIdx.x == 0) *out = sum;
#endif
}
// end cluster-by-mail

// begin many-loads
/// What rings are compared with: vectors of 16 bytes straight into registers.
///
/// \param words  three to hand sums in by; they are 0, and are 0 again when the kernel ends
/// \pre gridDim.x <= 65535, blockDim.x <= 512
__global__ void __launch_bounds__(512, 1)
    loads(const int* in, unsigned long long* words, Sum* out, std::size_t n) {
  const Sum sum = chapter08::sum_by_warps(
      share<8>(in, n, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x));
  if (threadIdx.x == 0) chapter08::hand_in(sum, words, out);
}
// end many-loads

// begin bulk-copies
/// Has the TMA fetch so many bytes, a multiple of 16. They count at the barrier.
__device__ inline void fetch(int4* to, const int4* from, unsigned bytes, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(in_shared(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(in_shared(barrier))
      : "memory");
}

/// The input in pieces of `Bytes`, the last of which may be shorter.
template <unsigned Bytes>
struct Pieces {
  static constexpr unsigned kVectors = Bytes / sizeof(int4);
  const int4* begin;
  std::size_t vectors, count;  ///< of 16 bytes each; pieces

  __device__ explicit Pieces(const chapter08::Vectors<std::size_t>& all)
      : begin(all.begin()), vectors(all.count), count((all.count + kVectors - 1) / kVectors) {}
  /// Vectors in a piece.
  __device__ unsigned length(std::size_t piece) const {
    const std::size_t left = vectors - piece * kVectors;
    return left < kVectors ? static_cast<unsigned>(left) : kVectors;
  }
  /// Has it fetched, and announces that at the barrier.
  __device__ void fetch_to(int4* stage, std::size_t piece, Barrier* full) const {
    const unsigned bytes = length(piece) * static_cast<unsigned>(sizeof(int4));
    arrive_for(full, bytes);
    fetch(stage, begin + piece * kVectors, bytes, full);
  }
};

/// Which stage of a ring comes next, and which phase its barriers are in.
template <unsigned Stages>
struct Turn {
  unsigned stage = 0, parity = 0;
  __device__ void next() {
    if (++stage < Stages) return;
    stage = 0;
    parity ^= 1;
  }
};

/// The sum of what one of `threads` threads takes of a piece that is there.
__device__ inline Sum share_of_piece(const int4* piece, unsigned length, unsigned thread,
                                     unsigned threads) {
  Sum sum = 0;
#pragma unroll 4
  for (unsigned i = thread; i < length; i += threads) {
    const int4 v = piece[i];
    sum += v.x;
    sum += v.y;
    sum += v.z;
    sum += v.w;
  }
  return sum;
}
// end bulk-copies

// begin rings-of-warps
/// A ring per warp: while its lanes add up one piece, the next Stages - 1 are on their way.
///
/// \param in     n elements in device memory, at any address; left as they are
/// \param words  three to hand sums in by; they are 0, and are 0 again when the kernel ends
/// \pre Stages * Bytes of dynamic shared memory per warp, and gridDim.x <= 65535
template <unsigned Bytes, unsigned Stages>
__global__ void warp_rings(const int* in, unsigned long long* words, Sum* out, std::size_t n) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  // No older device copies in bulk, and this is not launched there.
#else
  extern __shared__ __align__(128) int4 stages[];
  __shared__ Barrier barriers[32 * Stages];
  const chapter08::Vectors<std::size_t> vectors(in, n);
  const Pieces<Bytes> pieces(vectors);
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  int4* ring = stages + warp * (Stages * pieces.kVectors);
  Barrier* full = barriers + warp * Stages;

  const std::size_t first = std::size_t{blockIdx.x} * (blockDim.x / 32) + warp;
  const std::size_t step = std::size_t{gridDim.x} * (blockDim.x / 32);
  const auto start = [&](std::size_t piece, unsigned stage) {
    if (piece < pieces.count) {
      pieces.fetch_to(ring + stage * pieces.kVectors, piece, full + stage);
    }
  };
  if (lane == 0) {
    for (unsigned s = 0; s < Stages; ++s) init(full + s, 1);
    show_barriers();
    for (unsigned s = 0; s < Stages; ++s) start(first + s * step, s);
  }
  __syncwarp();  // the other lanes find the barriers ready

  Sum sum = 0;
  Turn<Stages> turn;
  for (std::size_t piece = first; piece < pieces.count; piece += step, turn.next()) {
    wait(full + turn.stage, turn.parity);
    sum += share_of_piece(ring + turn.stage * pieces.kVectors, pieces.length(piece), lane, 32);
    __syncwarp();  // all lanes have read: the stage is free again
    if (lane == 0) start(piece + Stages * step, turn.stage);
  }
  sum += vectors.single(std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  sum = chapter08::sum_by_warps(sum);
  if (threadIdx.x == 0) chapter08::hand_in(sum, words, out);
#endif
}
// end rings-of-warps

// begin ring-of-block
/// A ring per block: thread 0 has pieces fetched, and the warps behind its own add them up.
///
/// \pre as warp_rings, but Stages * Bytes per block; blockDim.x >= 64
template <unsigned Bytes, unsigned Stages>
__global__ void block_ring(const int* in, unsigned long long* words, Sum* out, std::size_t n) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  // As above: not launched on an older device.
#else
  extern __shared__ __align__(128) int4 stages[];
  __shared__ Barrier full[Stages], empty[Stages];
  const chapter08::Vectors<std::size_t> vectors(in, n);
  const Pieces<Bytes> pieces(vectors);
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < Stages; ++s) {
      init(full + s, 1);
      init(empty + s, blockDim.x / 32 - 1);
    }
    show_barriers();
  }
  __syncthreads();

  Sum sum = 0;
  Turn<Stages> turn;
  if (threadIdx.x == 0) {
    for (std::size_t piece = blockIdx.x; piece < pieces.count; piece += gridDim.x, turn.next()) {
      wait(empty + turn.stage, turn.parity ^ 1);  // at first every stage is empty
      pieces.fetch_to(stages + turn.stage * pieces.kVectors, piece, full + turn.stage);
    }
  } else if (threadIdx.x >= 32) {
    for (std::size_t piece = blockIdx.x; piece < pieces.count; piece += gridDim.x, turn.next()) {
      wait(full + turn.stage, turn.parity);
      sum += share_of_piece(stages + turn.stage * pieces.kVectors, pieces.length(piece),
                            threadIdx.x - 32, blockDim.x - 32);
      __syncwarp();  // all lanes have read
      if (threadIdx.x % 32 == 0) arrive(empty + turn.stage);
    }
  }
  sum += vectors.single(std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  sum = chapter08::sum_by_warps(sum);
  if (threadIdx.x == 0) chapter08::hand_in(sum, words, out);
#endif
}
// end ring-of-block

}  // namespace chapter13
