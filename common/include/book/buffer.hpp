/// \file
/// Device memory that frees itself.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "book/check.hpp"

namespace book {

/// `size()` elements of T in device memory, freed with the object. Moves, never copies.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  /// Allocates `size` elements (none for 0). Throws Error on failure.
  explicit Buffer(std::size_t size) : size_(size) {
    if (size > 0) BOOK_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)));
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() {
    // An empty one leaves the runtime alone: cudaFree(nullptr) would start it, for --list too.
    if (data_ != nullptr) static_cast<void>(cudaFree(data_));  // there is no way to say an error
  }

  T* data() const { return data_; }                        ///< device address; null when empty
  std::size_t size() const { return size_; }               ///< elements
  std::size_t bytes() const { return size_ * sizeof(T); }  ///< bytes

  /// Makes room for at least `size` elements. Where there is less, what was in it is lost: it is
  /// freed before the larger one is asked for, so that both never have to fit. Throws Error.
  void grow(std::size_t size) {
    if (size <= size_) return;
    *this = Buffer();
    *this = Buffer(size);
  }
  /// Copies host elements to the front of the buffer. \pre from.size() <= size()
  void copy_from(std::span<const T> from) {
    BOOK_CUDA(cudaMemcpy(data_, from.data(), from.size_bytes(), cudaMemcpyHostToDevice));
  }
  /// The first `count` elements, on the host. \pre count <= size()
  std::vector<T> to_host(std::size_t count) const {
    std::vector<T> host;
    try {
      host.resize(count);
    } catch (const std::exception&) {
      no_host_memory(count * sizeof(T));
    }
    if (count > 0) {
      BOOK_CUDA(cudaMemcpy(host.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost));
    }
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace book
