// Asynchronous copies into shared memory: cp.async by intrinsics, cuda::pipeline, cuda::barrier.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "check.cuh"

namespace cg = cooperative_groups;
constexpr int kThreads = 128, kStages = 2;

__global__ void intrinsics(const int4* in, int4* out) {
  __shared__ int4 stage[kThreads];
  __pipeline_memcpy_async(&stage[threadIdx.x], in + threadIdx.x, sizeof(int4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = stage[kThreads - 1 - threadIdx.x];
}

// Each batch is added up while the next is on its way.
__global__ void batches(const int* in, int* out, int count) {
  __shared__ int stages[kStages][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int compute = 0, fetch = 0; compute < count; ++compute) {
    for (; fetch < count && fetch < compute + kStages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stages[fetch % kStages], in + fetch * kThreads,
                         cuda::aligned_size_t<16>(sizeof(int) * kThreads), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += stages[compute % kStages][(threadIdx.x + 1) % kThreads];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__global__ void barriers(const int* in, int* out) {
  __shared__ int stage[kThreads];
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 3; ++round) {
    cuda::memcpy_async(stage + threadIdx.x, in + round * kThreads + threadIdx.x, sizeof(int),
                       barrier);
    barrier.arrive_and_wait();
    const int other = stage[kThreads - 1 - threadIdx.x];
    const auto token = barrier.arrive();
    barrier.wait(std::move(const_cast<Barrier::arrival_token&>(token)));
    out[round * kThreads + threadIdx.x] = other;
  }
}

int main() {
  constexpr int kBatches = 5;
  const auto values = numbers(kThreads * kBatches, 1000);
  Buffer<int> in(values), out(kThreads * kBatches);
  intrinsics<<<1, kThreads>>>(reinterpret_cast<const int4*>(in.get()),
                              reinterpret_cast<int4*>(out.get()));
  LAUNCHED();
  auto got = out.host();
  for (int i = 0; i < 4 * kThreads; ++i) {
    CHECK(got[i] == values[(kThreads - 1 - i / 4) * 4 + i % 4]);
  }
  batches<<<1, kThreads>>>(in.get(), out.get(), kBatches);
  LAUNCHED();
  got = out.host();
  for (int i = 0; i < kThreads; ++i) {
    int sum = 0;
    for (int b = 0; b < kBatches; ++b) sum += values[b * kThreads + (i + 1) % kThreads];
    CHECK(got[i] == sum);
  }
  barriers<<<1, kThreads>>>(in.get(), out.get());
  LAUNCHED();
  got = out.host();
  for (int r = 0; r < 3; ++r) {
    for (int i = 0; i < kThreads; ++i) {
      CHECK(got[r * kThreads + i] == values[r * kThreads + kThreads - 1 - i]);
    }
  }
  return done();
}
