/// \file
/// Atomics that meet other accesses, or others of another scope or size.
#pragma once
#include <cuda/atomic>

#include "case.cuh"

namespace races {

template <bool Faulty>
__global__ void count_of_block_scope(Places p) {
  Faulty ? atomicAdd_block(p.out, 1) : atomicAdd(p.out, 1);  // @AB
}
template <bool Faulty>
__global__ void float_sum_of_block_scope(Places p) {
  float* const sum = reinterpret_cast<float*>(p.out);
  Faulty ? atomicAdd_block(sum, 1.0f) : atomicAdd(sum, 1.0f);  // @AB
}
template <bool Faulty>
__global__ void count_on_host_memory(Places p) {
  Faulty ? atomicAdd_block(p.host, 1) : atomicAdd_system(p.host, 1);  // @AB
}
__device__ inline int plain(const int* at) {
  return *at;
}
__device__ inline int volatile_of(const volatile int* at) {
  return *at;
}
template <bool Faulty>
__global__ void maximum_looked_at_first(Places p) {
  const int mine = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int known = Faulty ? plain(p.out) : volatile_of(p.out);  // @A
  if (known < mine) atomicMax(p.out, mine);                      // @B
}
template <bool Faulty>
__global__ void half_of_a_long(Places p) {
  auto* const sum = reinterpret_cast<unsigned long long*>(p.out);
  if (blockIdx.x == 0) atomicAdd(sum, 1ull);                  // @A
  if (blockIdx.x == 1) atomicAdd(&p.out[Faulty ? 1 : 2], 1);  // @B
}
template <bool Faulty>
__global__ void count_read_in_the_block(Places p) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);  // @A
  if (!Faulty) __syncthreads();
  if (threadIdx.x == 40) p.out[0] = count;  // @B
}
template <bool Faulty>
__global__ void bins_cleared_late(Places p) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;  // @A
  if (!Faulty) __syncthreads();
  atomicAdd(&bins[(threadIdx.x + 1) % 8], 1);  // @B
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&p.out[threadIdx.x], bins[threadIdx.x]);
}
template <bool Faulty>
__global__ void reduction_against_store(Places p) {
  if (blockIdx.x == 0) {
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(p.out) : "memory");  // @A
  } else {
    p.out[Faulty ? 0 : 1] = 7;  // @B
  }
}
template <bool Faulty>
__global__ void sum_in_shared(Places p) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  Faulty ? void(sum += 1) : void(atomicAdd_block(&sum, 1));  // @AB
  __syncthreads();
  if (threadIdx.x == 0) p.out[0] = sum;
}
template <bool Faulty>
__global__ void relaxed_store_of_block_scope(Places p) {
  constexpr auto kScope = Faulty ? cuda::thread_scope_block : cuda::thread_scope_device;
  cuda::atomic_ref<int, kScope> latest(p.out[0]);
  latest.store(static_cast<int>(blockIdx.x), cuda::memory_order_relaxed);  // @AB
}
template <bool Faulty>
__global__ void volatile_against_plain(Places p) {
  if (blockIdx.x == 0) {
    *static_cast<volatile int*>(p.out) = 1;  // @A
  } else {
    p.data[0] = Faulty ? plain(p.out) : volatile_of(p.out);  // @B
  }
}
template <bool Faulty>
__global__ void swapped_and_written(Places p) {
  if (blockIdx.x > 0) {
    atomicCAS(p.out, 0, static_cast<int>(blockIdx.x));  // @A
  } else {
    Faulty ? void(*p.out = 9) : void(atomicExch(p.out, 9));  // @B
  }
}
template <bool Faulty>
__global__ void list_pushed(Places p) {
  const int node = static_cast<int>(blockIdx.x) + 1;
  cuda::atomic_ref<int, cuda::thread_scope_device> head(*p.flag);
  int next = head.load(cuda::memory_order_acquire);
  for (int i = 0; i < kTries; ++i) {
    p.data[node] = next;  // @A
    constexpr auto kOrder = Faulty ? cuda::memory_order_acquire : cuda::memory_order_acq_rel;
    if (head.compare_exchange_strong(next, node, kOrder, cuda::memory_order_acquire)) break;
  }
  for (int i = node, n = 0; i && n < 8; i = p.data[i], ++n) p.out[node] += i;  // @B
}
template <bool Faulty>
__global__ void queue_reserved(Places p) {
  const int at = atomicAdd(p.flag, 1) * (Faulty ? 1 : 2);
  p.data[at] = 1;      // @A
  p.data[at + 1] = 2;  // @B
}

inline const Case kAtomics[] = {
    RACES_CASE("atomics", "grid", "global", count_of_block_scope, 4, 1, "atomicAdd_block"),
    RACES_CASE("atomics", "grid", "global", float_sum_of_block_scope, 4, 1, "atomicAdd_block"),
    RACES_CASE("atomics", "system", "global", count_on_host_memory, 4, 1, "atomicAdd_block"),
    RACES_CASE("atomics", "grid", "global", maximum_looked_at_first, 4, 1, "a plain read first"),
    RACES_CASE("atomics", "grid", "global", half_of_a_long, 2, 1, "4 bytes of another's 8"),
    RACES_CASE("atomics", "block", "shared", count_read_in_the_block, 1, 64, "no barrier"),
    RACES_CASE("atomics", "block", "shared", bins_cleared_late, 1, 64, "no barrier"),
    RACES_CASE("atomics", "grid", "global", reduction_against_store, 2, 1, "a plain store"),
    RACES_CASE("atomics", "block", "shared", sum_in_shared, 1, 64, "adds without an atomic"),
    RACES_CASE("atomics", "grid", "global", relaxed_store_of_block_scope, 4, 1,
               "a relaxed store of block scope"),
    RACES_CASE("atomics", "grid", "global", volatile_against_plain, 2, 1, "a plain read"),
    RACES_CASE("atomics", "grid", "global", swapped_and_written, 4, 1, "a plain store"),
    RACES_CASE("atomics", "grid", "global", list_pushed, 4, 1, "pushes without release"),
    RACES_CASE("atomics", "grid", "global", queue_reserved, 4, 1, "reserves less than it writes"),
};

}  // namespace races
