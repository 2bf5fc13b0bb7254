// What the programs of the corpus share: a program that isn't right says where, and ends with 1.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(what)                                                 \
  do {                                                              \
    if (!(what)) {                                                  \
      std::printf("%s:%d: wrong: %s\n", __FILE__, __LINE__, #what); \
      std::exit(1);                                                 \
    }                                                               \
  } while (false)

#define CUDA(call)                                                                         \
  do {                                                                                     \
    const cudaError_t status = (call);                                                     \
    if (status != cudaSuccess) {                                                           \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(status)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (false)

// After a launch: that it could begin, and ended well.
#define LAUNCHED()                 \
  do {                             \
    CUDA(cudaGetLastError());      \
    CUDA(cudaDeviceSynchronize()); \
  } while (false)

// Device memory with a copy of host values; read back with host().
template <class T>
class Buffer {
 public:
  explicit Buffer(const std::vector<T>& values) : size_(values.size()) {
    CUDA(cudaMalloc(&data_, (size_ + 1) * sizeof(T)));
    CUDA(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  explicit Buffer(std::size_t size) : Buffer(std::vector<T>(size)) {}
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() { return data_; }
  std::size_t size() const { return size_; }
  std::vector<T> host() const {
    std::vector<T> values(size_);
    CUDA(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

// Numbers that look random and are the same everywhere.
inline std::vector<int> numbers(std::size_t n, int below, unsigned seed = 1) {
  std::vector<int> values(n);
  for (int& v : values) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<int>((seed >> 8) % static_cast<unsigned>(below));
  }
  return values;
}

inline int done() {
  std::printf("right\n");
  return 0;
}
