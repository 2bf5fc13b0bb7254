// A tree that halves 3 to 1 forgets a third of the block: the sum of 96 ones is 64.
#include <cstdio>
#include <vector>

__global__ void tree(const int* data, int* sum) {
  __shared__ int tile[96];
  const unsigned t = threadIdx.x;
  tile[t] = data[t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t == 0) *sum = tile[0];
}

int main() {
  const std::vector<int> ones(96, 1);
  int *data, *sum, result;
  cudaMalloc(&data, sizeof(int) * 96);
  cudaMalloc(&sum, sizeof(int));
  cudaMemcpy(data, ones.data(), sizeof(int) * 96, cudaMemcpyHostToDevice);
  tree<<<1, 96>>>(data, sum);
  cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
}
