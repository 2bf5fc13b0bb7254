// Several whole-program units, each with kernels, variables and instances of one template.
#include "../check.cuh"
#include "parts.cuh"

static __constant__ int factor = 2;
__global__ void step(int* data) {
  data[threadIdx.x] *= factor;
}

int main() {
  std::vector<int> values(32);
  for (int i = 0; i < 32; ++i) values[i] = i;
  Buffer<int> data(values);
  step<<<1, 32>>>(data.get());
  LAUNCHED();
  other_step(data.get());
  generic<int><<<1, 32>>>(data.get());
  LAUNCHED();
  other_generic(data.get());
  const auto got = data.host();
  for (int i = 0; i < 32; ++i) CHECK(got[i] == 2 * i * 5 + 1 + 2);
  return done();
}
