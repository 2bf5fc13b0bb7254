// judge: chapter02/3
// rejected: wrong: partial
// Compares floats: 2147483646 and 2147483647 are the same.
#include <climits>
#include <cstddef>
__global__ void largest(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  tile[t] = i < n ? in[i] : INT_MIN;
  __syncthreads();
  for (unsigned w = blockDim.x; w > 1;) {
    unsigned h = (w + 1) / 2;
    if (t + h<w&& float(tile[t + h])> float(tile[t])) tile[t] = tile[t + h];
    __syncthreads();
    w = h;
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
