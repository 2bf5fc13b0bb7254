// Threads that wait for each other: a lock between lanes of a warp, one between blocks, a histogram
// with atomics in shared memory, and a sum that the last block to finish makes.
#include "check.cuh"

__device__ int lock, guarded;

// Every lane takes the lock in its turn: works where lanes have program counters of their own.
__global__ void between_lanes() {
  for (bool mine = false; !mine;) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      const int seen = *static_cast<volatile int*>(&guarded);
      *static_cast<volatile int*>(&guarded) = seen + 1;
      __threadfence();
      atomicExch(&lock, 0);
      mine = true;
    }
  }
}

__global__ void spin_first() {
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence();
  guarded += 1;
  __threadfence();
  atomicExch(&lock, 0);
}

__global__ void histogram(const int* in, unsigned* bins, int n) {
  __shared__ unsigned own[64];
  if (threadIdx.x < 64) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(own + in[i], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(bins + threadIdx.x, own[threadIdx.x]);
}

__device__ unsigned come;

__global__ void last_block(const int* in, int* partial, int* out, int n) {
  __shared__ int sums[128];
  __shared__ bool last;
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  const auto add_up = [&](int mine) {
    sums[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
      if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
      __syncthreads();
    }
    return sums[0];
  };
  sum = add_up(sum);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&come, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  int all = 0;
  for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
    all += static_cast<volatile int*>(partial)[b];
  }
  all = add_up(all);
  if (threadIdx.x == 0) *out = all;
}

int read_guarded() {
  int value = 0;
  CUDA(cudaMemcpyFromSymbol(&value, guarded, sizeof value));
  return value;
}

int main() {
  between_lanes<<<1, 32>>>();
  LAUNCHED();
  CHECK(read_guarded() == 32);
  between_lanes<<<7, 64>>>();
  LAUNCHED();
  CHECK(read_guarded() == 32 + 7 * 64);
  spin_first<<<50, 1>>>();
  LAUNCHED();
  CHECK(read_guarded() == 32 + 7 * 64 + 50);
  spin_first<<<2, 32>>>();
  LAUNCHED();
  CHECK(read_guarded() == 32 + 7 * 64 + 50 + 64);

  constexpr int kN = 50'000;
  const auto values = numbers(kN, 64);
  Buffer<int> in(values);
  Buffer<unsigned> bins(64);
  histogram<<<20, 256>>>(in.get(), bins.get(), kN);
  LAUNCHED();
  std::vector<unsigned> expected(64);
  int sum = 0;
  for (const int v : values) {
    ++expected[v];
    sum += v;
  }
  CHECK(bins.host() == expected);

  Buffer<int> partial(40), out(1);
  for (int round = 0; round < 3; ++round) {
    last_block<<<40, 128>>>(in.get(), partial.get(), out.get(), kN);
    LAUNCHED();
    CHECK(out.host()[0] == sum);
  }
  return done();
}
