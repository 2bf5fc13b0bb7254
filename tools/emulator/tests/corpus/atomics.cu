// cuda::atomic and cuda::atomic_ref, in global, shared and managed memory; semaphores and latches.
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>

#include "check.cuh"

struct Totals {
  int sum;
  unsigned most;
  unsigned long long bits;
  float floating;
};

__global__ void refer(Totals* totals, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> sum(totals->sum);
  sum.fetch_add(i, cuda::memory_order_relaxed);
  cuda::atomic_ref<unsigned> most(totals->most);
  most.fetch_max(static_cast<unsigned>(i));
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> bits(totals->bits);
  bits.fetch_or(1ull << (i % 64));
  cuda::atomic_ref<float, cuda::thread_scope_device> floating(totals->floating);
  for (float seen = floating.load(); !floating.compare_exchange_weak(seen, seen + 0.5f);) {
  }
}

// One block hands values to another through a flag: release and acquire.
__global__ void hand_over(cuda::atomic<int, cuda::thread_scope_device>* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = static_cast<int>(threadIdx.x) * 3;
    __syncthreads();
    if (threadIdx.x == 0) flag->store(1, cuda::memory_order_release);
  } else {
    if (threadIdx.x == 0) {
      while (flag->load(cuda::memory_order_acquire) == 0) {
      }
    }
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];
  }
}

__global__ void waiting(int* out) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> word;
  if (threadIdx.x == 0) word.store(0);
  __syncthreads();
  if (threadIdx.x < 32) {
    word.wait(0);
    out[threadIdx.x] = word.load();
  } else if (threadIdx.x == 32) {
    word.store(77);
    word.notify_all();
  }
}

int main() {
  constexpr int kN = 5000;
  Totals* totals = nullptr;
  CUDA(cudaMallocManaged(&totals, sizeof *totals));
  *totals = {};
  refer<<<(kN + 127) / 128, 128>>>(totals, kN);
  LAUNCHED();
  CHECK(totals->sum == kN * (kN - 1) / 2);
  CHECK(totals->most == kN - 1);
  CHECK(totals->bits == ~0ull);
  CHECK(totals->floating == kN * 0.5f);

  Buffer<int> data(64), out(64), flag(1);
  hand_over<<<2, 64>>>(reinterpret_cast<cuda::atomic<int, cuda::thread_scope_device>*>(flag.get()),
                       data.get(), out.get());
  LAUNCHED();
  const auto got = out.host();
  for (int i = 0; i < 64; ++i) CHECK(got[i] == 3 * i);
  waiting<<<1, 64>>>(out.get());
  LAUNCHED();
  CHECK(out.host()[5] == 77);
  return done();
}
