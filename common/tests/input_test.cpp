#include "book/input.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "../src/internal.hpp"

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

TEST(Generate, FillsEachPositionOnce) {
  // Long enough for several threads, and begun in the middle.
  const std::size_t first = (std::size_t{1} << 33) + 5;
  std::vector<int> out((std::size_t{1} << 20) + 7, -1);
  book::internal::generate(out, 2018, first);
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], input_value(2018, first + i)) << i;
  }
}

TEST(Generate, TakesAnEmptyPiece) {
  std::vector<int> none;
  book::internal::generate(none, 2018, 0);
  EXPECT_TRUE(none.empty());
}

}  // namespace
