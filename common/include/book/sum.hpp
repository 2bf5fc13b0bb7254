/// \file
/// The book's problem: add up n integers, one partial sum per block.
#pragma once
#include <cstddef>
#include <cstdint>

#include "book/array.hpp"
#include "book/chapter.hpp"

namespace book {

/// n values 0…255 (input.hpp) in; `grid` partial sums out; the host adds those in 64 bits and
/// compares exactly. Useful bytes: 4·n read, 4·grid written (the "effective bandwidth" of
/// the CUDA C++ Best Practices Guide, section 8.2.2, with this method's bytes).
class Sum : public Problem {
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
  void prepare(const Shape& shape, std::uint64_t seed, Fill fill) override;
  void release() override;
  void restore() override;
  void poison() override;
  Verdict check() override;
  UsefulBytes useful_bytes(const Shape& shape) const override;

 private:
  Array<int> in_, partial_;
  std::uint64_t seed_ = 0;
  std::int64_t expected_ = 0;
  bool filled_ = false;
};

}  // namespace book
