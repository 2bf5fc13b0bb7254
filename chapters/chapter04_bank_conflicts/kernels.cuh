#pragma once
#include <cstddef>

#include "../chapter03_divergence/kernels.cuh"

namespace chapter04 {

// begin stride-walk
constexpr unsigned kWords = 1024;  // lane 31 at stride 33 begins at the last one, 1023
constexpr unsigned kRounds = 256;

/// Hardly anything but loads from shared memory, each lane's `stride` words from the next one's.
///
/// Every word holds the number of the word behind it. So the lanes walk on by one word per
/// round, as far apart as they began. No load can be left out: it brings the next one's address.
///
/// \param out     n numbers: how far each thread has come, counted from lane * stride
/// \param stride  words, 1 to 33
/// \pre gridDim.x * blockDim.x >= n
__global__ void stride_walk(unsigned* out, std::size_t n, unsigned stride) {
  __shared__ unsigned tile[kWords];
  for (unsigned w = threadIdx.x; w < kWords; w += blockDim.x) tile[w] = (w + 1) % kWords;
  __syncthreads();

  const unsigned apart = threadIdx.x % 32 * stride;
  unsigned word = (apart + blockIdx.x + threadIdx.x / 32) % kWords;  // no two warps alike
#pragma unroll 8  // so that counting the rounds takes next to no instructions
  for (unsigned round = 0; round < kRounds; ++round) word = tile[word];

  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (word - apart) % kWords;
}
// end stride-walk

// begin who-shares
/// Which lanes of a warp read the same element.
enum class Sharing {
  kNone,    // each has its own
  kPairs,   // 0 and 1, 2 and 3, …
  kTwos,    // 0 and 2, 1 and 3, 4 and 6, …
  kHalves,  // 0 and 16, 1 and 17, …
  kAll      // one for all
};

/// The element that a lane reads.
__device__ inline unsigned element(unsigned lane, Sharing sharing) {
  switch (sharing) {
    case Sharing::kPairs: return lane / 2;
    case Sharing::kTwos: return lane / 4 * 2 + lane % 2;
    case Sharing::kHalves: return lane % 16;
    case Sharing::kAll: return 0;
    default: return lane;
  }
}
// end who-shares

// begin width-walk
/// A number, put into an element of any width and taken out again; all bytes of it are loaded.
template <class T>
__device__ T numbered(unsigned number) {
  if constexpr (sizeof(T) == 16)
    return {number, 0, 0, 0};
  else if constexpr (sizeof(T) == 8)
    return {number, 0};
  else
    return static_cast<T>(number);
}
template <class T>
__device__ unsigned number_in(T element) {
  if constexpr (sizeof(T) == 16)
    return element.x | element.y | element.z | element.w;
  else if constexpr (sizeof(T) == 8)
    return element.x | element.y;
  else
    return element;
}

constexpr unsigned kElements = 192;

/// The same walk over elements of 1, 2, 4, 8 or 16 bytes, side by side.
///
/// \param out  n numbers: how far each thread has come, counted from its lane's element
/// \pre gridDim.x * blockDim.x >= n
template <class Element>
__global__ void width_walk(unsigned* out, std::size_t n, Sharing sharing) {
  __shared__ Element tile[kElements];
  for (unsigned e = threadIdx.x; e < kElements; e += blockDim.x) {
    tile[e] = numbered<Element>((e + 1) % kElements);
  }
  __syncthreads();

  const unsigned first = element(threadIdx.x % 32, sharing);
  unsigned at = (first + blockIdx.x + threadIdx.x / 32) % kElements;
#pragma unroll 8  // so that counting the rounds takes next to no instructions
  for (unsigned round = 0; round < kRounds; ++round) at = number_in(tile[at]);

  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (at + kElements - first) % kElements;
}
// end width-walk

// begin strided-padded
/// Where slot i lies when a word is left free behind every 32.
__host__ __device__ constexpr unsigned padded(unsigned i) {
  return i + i / 32;
}

/// chapter03's strided; only the places of its slots differ.
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; the last block's share may be short
/// \pre gridDim.x * blockDim.x >= n
__global__ void strided_padded(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[padded(1024)];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[padded(t)] = i < n ? in[i] : 0;  // past the end: add nothing, but stay for the barriers
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned slot = 2 * s * t;  // neighbouring threads take slots 2 * s apart
    if (slot + s < blockDim.x) tile[padded(slot)] += tile[padded(slot + s)];
    __syncthreads();
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end strided-padded

constexpr unsigned kTile = 32;  // rows and columns of a tile

// begin tile-layouts
/// Where the element in row r and column c of a 32×32 tile lies.
struct Plain {
  static constexpr unsigned kSize = 32 * 32;
  __device__ static unsigned at(unsigned r, unsigned c) { return 32 * r + c; }
};
struct Padded {  // a word is left free behind each row
  static constexpr unsigned kSize = 32 * 33;
  __device__ static unsigned at(unsigned r, unsigned c) { return 33 * r + c; }
};
struct PaddedBy4 {  // four words are left free behind each row
  static constexpr unsigned kSize = 32 * 36;
  __device__ static unsigned at(unsigned r, unsigned c) { return 36 * r + c; }
};
struct Swizzled {  // no word is left free: each row stores its columns in another order
  static constexpr unsigned kSize = 32 * 32;
  __device__ static unsigned at(unsigned r, unsigned c) { return 32 * r + (c ^ r); }
};
struct SwizzledBy4 {  // the same with columns in groups of four, which stay together
  static constexpr unsigned kSize = 32 * 32;
  __device__ static unsigned at(unsigned r, unsigned c) { return 32 * r + (c ^ (r % 8 * 4)); }
};
// end tile-layouts

// begin tile-product
/// C = A · Aᵀ, a 32×32 tile of C for each block.
///
/// \param a  n rows of n numbers
/// \param c  n rows of n numbers: c(i, j) is row i of a times row j of a
/// \tparam Layout   how the columns' tile lies in shared memory
/// \tparam Element  float; or volatile float, and every load is carried out as it is written
/// \pre launched with 32×32 threads per block and one block per tile of c
template <class Layout, class Element = float>
__global__ void product(const float* a, float* c, unsigned n) {
  __shared__ Element rows[kTile * kTile];  // 32 rows of a, for the rows of this tile of c …
  __shared__ Element cols[Layout::kSize];  // … and 32 for its columns
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned i = blockIdx.y * kTile + y, j = blockIdx.x * kTile + x;
  const unsigned row_for_cols = blockIdx.x * kTile + y;

  float sum = 0;
  for (unsigned from = 0; from < n; from += kTile) {
    const unsigned k = from + x;
    rows[kTile * y + x] = i < n && k < n ? a[std::size_t{i} * n + k] : 0;
    cols[Layout::at(y, x)] = row_for_cols < n && k < n ? a[std::size_t{row_for_cols} * n + k] : 0;
    __syncthreads();

    for (unsigned k = 0; k < kTile; ++k) {
      sum += rows[kTile * y + k] * cols[Layout::at(x, k)];  // y is the same for a warp, x is not
    }
    __syncthreads();  // before the next 32 columns take their place
  }

  if (i < n && j < n) c[std::size_t{i} * n + j] = sum;
}
// end tile-product

// begin tile-vectors
/// The same with four columns per load, for layouts that keep four together, and with few enough
/// registers per thread that two blocks fit on an SM.
///
/// \pre as product; and Layout::at(r, 4 * g) is a multiple of 4
template <class Layout>
__global__ void __launch_bounds__(1024, 2) product_by_4(const float* a, float* c, unsigned n) {
  __shared__ __align__(16) float rows[kTile * kTile];
  __shared__ __align__(16) float cols[Layout::kSize];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned i = blockIdx.y * kTile + y, j = blockIdx.x * kTile + x;
  const unsigned row_for_cols = blockIdx.x * kTile + y;

  float sum = 0;
  for (unsigned from = 0; from < n; from += kTile) {
    const unsigned k = from + x;
    rows[kTile * y + x] = i < n && k < n ? a[std::size_t{i} * n + k] : 0;
    cols[Layout::at(y, x)] = row_for_cols < n && k < n ? a[std::size_t{row_for_cols} * n + k] : 0;
    __syncthreads();

    for (unsigned k = 0; k < kTile; k += 4) {
      const float4 p = *reinterpret_cast<const float4*>(rows + kTile * y + k);
      const float4 q = *reinterpret_cast<const float4*>(cols + Layout::at(x, k));
      sum += p.x * q.x;
      sum += p.y * q.y;
      sum += p.z * q.z;
      sum += p.w * q.w;
    }
    __syncthreads();
  }

  if (i < n && j < n) c[std::size_t{i} * n + j] = sum;
}
// end tile-vectors

}  // namespace chapter04
