// malloc, free, new and delete in kernels, with a heap size that the program sets.
#include "check.cuh"

__global__ void fits(int* ok, std::size_t bytes) {
  auto* const p = static_cast<unsigned char*>(malloc(bytes));
  *ok = p != nullptr;
  if (p == nullptr) return;
  p[0] = 1;
  p[bytes - 1] = 2;
  *ok += p[0] + p[bytes - 1];
  free(p);
}

struct Node {
  int value;
  Node* next;
};

// Each thread makes a list in one kernel; another kernel adds it up and frees it.
__global__ void make(Node** lists, int length) {
  Node* list = nullptr;
  for (int i = 0; i < length; ++i) list = new Node{static_cast<int>(threadIdx.x) + i, list};
  lists[threadIdx.x] = list;
}
__global__ void add_up(Node** lists, int* sums) {
  int sum = 0;
  for (Node* n = lists[threadIdx.x]; n != nullptr;) {
    sum += n->value;
    Node* const next = n->next;
    delete n;
    n = next;
  }
  sums[threadIdx.x] = sum;
}

int main() {
  CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  Buffer<int> ok(1), sums(64);
  Buffer<Node*> lists(64);
  for (int round = 0; round < 5; ++round) {  // each gives back what it took
    fits<<<1, 1>>>(ok.get(), 20 << 20);
    LAUNCHED();
    CHECK(ok.host()[0] == 4);
  }
  fits<<<1, 1>>>(ok.get(), 64 << 20);
  LAUNCHED();
  CHECK(ok.host()[0] == 0);
  make<<<1, 64>>>(lists.get(), 10);
  LAUNCHED();
  add_up<<<1, 64>>>(lists.get(), sums.get());
  LAUNCHED();
  const auto got = sums.host();
  for (int i = 0; i < 64; ++i) CHECK(got[i] == 10 * i + 45);
  return done();
}
