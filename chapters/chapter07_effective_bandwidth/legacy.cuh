#pragma once

namespace chapter07::legacy {

// begin many-classic
/// The seventh method, the classic way. Do not copy.
///
/// \tparam Block  threads per block; the launch has to have as many
template <unsigned Block>
__global__ void many_classic(const int* in, int* partial, unsigned n) {
  extern __shared__ int tile[];
  const unsigned t = threadIdx.x;
  const unsigned step = gridDim.x * (2 * Block);

  tile[t] = 0;
  for (unsigned i = blockIdx.x * (2 * Block) + t; i < n; i += step) {
    tile[t] += in[i] + in[i + Block];  // fault 1: only the first load is guarded
  }
  __syncthreads();

#pragma unroll
  for (unsigned half = Block / 2; half > 32; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t < 32) {
    volatile int* v = tile;
    v[t] = v[t] + v[t + 32];  // fault 2: no __syncwarp between the steps
    v[t] = v[t] + v[t + 16];
    v[t] = v[t] + v[t + 8];
    v[t] = v[t] + v[t + 4];
    v[t] = v[t] + v[t + 2];
    v[t] = v[t] + v[t + 1];
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end many-classic

}  // namespace chapter07::legacy
