// The host's sums are those of a plain loop.
#include "book/reference.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "book/input.hpp"

namespace {

std::int64_t one_by_one(std::size_t n, std::uint64_t seed) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += book::input_value(seed, i);
  return sum;
}

TEST(SumOfInput, OfNothingIsZero) {
  EXPECT_EQ(book::sum_of_input(0, 2018), 0);
}

TEST(SumOfInput, EqualsAPlainLoop) {
  // The larger ones are split over threads, at places that aren't multiples of anything.
  for (const std::size_t n : {1ul, 2ul, 31ul, 32ul, 33ul, 1023ul, 1024ul, 1025ul, (1ul << 18) - 1,
                              1ul << 18, (1ul << 19) + 1, (1ul << 22) + 12345}) {
    EXPECT_EQ(book::sum_of_input(n, 2018), one_by_one(n, 2018)) << n;
  }
}

TEST(SumOfInput, RemembersEachQuestionApart) {
  const auto a = book::sum_of_input(1000, 1);
  const auto b = book::sum_of_input(1000, 2);
  const auto c = book::sum_of_input(1001, 1);
  EXPECT_NE(a, b);
  // Others, then the first ones again.
  for (std::size_t n = 1; n < 20; ++n) EXPECT_EQ(book::sum_of_input(n, 3), one_by_one(n, 3));
  EXPECT_EQ(book::sum_of_input(1000, 1), a);
  EXPECT_EQ(book::sum_of_input(1000, 2), b);
  EXPECT_EQ(book::sum_of_input(1001, 1), c);
}

TEST(Prefixes, LookAtEachPositionOnceAndGoOnFromTheLongestKnown) {
  book::Prefixes<std::int64_t> sums;
  std::atomic<std::size_t> seen = 0;
  const auto up_to = [&](std::size_t n, std::uint64_t seed) {
    return sums.up_to(n, seed, [&](std::size_t first, std::size_t last) {
      seen += last - first;
      std::int64_t sum = 0;
      for (std::size_t i = first; i < last; ++i) sum += book::input_value(seed, i);
      return sum;
    });
  };
  constexpr std::size_t kLarge = (std::size_t{1} << 20) + 3;
  EXPECT_EQ(up_to(1000, 1), one_by_one(1000, 1));
  EXPECT_EQ(seen, 1000u);
  EXPECT_EQ(up_to(kLarge, 1), one_by_one(kLarge, 1));
  EXPECT_EQ(seen, kLarge);
  EXPECT_EQ(up_to(1000, 1), one_by_one(1000, 1));
  EXPECT_EQ(up_to(0, 1), 0);
  EXPECT_EQ(seen, kLarge);
  EXPECT_EQ(up_to(1500, 1), one_by_one(1500, 1));  // between two that are known
  EXPECT_EQ(seen, kLarge + 500);
  EXPECT_EQ(up_to(1000, 2), one_by_one(1000, 2));  // another seed shares nothing
  EXPECT_EQ(seen, kLarge + 1500);
}

TEST(SumOfSmallInput, EqualsAPlainLoopAndIsNotTheOther) {
  for (const std::size_t n : {0ul, 1ul, 1000ul, (1ul << 19) + 1}) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const int value = book::SmallInput{2018}(i);
      ASSERT_TRUE(0 <= value && value <= book::SmallInput::kLargest) << i;
      sum += value;
    }
    EXPECT_EQ(book::sum_of_input(n, 2018), one_by_one(n, 2018)) << n;  // remembered apart
    EXPECT_EQ(book::sum_of_small_input(n, 2018), sum) << n;
  }
}

TEST(SumOfSmallInput, FitsAnIntUpToTheMostAndNotBeyond) {
  constexpr std::int64_t kInt = 0x7fffffff;
  constexpr auto kMost = static_cast<std::int64_t>(book::kMostSmall);
  EXPECT_LE(kMost * book::SmallInput::kLargest, kInt);
  EXPECT_GT((kMost + 1) * book::SmallInput::kLargest, kInt);
  EXPECT_GE(kMost, std::int64_t{1} << 28);
}

TEST(SumOfInput, PassesWhat32BitsHold) {
  // 2^25 values of 127.5 on average: about 4.3e9, past 2^32.
  const std::size_t n = std::size_t{1} << 25;
  const auto sum = book::sum_of_input(n, 2018);
  EXPECT_EQ(sum, one_by_one(n, 2018));
  EXPECT_NEAR(static_cast<double>(sum), 127.5 * static_cast<double>(n), 5e6);
}

}  // namespace
