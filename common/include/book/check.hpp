/// \file
/// Errors that say what to do, and the one comparison that decides whether a kernel is right.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace book {

/// What a program's exit status means. The numbers are part of the book's contract with scripts.
enum class ExitCode : int {
  kAgreed = 0,        ///< every result agreed with the reference
  kWrongResult = 1,   ///< at least one result did not
  kBadArgument = 2,   ///< the command line asks for something that cannot be
  kCudaError = 3,     ///< a CUDA call failed
  kNotAvailable = 77  ///< what the program needs is not on this machine
};

/// An error that ends the program with a given exit status; `what()` is the one line to print.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  /// The status to exit with.
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// An Error with ExitCode::kBadArgument.
Error bad_argument(const std::string& message);
/// An Error with ExitCode::kNotAvailable.
Error not_available(const std::string& message);

/// Throws an Error (ExitCode::kCudaError): the host has no memory for a copy of this many bytes.
[[noreturn]] void no_host_memory(std::size_t bytes);

/// Throws an Error (ExitCode::kCudaError) that names the call, the file and the line,
/// unless `status` is cudaSuccess. Use it through BOOK_CUDA.
void check_cuda(cudaError_t status, const char* call, const char* file, int line);

/// The outcome of comparing a kernel's result with the reference.
struct Verdict {
  bool agrees = false;
  std::string message;  ///< for a reader: what was found and what was expected
  /// How far off a result in floats is: |found - exact| / |exact|. Empty where equality is wanted.
  std::optional<double> error = {};
};

/// What every partial sum is set to before a kernel runs.
///
/// A partial is a sum of values 0…255 over at most 2^23 elements, so it lies in [0, INT_MAX];
/// no correct partial is negative, and a slot that a kernel never wrote cannot pass for one.
inline constexpr int kPoison = INT32_MIN + 0x0bad;

/// Adds `partials` in 64 bits and compares with `expected`, exactly.
///
/// Any negative partial (a slot never written, or one that overflowed) fails, whatever the total.
/// \param partials  one value per block, copied from the device
/// \param expected  the reference sum
Verdict compare_sums(std::span<const int> partials, std::int64_t expected);

}  // namespace book

/// Checks a CUDA runtime call: `BOOK_CUDA(cudaMalloc(&p, bytes));`
#define BOOK_CUDA(call) ::book::check_cuda((call), #call, __FILE__, __LINE__)
