// Asks for what the embedded device doesn't know: a texture.
#include <cstdio>

__global__ void reads_texture(cudaTextureObject_t texture, float* to) {
  *to = tex1Dfetch<float>(texture, 0);
}

int main() {
  float* to = nullptr;
  cudaMalloc(&to, sizeof(float));
  reads_texture<<<1, 1>>>(0, to);
  const cudaError_t status = cudaGetLastError();
  std::printf("%s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
