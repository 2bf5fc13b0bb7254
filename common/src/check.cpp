#include "book/check.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "book/report.hpp"

namespace book {

Error bad_argument(const std::string& message) {
  return {ExitCode::kBadArgument, message};
}

Error not_available(const std::string& message) {
  return {ExitCode::kNotAvailable, message};
}

void no_host_memory(std::size_t bytes) {
  throw Error(ExitCode::kCudaError,
              fmt::format("this machine has no {} of memory free for a copy of what the device has",
                          bytes_text(bytes)));
}

void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  // The file's name alone: where a reader keeps the book is no part of the message.
  throw Error(
      ExitCode::kCudaError,
      fmt::format("{}:{}: {} failed: {} ({})", std::filesystem::path(file).filename().string(),
                  line, call, cudaGetErrorName(status), cudaGetErrorString(status)));
}

Verdict compare_sums(std::span<const int> partials, std::int64_t expected) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < partials.size(); ++i) {
    const int partial = partials[i];
    if (partial < 0) {
      return {false, fmt::format(
                         "partial sum of block {} {}", i,
                         partial == kPoison
                             ? "was never written"
                             : fmt::format("is {}, but a sum of values 0 to 255 cannot be negative",
                                           partial))};
    }
    sum += partial;
  }
  if (sum == expected) return {true, fmt::format("sum {} as expected", sum)};
  return {false, fmt::format("sum is {}, expected {} (off by {})", sum, expected, sum - expected)};
}

}  // namespace book
