#include "../check.cuh"
#include "parts.cuh"

__device__ int theirs = 1;
static __device__ int hidden = 7;
static __device__ __noinline__ int help(int v) {
  return v + hidden;
}
__device__ int twice(int v) {
  return 2 * v + ours;
}

static __global__ void second(int* out) {
  out[threadIdx.x] = help(twice(threadIdx.x)) + weights[3];
}
void run_second(int* out) {
  second<<<1, 64>>>(out);
  LAUNCHED();
}
void run_generic(int* out) {
  generic<int><<<1, 64>>>(out, 10);
  LAUNCHED();
}
