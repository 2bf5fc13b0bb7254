/// \file
/// The statistics of a list of times.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace book {

/// What a list of samples says. All values are in the samples' own unit (microseconds here).
struct Summary {
  std::size_t count = 0;
  double median = 0;
  /// 95 % confidence interval of the median; empty below 6 samples, where none exists.
  std::optional<std::pair<double, double>> median_ci;
  double p25 = 0, p75 = 0;  ///< quartiles
  double min = 0;
};

/// The p-quantile of ascending samples by linear interpolation between order statistics:
/// position p·(count-1), as NumPy's default. \pre !ascending.empty(), 0 <= p <= 1
double quantile(std::span<const double> ascending, double p);

/// Ranks (0-based) of the order statistics that enclose the median with at least the given
/// confidence, from the binomial distribution with p = 1/2 (Conover, "Practical Nonparametric
/// Statistics", section 3.2). Symmetric; empty when `count` is too small for any.
std::optional<std::pair<std::size_t, std::size_t>> median_interval_ranks(std::size_t count,
                                                                         double confidence);

/// Summarises samples in any order. \pre !samples.empty()
Summary summarize(std::span<const double> samples);

}  // namespace book
