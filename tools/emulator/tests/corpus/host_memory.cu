// Host memory that kernels see: managed, mapped, pinned, registered; and pointer attributes.
#include <cstring>

#include "check.cuh"

struct Node {
  int value;
  Node* next;
};

__global__ void walk(Node* list, int* sum) {
  for (Node* n = list; n != nullptr; n = n->next) {
    *sum += n->value;
    n->value = -n->value;
  }
}

__global__ void copy(const int* from, int* to, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i] + 1;
}

int main() {
  Node* nodes = nullptr;
  int* sum = nullptr;
  CUDA(cudaMallocManaged(&nodes, 10 * sizeof(Node)));
  CUDA(cudaMallocManaged(&sum, sizeof(int)));
  *sum = 0;
  for (int i = 0; i < 10; ++i) nodes[i] = {i + 1, i < 9 ? nodes + i + 1 : nullptr};
  const cudaMemLocation here{cudaMemLocationTypeDevice, 0};
  CUDA(cudaMemAdvise(nodes, 10 * sizeof(Node), cudaMemAdviseSetReadMostly, here));
  CUDA(cudaMemPrefetchAsync(nodes, 10 * sizeof(Node), here, 0, nullptr));
  walk<<<1, 1>>>(nodes, sum);
  LAUNCHED();
  CHECK(*sum == 55);
  for (int i = 0; i < 10; ++i) CHECK(nodes[i].value == -(i + 1));

  constexpr int kN = 1000;
  int *mapped = nullptr, *seen = nullptr;
  CUDA(cudaHostAlloc(&mapped, kN * sizeof(int), cudaHostAllocMapped));
  CUDA(cudaHostGetDevicePointer(&seen, mapped, 0));
  std::vector<int> own(kN);
  for (int i = 0; i < kN; ++i) own[i] = 2 * i;
  CUDA(cudaHostRegister(own.data(), kN * sizeof(int), cudaHostRegisterMapped));
  int* own_seen = nullptr;
  CUDA(cudaHostGetDevicePointer(&own_seen, own.data(), 0));
  copy<<<1, 96>>>(own_seen, seen, kN);
  LAUNCHED();
  for (int i = 0; i < kN; ++i) CHECK(mapped[i] == 2 * i + 1);

  cudaPointerAttributes a{};
  CUDA(cudaPointerGetAttributes(&a, nodes));
  CHECK(a.type == cudaMemoryTypeManaged);
  CUDA(cudaPointerGetAttributes(&a, mapped));
  CHECK(a.type == cudaMemoryTypeHost && a.devicePointer == seen);
  CUDA(cudaPointerGetAttributes(&a, &a));
  CHECK(a.type == cudaMemoryTypeUnregistered);
  int* device = nullptr;
  CUDA(cudaMalloc(&device, 4));
  CUDA(cudaPointerGetAttributes(&a, device));
  CHECK(a.type == cudaMemoryTypeDevice && a.device == 0);

  CUDA(cudaHostUnregister(own.data()));
  CUDA(cudaFreeHost(mapped));
  CUDA(cudaFree(device));
  CUDA(cudaFree(nodes));
  CUDA(cudaFree(sum));
  return done();
}
