/// \file
/// cub::DeviceHistogram::HistogramEven, which chapter 9 compares itself with. CUB takes long to
/// compile: once, in a library of its own (book::cub).
#pragma once
#include <cstddef>

namespace book {

/// Bytes of device memory that cub_histogram needs for n bytes of input, at least 1.
std::size_t cub_histogram_bytes(std::size_t n);

/// Queues CUB's histogram of n bytes in 256 bins, one per value, on the default stream.
///
/// \param storage  cub_histogram_bytes(n) bytes of device memory
/// \param bytes    how many there are
/// \param in       n bytes in device memory
/// \param bins     become the 256 counts, in device memory
void cub_histogram(void* storage, std::size_t bytes, const unsigned char* in, unsigned* bins,
                   std::size_t n);

}  // namespace book
