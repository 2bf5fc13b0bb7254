/// \file
/// The book's problem: add up n integers. Here is what all its ends share, and the first of them:
/// one partial sum per block. finished_sum.hpp and whole_sum.hpp go on to one value.
#pragma once
#include <cstddef>
#include <cstdint>

#include "book/array.hpp"
#include "book/chapter.hpp"

namespace book {

/// n integers in device memory, and what their sum has to be. What kernels leave of them, and how
/// that is compared, each end says for itself.
class IntegerSum : public Problem {
 public:
  void prepare(const Shape& shape, std::uint64_t seed, Fill fill) final;
  void release() final;
  void restore() final { fill_in(in_, seed_); }

 protected:
  /// Makes room for what launches of this shape write …
  virtual void make_room(const Shape& shape, Fill fill) = 0;
  /// … and frees it.
  virtual void free_room() = 0;
  /// For an input other than input.hpp's 0…255: writes it to device memory …
  virtual void fill_in(Array<int>& in, std::uint64_t seed) const;
  /// … and says what its sum is.
  virtual std::int64_t sum_of(std::size_t n, std::uint64_t seed) const;

  int* in() const { return in_.data(); }
  std::int64_t expected() const { return expected_; }

 private:
  Array<int> in_;
  std::uint64_t seed_ = 0;
  std::int64_t expected_ = 0;
  bool filled_ = false;
};

/// n values 0…255 (input.hpp) in; `grid` partial sums out; the host adds those in 64 bits and
/// compares exactly. Useful bytes: 4·n read, 4·grid written (the "effective bandwidth" of
/// the CUDA C++ Best Practices Guide, section 8.2.2, with this method's bytes).
class Sum : public IntegerSum {
 public:
  /// What a launch needs.
  struct Launch {
    int* in;                   ///< n elements; only a variant that says so may write them
    int* partial;              ///< grid elements
    std::size_t n;             ///< elements
    unsigned grid, block;      ///< blocks, threads per block
    std::size_t shared_bytes;  ///< dynamic shared memory, bytes per block
  };
  /// A block's partial holds at most this many elements, so that 255 times it fits an int.
  static constexpr std::size_t kMaxElementsPerBlock = std::size_t{1} << 23;

  Launch launch(const Shape& shape) const;

  std::size_t device_bytes(const Shape& shape) const override;
  void accept(const Shape& shape) const override;
  void poison() override;
  Verdict check() override;
  UsefulBytes useful_bytes(const Shape& shape) const override;

 private:
  void make_room(const Shape& shape, Fill fill) override;
  void free_room() override;

  Array<int> partial_;
};

}  // namespace book
