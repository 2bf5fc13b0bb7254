#pragma once
#include <cstddef>
#include <cstdint>

#include "../chapter03_divergence/kernels.cuh"
#include "../chapter05_unroll4/kernels.cuh"
#include "../chapter06_dynamic_smem/kernels.cuh"

namespace chapter07 {

// begin many-elements
/// chapter05's complete, but its threads go on for as long as there is input: the grid has as many
/// blocks as the device holds at once, and each strides through the data.
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; any grid adds up all of them
/// \tparam Block   threads per block: a power of two, at most 1024
/// \pre blockDim.x == Block
template <unsigned Block>
__global__ void many(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[Block];
  const unsigned t = threadIdx.x;
  const std::size_t step = std::size_t{gridDim.x} * (2 * Block);  // what the grid takes per trip

  int sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * (2 * Block) + t; i < n; i += step) {
    sum += in[i];
    if (i + Block < n) sum += in[i + Block];
  }
  tile[t] = sum;
  __syncthreads();

#pragma unroll
  for (unsigned half = Block / 2; half >= 32; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }

  if (t < 32) {
    const int sum = chapter05::warp_sum(tile[t], Block < 32 ? Block : 32);
    if (t == 0) partial[blockIdx.x] = sum;
  }
}
// end many-elements

// begin finish-sum
/// The rest, after any rung: one number from the blocks' partial sums, in 64 bits.
///
/// \param partial  count sums, as a rung has left them
/// \param total    their sum
/// \param running  a word that is 0 before the launch and after it
/// \param ticket   another
/// \pre blockDim.x is at most 512
__global__ void finish(const int* partial, std::size_t count, long long* total,
                       unsigned long long* running, unsigned* ticket) {
  __shared__ long long tile[512];
  const unsigned t = threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;

  long long sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t; i < count; i += threads) {
    sum += partial[i];
  }
  tile[t] = sum;
  __syncthreads();

  chapter06::add_up(tile);

  if (t == 0 && gridDim.x == 1) *total = tile[0];
  if (t == 0 && gridDim.x > 1) {
    atomicAdd(running, static_cast<unsigned long long>(tile[0]));
    __threadfence();  // the writer's: this sum before this ticket
    const bool last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;  // and back to 0
    __threadfence();  // the reader's: no sum older than the tickets it has seen
    if (last) *total = static_cast<long long>(atomicExch(running, 0ull));
  }
}
// end finish-sum

// begin wide-load
/// chapter05's load_and_add with loads of 16 bytes: the sum of thread t's elements of this block's
/// share, which is Loads tiles of blockDim.x times four neighbours.
///
/// \param in  n elements at any address
template <unsigned Loads>
__device__ int load_wide_and_add(const int* in, std::size_t n) {
  // Such a load needs an address that is a multiple of 16: up to three elements come before one.
  const std::size_t to_aligned = -(reinterpret_cast<std::uintptr_t>(in) / sizeof(int)) % 4;
  const std::size_t head = n < to_aligned ? n : to_aligned;
  const int4* fours = reinterpret_cast<const int4*>(in + head);
  const std::size_t count = (n - head) / 4;
  const std::size_t first = std::size_t{blockIdx.x} * (Loads * blockDim.x) + threadIdx.x;

  int4 v[Loads];
#pragma unroll
  for (unsigned k = 0; k < Loads; ++k) {
    const std::size_t i = first + k * blockDim.x;
    v[k] = i < count ? fours[i] : int4{};
  }
  int sum = 0;
#pragma unroll
  for (unsigned k = 0; k < Loads; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;

  if (blockIdx.x == 0) {  // and up to six elements before the first four and behind the last
    for (std::size_t i = threadIdx.x; i < n - 4 * count; i += blockDim.x) {
      sum += in[i < head ? i : i + 4 * count];
    }
  }
  return sum;
}
// end wide-load

// begin wide-by-warps
/// chapter05's by_warps with loads of 16 bytes.
///
/// \pre gridDim.x * 4 * Loads * blockDim.x >= n, and blockDim.x is a multiple of 32
template <unsigned Loads>
__global__ void wide(const int* in, int* partial, std::size_t n) {
  __shared__ int slot[32];
  const int sum = chapter05::add_by_warps(load_wide_and_add<Loads>(in, n), slot);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
// end wide-by-warps

// begin roof-read
/// Reads n numbers and does as little else as it can: no barrier, no shared memory, and four loads
/// of 16 bytes in flight per thread.
///
/// \param x    n numbers
/// \param out  one sum per warp
/// \pre blockDim.x is a multiple of 32, and gridDim.x * 8 * blockDim.x >= n
__global__ void read(const double* x, double* out, std::size_t n) {
  const double2* pairs = reinterpret_cast<const double2*>(x);
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * (4 * blockDim.x) + threadIdx.x;

  double sum = thread == 0 && n % 2 == 1 ? x[n - 1] : 0;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const std::size_t i = first + k * blockDim.x;
    if (i < n / 2) sum += pairs[i].x + pairs[i].y;
  }
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  if (thread % 32 == 0) out[thread / 32] = sum;
}
// end roof-read

// begin roof-copy
/// BabelStream's copy: one number read and one written.
__global__ void copy(const double* x, double* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i];
}
// end roof-copy

// begin roof-triad
/// BabelStream's triad: two numbers read and one written.
__global__ void triad(const double* x, const double* y, double* out, std::size_t n, double scale) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + scale * y[i];
}
// end roof-triad

}  // namespace chapter07
