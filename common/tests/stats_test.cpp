// Quantiles, and the interval of a median, against tables and by trial.
#include "book/stats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace {

using book::median_interval_ranks;
using book::quantile;
using book::summarize;
using Ranks = std::pair<std::size_t, std::size_t>;

// The expected values are what the expression in the comment gives, np being NumPy.

TEST(Quantile, InterpolatesAsNumPyDoes) {
  const std::vector<double> four{1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(quantile(four, 0.25), 1.75);  // np.quantile([1, 2, 4, 8], 0.25)
  EXPECT_DOUBLE_EQ(quantile(four, 0.5), 3.0);    // np.quantile([1, 2, 4, 8], 0.5)
  EXPECT_DOUBLE_EQ(quantile(four, 0.75), 5.0);   // np.quantile([1, 2, 4, 8], 0.75)
  EXPECT_DOUBLE_EQ(quantile(four, 0.1), 1.3);    // np.quantile([1, 2, 4, 8], 0.1)
  const std::vector<double> five{10, 20, 30, 50, 90};
  EXPECT_DOUBLE_EQ(quantile(five, 0.25), 20);    // np.quantile([10, 20, 30, 50, 90], 0.25)
  EXPECT_DOUBLE_EQ(quantile(five, 0.5), 30);     // np.quantile([10, 20, 30, 50, 90], 0.5)
  EXPECT_DOUBLE_EQ(quantile(five, 0.9), 74);     // np.quantile([10, 20, 30, 50, 90], 0.9)
  EXPECT_DOUBLE_EQ(quantile(five, 0.33), 23.2);  // np.quantile([10, 20, 30, 50, 90], 0.33)
}

TEST(Quantile, EndsAtTheEnds) {
  const std::vector<double> values{3, 5, 9};
  EXPECT_EQ(quantile(values, 0), 3);
  EXPECT_EQ(quantile(values, 1), 9);
  EXPECT_EQ(quantile(std::vector<double>{7.5}, 0.3), 7.5);
}

/// P(low < B <= high) for B binomial (count, 1/2), counted out in Pascal's triangle.
/// Exact for count <= 60; a long double's 64 bits lose less than 1e-16 of it up to 200.
long double coverage(std::size_t count, std::size_t low, std::size_t high) {
  std::vector<long double> row{1};
  for (std::size_t i = 0; i < count; ++i) {
    row.push_back(0);
    for (std::size_t k = row.size() - 1; k > 0; --k) row[k] += row[k - 1];
  }
  // The median lies between the samples of ranks low and high (from 0) when more than low and at
  // most high of them are less than it.
  long double inside = 0;
  for (std::size_t k = low + 1; k <= high; ++k) inside += row[k];
  return inside / std::pow(2.0L, static_cast<long double>(count));
}

TEST(MedianInterval, IsTheTableOfTheSignTest) {
  // From Conover's method by hand: for 6, both tails of rank 0 hold 2/64 = 0.031.
  EXPECT_EQ(median_interval_ranks(6, 0.95), Ranks(0, 5));
  EXPECT_EQ(median_interval_ranks(8, 0.95), Ranks(0, 7));    // 2 * 1/256; with rank 1: 18/256
  EXPECT_EQ(median_interval_ranks(9, 0.95), Ranks(1, 7));    // 2 * 10/512 = 0.039
  EXPECT_EQ(median_interval_ranks(10, 0.95), Ranks(1, 8));   // 2 * 11/1024 = 0.021
  EXPECT_EQ(median_interval_ranks(20, 0.95), Ranks(5, 14));  // 2 * 21700/2^20 = 0.041
  EXPECT_EQ(median_interval_ranks(100, 0.95), Ranks(39, 60));
}

TEST(MedianInterval, NeedsSixSamples) {
  for (std::size_t count = 0; count < 6; ++count) {
    EXPECT_EQ(median_interval_ranks(count, 0.95), std::nullopt) << count;
  }
  EXPECT_EQ(median_interval_ranks(7, 0.99), std::nullopt);  // 2/128 = 0.016
  EXPECT_EQ(median_interval_ranks(8, 0.99), Ranks(0, 7));   // 2/256 = 0.008
}

TEST(MedianInterval, CoversAndIsTheTightestThatDoes) {
  for (const double confidence : {0.5, 0.9, 0.95, 0.99}) {
    for (std::size_t count = 1; count <= 200; ++count) {
      const auto ranks = median_interval_ranks(count, confidence);
      if (!ranks) {
        EXPECT_LT(coverage(count, 0, count - 1), confidence) << count;
        continue;
      }
      const auto [low, high] = *ranks;
      EXPECT_EQ(low + high, count - 1) << count;
      EXPECT_GE(coverage(count, low, high), confidence) << count;
      if (low + 1 < high) {
        EXPECT_LT(coverage(count, low + 1, high - 1), confidence) << count;
      }
    }
  }
}

TEST(MedianInterval, NeitherOverflowsNorTiresForManySamples) {
  // The normal approximation is within a rank or two of the exact answer here.
  for (const std::size_t count : {1000u, 1029u, 1030u, 2000u, 10000u, 100000u, 1000001u}) {
    const auto ranks = median_interval_ranks(count, 0.95);
    ASSERT_TRUE(ranks) << count;
    const double n = static_cast<double>(count);
    EXPECT_NEAR(static_cast<double>(ranks->first), n / 2 - 1.959964 * std::sqrt(n) / 2, 2) << count;
    EXPECT_EQ(ranks->first + ranks->second, count - 1) << count;
  }
}

TEST(Summarize, SaysEverythingOfUnorderedSamples) {
  const std::vector<double> samples{9, 1, 8, 2, 7, 3, 6, 4, 5, 10};
  const auto s = summarize(samples);
  EXPECT_EQ(s.count, 10u);
  EXPECT_DOUBLE_EQ(s.median, 5.5);  // np.median(range(1, 11))
  EXPECT_DOUBLE_EQ(s.p25, 3.25);    // np.quantile(range(1, 11), 0.25)
  EXPECT_DOUBLE_EQ(s.p75, 7.75);    // np.quantile(range(1, 11), 0.75)
  EXPECT_DOUBLE_EQ(s.min, 1);
  ASSERT_TRUE(s.median_ci);
  EXPECT_EQ(*s.median_ci, std::pair(2.0, 9.0));  // ranks 1 and 8
  EXPECT_EQ(samples.front(), 9) << "the samples themselves stay as they were";
}

TEST(Summarize, HasNoIntervalForFiveSamples) {
  const auto s = summarize(std::vector<double>{5, 4, 3, 2, 1});
  EXPECT_EQ(s.median, 3);
  EXPECT_FALSE(s.median_ci);
}

TEST(Summarize, OneSampleIsItsOwnEverything) {
  const auto s = summarize(std::vector<double>{74.62});
  EXPECT_EQ(s.count, 1u);
  EXPECT_EQ(s.median, 74.62);
  EXPECT_EQ(s.p25, 74.62);
  EXPECT_EQ(s.p75, 74.62);
  EXPECT_EQ(s.min, 74.62);
}

TEST(Summarize, OfNothingCountsNothing) {
  EXPECT_EQ(summarize({}).count, 0u);
}

TEST(Summarize, ItsIntervalHoldsTheMedianAsOftenAsItSays) {
  // 2000 lists of 25 samples from a skewed distribution with the known median ln 2. The interval
  // covers with 0.957; 2000 trials scatter by 0.0046 about that.
  std::mt19937_64 random(2018);
  std::exponential_distribution<double> skewed(1.0);
  int held = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> samples(25);
    std::generate(samples.begin(), samples.end(), [&] { return skewed(random); });
    const auto ci = summarize(samples).median_ci;
    ASSERT_TRUE(ci);
    if (ci->first <= std::log(2.0) && std::log(2.0) <= ci->second) ++held;
  }
  EXPECT_NEAR(held / 2000.0, 0.957, 4 * 0.0046);
}

}  // namespace
