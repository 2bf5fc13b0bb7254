/// \file
/// What the cases share: memory, streams and kernels to give them, and how a case is listed.
///
/// A case is a function of the host with a parameter `Faulty`. Its faulty and its clean twin differ
/// in the one line that names `Faulty`: an event that isn't waited for, another stream. In the
/// faulty one two operations race; `first` and `second` are what a finding must name of them.
#pragma once
#include <cuda_runtime.h>

namespace streams {

constexpr int kWords = 64;
constexpr std::size_t kBytes = kWords * sizeof(int);

struct World {
  int *a, *b;                       ///< device memory, 2 * kWords each
  int* pinned;                      ///< kWords, as the others
  int* managed;                     ///<
  int* pageable;                    ///<
  cudaStream_t one, two, three;     ///< that wait for the default stream, and it for them
  cudaStream_t free_one, free_two;  ///< that don't: cudaStreamNonBlocking
  cudaEvent_t event, other;
};

struct Case {
  const char *kind, *name, *first, *second, *fault;
  void (*faulty)(const World&);
  void (*clean)(const World&);
};

#define STREAMS_CASE(kind, name, first, second, fault) \
  { kind, #name, first, second, fault, &name<true>, &name<false> }

static __device__ int variable[kWords];

__global__ void fill(int* to) {
  to[threadIdx.x] = 42;
}
__global__ void copy(int* to, const int* from) {
  to[threadIdx.x] = from[threadIdx.x];
}
__global__ void copy_variable(int* to) {
  to[threadIdx.x] = variable[threadIdx.x];
}
__global__ void add(int* to) {
  to[0] += 1;
}
__global__ void add_atomically(int* to) {
  atomicAdd(to, 1);
}
__global__ void nothing() {}

}  // namespace streams
