/// \file
/// The library's own kernels, launched: what lets the rest of it be compiled without nvcc.
#pragma once
#include <cstddef>

#include <vector_types.h>

namespace book::internal {

/// What host and device tell each other about the held stream, in mapped host memory.
struct Latch {
  int released;
  int timed_out;
};

/// Queues a kernel that reads n elements, all of them zeros, with this many blocks: clean lines
/// take the place of whatever the L2 held. `never` is an int in device memory that stays unwritten.
void read_all(unsigned blocks, const int4* data, std::size_t n, int* never, cudaStream_t stream);

/// Queues a kernel that occupies the stream until the host releases the latch, or the time is up.
void hold(Latch* latch, unsigned long long timeout_ns);

/// One of these kernels: its attributes tell whether this build holds code for the device.
const void* any_kernel();

}  // namespace book::internal
