// atomicMax() on the bits of floats, some of them negative
#include "exhibit.cuh"

__global__ void most(const float* in, float* out) {
  const float mine = in[threadIdx.x];
#ifdef FIXED
  if (mine < 0) {  // their bits, as unsigned integers, go the other way
    atomicMin(reinterpret_cast<unsigned*>(out), __float_as_uint(mine));
    return;
  }
#endif
  atomicMax(reinterpret_cast<int*>(out), __float_as_int(mine));
}

int main() {
  std::vector<float> values(100);
  for (int i = 0; i < 100; ++i) values[i] = -1.f - i;
  const Array<float> in(values), out(std::vector<float>(1, -1e30f));
  most<<<1, 100>>>(in, out);
  return shown(out.total(), -1);
}
