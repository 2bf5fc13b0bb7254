#include "book/check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <vector>

#include "book/cores.hpp"
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
  std::vector<std::int64_t> sums(core_count());
  std::vector<int> least(core_count());
  on_all_cores(partials.size(), [&](std::size_t core, std::size_t first, std::size_t last) {
    const auto mine = partials.subspan(first, last - first);
    std::int64_t sum = 0;
    int smallest = 0;
    for (const int partial : mine) {
      sum += partial;
      smallest = std::min(smallest, partial);
    }
    sums[core] = sum;
    least[core] = smallest;
  });
  if (std::ranges::min(least) < 0) {
    const auto negative = std::ranges::find_if(partials, [](int partial) { return partial < 0; });
    return {false,
            fmt::format("partial sum of block {} {}", negative - partials.begin(),
                        *negative == kPoison
                            ? "was never written"
                            : fmt::format("is {}, but a sum of values 0 to 255 cannot be negative",
                                          *negative))};
  }
  const std::int64_t sum = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
  if (sum == expected) return {true, fmt::format("sum {} as expected", sum)};
  return {false, fmt::format("sum is {}, expected {} (off by {})", sum, expected, sum - expected)};
}

}  // namespace book
