// What is wrong with a result is seen, and a CUDA error names its call.
#include "book/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <numeric>
#include <vector>

#include "book/input.hpp"

namespace {

using book::compare_sums;
using book::kPoison;
using ::testing::HasSubstr;

constexpr std::size_t kPerBlock = 256;

/// What a right kernel leaves: one sum per block.
std::vector<int> partials_of(std::size_t n, std::uint64_t seed = 7) {
  std::vector<int> partials((n + kPerBlock - 1) / kPerBlock);
  for (std::size_t i = 0; i < n; ++i) partials[i / kPerBlock] += book::input_value(seed, i);
  return partials;
}

std::int64_t sum(const std::vector<int>& partials) {
  return std::accumulate(partials.begin(), partials.end(), std::int64_t{0});
}

TEST(CompareSums, TakesARightResult) {
  const auto partials = partials_of(10000);
  const auto verdict = compare_sums(partials, sum(partials));
  EXPECT_TRUE(verdict.agrees);
  EXPECT_EQ(verdict.message, "sum " + std::to_string(sum(partials)) + " as expected");
}

TEST(CompareSums, OfNothingIsZero) {
  EXPECT_TRUE(compare_sums({}, 0).agrees);
}

TEST(CompareSums, RejectsNoPartialsAtAll) {
  const auto verdict = compare_sums({}, 1275);
  EXPECT_FALSE(verdict.agrees);
  EXPECT_EQ(verdict.message, "sum is 0, expected 1275 (off by -1275)");
}

TEST(CompareSums, RejectsSumsThatAreOffByOne) {
  auto partials = partials_of(10000);
  const std::int64_t expected = sum(partials);
  ++partials[3];
  EXPECT_FALSE(compare_sums(partials, expected).agrees);
  partials[3] -= 2;
  EXPECT_FALSE(compare_sums(partials, expected).agrees);
}

TEST(CompareSums, RejectsASwappedSign) {
  auto partials = partials_of(10000);
  const std::int64_t expected = sum(partials);
  partials[5] = -partials[5];
  const auto verdict = compare_sums(partials, expected);
  EXPECT_FALSE(verdict.agrees);
  EXPECT_THAT(verdict.message, HasSubstr("partial sum of block 5 is -"));
  EXPECT_FALSE(compare_sums(partials_of(10000), -expected).agrees);
}

TEST(CompareSums, RejectsNegativePartialsEvenWhenTheTotalIsRight) {
  const std::vector<int> partials{300, -100, 55};
  EXPECT_FALSE(compare_sums(partials, 255).agrees);
}

TEST(CompareSums, RejectsAKernelThatWritesNothing) {
  const std::vector<int> partials(40, kPoison);
  const auto verdict = compare_sums(partials, 10000);
  EXPECT_FALSE(verdict.agrees);
  EXPECT_EQ(verdict.message, "partial sum of block 0 was never written");
  // …not even when the reference were the poison's own sum.
  EXPECT_FALSE(compare_sums(partials, sum(partials)).agrees);
}

TEST(CompareSums, RejectsOneSlotThatWasNeverWritten) {
  auto partials = partials_of(10000);
  const std::int64_t expected = sum(partials);
  partials.back() = kPoison;
  const auto verdict = compare_sums(partials, expected);
  EXPECT_FALSE(verdict.agrees);
  EXPECT_EQ(verdict.message, "partial sum of block 39 was never written");
}

TEST(CompareSums, LooksAtEachOfSoManyThatAllCoresTakeAPart) {
  std::vector<int> partials((std::size_t{1} << 20) + 5, 3);
  EXPECT_TRUE(compare_sums(partials, sum(partials)).agrees);
  partials.back() = 4;
  EXPECT_FALSE(compare_sums(partials, sum(partials) - 1).agrees);
  partials[(std::size_t{1} << 20) - 1] = kPoison;
  partials.back() = -1;
  EXPECT_EQ(compare_sums(partials, sum(partials)).message,
            "partial sum of block 1048575 was never written");
}

TEST(CompareSums, RejectsAddingOntoThePoison) {
  // The largest sum that a block can have, added to a slot that should have been overwritten.
  const std::vector<int> partials{kPoison + 255 * (1 << 23)};
  EXPECT_FALSE(compare_sums(partials, std::int64_t{255} << 23).agrees);
}

TEST(CompareSums, AddsIn64Bits) {
  const std::vector<int> partials(1000, INT_MAX);
  EXPECT_TRUE(compare_sums(partials, 1000 * std::int64_t{INT_MAX}).agrees);
  // What a 32-bit total would have wrapped to.
  EXPECT_FALSE(compare_sums(partials, static_cast<int>(1000 * std::int64_t{INT_MAX})).agrees);
}

TEST(CheckCuda, LetsSuccessPass) {
  EXPECT_NO_THROW(book::check_cuda(cudaSuccess, "f()", "a.cu", 1));
}

TEST(CheckCuda, NamesCallFileLineAndError) {
  try {
    book::check_cuda(cudaErrorMemoryAllocation, "cudaMalloc(&p, bytes)", "/home/me/book/a.cu", 12);
    FAIL() << "no error";
  } catch (const book::Error& error) {
    EXPECT_EQ(error.code(), book::ExitCode::kCudaError);
    EXPECT_STREQ(error.what(),
                 "a.cu:12: cudaMalloc(&p, bytes) failed: cudaErrorMemoryAllocation "
                 "(out of memory)");
  }
}

TEST(CheckCuda, TheMacroNamesItsOwnCall) {
  try {
    BOOK_CUDA(cudaErrorInvalidValue);
    FAIL() << "no error";
  } catch (const book::Error& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("check_test.cpp:"));
    EXPECT_THAT(error.what(), HasSubstr(": cudaErrorInvalidValue failed: "));
  }
}

TEST(Errors, CarryTheirExitStatus) {
  EXPECT_EQ(book::bad_argument("x").code(), book::ExitCode::kBadArgument);
  EXPECT_EQ(book::not_available("x").code(), book::ExitCode::kNotAvailable);
  EXPECT_STREQ(book::bad_argument("--n: no").what(), "--n: no");
  EXPECT_EQ(static_cast<int>(book::ExitCode::kBadArgument), 2);
  EXPECT_EQ(static_cast<int>(book::ExitCode::kCudaError), 3);
  EXPECT_EQ(static_cast<int>(book::ExitCode::kNotAvailable), 77);
}

}  // namespace
