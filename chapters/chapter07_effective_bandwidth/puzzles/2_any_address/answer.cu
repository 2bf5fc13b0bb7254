#include <cstddef>
#include <cstdint>

/// One partial sum per block, four elements per thread, for an input at any address.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + t;

  int mine = 0;
  // [blank] four elements per load where possible, the others one by one
  //= const int4* fours = reinterpret_cast<const int4*>(in);
  //= if (thread < n / 4) {
  //=   const int4 v = fours[thread];
  //=   mine = v.x + v.y + v.z + v.w;
  //= }
  const std::size_t to_multiple = -(reinterpret_cast<std::uintptr_t>(in) / 4) % 4;
  const std::size_t head = n < to_multiple ? n : to_multiple;
  const int4* fours = reinterpret_cast<const int4*>(in + head);
  const std::size_t count = (n - head) / 4;
  if (thread < count) {
    const int4 v = fours[thread];
    mine = v.x + v.y + v.z + v.w;
  }
  if (thread == 0) {
    for (std::size_t i = 0; i < head; ++i) mine += in[i];
    for (std::size_t i = head + 4 * count; i < n; ++i) mine += in[i];
  }
  // [/blank]
  tile[t] = mine;
  __syncthreads();

  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;  // rounded up: an odd one out waits a step
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
