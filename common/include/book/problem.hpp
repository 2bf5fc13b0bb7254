/// \file
/// What there is to compute: its memory, its answer, its useful bytes.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "book/check.hpp"
#include "book/input.hpp"

namespace book {

/// One case of one variant: how much, and in what shape it is launched.
struct Shape {
  std::size_t n = 0;             ///< elements
  unsigned block = 0;            ///< threads per block
  unsigned grid = 0;             ///< blocks
  std::size_t shared_bytes = 0;  ///< dynamic shared memory, bytes per block
};

/// Useful bytes of one launch: what the method must read and write, not what the memory moved.
struct UsefulBytes {
  std::size_t read = 0;
  std::size_t written = 0;
};

/// Something to compute. A problem P also has a type `P::Launch`, what a kernel's launch needs, and
/// `P::Launch launch(const Shape&) const`.
///
/// The driver calls `prepare` for a shape, then any number of launches, with `poison` and, for
/// variants that destroy their input, `restore` before each one that is checked. Of several
/// problems one at a time holds device memory.
class Problem {
 public:
  virtual ~Problem() = default;
  /// Device memory that `prepare` will take, in bytes.
  virtual std::size_t device_bytes(const Shape& shape) const = 0;
  /// Refuses a shape whose result could not be right (throws Error, kBadArgument).
  virtual void accept(const Shape& /*shape*/) const {}
  /// Allocates and fills. Called again for every shape; may keep what fits.
  virtual void prepare(const Shape& shape, std::uint64_t seed, Fill fill) = 0;
  /// Frees the device memory, for another problem's turn; `prepare` is called again before use.
  virtual void release() {}
  /// Puts back an input that a launch destroyed.
  virtual void restore() {}
  /// Makes every output unmistakably wrong.
  virtual void poison() = 0;
  /// Waits until all that launches have queued is done. Throws Error where it never will be.
  virtual void wait() { BOOK_CUDA(cudaDeviceSynchronize()); }
  /// The same for an event behind a launch.
  virtual void wait_for(cudaEvent_t event) { BOOK_CUDA(cudaEventSynchronize(event)); }
  /// For launches over several devices: has the default stream wait until the L2 of each of the
  /// others has been emptied. The driver empties the current device's.
  virtual void empty_other_caches() {}
  /// For launches of several processes: queues on the default stream what ends on all ranks at
  /// once.
  virtual void align() {}
  /// Compares the outputs of the last launch with the reference.
  virtual Verdict check() = 0;
  /// What the method must move for this shape.
  virtual UsefulBytes useful_bytes(const Shape& shape) const = 0;
};

}  // namespace book
