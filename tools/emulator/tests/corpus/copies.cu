// Pitched and volume memory: cudaMallocPitch, cudaMalloc3D, copies and sets in 2-D and 3-D.
#include "check.cuh"

__global__ void number(char* base, std::size_t pitch, int width, int height, int depth) {
  for (int z = 0; z < depth; ++z) {
    for (int y = 0; y < height; ++y) {
      int* const row =
          reinterpret_cast<int*>(base + (static_cast<std::size_t>(z) * height + y) * pitch);
      for (int x = threadIdx.x; x < width; x += blockDim.x) row[x] = (z * 100 + y) * 100 + x;
    }
  }
}

int main() {
  constexpr int kWidth = 50, kHeight = 20, kDepth = 6;
  void* plane = nullptr;
  std::size_t pitch = 0;
  CUDA(cudaMallocPitch(&plane, &pitch, kWidth * sizeof(int), kHeight));
  CHECK(pitch >= kWidth * sizeof(int));
  number<<<1, 32>>>(static_cast<char*>(plane), pitch, kWidth, kHeight, 1);
  LAUNCHED();
  CUDA(cudaMemset2D(static_cast<char*>(plane) + 3 * pitch + 40, pitch, 0, 20, 4));
  std::vector<int> page(kWidth * kHeight, -1);
  CUDA(cudaMemcpy2D(page.data(), kWidth * sizeof(int), plane, pitch, kWidth * sizeof(int), kHeight,
                    cudaMemcpyDeviceToHost));
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const bool cleared = y >= 3 && y < 7 && x >= 10 && x < 15;
      CHECK(page[y * kWidth + x] == (cleared ? 0 : y * 100 + x));
    }
  }

  cudaPitchedPtr volume{};
  const cudaExtent extent = make_cudaExtent(kWidth * sizeof(int), kHeight, kDepth);
  CUDA(cudaMalloc3D(&volume, extent));
  CHECK(volume.xsize == extent.width && volume.ysize == extent.height);
  number<<<1, 32>>>(static_cast<char*>(volume.ptr), volume.pitch, kWidth, kHeight, kDepth);
  LAUNCHED();
  // A box of it, to a box of packed host memory.
  std::vector<int> box(10 * 9 * 8, -1);
  cudaMemcpy3DParms p{};
  p.srcPtr = volume;
  p.srcPos = make_cudaPos(5 * sizeof(int), 4, 2);
  p.dstPtr = make_cudaPitchedPtr(box.data(), 10 * sizeof(int), 10 * sizeof(int), 9);
  p.dstPos = make_cudaPos(1 * sizeof(int), 2, 3);
  p.extent = make_cudaExtent(7 * sizeof(int), 6, 4);
  p.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaMemcpy3D(&p));
  for (int z = 0; z < 8; ++z) {
    for (int y = 0; y < 9; ++y) {
      for (int x = 0; x < 10; ++x) {
        const bool copied = x >= 1 && x < 8 && y >= 2 && y < 8 && z >= 3 && z < 7;
        const int expected = copied ? ((z - 1) * 100 + (y + 2)) * 100 + (x + 4) : -1;
        CHECK(box[(z * 9 + y) * 10 + x] == expected);
      }
    }
  }
  CUDA(cudaMemset3D(volume, 0, make_cudaExtent(8, 1, 2)));
  CUDA(cudaMemcpy2D(page.data(), kWidth * sizeof(int),
                    static_cast<char*>(volume.ptr) + volume.pitch * kHeight, volume.pitch,
                    kWidth * sizeof(int), kHeight, cudaMemcpyDefault));
  CHECK(page[0] == 0 && page[1] == 0 && page[2] == 10002 && page[kWidth] == 10100);

  // Past its end, in any direction, is refused.
  p.extent.depth = 5;
  CHECK(cudaMemcpy3D(&p) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
  CUDA(cudaFree(volume.ptr));
  CUDA(cudaFree(plane));
  return done();
}
