/// \file
/// Shared memory, and copies into it that go on by themselves.
#pragma once
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "case.cuh"

namespace features::shared {

__global__ void reverse(int* data) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
FEATURE("shared", dynamic_shared, "shared memory sized by the launch") {
  Values<int> data(counting(256));
  reverse<<<1, 256, 256 * sizeof(int)>>>(data.get());
  launched();
  return data[0] == 255 && data[255] == 0;
}

FEATURE("shared", large_shared, "more than 48 KB per block") {
  Values<int> data(counting(256));
  constexpr int kBytes = 200 * 1024;
  cuda(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  reverse<<<1, 256, kBytes>>>(data.get());
  launched();
  return data[0] == 255;
}

__global__ void counted_barriers(int* out) {
  const int all = __syncthreads_count(threadIdx.x % 3 == 0);
  const int some = __syncthreads_or(threadIdx.x == 5);
  if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
  if (threadIdx.x == 0) *out = all * 10 + (some != 0);
}
FEATURE("shared", block_barriers, "barriers: named, counting, for a part of the block") {
  Values<int> out(1);
  counted_barriers<<<1, 96>>>(out.get());
  launched();
  return out[0] == 321;
}

__global__ void asynchronous(const int* in, int* out) {
  __shared__ int tile[256];
  const auto block = cooperative_groups::this_thread_block();
  cooperative_groups::memcpy_async(block, tile, in, sizeof tile);
  cooperative_groups::wait(block);
  out[threadIdx.x] = tile[255 - threadIdx.x];
}
FEATURE("shared", asynchronous_copies, "asynchronous copies (memcpy_async, cp.async)") {
  Values<int> in(counting(256)), out(256);
  asynchronous<<<1, 256>>>(in.get(), out.get());
  launched();
  return out[0] == 255;
}

__global__ void piped(const int* in, int* out) {
  __shared__ int tile[2][128];
  auto pipe = cuda::make_pipeline();
  int sum = 0;
  for (int i = 0; i <= 4; ++i) {
    if (i < 4) {
      pipe.producer_acquire();
      cuda::memcpy_async(&tile[i % 2][threadIdx.x], &in[i * 128 + static_cast<int>(threadIdx.x)],
                         sizeof(int), pipe);
      pipe.producer_commit();
    }
    if (i > 0) {
      cuda::pipeline_consumer_wait_prior<0>(pipe);
      sum += tile[(i - 1) % 2][threadIdx.x];
      pipe.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}
FEATURE("shared", pipelines, "cuda::pipeline") {
  Values<int> in(counting(512)), out(128);
  piped<<<1, 128>>>(in.get(), out.get());
  launched();
  return out[1] == 1 + 129 + 257 + 385;
}

__global__ void arrive(int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Barrier) char room[sizeof(Barrier)];
  __shared__ int tile[128];
  auto* barrier = reinterpret_cast<Barrier*>(room);
  if (threadIdx.x == 0) init(barrier, blockDim.x);
  __syncthreads();
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  barrier->wait(barrier->arrive());
  out[threadIdx.x] = tile[127 - threadIdx.x];
}
FEATURE("shared", mbarriers, "cuda::barrier and mbarriers") {
  Values<int> out(128);
  arrive<<<1, 128>>>(out.get());
  launched();
  return out[0] == 127;
}

__global__ void bulk(const int* in, int* out) {
  __shared__ alignas(128) int tile[256];
  __shared__ alignas(8) unsigned long long barrier;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(at) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, "
        "[%2];" ::"r"(to),
        "l"(in), "r"(at)
        : "memory");
  }
  unsigned done = 0;
  while (!done) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(at)
        : "memory");
  }
  out[threadIdx.x] = tile[255 - threadIdx.x];
}
FEATURE("shared", bulk_copies, "bulk copies (cp.async.bulk)") {
  Values<int> in(counting(256)), out(256);
  bulk<<<1, 256>>>(in.get(), out.get());
  launched();
  return out[0] == 255;
}

}  // namespace features::shared
