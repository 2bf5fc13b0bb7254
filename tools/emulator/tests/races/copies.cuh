/// \file
/// mbarriers, and copies that go on while their thread does other things.
#pragma once
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "case.cuh"

namespace races {

using Mbarrier = unsigned long long;
__device__ inline unsigned in_shared(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ inline void mbarrier_init(Mbarrier* m, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(in_shared(m)), "r"(count) : "memory");
}
__device__ inline void mbarrier_arrive(Mbarrier* m) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(in_shared(m)) : "memory");
}
__device__ inline void mbarrier_arrive_relaxed(Mbarrier* m) {
  asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(in_shared(m))
               : "memory");
}
__device__ inline void mbarrier_expect(Mbarrier* m, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(in_shared(m)), "r"(bytes)
               : "memory");
}
__device__ inline bool mbarrier_wait(Mbarrier* m, unsigned parity) {
  for (int i = 0; i < kTries; ++i) {
    unsigned over;
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
        : "=r"(over)
        : "r"(in_shared(m)), "r"(parity)
        : "memory");
    if (over) return true;
  }
  return false;
}
__device__ inline bool mbarrier_wait_relaxed(Mbarrier* m, unsigned parity) {
  for (int i = 0; i < kTries; ++i) {
    unsigned over;
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [%1], %2;"
        " selp.u32 %0, 1, 0, p;}"
        : "=r"(over)
        : "r"(in_shared(m)), "r"(parity)
        : "memory");
    if (over) return true;
  }
  return false;
}

