// Asks for what the embedded device doesn't know: a texture that is a cube.
#include <cstdio>

__global__ void reads_cubemap(cudaTextureObject_t texture, float* to) {
  *to = texCubemap<float>(texture, 1, 0, 0);
}

int main() {
  float* to = nullptr;
  cudaMalloc(&to, sizeof(float));
  reads_cubemap<<<1, 1>>>(0, to);
  const cudaError_t status = cudaGetLastError();
  std::printf("%s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
