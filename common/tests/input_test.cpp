// The input is a function of seed and position, and shows what is read twice or never.
#include "book/input.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "book/cores.hpp"

namespace {

using book::input_value;

TEST(Input, IsWhatSplitMix64Gives) {
  // The first outputs of the published splitmix64 for seed 0: e220a8397b1dcdaf, 6e789e6aa1b965f4,
  // 06c45d188009454f, f88bb8a8724c81ec. Ours is the high byte.
  EXPECT_EQ(input_value(0, 0), 0xe2);
  EXPECT_EQ(input_value(0, 1), 0x6e);
  EXPECT_EQ(input_value(0, 2), 0x06);
  EXPECT_EQ(input_value(0, 3), 0xf8);
}

TEST(Input, IsAFunctionOfSeedAndPosition) {
  int other_seed = 0;
  int other_position = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(input_value(2018, i), input_value(2018, i));
    other_seed += input_value(2018, i) != input_value(2019, i) ? 1 : 0;
    other_position += input_value(2018, i) != input_value(2018, i + 1) ? 1 : 0;
  }
  // One in 256 agrees by chance: about 996 differ.
  EXPECT_GT(other_seed, 980);
  EXPECT_GT(other_position, 980);
}

TEST(Input, UsesEveryValueAboutEquallyOften) {
  constexpr int kEach = 4096;
  std::array<int, 256> count{};
  for (std::uint64_t i = 0; i < std::uint64_t{256} * kEach; ++i) {
    const int value = input_value(2018, i);
    ASSERT_GE(value, 0);
    ASSERT_LE(value, 255);
    ++count.at(static_cast<std::size_t>(value));
  }
  // Each count scatters by sqrt(4096) = 64. Chi-squared has 255 degrees of freedom: mean 255,
  // standard deviation 23.
  double chi_squared = 0;
  for (const int c : count) {
    EXPECT_NEAR(c, kEach, 5 * 64);
    chi_squared += (c - kEach) * (c - kEach) / static_cast<double>(kEach);
  }
  EXPECT_NEAR(chi_squared, 255, 5 * 23);
}

TEST(Input, ShowsAnElementThatIsReadTwiceOrNotAtAll) {
  // What equal values would hide: the sum changes with the range.
  std::int64_t first = 0;
  std::int64_t shifted = 0;
  for (std::uint64_t i = 0; i < 1024; ++i) {
    first += input_value(2018, i);
    shifted += input_value(2018, i + 1);
  }
  EXPECT_NE(first, shifted);
}

TEST(Input, IsTheSameAsAFunctionOfThePosition) {
  const book::Input every_third{2018, 3, 1};
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(every_third(i), input_value(2018, 3 * i + 1));
  EXPECT_EQ(book::Input{7}((std::size_t{1} << 33) + 5), input_value(7, (std::size_t{1} << 33) + 5));
}

TEST(AllCores, TakeEachPositionOnce) {
  std::vector<int> taken((std::size_t{1} << 20) + 7);  // long enough for several threads
  std::vector<int> parts(book::core_count());
  book::on_all_cores(taken.size(), [&](std::size_t part, std::size_t first, std::size_t last) {
    ++parts.at(part);
    for (std::size_t i = first; i < last; ++i) ++taken[i];
  });
  for (std::size_t i = 0; i < taken.size(); ++i) ASSERT_EQ(taken[i], 1) << i;
  for (const int part : parts) EXPECT_LE(part, 1);
}

TEST(AllCores, TakeNothing) {
  book::on_all_cores(
      0, [](std::size_t, std::size_t first, std::size_t last) { EXPECT_EQ(first, last); });
}

}  // namespace
