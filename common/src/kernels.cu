#include "kernels.hpp"

#include "book/array.hpp"
#include "book/check.hpp"

namespace book::internal {
namespace {

/// The store never happens (the buffer is all zeros); without it the loads would be optimised away.
__global__ void read_all_of(const int4* data, std::size_t n, int* never) {
  int any = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const int4 v = data[i];
    any |= v.x | v.y | v.z | v.w;
  }
  if (any != 0) *never = any;
}

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// The timeout keeps a launch that synchronises, and so can never be released, from hanging the
/// program.
__global__ void hold_stream(volatile Latch* latch, unsigned long long timeout_ns) {
  const unsigned long long start = nanoseconds();
  while (latch->released == 0) {
    if (nanoseconds() - start > timeout_ns) {
      latch->timed_out = 1;
      return;
    }
  }
}

}  // namespace

void read_all(unsigned blocks, const int4* data, std::size_t n, int* never, cudaStream_t stream) {
  read_all_of<<<blocks, 512, 0, stream>>>(data, n, never);
  BOOK_CUDA(cudaGetLastError());
}

void hold(Latch* latch, unsigned long long timeout_ns) {
  hold_stream<<<1, 1>>>(latch, timeout_ns);
  BOOK_CUDA(cudaGetLastError());
}

const void* any_kernel() {
  return reinterpret_cast<const void*>(hold_stream);
}

}  // namespace book::internal

namespace book {

// The kernels that fill what sum.cpp, finished_sum.cpp and whole_sum.cpp have in device memory.
template void Array<int>::fill_there(const Input&);
template void Array<int>::fill_there(const SmallInput&);
template void Array<int>::fill_there(const Constant<int>&);
template void Array<unsigned>::fill_there(const Constant<unsigned>&);
template void Array<long long>::fill_there(const Constant<long long>&);

}  // namespace book
