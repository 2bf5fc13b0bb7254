// Sums of bytes, kept in bytes
#include "exhibit.cuh"

__global__ void byte_sum(const unsigned char* in, unsigned* out) {
#ifdef FIXED
  __shared__ unsigned part[128];
#else
  __shared__ unsigned char part[128];
#endif
  const unsigned t = threadIdx.x;
  part[t] = in[t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) *out = part[0];
}

int main() {
  const Array<unsigned char> in(std::vector<unsigned char>(128, 9));
  const Array<unsigned> out(1);
  byte_sum<<<1, 128>>>(in, out);
  return shown(out.total(), 1152);
}
