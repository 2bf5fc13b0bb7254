#include "book/stats.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace book {

double quantile(std::span<const double> ascending, double p) {
  const double position = p * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return std::lerp(ascending[below], ascending[above], position - static_cast<double>(below));
}

std::optional<std::pair<std::size_t, std::size_t>> median_interval_ranks(std::size_t count,
                                                                         double confidence) {
  // The median lies below the sample of rank r (0-based) when at most r samples are less than it:
  // with probability P(B <= r), B binomial (count, 1/2). Wanted is the largest r for which both
  // tails together, 2 P(B <= r), stay within 1 - confidence.
  if (count == 0) return std::nullopt;
  // Binomial coefficients from the middle one down, relative to it, so that none overflows;
  // below 1e-25 they no longer change a sum. There are about 5 sqrt(count) of them.
  const std::size_t middle = count / 2;
  std::vector<double> weight{1.0};
  for (std::size_t k = middle; k > 0 && weight.back() > 1e-25; --k) {
    weight.push_back(weight.back() * static_cast<double>(k) / static_cast<double>(count - k + 1));
  }
  double half = 0;  // weight of all k < count / 2, smallest first
  for (std::size_t i = weight.size(); i-- > 1;) half += weight[i];
  // An odd count has two middle coefficients, one on each side; an even count has one between the
  // sides.
  const double total = count % 2 == 1 ? 2 * (half + 1) : 2 * half + 1;

  std::optional<std::size_t> rank;
  double tail = 0;
  for (std::size_t i = weight.size(); i-- > 0;) {
    tail += weight[i];
    if (2 * tail > (1 - confidence) * total) break;
    rank = middle - i;
  }
  if (!rank) return std::nullopt;
  return std::pair(*rank, count - 1 - *rank);
}

Summary summarize(std::span<const double> samples) {
  Summary s;
  s.count = samples.size();
  if (samples.empty()) return s;
  std::vector<double> ascending(samples.begin(), samples.end());
  std::sort(ascending.begin(), ascending.end());
  s.median = quantile(ascending, 0.5);
  if (const auto ranks = median_interval_ranks(s.count, 0.95)) {
    s.median_ci = {ascending[ranks->first], ascending[ranks->second]};
  }
  s.p25 = quantile(ascending, 0.25);
  s.p75 = quantile(ascending, 0.75);
  s.min = ascending.front();
  return s;
}

}  // namespace book
