// The same sum from libraries that come with the toolkit, and from the C++ standard library.
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#include <cstdio>
#include <cstdlib>
#include <cub/device/device_reduce.cuh>
#include <numeric>
#include <vector>

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  const std::vector<int> host(1'000'000, 3000);
  const std::size_t n = host.size();
  int* in = nullptr;
  long long* out = nullptr;
  check(cudaMalloc(&in, n * sizeof(int)));
  check(cudaMalloc(&out, sizeof(long long)));
  check(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  void* workspace = nullptr;
  std::size_t bytes = 0;
  cudaStream_t stream = nullptr;
  // begin call-cub
  // Without a workspace it says how many bytes it needs; with one it queues the sum.
  check(cub::DeviceReduce::Sum(nullptr, bytes, in, out, n));
  check(cudaMalloc(&workspace, bytes));
  check(cub::DeviceReduce::Sum(workspace, bytes, in, out, n, stream));
  // end call-cub
  long long by_cub = 0;
  check(cudaMemcpy(&by_cub, out, sizeof(long long), cudaMemcpyDeviceToHost));

  // begin call-thrust
  // Allocates its own workspace, and waits for the sum.
  const long long by_thrust = thrust::reduce(thrust::device, in, in + n, 0LL);
  // end call-thrust

  // begin call-std
  // On the CPU. With 0 in place of 0LL it would add in int, and wrap.
  const long long by_std = std::reduce(host.begin(), host.end(), 0LL);
  // end call-std

  std::printf("CUB %lld, Thrust %lld, std %lld\n", by_cub, by_thrust, by_std);
}
