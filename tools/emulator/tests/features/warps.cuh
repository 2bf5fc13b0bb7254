/// \file
/// What the lanes of a warp do together.
#pragma once
#include "case.cuh"

namespace features::warps {

constexpr unsigned kAll = 0xffffffffu;

__global__ void shuffle(int* out) {
  int sum = static_cast<int>(threadIdx.x);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(kAll, sum, offset);
  out[threadIdx.x] =
      __shfl_sync(kAll, sum, 0) + __shfl_xor_sync(kAll, sum, 0) * 0 + __shfl_up_sync(kAll, 0, 1);
}
FEATURE("warps", shuffles, "shuffles") {
  Values<int> out(32);
  shuffle<<<1, 32>>>(out.get());
  launched();
  return out[31] == 496;
}

__global__ void vote(unsigned* out) {
  const bool odd = threadIdx.x % 2 == 1;
  out[0] = __ballot_sync(kAll, odd);
  out[1] = static_cast<unsigned>(__any_sync(kAll, odd)) +
           2u * static_cast<unsigned>(__all_sync(kAll, odd));
  if (odd) out[2] = __activemask() != 0;
}
FEATURE("warps", votes, "votes and ballots") {
  Values<unsigned> out(3);
  vote<<<1, 32>>>(out.get());
  launched();
  return out[0] == 0xaaaaaaaau && out[1] == 1 && out[2] == 1;
}

__global__ void match(unsigned* out) {
  int same = 0;
  out[threadIdx.x] = __match_any_sync(kAll, threadIdx.x / 8);
  __match_all_sync(kAll, 5, &same);
  out[32] = static_cast<unsigned>(same);
}
FEATURE("warps", matches, "lanes that hold the same value (match)") {
  Values<unsigned> out(33);
  match<<<1, 32>>>(out.get());
  launched();
  return out[9] == 0xff00u && out[32] == 1;
}

__global__ void reduce(unsigned* out) {
  out[0] = __reduce_add_sync(kAll, threadIdx.x);
  out[1] = __reduce_max_sync(kAll, threadIdx.x * 3);
  out[2] = __reduce_xor_sync(kAll, threadIdx.x);
}
FEATURE("warps", reductions, "a warp's reduction in one instruction (redux)") {
  Values<unsigned> out(3);
  reduce<<<1, 32>>>(out.get());
  launched();
  return out[0] == 496 && out[1] == 93 && out[2] == 0;
}

__global__ void hand_on(int* out) {
  __shared__ volatile int place;
  if (threadIdx.x == 7) place = 42;
  __syncwarp();
  out[threadIdx.x] = place;
}
FEATURE("warps", warp_barrier, "__syncwarp") {
  Values<int> out(32);
  hand_on<<<1, 32>>>(out.get());
  launched();
  return out[31] == 42;
}

__global__ void spin(int* lock, int* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *count = *count + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
FEATURE("warps", lanes_that_wait, "a lock between the lanes of one warp") {
  Values<int> lock(1), count(1);
  spin<<<2, 64>>>(lock.get(), count.get());
  launched();
  return count[0] == 128;
}

__global__ void elect(int* out) {
  unsigned taken;
  asm volatile("{ .reg .pred p; .reg .b32 r; elect.sync r|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(taken));
  if (taken) atomicAdd(out, 1);
}
FEATURE("warps", election, "elect.sync: one lane of the warp") {
  Values<int> out(1);
  elect<<<1, 64>>>(out.get());
  launched();
  return out[0] == 2;
}

}  // namespace features::warps
