// Adds up a million ints whose sum is too large for an int.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "take_home.cuh"

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  const std::vector<int> host(1'000'000, 3000);
  const std::size_t n = host.size();
  int* in = nullptr;
  long long* out = nullptr;  // long long, so the kernel adds in 64 bits
  void* workspace = nullptr;
  std::size_t bytes = 0;

  check(cudaMalloc(&in, n * sizeof(int)));
  check(cudaMalloc(&out, sizeof(long long)));
  check(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  check(take_home::workspace_bytes(&bytes));  // these three: once per stream
  check(cudaMalloc(&workspace, bytes));
  check(take_home::clear_workspace(workspace, bytes));

  check(take_home::sum(in, n, out, workspace, bytes));  // this one: as often as you like

  long long sum = 0;
  check(cudaMemcpy(&sum, out, sizeof(long long), cudaMemcpyDeviceToHost));
  std::printf("the sum is %lld\n", sum);
}
