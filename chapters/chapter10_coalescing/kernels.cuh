#pragma once
#include <cstddef>
#include <cstdint>

namespace chapter10 {

// begin load-stride
/// Takes every stride-th element: out[i] = in[i * stride].
///
/// \param in   n elements
/// \param out  ceil(n / stride) elements
/// \pre gridDim.x * blockDim.x >= ceil(n / stride)
__global__ void load_stride(const int* in, int* out, std::size_t n, unsigned stride) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i * stride < n) out[i] = in[i * stride];
}
// end load-stride

// begin store-stride
/// The other way round: out[i * stride] = in[i]. What lies between stays as it is.
///
/// \param in   ceil(n / stride) elements
/// \param out  n elements
/// \pre gridDim.x * blockDim.x >= ceil(n / stride)
__global__ void store_stride(const int* in, int* out, std::size_t n, unsigned stride) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i * stride < n) out[i * stride] = in[i];
}
// end store-stride

// begin load-offset
/// Takes neighbours, beginning anywhere: out[i] = in[i + offset].
///
/// \param in   n + offset elements
/// \param out  n elements
/// \pre gridDim.x * blockDim.x >= n
__global__ void load_offset(const int* in, int* out, std::size_t n, unsigned offset) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + offset];
}
// end load-offset

// begin load-offset-four
/// load_offset with four elements per thread, a block apart: a quarter of the blocks, and four
/// loads in flight.
///
/// \pre gridDim.x * 4 * blockDim.x >= n
__global__ void load_offset_four(const int* in, int* out, std::size_t n, unsigned offset) {
  const std::size_t first = std::size_t{blockIdx.x} * (4 * blockDim.x) + threadIdx.x;
  int v[4];
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const std::size_t i = first + k * blockDim.x;
    v[k] = i < n ? in[i + offset] : 0;
  }
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const std::size_t i = first + k * blockDim.x;
    if (i < n) out[i] = v[k];
  }
}
// end load-offset-four

// begin copy-words
/// Copies n ints, as many bytes at a time as a Word has: 1, 4, 8 or 16.
///
/// \pre in and out begin at a multiple of sizeof(Word) bytes
/// \pre gridDim.x * blockDim.x * sizeof(Word) >= n * sizeof(int)
template <class Word>
__global__ void copy_words(const int* in, int* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if ((i + 1) * sizeof(Word) <= n * sizeof(int)) {
    reinterpret_cast<Word*>(out)[i] = reinterpret_cast<const Word*>(in)[i];
  } else {  // the last word may be incomplete: its ints go one by one
    for (std::size_t j = i * sizeof(Word) / sizeof(int); j < n; ++j) out[j] = in[j];
  }
}
// end copy-words

// begin vec3-packed
/// Three ints, one right after the other: 12 bytes.
struct Vec3 {
  int x, y, z;
};

/// Each vector's squared length. An array of structs.
///
/// \pre gridDim.x * blockDim.x >= n, here and below
__global__ void vec3_packed(const Vec3* in, int* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i].x * in[i].x + in[i].y * in[i].y + in[i].z * in[i].z;
}
// end vec3-packed

// begin vec3-aligned
/// The same with four bytes of padding: 16 bytes, at a multiple of 16.
struct alignas(16) AlignedVec3 {
  int x, y, z;
};

__global__ void vec3_aligned(const AlignedVec3* in, int* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const AlignedVec3 v = in[i];  // one load
  out[i] = v.x * v.x + v.y * v.y + v.z * v.z;
}
// end vec3-aligned

// begin vec3-arrays
/// A struct of arrays: all x, all y, all z.
__global__ void vec3_arrays(const int* x, const int* y, const int* z, int* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
}
// end vec3-arrays

// begin vec3-staged
/// The packed array again: loaded as the row of ints that it is, and sorted out in shared memory.
///
/// \pre launched with 3 * blockDim.x * sizeof(int) bytes of dynamic shared memory or more
__global__ void vec3_staged(const Vec3* in, int* out, std::size_t n) {
  extern __shared__ int tile[];
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;  // the block's first vector
  const int* row = reinterpret_cast<const int*>(in) + 3 * first;
  const std::size_t left = 3 * (n - first);

#pragma unroll
  for (unsigned k = 0; k < 3; ++k) {
    const unsigned j = k * blockDim.x + t;
    tile[j] = j < left ? row[j] : 0;  // nothing past the end, but stay for the barrier
  }
  __syncthreads();

  const int* v = tile + 3 * t;
  if (first + t < n) out[first + t] = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}
// end vec3-staged

// begin where-they-begin
/// Writes down where each array begins: addresses as numbers.
__global__ void where_they_begin(const char* const* arrays, std::uint64_t* addresses,
                                 unsigned count) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    addresses[i] = reinterpret_cast<std::uint64_t>(arrays[i]);
  }
}
// end where-they-begin

}  // namespace chapter10
