// judge: chapter02/1
// rejected: form: reads the clock
// Hides the clock's name behind what looks like a comment.
#include <climits>
#include <cstddef>
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  unsigned c;
  asm volatile("mov.u32 %0, /* // */ %%clock;" : "=r"(c));
  unsigned d;
  asm volatile("mov.u32 %0, /* // */ %%smid;" : "=r"(d));
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned w = blockDim.x; w > 1;) {
    unsigned h = (w + 1) / 2;
    if (t + h < w) tile[t] += tile[t + h];
    __syncthreads();
    w = h;
  }
  if (t == 0) partial[blockIdx.x] = tile[0] + (d == 123 && c == 1);
}
