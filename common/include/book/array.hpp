/// \file
/// An array in device memory whose elements are functions of their position.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "book/buffer.hpp"
#include "book/check.hpp"
#include "book/cores.hpp"
#include "book/input.hpp"

namespace book {

/// The same value at every position.
template <class T>
struct Constant {
  T value;
  __host__ __device__ T operator()(std::size_t /*position*/) const { return value; }
};

/// How many elements of an array are wrong, and the first of them.
struct Wrong {
  unsigned long long count = 0;
  unsigned long long first = ~0ull;
};

/// Elements that are filled and compared by functions of the position: `value(i)`, on host and
/// device. By kernels, or under `--once`, where no kernel but the variant's may run, by copies of
/// what the host computes, piece by piece.
///
/// The kernels are made where nvcc compiles the call. A source that g++ compiles can use the
/// functions for which kernels.cu has made them.
template <class T>
class Array {
 public:
  /// Makes room for `size` elements; what is there is kept only where there was room. Throws Error.
  void resize(std::size_t size, Fill fill) {
    data_.grow(size);
    size_ = size;
    fill_ = fill;
  }
  /// Frees the device's memory.
  void release() {
    data_ = {};
    size_ = 0;
  }

  T* data() const { return data_.data(); }  ///< device address; null when empty
  std::size_t size() const { return size_; }

  /// Sets each element i to value(i).
  template <class Value>
  void fill(const Value& value) {
    if (fill_ == Fill::kKernel) return fill_there(value);
    in_pieces([&](std::vector<T>& piece, std::size_t first, std::size_t count) {
      on_all_cores(count, [&](std::size_t, std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) piece[i] = value(first + i);
      });
      BOOK_CUDA(
          cudaMemcpy(data() + first, piece.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    });
  }
  /// Sets all elements to a value that no right output has.
  void poison(T value) { fill(Constant<T>{value}); }

  /// Compares each element i with value(i), exactly. \param agreed  what is said where all agree
  template <class Value>
  Verdict compare(const Value& value, const std::string& agreed) const {
    const Wrong wrong = fill_ == Fill::kKernel ? compare_there(value) : compare_here(value);
    if (wrong.count == 0) return {true, agreed};
    T found{};
    BOOK_CUDA(cudaMemcpy(&found, data() + wrong.first, sizeof found, cudaMemcpyDeviceToHost));
    return {false, std::to_string(wrong.count) + " of " + std::to_string(size_) +
                       " elements are wrong; the first, " + std::to_string(wrong.first) + ", is " +
                       std::to_string(found) + " and should be " +
                       std::to_string(value(wrong.first))};
  }

  /// All elements, on the host, until the array changes: the memory is kept for the next time, as
  /// getting it takes longer than copying.
  std::span<const T> to_host() {
    if (host_.size() < size_) host_ = std::vector<T>(size_);
    if (size_ > 0) {
      BOOK_CUDA(cudaMemcpy(host_.data(), data(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
    }
    return {host_.data(), size_};
  }

 private:
  /// Calls work(piece, first, count) for consecutive pieces of the array, so that the host needs
  /// 64 MiB for one of any size.
  template <class Work>
  void in_pieces(const Work& work) const {
    constexpr std::size_t kPiece = (std::size_t{64} << 20) / sizeof(T);
    std::vector<T> piece(std::min(kPiece, size_));
    for (std::size_t first = 0; first < size_; first += kPiece) {
      work(piece, first, std::min(kPiece, size_ - first));
    }
  }
  template <class Value>
  Wrong compare_here(const Value& value) const {
    Wrong wrong;
    in_pieces([&](std::vector<T>& piece, std::size_t first, std::size_t count) {
      BOOK_CUDA(
          cudaMemcpy(piece.data(), data() + first, count * sizeof(T), cudaMemcpyDeviceToHost));
      for (std::size_t i = 0; i < count; ++i) {
        if (piece[i] != value(first + i) && wrong.count++ == 0) wrong.first = first + i;
      }
    });
    return wrong;
  }
  template <class Value>
  void fill_there(const Value& value);
  template <class Value>
  Wrong compare_there(const Value& value) const;

  Buffer<T> data_;
  std::vector<T> host_;
  std::size_t size_ = 0;
  Fill fill_ = Fill::kKernel;
};

#ifdef __CUDACC__

namespace detail {

template <class T, class Value>
__global__ void fill_array(T* data, std::size_t n, Value value) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    data[i] = value(i);
  }
}

template <class T, class Value>
__global__ void compare_array(const T* data, std::size_t n, Value value, Wrong* wrong) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    if (data[i] == value(i)) continue;
    atomicAdd(&wrong->count, 1ull);
    atomicMin(&wrong->first, static_cast<unsigned long long>(i));
  }
}

constexpr unsigned kArrayBlock = 256;

/// Blocks for n elements: more than fill any device would only queue.
inline unsigned array_grid(std::size_t n) {
  return static_cast<unsigned>(std::clamp<std::size_t>(n / kArrayBlock + 1, 1, 1 << 14));
}

}  // namespace detail

template <class T>
template <class Value>
void Array<T>::fill_there(const Value& value) {
  detail::fill_array<<<detail::array_grid(size_), detail::kArrayBlock>>>(data(), size_, value);
  BOOK_CUDA(cudaGetLastError());
}

template <class T>
template <class Value>
Wrong Array<T>::compare_there(const Value& value) const {
  Buffer<Wrong> wrong(1);
  wrong.copy_from(std::vector<Wrong>(1));
  detail::compare_array<<<detail::array_grid(size_), detail::kArrayBlock>>>(data(), size_, value,
                                                                            wrong.data());
  BOOK_CUDA(cudaGetLastError());
  return wrong.to_host(1)[0];
}

#endif

}  // namespace book
