#pragma once
#include <cstddef>

#include "kernels.cuh"

namespace chapter07::answers {

// begin answer-many-wide
/// many with loads of 16 bytes: each thread fetches four neighbours at a time.
///
/// \pre in is aligned to 16 bytes, as all that cudaMalloc gives is
__global__ void many_wide(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const int4* fours = reinterpret_cast<const int4*>(in);
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + t;

  int sum = 0;
#pragma unroll 4  // as many loads in flight at once
  for (std::size_t i = thread; i < n / 4; i += threads) {
    const int4 v = fours[i];
    sum += v.x + v.y + v.z + v.w;
  }
  for (std::size_t i = n / 4 * 4 + thread; i < n; i += threads) sum += in[i];  // at most three
  tile[t] = sum;
  __syncthreads();

  chapter02::add_up(tile);

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end answer-many-wide

}  // namespace chapter07::answers
