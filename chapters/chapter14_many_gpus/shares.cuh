/// \file
/// Which GPU has which of the elements.
#pragma once
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace chapter14 {

/// Elements first, first + 1, … of the array.
struct Share {
  std::size_t first = 0, n = 0;
  bool operator==(const Share&) const = default;
};

// begin split-by-weight
/// Consecutive shares of n elements, as large as the weights are to each other. They leave none
/// out, and are off by less than an element each; some are empty where there are fewer elements
/// than GPUs.
///
/// \pre a weight is above 0, and none is below
inline std::vector<Share> split(std::size_t n, const std::vector<double>& weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<Share> shares;
  double weight = 0;
  std::size_t first = 0;
  for (std::size_t g = 0; g < weights.size(); ++g) {
    weight += weights[g];
    const double part = weight / all;  // of n, up to and with this share
    std::size_t end = n;
    if (part < 1 && g + 1 < weights.size()) {
      end = static_cast<std::size_t>(
          std::llround(static_cast<long double>(part) * static_cast<long double>(n)));
    }
    shares.push_back({first, end - first});
    first = end;
  }
  return shares;
}
// end split-by-weight

// begin weights-of-speeds
/// Weights of GPUs by what was measured: all 1 where no two are further apart than `alike`, as a
/// measurement of equal ones is.
inline std::vector<double> weights_of(const std::vector<double>& speeds, double alike = 0.03) {
  double least = speeds.front();
  double most = speeds.front();
  for (const double speed : speeds) {
    least = speed < least ? speed : least;
    most = speed > most ? speed : most;
  }
  if (most <= least * (1 + alike)) return std::vector<double>(speeds.size(), 1.0);
  return speeds;
}
// end weights-of-speeds

}  // namespace chapter14
