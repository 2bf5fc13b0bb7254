#pragma once
#include <cstddef>

namespace chapter10::legacy {

// begin offset-words
/// load_offset, four ints at a time. Do not copy.
///
/// \pre n is a multiple of 4, and gridDim.x * blockDim.x * 4 >= n
__global__ void offset_words(const int* in, int* out, std::size_t n, unsigned offset) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n / 4)  // fault: in + offset is the address of an int, and no more than that
    reinterpret_cast<int4*>(out)[i] = reinterpret_cast<const int4*>(in + offset)[i];
}
// end offset-words

// begin rounded-up
/// copy_words for int4, without its last line. Do not copy.
__global__ void rounded_up(const int* in, int* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < (n + 3) / 4)  // fault: the last int4 is up to three ints longer than the arrays
    reinterpret_cast<int4*>(out)[i] = reinterpret_cast<const int4*>(in)[i];
}
// end rounded-up

}  // namespace chapter10::legacy
