// Pairs of kernels whose data are volatile or relaxed: nothing races, and in the faulty one nothing
// orders two accesses of which a result is made. Twins differ in the lines that name `Faulty`; `//
// @A` and `// @B` mark the two accesses, `// @AB` a line that meets itself. The last kernels have
// no faulty twin.
#include <cuda/atomic>

#include <cstdio>
#include <cstring>

#include "../races/case.cuh"

namespace {

using races::locked, races::raise, races::seen;

struct Places {
  volatile int* data;
  int* out;
  int* flag;
};

template <bool Faulty>
__global__ void flag_without_fence_before(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;  // @A
    if (!Faulty) __threadfence();
    raise(p.flag, 1);
  } else if (seen(p.flag, 1)) {
    __threadfence();
    p.out[0] = p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void flag_without_fence_after(Places p) {
  if (blockIdx.x == 1) {
    p.data[0] = 42;  // @A
    __threadfence();
    atomicExch(p.flag, 1);
  } else if (seen(p.flag, 1)) {
    if (!Faulty) __threadfence();
    p.out[0] = 2 * p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void fence_of_the_block_before(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;  // @A
    Faulty ? __threadfence_block() : __threadfence();
    atomicExch(p.flag, 1);
  } else {
    while (atomicAdd(p.flag, 0) == 0) {
    }
    __threadfence();
    p.out[0] = p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void fence_of_the_block_after(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;  // @A
    __threadfence();
    atomicExch(p.flag, 1);
  } else {
    while (atomicAdd(p.flag, 0) == 0) {
    }
    Faulty ? __threadfence_block() : __threadfence();
    p.out[0] = p.data[0];  // @B
  }
}
template <bool Faulty>
__global__ void only_decides(Places p) {
  if (blockIdx.x == 0) {
    p.data[0] = 42;  // @A
    if (!Faulty) __threadfence();
    raise(p.flag, 1);
  } else if (seen(p.flag, 1)) {
    __threadfence();
    if (p.data[0] != 42) atomicAdd(p.out, 1);  // @B
  }
}
template <bool Faulty>
__global__ void lock_without_release(Places p) {
  if (!locked(p.flag)) return;
  __threadfence();
  p.data[0] = p.data[0] + 1;  // @AB
  if (!Faulty) __threadfence();
  atomicExch(p.flag, 0);
}
template <bool Faulty>
__global__ void lock_without_acquire(Places p) {
  if (!locked(p.flag)) return;
  if (!Faulty) __threadfence();
  p.data[0] = p.data[0] + 1;  // @AB
  __threadfence();
  raise(p.flag, 0);
}
template <bool Faulty>
__global__ void lock_with_fences_of_the_block(Places p) {
  if (!locked(p.flag)) return;
  __threadfence();
  p.data[0] = p.data[0] + 1;  // @AB
  Faulty ? __threadfence_block() : __threadfence();
  atomicExch(p.flag, 0);
}
template <bool Faulty>
__global__ void lock_for_stores(Places p) {
  if (!locked(p.flag)) return;
  __threadfence();
  p.data[0] = static_cast<int>(blockIdx.x) + 1;  // @AB
  if (!Faulty) __threadfence();
  atomicExch(p.flag, 0);
}
template <bool Faulty>
__global__ void stores_beside_the_lock(Places p) {
  if (blockIdx.x == 1) {
    p.data[Faulty ? 0 : 1] = 7;  // @A
    return;
  }
  if (!locked(p.flag)) return;
  __threadfence();
  p.data[0] = p.data[0] + 1;  // @B
  __threadfence();
  atomicExch(p.flag, 0);
}
template <bool Faulty>
__global__ void lock_in_shared(Places p) {
  __shared__ int lock;
  __shared__ volatile int sum;
  if (threadIdx.x == 0) {
    lock = 0;
    sum = 0;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0 && locked(&lock)) {
    __threadfence_block();
    sum = sum + 1;  // @AB
    if (!Faulty) __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) p.out[0] = sum;
}
template <bool Faulty>
__global__ void last_block_sums_up(Places p) {
  p.data[blockIdx.x] = 1;  // @A
  if (!Faulty) __threadfence();
  if (atomicAdd(p.flag, 1) != static_cast<int>(gridDim.x) - 1) return;
  __threadfence();
  for (unsigned b = 0; b < gridDim.x; ++b) p.out[0] += p.data[b];  // @B
}
template <bool Faulty>
__global__ void last_block_reads_the_total(Places p) {
  atomicAdd(&p.out[1], 1);  // @A
  if (!Faulty) __threadfence();
  if (atomicAdd(p.flag, 1) != static_cast<int>(gridDim.x) - 1) return;
  __threadfence();
  p.out[0] = *static_cast<volatile int*>(&p.out[1]);  // @B
}
template <bool Faulty>
__global__ void tree_without_barriers(Places p) {
  __shared__ volatile int s[128];
  const unsigned t = threadIdx.x;
  s[t] = static_cast<int>(t);  // @A
  if (!Faulty) __syncthreads();
  if (t < 64) p.out[t] = s[t] + s[t + 64];  // @B
}
template <bool Faulty>
__global__ void last_warp_after_a_fence(Places p) {
  __shared__ volatile int s[64];
  const unsigned t = threadIdx.x;
  s[t] = static_cast<int>(t);
  __threadfence_block();
  if (!Faulty) __syncwarp();
  if (t < 16) s[t + 32] = s[t] + 1;  // @A
  __threadfence_block();
  if (!Faulty) __syncwarp();
  p.out[t] = s[32 + (t ^ 1)];  // @B
}
template <bool Faulty>
__global__ void relaxed_flag_and_data(Places p) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*p.flag), data(p.out[1]);
  if (blockIdx.x == 0) {
    data.store(42, cuda::memory_order_relaxed);  // @A
    flag.store(1, Faulty ? cuda::memory_order_relaxed : cuda::memory_order_release);
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    p.out[0] = data.load(cuda::memory_order_relaxed);  // @B
  }
}
template <bool Faulty>
__global__ void chain_of_blocks(Places p) {
  int before = 0;
  if (blockIdx.x > 0) {
    if (!seen(&p.flag[blockIdx.x - 1], 1)) return;
    __threadfence();
    before = p.data[blockIdx.x - 1];  // @B
  }
  p.data[blockIdx.x] = before + 1;  // @A
  if (!Faulty) __threadfence();
  raise(&p.flag[blockIdx.x], 1);
  p.out[blockIdx.x] = before;
}
template <bool Faulty>
__global__ void barrier_of_the_grid_by_hand(Places p) {
  p.data[blockIdx.x] = 5;  // @A
  if (!Faulty) __threadfence();
  atomicAdd(p.flag, 1);
  if (!seen(p.flag, static_cast<int>(gridDim.x))) return;
  __threadfence();
  p.out[blockIdx.x] = p.data[blockIdx.x ^ 1];  // @B
}
template <bool Faulty>
__global__ void slot_written_again(Places p) {
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

// ------------------------------------------------------------------ right as they are

/// As in NVIDIA's guide: a barrier stands between the ticket and the reads, and no fence.
__global__ void ticket_and_barrier(Places p) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    p.data[blockIdx.x] = 1;
    __threadfence();
    last = atomicAdd(p.flag, 1) == static_cast<int>(gridDim.x) - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) atomicAdd(p.out, p.data[threadIdx.x]);
}
__global__ void value_in_the_flag(Places p) {
  if (blockIdx.x == 0) raise(p.flag, 42);
  int v = 0;
  while ((v = *static_cast<volatile int*>(p.flag)) == 0) {
  }
  p.out[blockIdx.x] = v;
}
__global__ void maximum_by_swaps(Places p) {
  int* const at = const_cast<int*>(p.data);
  const int mine = static_cast<int>(blockIdx.x);
  int old = *p.data, assumed;
  do {
    assumed = old;
    if (assumed >= mine) break;
    old = atomicCAS(at, assumed, mine);
  } while (old != assumed);
}
__global__ void bound_looked_at(Places p) {
  const int job = atomicAdd(p.flag, 1);
  if (*p.data < job) atomicMax(const_cast<int*>(p.data), job);
  p.out[job] = job;
}
__global__ void stops_when_told(Places p) {
  for (int job = atomicAdd(p.flag, 1); job < 64; job = atomicAdd(p.flag, 1)) {
    if (*p.data) break;
    atomicAdd(p.out, job & 0);
    if (job == 40) *p.data = 1;
  }
}
__global__ void counter_waited_for(Places p) {
  __threadfence();
  atomicAdd(p.flag, 1);
  while (*static_cast<volatile int*>(p.flag) < static_cast<int>(gridDim.x)) {
  }
  __threadfence();
  if (threadIdx.x == 0) p.out[blockIdx.x] = 1;
}

struct Case {
  const char* name;
  void (*kernel[2])(Places);
  int blocks, threads;
};
#define PAIR(name, blocks, threads) \
  { #name, {&name < false>, &name < true> }, blocks, threads }
#define RIGHT(name, blocks, threads) \
  { #name, {&name, nullptr }, blocks, threads }

const Case kCases[] = {
    PAIR(flag_without_fence_before, 2, 1),
    PAIR(flag_without_fence_after, 2, 1),
    PAIR(fence_of_the_block_before, 2, 1),
    PAIR(fence_of_the_block_after, 2, 1),
    PAIR(only_decides, 2, 1),
    PAIR(lock_without_release, 3, 1),
    PAIR(lock_without_acquire, 3, 1),
    PAIR(lock_with_fences_of_the_block, 3, 1),
    PAIR(lock_for_stores, 3, 1),
    PAIR(stores_beside_the_lock, 2, 1),
    PAIR(lock_in_shared, 1, 96),
    PAIR(last_block_sums_up, 4, 1),
    PAIR(last_block_reads_the_total, 4, 1),
    PAIR(tree_without_barriers, 1, 128),
    PAIR(last_warp_after_a_fence, 1, 32),
    PAIR(relaxed_flag_and_data, 2, 1),
    PAIR(chain_of_blocks, 4, 1),
    PAIR(barrier_of_the_grid_by_hand, 4, 1),
    PAIR(slot_written_again, 2, 1),
    RIGHT(ticket_and_barrier, 4, 64),
    RIGHT(value_in_the_flag, 4, 1),
    RIGHT(maximum_by_swaps, 4, 1),
    RIGHT(bound_looked_at, 4, 32),
    RIGHT(stops_when_told, 4, 1),
    RIGHT(counter_waited_for, 4, 32),
};

}  // namespace

int main() {
  constexpr size_t kBytes = 4096;
  int* all[3];
  for (int*& at : all) cudaMalloc(&at, kBytes);
  for (const Case& c : kCases) {
    for (const auto kernel : c.kernel) {
      if (!kernel) continue;
      for (int* at : all) cudaMemset(at, 0, kBytes);
      Places places{all[0], all[1], all[2]};
      void* list[] = {&places};
      cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(c.blocks), dim3(c.threads), list,
                       0, nullptr);
      const cudaError_t error = cudaDeviceSynchronize();
      if (error != cudaSuccess) std::printf("%s: %s\n", c.name, cudaGetErrorString(error));
    }
  }
  for (int* at : all) cudaFree(at);
}
