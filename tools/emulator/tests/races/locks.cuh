/// \file
/// Critical sections, and tickets that tell the last block that it is the last.
#pragma once
#include <cuda/atomic>

#include "case.cuh"

namespace races {

template <bool Faulty>
__global__ void lock_without_acquire(Places p) {
  if (!locked(p.flag)) return;
  if (!Faulty) __threadfence();
  p.data[0] += 1;  // @AB
  __threadfence();
  atomicExch(p.flag, 0);
}
template <bool Faulty>
__global__ void lock_without_release(Places p) {
  if (!locked(p.flag)) return;
  __threadfence();
  p.data[0] += 1;  // @AB
  if (!Faulty) __threadfence();
  atomicExch(p.flag, 0);
}
template <bool Faulty>
__global__ void lock_block_fences(Places p) {
  if (!locked(p.flag)) return;
  __threadfence();
  p.data[0] += 1;  // @AB
  Faulty ? __threadfence_block() : __threadfence();
  atomicExch(p.flag, 0);
}
template <bool Faulty>
__global__ void lock_of_block_scope(Places p) {
  int free = 1;
  for (int i = 0; i < kTries && free != 0; ++i)
    free = Faulty ? atomicCAS_block(p.flag, 0, 1) : atomicCAS(p.flag, 0, 1);  // @A
  if (free != 0) return;
  __threadfence();
  p.data[0] += 1;
  __threadfence();
  atomicExch(p.flag, 0);  // @B
}
template <bool Faulty>
__global__ void lock_released_plainly(Places p) {
  if (!locked(p.flag)) return;  // @A
  __threadfence();
  p.data[0] += 1;
  __threadfence();
  Faulty ? void(*p.flag = 0) : void(atomicExch(p.flag, 0));  // @B
}
template <bool Faulty>
__global__ void lock_forgotten_by_reader(Places p) {
  if (blockIdx.x == 1) {
    p.out[0] = p.data[Faulty ? 0 : 1];  // @A
    return;
  }
  if (!locked(p.flag)) return;
  __threadfence();
  p.data[0] += 1;  // @B
  __threadfence();
  atomicExch(p.flag, 0);
}
template <bool Faulty>
__global__ void lock_of_another(Places p) {
  int* const lock = &p.flag[Faulty ? 32 * blockIdx.x : 0];
  if (!locked(lock)) return;
  __threadfence();
  p.data[0] += 1;  // @AB
  __threadfence();
  atomicExch(lock, 0);
}
template <bool Faulty>
__global__ void lock_in_shared(Places p) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0 && locked(&lock)) {
    if (!Faulty) __threadfence_block();
    sum += 1;  // @AB
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) p.out[0] = sum;
}
template <bool Faulty>
__global__ void lock_by_atomic_ref(Places p) {
  cuda::atomic_ref<int, cuda::thread_scope_device> lock(*p.flag);
  for (int i = 0; i < kTries; ++i) {
    constexpr auto kTake = Faulty ? cuda::memory_order_relaxed : cuda::memory_order_acquire;
    if (lock.exchange(1, kTake) != 0) continue;
    p.data[0] += 1;  // @AB
    lock.store(0, cuda::memory_order_release);
    break;
  }
}
template <bool Faulty>
__global__ void lock_by_turns(Places p) {
  const int turn = atomicAdd(&p.flag[0], 1);
  if (!seen(&p.flag[32], turn)) return;
  __threadfence();
  p.data[0] += 1;  // @AB
  if (!Faulty) __threadfence();
  raise(&p.flag[32], turn + 1);
}
template <bool Faulty>
__global__ void lock_on_host_memory(Places p) {
  for (int i = 0; i < kTries; ++i) {
    if (atomicCAS_system(&p.host[64], 0, 1) != 0) continue;
    __threadfence_system();
    p.host[0] += 1;  // @AB
    Faulty ? __threadfence_block() : __threadfence_system();
    atomicExch_system(&p.host[64], 0);
    break;
  }
}

