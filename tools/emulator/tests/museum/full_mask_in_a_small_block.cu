// A shuffle for 32 lanes in a block of 17
#include "exhibit.cuh"

__global__ void lowest(const int* in, int* out) {
  const unsigned t = threadIdx.x;
  int low = in[t];
  for (unsigned away = 16; away > 0; away /= 2) {
#ifdef FIXED
    const unsigned mask = (1u << blockDim.x) - 1, from = t + away < blockDim.x ? away : 0;
    low = min(low, __shfl_down_sync(mask, low, from));
#else
    low = min(low, __shfl_down_sync(~0u, low, away));  // @sync @sum
#endif
  }
  if (t == 0) *out = low;
}

int main() {
  std::vector<int> values = counted(17, 10);
  for (int& value : values) value += 5;
  const Array<int> in(values), out(1);
  lowest<<<1, 17>>>(in, out);
  return shown(out.total(), 5);
}
