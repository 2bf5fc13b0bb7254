// What each exhibit needs on the host: arrays on the device, and a word on its result.
#pragma once

#include <cstdio>
#include <vector>

template <class T>
class Array {
 public:
  explicit Array(size_t size) : size_(size) { cudaMalloc(&data_, size * sizeof(T)); }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  Array(const Array&) = delete;
  ~Array() { cudaFree(data_); }
  operator T*() const { return data_; }

  // What the host gets back, added up.
  double total() const {
    std::vector<T> values(size_);
    cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (const T value : values) sum += value;
    return sum;
  }

 private:
  size_t size_;
  T* data_ = nullptr;
};

// 0, 1 … limit - 1, and over again.
inline std::vector<int> counted(int n, int limit) {
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % limit;
  return values;
}

// What an exhibit ends with. Its status is 0 even if the result is wrong, as in most first
// programs: another one would tell the checks that the program has noticed.
inline int shown(double found, double right) {
  std::printf("%.10g", found);
  if (found == right) {
    std::printf(", as it should be\n");
  } else {
    std::printf(", and %.10g is right\n", right);
  }
  return 0;
}
