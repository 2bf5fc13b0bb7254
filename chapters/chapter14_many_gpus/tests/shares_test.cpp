// Which GPU gets which elements, by speeds that no machine here has: equal ones, unequal ones, and
// those that a measurement can't tell apart.
#include "../shares.cuh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace {

using chapter14::Share;
using chapter14::split;
using chapter14::weights_of;
using testing::Each;
using testing::ElementsAre;

const std::vector<std::size_t> kSizes{0,
                                      1,
                                      2,
                                      31,
                                      32,
                                      33,
                                      1023,
                                      1025,
                                      (1u << 20) - 1,
                                      1u << 20,
                                      (1u << 20) + 1,
                                      std::size_t{1} << 40,
                                      (std::size_t{1} << 40) + 1};
const std::vector<std::vector<double>> kSpeeds{{4400},
                                               {4400, 4400},
                                               {4400, 2950},
                                               {2950, 4400},
                                               {1, 1000},
                                               {0, 1},
                                               {1, 0},
                                               {0, 0, 3, 0},
                                               {4400, 0, 2950},
                                               {0.1, 0.2, 0.3},
                                               {1e-300, 1},
                                               {4e9, 3e9, 2e9, 1},
                                               {7, 7, 7, 7, 7, 7, 7, 7}};

TEST(Split, LeavesNoElementOutAndTakesNoneTwice) {
  for (const auto& weights : kSpeeds) {
    for (const std::size_t n : kSizes) {
      const std::vector<Share> shares = split(n, weights);
      ASSERT_EQ(shares.size(), weights.size());
      std::size_t next = 0;
      for (const Share& share : shares) {
        EXPECT_EQ(share.first, next);
        next += share.n;
      }
      EXPECT_EQ(next, n);
    }
  }
}

TEST(Split, IsOffByLessThanAnElement) {
  for (const auto& weights : kSpeeds) {
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (const std::size_t n : kSizes) {
      const std::vector<Share> shares = split(n, weights);
      for (std::size_t g = 0; g < shares.size(); ++g) {
        const double fair = static_cast<double>(n) * (weights[g] / all);
        // A double's last bit of 2^40 elements is less than a thousandth of one.
        EXPECT_LT(std::abs(static_cast<double>(shares[g].n) - fair), 1.001)
            << "share " << g << " of " << n;
      }
    }
  }
}

TEST(Split, GivesNothingToWhatHasNoWeight) {
  EXPECT_THAT(split(1000, {0, 1, 0}), ElementsAre(Share{0, 0}, Share{0, 1000}, Share{1000, 0}));
}

TEST(Split, GivesAHalfSlowerGpuAThird) {
  EXPECT_THAT(split(3000, {2, 1}), ElementsAre(Share{0, 2000}, Share{2000, 1000}));
  EXPECT_THAT(split(3000, {1, 2}), ElementsAre(Share{0, 1000}, Share{1000, 2000}));
}

TEST(Split, HasEmptySharesWhereElementsAreFew) {
  EXPECT_THAT(split(0, {1, 1}), ElementsAre(Share{0, 0}, Share{0, 0}));
  std::size_t with_one = 0;
  for (const Share& share : split(2, {1, 1, 1, 1, 1})) {
    EXPECT_LE(share.n, 1u);
    with_one += share.n;
  }
  EXPECT_EQ(with_one, 2u);
}

TEST(Weights, AreEqualWhereAMeasurementCantTellGpusApart) {
  EXPECT_THAT(weights_of({4400}), Each(1.0));
  EXPECT_THAT(weights_of({4400, 4400}), Each(1.0));
  EXPECT_THAT(weights_of({4400, 4300}), Each(1.0));  // 2.3 %
  EXPECT_THAT(weights_of({4300, 4400, 4350}), Each(1.0));
  EXPECT_THAT(weights_of({100, 103}), Each(1.0));  // 3 %, and no more
}

TEST(Weights, AreTheSpeedsWhereTwoGpusDiffer) {
  EXPECT_THAT(weights_of({4400, 2950}), ElementsAre(4400, 2950));  // an H200 and an H100
  EXPECT_THAT(weights_of({100, 103.2}), ElementsAre(100, 103.2));
  // The first and the last are alike, and the one between them is like neither.
  EXPECT_THAT(weights_of({4400, 2950, 4390}), ElementsAre(4400, 2950, 4390));
}

TEST(Weights, GiveGpusOfUnequalSpeedTheSameTime) {
  const std::vector<double> speeds{4400, 2950, 1000};
  const std::size_t n = 1u << 30;
  const std::vector<Share> shares = split(n, weights_of(speeds));
  const double each = static_cast<double>(n) / (4400 + 2950 + 1000);
  for (std::size_t g = 0; g < speeds.size(); ++g) {
    EXPECT_NEAR(static_cast<double>(shares[g].n) / speeds[g], each, 0.01);
  }
}

}  // namespace
