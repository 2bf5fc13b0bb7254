#pragma once
#include <cstddef>

#include "../chapter05_unroll4/kernels.cuh"

namespace chapter06 {

// begin dynamic-smem
/// One partial sum per block, through as much shared memory as the launch asks for.
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; the last block's share may be short
/// \pre gridDim.x * blockDim.x >= n
/// \pre launched with blockDim.x * sizeof(int) bytes of dynamic shared memory or more
__global__ void dynamic_smem(const int* in, int* partial, std::size_t n) {
  extern __shared__ int tile[];  // no number here: the launch gives it, in bytes
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[t] = i < n ? in[i] : 0;  // past the end: add nothing, but stay for the barriers
  __syncthreads();

  chapter02::add_up(tile);

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end dynamic-smem

// begin dynamic-unroll
/// chapter05's unroll in the same way.
///
/// \pre gridDim.x * Factor * blockDim.x >= n
/// \pre launched with blockDim.x * sizeof(int) bytes of dynamic shared memory or more
template <unsigned Factor>
__global__ void dynamic_unroll(const int* in, int* partial, std::size_t n) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = chapter05::load_and_add<Factor>(in, n);
  __syncthreads();

  chapter02::add_up(tile);

  if (threadIdx.x == 0) partial[blockIdx.x] = tile[0];
}
// end dynamic-unroll

// begin dynamic-by-warps
/// chapter05's by_warps, whose slots are as many as the launch asks for.
///
/// \pre as by_warps; and launched with sizeof(int) bytes of dynamic shared memory per warp or more
template <unsigned Factor>
__global__ void dynamic_by_warps(const int* in, int* partial, std::size_t n) {
  extern __shared__ int tile[];  // a slot per warp
  const int sum = chapter05::add_by_warps(chapter05::load_and_add<Factor>(in, n), tile);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
// end dynamic-by-warps

// begin both-ends
/// Uses the first and the last of `count` ints of dynamic shared memory: *out becomes count.
///
/// \pre count >= 2, and launched with count * sizeof(int) bytes
__global__ void both_ends(int* out, unsigned count) {
  extern __shared__ int tile[];
  if (threadIdx.x == 0) tile[0] = 1;
  if (threadIdx.x == blockDim.x - 1) tile[count - 1] = static_cast<int>(count - 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = tile[0] + tile[count - 1];
}
// end both-ends

// begin shared-bytes
/// The block's dynamic shared memory, as an array of T.
///
/// What is declared `extern` has one type in the whole file. So that T may differ from kernel to
/// kernel, it is declared once, of bytes, and aligned for whatever may lie in it.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char dynamic_bytes[];
  return reinterpret_cast<T*>(dynamic_bytes);
}
// end shared-bytes

// begin typed-tree
/// chapter02's tree for slots of any type: adds up tile[0 … blockDim.x) in place.
template <class T>
__device__ void add_up(T* tile) {
  const unsigned t = threadIdx.x;
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }
}
// end typed-tree

// begin typed-sum
/// dynamic_smem, adding in type T.
///
/// \pre launched with blockDim.x * sizeof(T) bytes of dynamic shared memory or more
template <class T>
__global__ void typed_sum(const int* in, int* partial, std::size_t n) {
  T* tile = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[t] = i < n ? in[i] : 0;
  __syncthreads();

  add_up(tile);

  if (t == 0) partial[blockIdx.x] = static_cast<int>(tile[0]);
}
// end typed-sum

// begin two-arrays
/// Bytes of dynamic shared memory that `moments` needs.
__host__ __device__ constexpr std::size_t moments_bytes(unsigned block) {
  return block * (sizeof(long long) + sizeof(int));
}

/// Sum and sum of squares, from which mean and variance follow: two arrays in one allocation.
///
/// \param in       n elements in device memory; left as they are
/// \param sums     gridDim.x sums, one per block
/// \param squares  gridDim.x sums of squares; one square of an int may need 63 bits
/// \param n        number of elements; the last block's share may be short
/// \pre gridDim.x * blockDim.x >= n
/// \pre a block's sum fits an int, and its sum of squares a long long
/// \pre launched with moments_bytes(blockDim.x) bytes of dynamic shared memory or more
__global__ void moments(const int* in, int* sums, long long* squares, std::size_t n) {
  long long* square = dynamic_shared<long long>();         // the widest type first …
  int* sum = reinterpret_cast<int*>(square + blockDim.x);  // … and right behind it the next
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
// end two-arrays

}  // namespace chapter06
