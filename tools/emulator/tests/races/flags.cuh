/// \file
/// One block tells another by a flag that data is there.
#pragma once
#include <cuda/atomic>

#include "case.cuh"

namespace races {

template <bool Faulty>
__global__ void flag_without_release(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;  // @A
    if (!Faulty) __threadfence();
    raise(p.flag);
  } else if (seen(p.flag)) {
    __threadfence();
    p.out[0] = p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void flag_without_acquire(Places p) {
  if (blockIdx.x == 1) {
    p.data[0] = 42;  // @A
    __threadfence();
    raise(p.flag);
  } else if (seen(p.flag)) {
    if (!Faulty) __threadfence();
    p.out[0] = p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void flag_block_fence_before(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;  // @A
    Faulty ? __threadfence_block() : __threadfence();
    raise(p.flag);
  } else if (seen(p.flag)) {
    __threadfence();
    p.out[0] = p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void flag_block_fence_after(Places p) {
  if (blockIdx.x == 1) {
    p.data[0] = 42;  // @A
    __threadfence();
    raise(p.flag);
  } else if (seen(p.flag)) {
    Faulty ? __threadfence_block() : __threadfence();
    p.out[0] = p.data[0];  // @B
  }
}
__device__ inline void weak_store(int* at, int value) {
  asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
__device__ inline int weak_load(const int* at) {
  int value;
  asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
template <bool Faulty>
__global__ void flag_stored_plainly(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;
    __threadfence();
    Faulty ? weak_store(p.flag, 1) : raise(p.flag);  // @A
  } else if (seen(p.flag)) {                         // @B
    __threadfence();
    p.out[0] = p.data[0];
  }
}
template <bool Faulty>
__global__ void flag_read_plainly(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;
    __threadfence();
    raise(p.flag);  // @A
  } else {
    for (int i = 0; i < kTries; ++i) {
      if ((Faulty ? weak_load(p.flag) : *static_cast<volatile int*>(p.flag)) == 0) continue;  // @B
      __threadfence();
      p.out[0] = p.data[0];
      break;
    }
  }
}
__device__ inline void release_block(int* at) {
  asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(at) : "memory");
}
__device__ inline void release_gpu(int* at) {
  asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(at) : "memory");
}
template <bool Faulty>
__global__ void flag_release_of_block(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;
    Faulty ? release_block(p.flag) : release_gpu(p.flag);  // @A
  } else if (seen(p.flag)) {                               // @B
    __threadfence();
    p.out[0] = p.data[0];
  }
}
__device__ inline int acquire_block(const int* at) {
  int value;
  asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
__device__ inline int acquire_gpu(const int* at) {
  int value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
__device__ inline int relaxed_gpu(const int* at) {
  int value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
template <bool Faulty>
__global__ void flag_acquire_of_block(Places p) {
  if (blockIdx.x == 1) {
    p.data[0] = 42;
    __threadfence();
    raise(p.flag);  // @A
  } else {
    int there = 0;
    for (int i = 0; i < kTries && !there; ++i)
      there = Faulty ? acquire_block(p.flag) : acquire_gpu(p.flag);  // @B
    if (there) p.out[0] = p.data[0];
  }
}
template <bool Faulty>
__global__ void flag_relaxed_store(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;  // @A
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(*p.flag);
    flag.store(1, Faulty ? cuda::memory_order_relaxed : cuda::memory_order_release);
  } else {
    int there = 0;
    for (int i = 0; i < kTries && !there; ++i) there = acquire_gpu(p.flag);
    if (there) p.out[0] = p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void flag_relaxed_load(Places p) {
  if (blockIdx.x == 1) {
    p.data[0] = 42;  // @A
    release_gpu(p.flag);
  } else {
    int there = 0;
    for (int i = 0; i < kTries && !there; ++i)
      there = Faulty ? relaxed_gpu(p.flag) : acquire_gpu(p.flag);
    if (there) p.out[0] = p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void flag_raised_too_early(Places p) {
  if (blockIdx.x == 0) {
    p.data[1] = 42;
    __threadfence();
    raise(p.flag);
    p.data[Faulty ? 1 : 2] = 43;  // @A
  } else if (seen(p.flag)) {
    __threadfence();
    p.out[0] = p.data[1];  // @B
  }
}
template <bool Faulty>
__global__ void flag_of_another_thread(Places p) {
  if (blockIdx.x == 0) {
    p.data[threadIdx.x] = 42;  // @A
    if (!Faulty) __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      raise(p.flag);
    }
  } else if (threadIdx.x == 0 && seen(p.flag)) {
    __threadfence();
    p.out[0] = p.data[33];  // @B
  }
}
template <bool Faulty>
__global__ void flag_seen_by_one(Places p) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      p.data[0] = 42;  // @A
      __threadfence();
      raise(p.flag);
    }
  } else {
    if (threadIdx.x == 0 && seen(p.flag)) __threadfence();
    if (!Faulty) __syncthreads();
    if (threadIdx.x == 32) p.out[0] = p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void flag_relayed(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;  // @A
    __threadfence();
    raise(&p.flag[0]);
  } else if (blockIdx.x == 1 && seen(&p.flag[0])) {
    if (!Faulty) __threadfence();
    raise(&p.flag[1]);
  } else if (blockIdx.x == 2 && seen(&p.flag[1])) {
    __threadfence();
    p.out[0] = p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void flag_of_block_scope(Places p) {
  constexpr auto kScope = Faulty ? cuda::thread_scope_block : cuda::thread_scope_device;
  cuda::atomic_ref<int, kScope> flag(*p.flag);
  if (blockIdx.x == 0) {
    p.data[0] = 42;  // @A
    flag.store(1, cuda::memory_order_release);
  } else {
    for (int i = 0; i < kTries; ++i) {
      if (flag.load(cuda::memory_order_acquire) == 0) continue;
      p.out[0] = p.data[0];  // @B
      break;
    }
  }
}
template <bool Faulty>
__global__ void flag_through_updates(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;  // @A
    if (!Faulty) __threadfence();
    atomicExch(p.flag, 1);
  } else if (blockIdx.x == 1 && seen(p.flag)) {
    atomicAdd(p.flag, 1);
  } else if (blockIdx.x == 2 && seen(p.flag, 2)) {
    __threadfence();
    p.out[0] = p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void ring_slot_reused(Places p) {
  for (int i = 1; i <= 3; ++i) {
    if (blockIdx.x == 0) {
      if (!seen(&p.flag[1], i - 1)) return;
      __threadfence();
      p.data[0] = i;  // @A
      __threadfence();
      raise(&p.flag[0], i);
    } else {
      if (!seen(&p.flag[0], i)) return;
      __threadfence();
      p.out[i] = p.data[0];  // @B
      if (!Faulty) __threadfence();
      raise(&p.flag[1], i);
    }
  }
}
template <bool Faulty>
__global__ void one_of_two_producers(Places p) {
  if (blockIdx.x < 2) {
    p.data[blockIdx.x] = 42;  // @A
    __threadfence();
    raise(&p.flag[blockIdx.x]);
  } else if (seen(&p.flag[0]) && (Faulty || seen(&p.flag[1]))) {
    __threadfence();
    p.out[0] = p.data[0] + p.data[1];  // @B
  }
}
template <bool Faulty>
__global__ void flag_then_read_only(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;  // @A
    __threadfence();
    raise(p.flag);
  } else if (seen(p.flag)) {
    __threadfence();
    p.out[0] = Faulty ? __ldg(&p.data[0]) : p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void host_flag_block_fence(Places p) {
  if (blockIdx.x == 0) {
    p.host[0] = 42;  // @A
    Faulty ? __threadfence_block() : __threadfence_system();
    raise(&p.host[64]);
  } else if (seen(&p.host[64])) {
    __threadfence_system();
    p.host[1] = p.host[0];  // @B
  }
}
template <bool Faulty>
__global__ void host_flag_without_fence(Places p) {
  if (blockIdx.x == 1) {
    p.host[0] = 42;  // @A
    if (!Faulty) __threadfence_system();
    raise(&p.host[64]);
  } else if (seen(&p.host[64])) {
    __threadfence_system();
    p.host[1] = p.host[0];  // @B
  }
}
template <bool Faulty>
__global__ void host_flag_relaxed(Places p) {
  cuda::atomic_ref<int, cuda::thread_scope_system> flag(p.host[64]);
  if (blockIdx.x == 0) {
    p.host[0] = 42;  // @A
    flag.store(1, cuda::memory_order_release);
  } else {
    int there = 0;
    for (int i = 0; i < kTries && !there; ++i)
      there = flag.load(Faulty ? cuda::memory_order_relaxed : cuda::memory_order_acquire);
    if (there) p.host[1] = p.host[0];  // @B
  }
}
template <bool Faulty>
__global__ void shared_flag_without_release(Places p) {
  __shared__ int value, ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = p.data[0];  // @A
    if (!Faulty) __threadfence_block();
    raise(&ready);
  } else if (threadIdx.x == 32 && seen(&ready)) {
    __threadfence_block();
    p.out[0] = value;  // @B
  }
}
template <bool Faulty>
__global__ void shared_flag_without_acquire(Places p) {
  __shared__ int value, ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    value = p.data[0];  // @A
    __threadfence_block();
    raise(&ready);
  } else if (threadIdx.x == 0 && seen(&ready)) {
    if (!Faulty) __threadfence_block();
    p.out[0] = value;  // @B
  }
}
template <bool Faulty>
__global__ void flag_within_a_block(Places p) {
  if (threadIdx.x == 0) {
    p.data[0] = 42;  // @A
    if (!Faulty) __threadfence_block();
    raise(p.flag);
  } else if (threadIdx.x == 32 && seen(p.flag)) {
    __threadfence_block();
    p.out[0] = p.data[0];  // @B
  }
}

inline const Case kFlags[] = {
    RACES_CASE("flags", "grid", "global", flag_without_release, 2, 1, "no fence before the flag"),
    RACES_CASE("flags", "grid", "global", flag_without_acquire, 2, 1, "no fence after the flag"),
    RACES_CASE("flags", "grid", "global", flag_block_fence_before, 2, 1,
               "a block's fence before the flag"),
    RACES_CASE("flags", "grid", "global", flag_block_fence_after, 2, 1,
               "a block's fence after the flag"),
    RACES_CASE("flags", "grid", "global", flag_stored_plainly, 2, 1, "a plain store as flag"),
    RACES_CASE("flags", "grid", "global", flag_read_plainly, 2, 1, "a plain read of the flag"),
    RACES_CASE("flags", "grid", "global", flag_release_of_block, 2, 1, "st.release.cta"),
    RACES_CASE("flags", "grid", "global", flag_acquire_of_block, 2, 1, "ld.acquire.cta"),
    RACES_CASE("flags", "grid", "global", flag_relaxed_store, 2, 1, "a relaxed store, no release"),
    RACES_CASE("flags", "grid", "global", flag_relaxed_load, 2, 1, "a relaxed load, no acquire"),
    RACES_CASE("flags", "grid", "global", flag_raised_too_early, 2, 1,
               "data written after the flag"),
    RACES_CASE("flags", "grid", "global", flag_of_another_thread, 2, 64,
               "no barrier between data and the flag of another thread"),
    RACES_CASE("flags", "grid", "global", flag_seen_by_one, 2, 64,
               "no barrier between the flag and another thread's read"),
    RACES_CASE("flags", "grid", "global", flag_relayed, 3, 1, "the block between has no fence"),
    RACES_CASE("flags", "grid", "global", flag_of_block_scope, 2, 1, "an atomic of block scope"),
    RACES_CASE("flags", "grid", "global", flag_through_updates, 3, 1,
               "no fence before a flag that others pass on"),
    RACES_CASE("flags", "grid", "global", ring_slot_reused, 2, 1,
               "no fence before the slot is free"),
    RACES_CASE("flags", "grid", "global", one_of_two_producers, 3, 1, "waits for one of two"),
    RACES_CASE("flags", "grid", "global", flag_then_read_only, 2, 1,
               "reads through the read-only cache what the kernel wrote"),
    RACES_CASE("flags", "system", "global", host_flag_block_fence, 2, 1,
               "a block's fence before the flag"),
    RACES_CASE("flags", "system", "global", host_flag_without_fence, 2, 1, "no fence"),
    RACES_CASE("flags", "system", "global", host_flag_relaxed, 2, 1, "a relaxed load"),
    RACES_CASE("flags", "block", "shared", shared_flag_without_release, 1, 64, "no fence before"),
    RACES_CASE("flags", "block", "shared", shared_flag_without_acquire, 1, 64, "no fence after"),
    RACES_CASE("flags", "block", "global", flag_within_a_block, 1, 64, "no fence before the flag"),
};

}  // namespace races
