#include "book/check.hpp"

#include <filesystem>

namespace book {

Error bad_argument(const std::string& message) {
  return {ExitCode::kBadArgument, message};
}

Error not_available(const std::string& message) {
  return {ExitCode::kNotAvailable, message};
}

void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  // The file's name alone: where a reader keeps the book is no part of the message.
  throw Error(ExitCode::kCudaError, std::filesystem::path(file).filename().string() + ":" +
                                        std::to_string(line) + ": " + call +
                                        " failed: " + cudaGetErrorName(status) + " (" +
                                        cudaGetErrorString(status) + ")");
}

Verdict compare_sums(std::span<const int> partials, std::int64_t expected) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < partials.size(); ++i) {
    if (partials[i] < 0) {
      const std::string slot = "partial sum of block " + std::to_string(i);
      return {false, partials[i] == kPoison
                         ? slot + " was never written"
                         : slot + " is " + std::to_string(partials[i]) +
                               ", but a sum of values 0 to 255 cannot be negative"};
    }
    sum += partials[i];
  }
  if (sum == expected) return {true, "sum " + std::to_string(sum) + " as expected"};
  return {false, "sum is " + std::to_string(sum) + ", expected " + std::to_string(expected) +
                     " (off by " + std::to_string(sum - expected) + ")"};
}

}  // namespace book
