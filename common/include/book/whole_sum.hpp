/// \file
/// The finished sum: add up n integers until one value is left.
#pragma once
#include <cstddef>
#include <cstdint>

#include "book/array.hpp"
#include "book/buffer.hpp"
#include "book/sum.hpp"

namespace book {

/// n values 0…255 (input.hpp) in; one sum out, compared exactly. Useful bytes: 4·n read,
/// sizeof(Out) written.
///
/// \tparam Out  what is added in, and handed back: long long; int, which has to hold the
///              sum; or unsigned, for the sum modulo 2^32
template <class Out>
class WholeSum : public IntegerSum {
 public:
  /// What a launch needs.
  struct Launch {
    const int* in;             ///< n elements
    Out* out;                  ///< one element: the result
    Out* partial;              ///< 2 · grid + 64 elements of scratch memory
    int* rung;                 ///< grid ints, for a kernel that leaves such partial sums
    unsigned* ticket;          ///< 0 before every launch, and to be 0 again after it
    unsigned long long* word;  ///< the same: kWords of them
    void* storage;             ///< CUB's scratch memory
    std::size_t storage_bytes;
    std::size_t n;             ///< elements
    unsigned grid, block;      ///< blocks, threads per block
    std::size_t shared_bytes;  ///< dynamic shared memory, bytes per block
  };

  /// Words through which blocks hand in their sums.
  static constexpr std::size_t kWords = 3;

  Launch launch(const Shape& shape) const;

  std::size_t device_bytes(const Shape& shape) const override;
  void poison() override;
  Verdict check() override;
  UsefulBytes useful_bytes(const Shape& shape) const override;

 private:
  void make_room(const Shape& shape, Fill fill) override;
  void free_room() override;

  Array<int> rung_;
  Array<Out> out_, partial_;
  Buffer<unsigned> ticket_;
  Buffer<unsigned long long> word_;
  Buffer<unsigned char> storage_;
};

}  // namespace book
