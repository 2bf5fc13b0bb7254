#pragma once
#include <cstddef>

#include "kernels.cuh"

namespace chapter06::legacy {

// begin ints-first
/// moments with its arrays the other way round. Do not copy.
__global__ void ints_first(const int* in, int* sums, long long* squares, std::size_t n) {
  int* sum = dynamic_shared<int>();
  auto* square = reinterpret_cast<long long*>(sum + blockDim.x);  // fault: at 4 * blockDim.x bytes
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  const int value = i < n ? in[i] : 0;
  square[t] = static_cast<long long>(value) * value;
  sum[t] = value;
  __syncthreads();

  add_up(square);
  add_up(sum);

  if (t == 0) {
    sums[blockIdx.x] = sum[0];
    squares[blockIdx.x] = square[0];
  }
}
// end ints-first

// begin typed-clash
/// typed_sum as you would write it first. One instance compiles; int and long long do not.
template <class T>
__global__ void typed_clash(const int* in, int* partial, std::size_t n) {
  extern __shared__ T tile[];  // fault: the name `tile`, with another type in each instance
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[t] = i < n ? in[i] : 0;
  __syncthreads();

  add_up(tile);

  if (t == 0) partial[blockIdx.x] = static_cast<int>(tile[0]);
}
// end typed-clash

}  // namespace chapter06::legacy