template <bool Faulty>
__global__ void mbarrier_not_waited_for(Places p) {
  __shared__ Mbarrier full;
  __shared__ int tile[64];
  if (threadIdx.x == 0) mbarrier_init(&full, 64);
  __syncthreads();
  tile[threadIdx.x] = 1;  // @A
  mbarrier_arrive(&full);
  if (!Faulty && !mbarrier_wait(&full, 0)) return;
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void mbarrier_arrive_without_release(Places p) {
  __shared__ Mbarrier full;
  __shared__ int tile[64];
  if (threadIdx.x == 0) mbarrier_init(&full, 64);
  __syncthreads();
  tile[threadIdx.x] = 1;  // @A
  Faulty ? mbarrier_arrive_relaxed(&full) : mbarrier_arrive(&full);
  if (!mbarrier_wait(&full, 0)) return;
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void mbarrier_wait_without_acquire(Places p) {
  __shared__ Mbarrier full;
  __shared__ int tile[64];
  if (threadIdx.x == 0) mbarrier_init(&full, 64);
  __syncthreads();
  tile[threadIdx.x] = 1;  // @A
  mbarrier_arrive(&full);
  if (!(Faulty ? mbarrier_wait_relaxed(&full, 0) : mbarrier_wait(&full, 0))) return;
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void mbarrier_slot_not_released(Places p) {
  __shared__ Mbarrier full, empty;
  __shared__ int tile[32];
  if (threadIdx.x == 0) mbarrier_init(&full, 32), mbarrier_init(&empty, 32);
  __syncthreads();
  for (unsigned k = 0; k < 3; ++k) {
    if (threadIdx.x < 32) {
      if (k > 0 && !mbarrier_wait(&empty, (k - 1) % 2)) return;
      tile[threadIdx.x] = static_cast<int>(k);  // @A
      mbarrier_arrive(&full);
    } else {
      if (!mbarrier_wait(&full, k % 2)) return;
      p.out[32 * k + threadIdx.x] = tile[threadIdx.x - 32];  // @B
      Faulty ? mbarrier_arrive_relaxed(&empty) : mbarrier_arrive(&empty);
    }
  }
}
#pragma nv_diag_suppress static_var_with_dynamic_init
template <bool Faulty>
__global__ void barrier_token_dropped(Places p) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[64];
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  tile[threadIdx.x] = 1;  // @A
  Faulty ? void(barrier.arrive()) : barrier.arrive_and_wait();
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void barrier_of_one_warp(Places p) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier[2];
  __shared__ int tile[64];
  constexpr int kWarps = Faulty ? 1 : 2;
  if (threadIdx.x < 2) init(&barrier[threadIdx.x], 32 * kWarps);
  __syncthreads();
  tile[threadIdx.x] = 1;  // @A
  barrier[threadIdx.x / 32 / kWarps].arrive_and_wait();
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @B
}

template <bool Faulty>
__global__ void copy_not_waited_for(Places p) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &p.data[threadIdx.x], 4);  // @A
  __pipeline_commit();
  if (!Faulty) __pipeline_wait_prior(0);
  p.out[threadIdx.x] = tile[threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void copy_read_by_others(Places p) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &p.data[threadIdx.x], 4);  // @A
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (!Faulty) __syncthreads();
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void copy_group_too_new(Places p) {
  __shared__ int tile[2][64];
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&tile[k][threadIdx.x], &p.data[64 * k + threadIdx.x], 4);  // @A
    __pipeline_commit();
  }
  __pipeline_wait_prior(Faulty ? 1 : 0);
  p.out[threadIdx.x] = tile[1][threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void copy_overwritten(Places p) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &p.data[threadIdx.x], 4);  // @A
  __pipeline_commit();
  if (!Faulty) __pipeline_wait_prior(0);
  tile[threadIdx.x] = 7;  // @B
  __pipeline_wait_prior(0);
  p.out[threadIdx.x] = tile[threadIdx.x];
}
template <bool Faulty>
__global__ void copy_into_what_is_read(Places p) {
  __shared__ int tile[64];
  tile[threadIdx.x] = 1;
  __syncthreads();
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @A
  if (!Faulty) __syncthreads();
  __pipeline_memcpy_async(&tile[threadIdx.x], &p.data[threadIdx.x], 4);  // @B
  __pipeline_commit();
  __pipeline_wait_prior(0);
}
template <bool Faulty>
__global__ void copy_of_another_block(Places p) {
  __shared__ int tile[32];
  if (blockIdx.x == 0) {
    p.data[threadIdx.x] = 1;  // @A
  } else {
    const int* const from = &p.data[threadIdx.x + (Faulty ? 0 : 32)];
    __pipeline_memcpy_async(&tile[threadIdx.x], from, 4);  // @B
    __pipeline_commit();
    __pipeline_wait_prior(0);
    p.out[threadIdx.x] = tile[threadIdx.x];
  }
}
template <bool Faulty>
__global__ void copy_at_an_mbarrier(Places p) {
  __shared__ Mbarrier full;
  __shared__ int tile[64];
  if (threadIdx.x == 0) mbarrier_init(&full, 64);
  __syncthreads();
  __pipeline_memcpy_async(&tile[threadIdx.x], &p.data[threadIdx.x], 4);  // @A
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(in_shared(&full))
               : "memory");
  if (!Faulty && !mbarrier_wait(&full, 0)) return;
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void copy_by_group(Places p) {
  namespace cg = cooperative_groups;
  __shared__ int tile[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, p.data, sizeof tile);  // @A
  if (!Faulty) cg::wait(block);
  p.out[threadIdx.x] = tile[threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void copy_at_a_barrier(Places p) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[64];
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  cuda::memcpy_async(&tile[threadIdx.x], &p.data[threadIdx.x], 4, barrier);  // @A
  Faulty ? void(barrier.arrive()) : barrier.arrive_and_wait();
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void pipeline_stage_released_early(Places p) {
  __shared__ int tile[64];
  auto pipe = cuda::make_pipeline();
  for (int k = 0; k < 3; ++k) {
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[threadIdx.x], &p.data[64 * k + threadIdx.x], 4, pipe);  // @A
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    p.out[64 * k + threadIdx.x] = tile[63 - threadIdx.x];  // @B
    pipe.consumer_release();
    if (!Faulty) __syncthreads();
  }
}

__device__ inline void bulk_load(int* to, const int* from, unsigned bytes, Mbarrier* m) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(in_shared(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(in_shared(m))
      : "memory");
}
__device__ inline void bulk_store(int* to, const int* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(in_shared(from)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ inline void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
__device__ inline void async_fence() {
  asm volatile("fence.proxy.async;" ::: "memory");
}

template <bool Faulty>
__global__ void bulk_not_waited_for(Places p) {
  __shared__ alignas(16) int tile[64];
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) mbarrier_init(&full, 1), async_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    mbarrier_expect(&full, 256);
    bulk_load(tile, p.data, 256, &full);  // @A
  }
  if (!Faulty && !mbarrier_wait(&full, 0)) return;
  p.out[threadIdx.x] = tile[threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void bulk_waited_for_by_one(Places p) {
  __shared__ alignas(16) int tile[64];
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) mbarrier_init(&full, 1), async_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    mbarrier_expect(&full, 256);
    bulk_load(tile, p.data, 256, &full);  // @A
    if (!mbarrier_wait(&full, 0)) return;
  }
  if (!Faulty) __syncthreads();
  if (threadIdx.x > 0) p.out[threadIdx.x] = tile[threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void bulk_into_what_is_read(Places p) {
  __shared__ alignas(16) int tile[64];
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) mbarrier_init(&full, 1), async_fence();
  tile[threadIdx.x] = 1;
  __syncthreads();
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @A
  if (!Faulty) __syncthreads();
  if (threadIdx.x == 0) {
    async_fence();
    mbarrier_expect(&full, 256);
    bulk_load(tile, p.data, 256, &full);  // @B
  }
  mbarrier_wait(&full, 0);
}
template <bool Faulty>
__global__ void bulk_store_source_reused(Places p) {
  __shared__ alignas(16) int tile[32];
  tile[threadIdx.x] = 1;
  async_fence();
  __syncwarp();
  if (threadIdx.x == 0) {
    bulk_store(p.out, tile, 128);  // @A
    if (!Faulty) bulk_wait();
    tile[0] = 2;  // @B
    bulk_wait();
  }
}
template <bool Faulty>
__global__ void bulk_store_told_too_early(Places p) {
  __shared__ alignas(16) int tile[32];
  if (blockIdx.x == 0) {
    tile[threadIdx.x] = 1;
    async_fence();
    __syncwarp();
    if (threadIdx.x == 0) {
      bulk_store(p.data, tile, 128);  // @A
      if (!Faulty) bulk_wait();
      __threadfence();
      raise(p.flag);
      bulk_wait();
    }
  } else if (threadIdx.x == 0 && seen(p.flag)) {
    __threadfence();
    p.out[0] = p.data[5];  // @B
  }
}
template <bool Faulty>
__global__ void bulk_store_before_the_others(Places p) {
  __shared__ alignas(16) int tile[64];
  tile[threadIdx.x] = 1;  // @A
  async_fence();
  if (!Faulty) __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store(p.out, tile, 256);  // @B
    bulk_wait();
  }
}
template <bool Faulty>
__global__ void bulk_stores_overlap(Places p) {
  __shared__ alignas(16) int tile[32];
  tile[threadIdx.x] = 1;
  async_fence();
  __syncwarp();
  if (threadIdx.x == 0) {
    bulk_store(p.out + blockIdx.x * (Faulty ? 28 : 32), tile, 128);  // @AB
    bulk_wait();
  }
}

inline const Case kCopies[] = {
    RACES_CASE("mbarriers", "block", "shared", mbarrier_not_waited_for, 1, 64, "no wait"),
    RACES_CASE("mbarriers", "block", "shared", mbarrier_arrive_without_release, 1, 64,
               "a relaxed arrive"),
    RACES_CASE("mbarriers", "block", "shared", mbarrier_wait_without_acquire, 1, 64,
               "a relaxed wait"),
    RACES_CASE("mbarriers", "block", "shared", mbarrier_slot_not_released, 1, 64,
               "a relaxed arrive after the read"),
    RACES_CASE("mbarriers", "block", "shared", barrier_token_dropped, 1, 64, "arrives, no wait"),
    RACES_CASE("mbarriers", "block", "shared", barrier_of_one_warp, 1, 64, "a barrier per warp"),
    RACES_CASE("copies", "block", "shared", copy_not_waited_for, 1, 64, "no wait"),
    RACES_CASE("copies", "block", "shared", copy_read_by_others, 1, 64,
               "no barrier after the wait"),
    RACES_CASE("copies", "block", "shared", copy_group_too_new, 1, 64,
               "waits for the group before"),
    RACES_CASE("copies", "block", "shared", copy_overwritten, 1, 64, "no wait before the write"),
    RACES_CASE("copies", "block", "shared", copy_into_what_is_read, 1, 64, "no barrier before"),
    RACES_CASE("copies", "grid", "global", copy_of_another_block, 2, 32, "reads another block's"),
    RACES_CASE("copies", "block", "shared", copy_at_an_mbarrier, 1, 64, "no wait"),
    RACES_CASE("copies", "block", "shared", copy_by_group, 1, 64, "no wait"),
    RACES_CASE("copies", "block", "shared", copy_at_a_barrier, 1, 64, "no wait"),
    RACES_CASE("copies", "block", "shared", pipeline_stage_released_early, 1, 64,
               "no barrier before the next copy"),
    RACES_CASE("copies", "block", "shared", bulk_not_waited_for, 1, 64, "no wait"),
    RACES_CASE("copies", "block", "shared", bulk_waited_for_by_one, 1, 64, "one thread waits"),
    RACES_CASE("copies", "block", "shared", bulk_into_what_is_read, 1, 64, "no barrier before"),
    RACES_CASE("copies", "block", "shared", bulk_store_source_reused, 1, 32, "no wait"),
    RACES_CASE("copies", "grid", "global", bulk_store_told_too_early, 2, 32,
               "no wait before the flag"),
    RACES_CASE("copies", "block", "shared", bulk_store_before_the_others, 1, 64, "no barrier"),
    RACES_CASE("copies", "grid", "global", bulk_stores_overlap, 4, 32, "copies overlap"),
};

}  // namespace races
