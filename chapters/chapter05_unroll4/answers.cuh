#pragma once
#include <cstddef>

#include "kernels.cuh"

namespace chapter05::answers {

// begin answer-unrolled-stride
/// A grid-stride loop that keeps Factor loads in flight on each trip.
template <unsigned Factor>
__global__ void unrolled_stride(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;

  int sum = 0;
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x + t; first < n;
       first += Factor * threads) {
#pragma unroll
    for (unsigned k = 0; k < Factor; ++k) {
      const std::size_t i = first + k * threads;
      sum += i < n ? in[i] : 0;
    }
  }
  tile[t] = sum;
  __syncthreads();

  chapter02::add_up(tile);

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end answer-unrolled-stride

}  // namespace chapter05::answers
