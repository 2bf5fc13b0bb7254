#include <cstddef>

/// A sum, and what its last addition has rounded away.
struct Sum {
  float sum, excess;  // the sum is too large by `excess`

  __device__ void add(float x) {
    // [blank] add x, and keep what the addition rounds away
    //= sum += x;
    const float wanted = x - excess;
    const float next = sum + wanted;
    excess = (next - sum) - wanted;
    sum = next;
    // [/blank]
  }
  __device__ void merge(const Sum& other) {
    add(other.sum);
    add(-other.excess);
  }
};

/// One sum per block. Each thread adds up every (blocks * threads)th element.
__global__ void sum(const float* in, float* partial, std::size_t n) {
  __shared__ Sum tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;

  Sum mine{};
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t; i < n; i += stride) {
    mine.add(in[i]);
  }
  tile[t] = mine;
  __syncthreads();

  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;  // rounded up: an odd one out waits a step
    if (t + half < width) tile[t].merge(tile[t + half]);
    __syncthreads();
    width = half;
  }

  if (t == 0) partial[blockIdx.x] = tile[0].sum;
}
