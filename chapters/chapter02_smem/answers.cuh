#pragma once
#include <climits>
#include <cstddef>
#include <cstdint>

#include "kernels.cuh"

namespace chapter02::answers {

// begin answer-chunk
/// Each thread adds up a chunk of neighbouring elements instead of striding.
__global__ void smem_chunk(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t chunk = (n + threads - 1) / threads;
  const std::size_t first = (std::size_t{blockIdx.x} * blockDim.x + t) * chunk;

  int sum = 0;
  for (std::size_t i = first; i < first + chunk && i < n; ++i) sum += in[i];
  tile[t] = sum;
  __syncthreads();

  add_up(tile);

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end answer-chunk

// begin answer-any-operation
/// An operation: its values, the one that changes nothing, how an element becomes a value, and how
/// two values become one. The order is not kept, so `combine` must not mind it.
struct Largest {
  using Value = int;
  static __device__ Value neutral() { return INT_MIN; }
  static __device__ Value element(int x, std::size_t) { return x; }
  static __device__ Value combine(Value a, Value b) { return a > b ? a : b; }
};

/// The smallest element and where it stands; of equal ones the first, or the answer would depend on
/// the shape of the tree.
struct Smallest {
  struct Value {
    int x;
    std::size_t at;
  };
  static __device__ Value neutral() { return {INT_MAX, SIZE_MAX}; }
  static __device__ Value element(int x, std::size_t i) { return {x, i}; }
  static __device__ Value combine(Value a, Value b) {
    return b.x < a.x || (b.x == a.x && b.at < a.at) ? b : a;
  }
};

/// The tree in shared memory, for any operation.
template <class Operation>
__global__ void smem_any(const int* in, typename Operation::Value* partial, std::size_t n) {
  __shared__ typename Operation::Value tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[t] = i < n ? Operation::element(in[i], i) : Operation::neutral();
  __syncthreads();

  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t] = Operation::combine(tile[t], tile[t + half]);
    __syncthreads();
    width = half;
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end answer-any-operation

}  // namespace chapter02::answers
