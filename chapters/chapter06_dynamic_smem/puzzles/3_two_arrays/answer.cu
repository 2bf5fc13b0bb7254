#include <cstddef>

/// Sums (unsigned, so they may wrap) and sums of squares, one of each per block.
__global__ void moments(const int* in, unsigned* sums, unsigned long long* squares, std::size_t n) {
  extern __shared__ __align__(8) unsigned char bytes[];  // 12 per thread
  // [blank] where do the two arrays begin?
  //= unsigned* sum = reinterpret_cast<unsigned*>(bytes);
  //= unsigned long long* square = reinterpret_cast<unsigned long long*>(sum + blockDim.x);
  unsigned long long* square = reinterpret_cast<unsigned long long*>(bytes);
  unsigned* sum = reinterpret_cast<unsigned*>(square + blockDim.x);
  // [/blank]
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  const long long value = i < n ? in[i] : 0;
  sum[t] = static_cast<unsigned>(value);
  square[t] = static_cast<unsigned long long>(value * value);
  __syncthreads();

  // [blank] one tree for both
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) {
      sum[t] += sum[t + half];
      square[t] += square[t + half];
    }
    __syncthreads();
    width = half;
  }
  // [/blank]

  if (t == 0) {
    sums[blockIdx.x] = sum[0];
    squares[blockIdx.x] = square[0];
  }
}
