// printf in a kernel, in order and with all conversions; then an assertion that fails.
#include <cassert>

#include "check.cuh"

__global__ void hello(const char* who) {
  printf("block %d thread %u: %s\n", blockIdx.x, threadIdx.x,
         threadIdx.x % 2 == 0 ? "even" : "odd");
  if (threadIdx.x == 1) {
    printf("%5.2f|%-6d|%+d|%x|%#o|%c|%%|%lld|%e|%s\n", 3.14159, 42, 7, 255, 8, 'z',
           -1234567890123LL, 0.001, who);
  }
}

__global__ void claim(int n) {
  assert(static_cast<int>(threadIdx.x) < n);
}

__device__ char name[] = "name";

int main() {
  void* who = nullptr;
  CUDA(cudaGetSymbolAddress(&who, name));
  hello<<<2, 2>>>(static_cast<const char*>(who));
  std::printf("launched\n");
  std::fflush(stdout);
  LAUNCHED();
  claim<<<1, 4>>>(4);
  LAUNCHED();
  claim<<<1, 4>>>(3);
  CUDA(cudaGetLastError());
  CHECK(cudaDeviceSynchronize() == cudaErrorAssert);
  CHECK(cudaGetLastError() == cudaErrorAssert);
  void* p = nullptr;
  CHECK(cudaMalloc(&p, 4) == cudaErrorAssert);
  return done();
}
