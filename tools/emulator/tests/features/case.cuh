/// \file
/// What the features share: how one is listed, and what its kernels work on.
///
/// A feature is a small program that checks its own result. It answers true where it is right.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace features {

struct Feature {
  const char *group, *name, *title;
  bool (*right)();
};

inline std::vector<Feature>& all() {
  static std::vector<Feature> list;
  return list;
}

struct Listed {
  explicit Listed(const Feature& feature) { all().push_back(feature); }
};

#define FEATURE(group, name, title)                                             \
  bool name##_right();                                                          \
  const ::features::Listed name##_listed({group, #name, title, &name##_right}); \
  bool name##_right()

/// Ends the program where a device refuses something, with status 3.
inline void refused(const char* why) {
  std::printf("%s\n", why);
  std::fflush(stdout);
  std::_Exit(3);
}
inline void cuda(cudaError_t error) {
  if (error != cudaSuccess) refused(cudaGetErrorName(error));
}

/// After a launch: that it could begin, and ended well.
inline void launched() {
  cuda(cudaGetLastError());
  cuda(cudaDeviceSynchronize());
}

/// Values on the device, which the host reads by index.
template <class T>
class Values {
 public:
  explicit Values(std::size_t size, T value = T()) : Values(std::vector<T>(size, value)) {}
  explicit Values(const std::vector<T>& values) : size_(values.size()) {
    cuda(cudaMalloc(&data_, size_ * sizeof(T)));
    cuda(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Values() { cudaFree(data_); }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  T* get() { return data_; }
  T operator[](std::size_t i) const {
    T value;
    cuda(cudaMemcpy(&value, data_ + i, sizeof(T), cudaMemcpyDeviceToHost));
    return value;
  }
  std::vector<T> host() const {
    std::vector<T> values(size_);
    cuda(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// 0, 1, 2, …
template <class T = int>
std::vector<T> counting(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(i);
  return values;
}

}  // namespace features