template <bool Faulty>
__global__ void ticket_without_release(Places p) {
  p.data[blockIdx.x] = 1;  // @A
  if (!Faulty) __threadfence();
  if (atomicAdd(p.flag, 1) != static_cast<int>(gridDim.x) - 1) return;
  __threadfence();
  for (unsigned b = 0; b < gridDim.x; ++b) p.out[0] += p.data[b];  // @B
}
template <bool Faulty>
__global__ void ticket_without_acquire(Places p) {
  p.data[blockIdx.x] = 1;  // @A
  __threadfence();
  if (atomicAdd(p.flag, 1) != static_cast<int>(gridDim.x) - 1) return;
  if (!Faulty) __threadfence();
  for (unsigned b = 0; b < gridDim.x; ++b) p.out[0] += p.data[b];  // @B
}
template <bool Faulty>
__global__ void ticket_block_fence(Places p) {
  p.data[blockIdx.x] = 1;  // @A
  Faulty ? __threadfence_block() : __threadfence();
  if (atomicAdd(p.flag, 1) != static_cast<int>(gridDim.x) - 1) return;
  __threadfence();
  for (unsigned b = 0; b < gridDim.x; ++b) p.out[0] += p.data[b];  // @B
}
template <bool Faulty>
__global__ void ticket_of_block_scope(Places p) {
  p.data[blockIdx.x] = 1;
  __threadfence();
  const int ticket = Faulty ? atomicAdd_block(p.flag, 1) : atomicAdd(p.flag, 1);  // @AB
  if (ticket != static_cast<int>(gridDim.x) - 1) return;
  __threadfence();
  for (unsigned b = 0; b < gridDim.x; ++b) p.out[0] += p.data[b];
}
template <bool Faulty>
__global__ void ticket_before_the_others(Places p) {
  __shared__ bool last;
  p.data[blockIdx.x * blockDim.x + threadIdx.x] = 1;  // @A
  if (!Faulty) __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(p.flag, 1) == static_cast<int>(gridDim.x) - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  for (unsigned b = 0; b < gridDim.x; ++b)
    atomicAdd(p.out, p.data[b * blockDim.x + threadIdx.x ^ 32]);  // @B
}
template <bool Faulty>
__global__ void ticket_told_too_late(Places p) {
  __shared__ bool last;
  p.data[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(p.flag, 1) == static_cast<int>(gridDim.x) - 1;  // @A
    __threadfence();
  }
  if (!Faulty) __syncthreads();
  if (last) atomicAdd(p.out, 1);  // @B
}
template <bool Faulty>
__global__ void ticket_by_atomic_ref(Places p) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ticket(*p.flag);
  p.data[blockIdx.x] = 1;  // @A
  constexpr auto kOrder = Faulty ? cuda::memory_order_acquire : cuda::memory_order_acq_rel;
  if (ticket.fetch_add(1, kOrder) != static_cast<int>(gridDim.x) - 1) return;
  for (unsigned b = 0; b < gridDim.x; ++b) p.out[0] += p.data[b];  // @B
}
template <bool Faulty>
__global__ void ticket_one_too_early(Places p) {
  p.data[blockIdx.x] = 1;  // @A
  __threadfence();
  if (atomicAdd(p.flag, 1) != static_cast<int>(gridDim.x) - (Faulty ? 2 : 1)) return;
  __threadfence();
  for (unsigned b = 0; b < gridDim.x; ++b) p.out[0] += p.data[b];  // @B
}
template <bool Faulty>
__global__ void ticket_among_warps(Places p) {
  __shared__ int sums[4], count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  sums[threadIdx.x / 32] = 1;  // @A
  if (!Faulty) __threadfence_block();
  if (atomicAdd(&count, 1) != 3) return;
  __threadfence_block();
  p.out[0] = sums[0] + sums[1] + sums[2] + sums[3];  // @B
}

inline const Case kLocks[] = {
    RACES_CASE("locks", "grid", "global", lock_without_acquire, 4, 1, "no fence after the lock"),
    RACES_CASE("locks", "grid", "global", lock_without_release, 4, 1, "no fence before the unlock"),
    RACES_CASE("locks", "grid", "global", lock_block_fences, 4, 1, "a block's fence"),
    RACES_CASE("locks", "grid", "global", lock_of_block_scope, 4, 1, "atomicCAS_block"),
    RACES_CASE("locks", "grid", "global", lock_released_plainly, 4, 1, "a plain store unlocks"),
    RACES_CASE("locks", "grid", "global", lock_forgotten_by_reader, 4, 1, "reads without the lock"),
    RACES_CASE("locks", "grid", "global", lock_of_another, 4, 1, "each block has its own lock"),
    RACES_CASE("locks", "block", "shared", lock_in_shared, 1, 128, "no fence after the lock"),
    RACES_CASE("locks", "grid", "global", lock_by_atomic_ref, 4, 1, "a relaxed exchange"),
    RACES_CASE("locks", "grid", "global", lock_by_turns, 4, 1, "no fence before the next turn"),
    RACES_CASE("locks", "system", "global", lock_on_host_memory, 4, 1, "a block's fence"),
    RACES_CASE("tickets", "grid", "global", ticket_without_release, 8, 1, "no fence before"),
    RACES_CASE("tickets", "grid", "global", ticket_without_acquire, 8, 1, "no fence after"),
    RACES_CASE("tickets", "grid", "global", ticket_block_fence, 8, 1, "a block's fence before"),
    RACES_CASE("tickets", "grid", "global", ticket_of_block_scope, 8, 1, "atomicAdd_block"),
    RACES_CASE("tickets", "grid", "global", ticket_before_the_others, 4, 64,
               "no barrier before the ticket"),
    RACES_CASE("tickets", "block", "shared", ticket_told_too_late, 4, 64,
               "no barrier after the ticket"),
    RACES_CASE("tickets", "grid", "global", ticket_by_atomic_ref, 8, 1,
               "acquires, releases nothing"),
    RACES_CASE("tickets", "grid", "global", ticket_one_too_early, 8, 1, "the last block but one"),
    RACES_CASE("tickets", "block", "shared", ticket_among_warps, 1, 128, "no fence before"),
};

}  // namespace races
