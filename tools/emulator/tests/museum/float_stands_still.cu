// A float that counts by ones, beyond 16 777 216
#include "exhibit.cuh"

__global__ void count_on(float* out, int start, int more) {
#ifdef FIXED
  double count = start;
#else
  float count = start;
#endif
  for (int i = 0; i < more; ++i) count += 1;
  *out = count - start;
}

int main() {
  const Array<float> out(1);
  count_on<<<1, 1>>>(out, (1 << 24) - 100, 1000);
  return shown(out.total(), 1000);
}
