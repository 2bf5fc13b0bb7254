// __constant__, __device__ and __managed__ variables, and pointers between them.
#include <cstring>

#include "check.cuh"

struct Weights {
  float factor[4];
  int offset;
  short odd[3];
};
__constant__ Weights weights = {{1, 2, 3, 4}, 7, {1, 2, 3}};
__constant__ int uninitialised[300];
__device__ int table[256];
__device__ int* pointer = table + 3;
__device__ const char* words[] = {"zero", "one", "two"};
__device__ double lone = 2.5;
__managed__ int counter = 40;
template <class T>
__device__ T of_a_template = T(11);

__global__ void use(float* out) {
  const int i = threadIdx.x;
  out[i] = weights.factor[i % 4] * static_cast<float>(i) + static_cast<float>(weights.offset) +
           static_cast<float>(weights.odd[i % 3]) + static_cast<float>(uninitialised[i]);
  pointer[i] = i;
  if (i == 0) {
    lone += words[2][1] - 'a' + of_a_template<int> + static_cast<double>(of_a_template<float>);
    counter += 2;
  }
}

int main() {
  std::vector<int> more(300);
  for (int i = 0; i < 300; ++i) more[i] = 3 * i;
  CUDA(cudaMemcpyToSymbol(uninitialised, more.data(), 300 * sizeof(int)));
  const int offset = 100;
  CUDA(cudaMemcpyToSymbol(weights, &offset, sizeof offset, offsetof(Weights, offset)));
  std::size_t size = 0;
  CUDA(cudaGetSymbolSize(&size, weights));
  CHECK(size == sizeof(Weights));
  void* address = nullptr;
  CUDA(cudaGetSymbolAddress(&address, table));
  CUDA(cudaMemset(address, 0, sizeof(int) * 256));
  CHECK(counter == 40);
  Buffer<float> out(64);
  use<<<1, 64>>>(out.get());
  LAUNCHED();
  const auto got = out.host();
  for (int i = 0; i < 64; ++i) {
    CHECK(got[i] == static_cast<float>((i % 4 + 1) * i + 100 + i % 3 + 1 + 3 * i));
  }
  int copy[256];
  CUDA(cudaMemcpyFromSymbol(copy, table, sizeof copy));
  for (int i = 0; i < 64; ++i) CHECK(copy[i + 3] == i);
  double lone_now = 0;
  CUDA(cudaMemcpyFromSymbol(&lone_now, lone, sizeof lone_now));
  CHECK(lone_now == 2.5 + ('w' - 'a') + 22);
  CHECK(counter == 42);
  return done();
}
