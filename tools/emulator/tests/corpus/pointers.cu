// Kernels by pointer, kernel templates, device functions by pointer, virtual functions.
#include <string>

#include "check.cuh"

template <class T, int kFactor>
__global__ void scale(T* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= kFactor;
}
__global__ void shift(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1000;
}

template <class Function>
__global__ void apply(int* data, int n, Function function) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = function(data[i]);
}

int main() {
  constexpr int kN = 100;
  using Kernel = void (*)(int*, int);
  const Kernel kernels[] = {scale<int, 2>, shift, scale<int, 3>};
  std::vector<int> values(kN);
  for (int i = 0; i < kN; ++i) values[i] = i;
  Buffer<int> data(values);
  for (const Kernel kernel : kernels) {
    kernel<<<1, 128>>>(data.get(), kN);
    LAUNCHED();
  }
  int n = kN;
  int* p = data.get();
  void* arguments[] = {&p, &n};
  CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(kernels[1]), dim3(1), dim3(128), arguments, 0,
                        nullptr));
  const int base = 5;
  apply<<<1, 128>>>(data.get(), kN, [base] __device__(int v) { return v + base; });
  LAUNCHED();
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(128);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUDA(cudaLaunchKernelEx(&config, scale<int, 2>, data.get(), n));
  LAUNCHED();
  const auto got = data.host();
  for (int i = 0; i < kN; ++i) CHECK(got[i] == (((i * 2 + 1000) * 3 + 1000) + 5) * 2);

  int blocks = 0, threads = 0;
  CUDA(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, shift));
  CHECK(blocks > 0 && threads > 0 && threads <= 1024);
  std::size_t room = 0;
  CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&room, shift, 2, 128));
  CHECK(room >= 30'000);  // half an SM's, of the smallest
  cudaFunction_t function{};
  CUDA(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(shift)));
  const char* name = nullptr;
  CUDA(cudaFuncGetName(&name, reinterpret_cast<const void*>(shift)));
  CHECK(std::string(name) == "_Z5shiftPii");
  return done();
}
