/// \file
/// cub::DeviceReduce::Sum, which the book compares itself with. CUB takes long to compile: once, in
/// a library of its own (book::cub), for the programs that link it.
#pragma once
#include <cstddef>

namespace book {

/// Bytes of device memory that cub_sum needs for n elements, at least 1.
std::size_t cub_sum_bytes(std::size_t n);

/// Queues CUB's sum of n ints, added in 64 bits, on the default stream.
///
/// \param storage  cub_sum_bytes(n) bytes of device memory
/// \param bytes    how many there are
/// \param in       n elements in device memory
/// \param out      becomes the sum, in device memory
void cub_sum(void* storage, std::size_t bytes, const int* in, long long* out, std::size_t n);
/// The same in 32 bits: the sum modulo 2^32.
void cub_sum(void* storage, std::size_t bytes, const unsigned* in, unsigned* out, std::size_t n);
/// The same of n 64-bit integers, added in 64 bits.
void cub_sum(void* storage, std::size_t bytes, const long long* in, long long* out, std::size_t n);
/// The same of n floats, added as floats.
void cub_sum(void* storage, std::size_t bytes, const float* in, float* out, std::size_t n);

}  // namespace book
