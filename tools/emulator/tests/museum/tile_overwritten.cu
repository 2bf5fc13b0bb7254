// Fast threads fill the tile for the next row while thread 0 still adds up this one
#include "exhibit.cuh"

__global__ void row_sums(const int* in, int* out, int rows) {
  __shared__ int tile[128];
  const unsigned t = threadIdx.x;
  for (int row = 0; row < rows; ++row) {
    tile[t] = in[row * blockDim.x + t];  // @race @sum
    __syncthreads();
    if (t == 0) {
      int sum = 0;
      for (unsigned k = 0; k < blockDim.x; ++k) sum += tile[k];  // @race
      out[row] = sum;
    }
#ifdef FIXED
    __syncthreads();
#endif
  }
}

int main() {
  const Array<int> in(counted(8 * 128, 10)), out(8);
  row_sums<<<1, 128>>>(in, out, 8);
  return shown(out.total(), 4596);
}
