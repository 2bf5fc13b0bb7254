// Asks for what the embedded device doesn't know: a texture's level by gradients.
#include <cstdio>

__global__ void reads_texture(cudaTextureObject_t texture, float* to) {
  *to = tex2DGrad<float>(texture, 0, 0, make_float2(1, 0), make_float2(0, 1));
}

int main() {
  float* to = nullptr;
  cudaMalloc(&to, sizeof(float));
  reads_texture<<<1, 1>>>(0, to);
  const cudaError_t status = cudaGetLastError();
  std::printf("%s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
