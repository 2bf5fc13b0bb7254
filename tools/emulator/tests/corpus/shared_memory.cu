// Shared memory: static, dynamic, both, several types in one piece of it, more than 48 KB.
#include "check.cuh"

__global__ void reverse(int* data) {
  __shared__ int fixed[256];
  extern __shared__ double dynamic[];
  auto* const ints = reinterpret_cast<int*>(dynamic + blockDim.x);
  fixed[threadIdx.x] = data[threadIdx.x];
  dynamic[threadIdx.x] = data[threadIdx.x] * 0.5;
  ints[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  const int other = blockDim.x - 1 - threadIdx.x;
  data[threadIdx.x] = fixed[other] + static_cast<int>(dynamic[other] * 2) + ints[other];
}

extern __shared__ unsigned char large[];
__global__ void fill(unsigned* sums, unsigned bytes) {
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x)
    large[i] = static_cast<unsigned char>(i);
  __syncthreads();
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) sum += large[bytes - 1 - i];
  atomicAdd(sums + blockIdx.x, sum);
}

int main() {
  constexpr int kThreads = 256;
  const auto values = numbers(kThreads, 1000);
  Buffer<int> data(values);
  reverse<<<1, kThreads, kThreads*(sizeof(double) + sizeof(int))>>>(data.get());
  LAUNCHED();
  const auto got = data.host();
  for (int i = 0; i < kThreads; ++i) {
    const int other = kThreads - 1 - i;
    CHECK(got[i] == 2 * values[other] + other);
  }

  int most = 0;
  CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  CHECK(most > 48 * 1024);
  Buffer<unsigned> sums(3);
  fill<<<3, 128, most>>>(sums.get(), most);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);  // not without asking for it
  CUDA(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  fill<<<3, 128, most>>>(sums.get(), most);
  LAUNCHED();
  unsigned expected = 0;
  for (int i = 0; i < most; ++i) expected += i & 255;
  for (const unsigned sum : sums.host()) CHECK(sum == expected);
  cudaFuncAttributes attributes{};
  CUDA(cudaFuncGetAttributes(&attributes, fill));
  CHECK(attributes.maxDynamicSharedSizeBytes == most);
  CUDA(cudaFuncGetAttributes(&attributes, reverse));
  CHECK(attributes.sharedSizeBytes == 256 * sizeof(int));
  return done();
}
