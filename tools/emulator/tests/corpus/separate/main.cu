// Separately compiled units: the kernels of one use functions and variables of another.
#include "../check.cuh"
#include "parts.cuh"

static __device__ int hidden = 5;  // the other unit has one too
static __device__ __noinline__ int help(int v) {
  return v + hidden;
}
__constant__ int weights[4] = {1, 2, 3, 4};
__device__ int ours = 3;
__managed__ int managed = 9;

__global__ void first(int* out) {
  out[threadIdx.x] = twice(help(threadIdx.x)) + theirs + weights[threadIdx.x % 4];
  if (threadIdx.x == 0) managed += 1;
}

int main() {
  int value = 100;
  CUDA(cudaMemcpyToSymbol(theirs, &value, sizeof value));
  Buffer<int> out(64);
  first<<<1, 64>>>(out.get());
  LAUNCHED();
  auto got = out.host();
  for (int i = 0; i < 64; ++i) CHECK(got[i] == 2 * (i + 5) + 3 + 100 + i % 4 + 1);
  CHECK(managed == 10);
  run_second(out.get());
  got = out.host();
  for (int i = 0; i < 64; ++i) CHECK(got[i] == 2 * i + 3 + 7 + 4);
  generic<int><<<1, 64>>>(out.get(), 1);
  LAUNCHED();
  run_generic(out.get());
  got = out.host();
  for (int i = 0; i < 64; ++i) CHECK(got[i] == 2 * i + 3 + 7 + 4 + 1 + 10);
  return done();
}
