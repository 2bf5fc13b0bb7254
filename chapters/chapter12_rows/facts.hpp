/// \file
/// The elements of the tables, what is true of their rows, in double, and how far rounding may take
/// a result from it.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "book/input.hpp"

namespace chapter12 {

/// What the elements are like.
enum class Data {
  kNumbers,  ///< from -8 to 8, and up to 4 more towards a row's end
  kOffset,   ///< from 16384 to 16385
  kLarge,    ///< from -800 to 1200: exp overflows
  kSpecial   ///< rows in turns with NaN, infinities, ties, nothing but -inf, and large numbers
};

/// The float that has these bits, and the other way round.
__host__ __device__ inline float float_of(std::uint32_t bits) {
  float value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}
inline std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// begin elements-of-rows
/// The element at a row and column.
__host__ __device__ inline float element(std::uint64_t seed, Data data, std::uint64_t row,
                                         std::uint64_t column, std::uint64_t columns) {
  const std::uint64_t bits = book::input_bits(seed, row * columns + column);
  const float unit = static_cast<float>(bits >> 40) * 0x1p-24f;  // from 0 to 1
  const float number = 16 * unit - 8 + 4 * static_cast<float>(column) / static_cast<float>(columns);
  if (data == Data::kNumbers) return number;
  if (data == Data::kLarge) return 100 * number;
  if (data == Data::kOffset) return 16384 + static_cast<float>(bits >> 54) * 0x1p-10f;

  const float infinity = float_of(0x7f800000);
  const std::uint64_t place = book::input_bits(seed + 1, row) % columns;  // of what is special
  switch ((row + columns) % 10) {
    case 0: return -infinity;
    case 1: return column == place ? float_of(0x7fc00000) : number;
    case 2: return column == place ? infinity : number;
    case 3: return bits % 2 == 0 ? -infinity : number;
    case 4: return 3;                                     // nothing but ties
    case 5: return bits % 4 == 0 ? -0.0f : 0.0f;          // and these
    case 6: return number - 100;                          // nothing above zero
    case 7: return 100 * number;                          // exp overflows
    case 8: return column == place ? number : -infinity;  // one that isn't masked
    default: return column == place ? float_of(0x7fc00000) : -infinity;
  }
}
// end elements-of-rows

/// The same by position in memory, `skew` floats before the first row.
struct Values {
  std::uint64_t seed = 0;
  Data data = Data::kNumbers;
  std::size_t columns = 0, skew = 0;
  __host__ __device__ float at(std::size_t row, std::size_t column) const {
    return element(seed, data, row, column, columns);
  }
  __host__ __device__ float operator()(std::size_t position) const {
    if (position < skew) return float_of(0x7fc00000);
    return at((position - skew) / columns, (position - skew) % columns);
  }
};
/// Weight and bias of layer normalisation, by column.
struct Weight {
  __host__ __device__ float operator()(std::size_t column) const {
    return 0.5f + static_cast<float>(book::input_value(1, column)) * 0x1p-7f;
  }
};
struct Bias {
  __host__ __device__ float operator()(std::size_t column) const {
    return static_cast<float>(book::input_value(2, column) - 128) * 0x1p-5f;
  }
};
constexpr float kEpsilon = 1e-5f;

/// What a check asks of a row beyond its sum and its largest element.
enum class Needs { kNothing, kSpread, kExponentials };

/// What is true of a row, or of a column.
struct Facts {
  std::size_t count = 0;
  double sum = 0;
  double magnitudes = 0;  ///< the sum of |x|
  float most = -std::numeric_limits<float>::infinity();
  float least = std::numeric_limits<float>::infinity();
  std::uint32_t column = ~0u;  ///< of the largest; of a NaN, where there is one
  double mean = 0;
  double variance = 0;              ///< where it is needed
  std::vector<double> exponential;  ///< exp(x - most) of each element, likewise
  double exponentials = 0;          ///< and their sum

  double largest() const { return std::max(std::abs(double{most}), std::abs(double{least})); }
  double range() const { return double{most} - double{least}; }
  bool finite() const { return count > 0 && std::isfinite(sum); }

  /// Those of `length` elements at(0), at(1) …
  template <class At>
  void take(std::size_t length, Needs needs, const At& at) {
    std::vector<double> room = std::move(exponential);
    *this = Facts{};
    exponential = std::move(room);  // kept, as it is as long as a row
    count = length;
    for (std::size_t i = 0; i < count; ++i) {
      const float x = at(i);
      sum += x;
      magnitudes += std::abs(double{x});
      if (x < least) least = x;
      if (x > most || (std::isnan(x) && !std::isnan(most)) || column == ~0u) {
        most = x;
        column = static_cast<std::uint32_t>(i);
      }
    }
    mean = sum / static_cast<double>(count);
    for (std::size_t i = 0; i < count && needs == Needs::kSpread; ++i) {
      const double away = at(i) - mean;
      variance += away * away / static_cast<double>(count);
    }
    if (needs != Needs::kExponentials) return;
    exponential.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      exponential[i] = std::exp(double{at(i)} - double{most});
      exponentials += exponential[i];
    }
  }
};

/// Where a result is looked at.
struct Seen {
  Values values;
  std::size_t row = 0, columns = 0;  ///< of sums of columns, `row` is the column
  double depth = 0;                  ///< roundings on an element's way into its total
};

/// Half the distance of 1 to the next float: what one rounding loses of 1.
constexpr double kHalfUlp = 0x1p-24;

inline std::string differs(const std::string& what, double found, double exact, double allowed) {
  char text[160];
  std::snprintf(text, sizeof text, "%s is %.9g and should be %.9g, give or take %.2g", what.c_str(),
                found, std::isnan(exact) ? std::abs(exact) : exact, allowed);
  return text;
}
/// Says what is wrong where `found` is further off than allowed. What is no finite number must be
/// the same one.
inline std::string unless_near(const std::string& what, double found, double exact,
                               double allowed) {
  const bool right = std::isnan(exact)   ? std::isnan(found)
                     : std::isinf(exact) ? found == exact
                                         : std::abs(found - exact) <= allowed;
  return right ? "" : differs(what, found, exact, std::isfinite(exact) ? allowed : 0);
}

/// The elements as they are.
struct CopyOfRow {
  static constexpr const char* kName = "copied element";
  static constexpr bool by_column = false;
  static constexpr Needs kNeeds = Needs::kNothing;
  static std::size_t size(std::size_t rows, std::size_t columns) { return rows * columns; }
  static std::string wrong(const Facts&, const Seen& seen, const float* found) {
    for (std::size_t column = 0; column < seen.columns; ++column) {
      const float exact = seen.values.at(seen.row, column);
      if (bits_of(found[column]) == bits_of(exact)) continue;
      return differs("element " + std::to_string(column), found[column], exact, 0);
    }
    return "";
  }
};

/// A sum that has been through `depth` roundings: each is off by at most half an ulp of the partial
/// sum, which is no larger than the sum of magnitudes.
struct SumOfRow {
  static constexpr const char* kName = "sum";
  static constexpr bool by_column = false;
  static constexpr Needs kNeeds = Needs::kNothing;
  static std::size_t size(std::size_t rows, std::size_t) { return rows; }
  static std::string wrong(const Facts& f, const Seen& seen, const float* found) {
    return unless_near("the sum", *found, f.sum, seen.depth * kHalfUlp * f.magnitudes);
  }
};
struct SumOfColumn : SumOfRow {
  static constexpr bool by_column = true;
  static std::size_t size(std::size_t, std::size_t columns) { return columns; }
};
struct MaximumOfRow {
  static constexpr const char* kName = "maximum";
  static constexpr bool by_column = false;
  static constexpr Needs kNeeds = Needs::kNothing;
  static std::size_t size(std::size_t rows, std::size_t) { return rows; }
  static std::string wrong(const Facts& f, const Seen&, const float* found) {
    return unless_near("the maximum", *found, f.most, 0);
  }
};
struct ArgmaxOfRow {
  static constexpr const char* kName = "place of a maximum";
  static constexpr bool by_column = false;
  static constexpr Needs kNeeds = Needs::kNothing;
  static std::size_t size(std::size_t rows, std::size_t) { return rows; }
  static std::string wrong(const Facts& f, const Seen&, const float* found) {
    const std::uint32_t column = bits_of(*found);
    if (column == f.column) return "";
    return "the maximum is said to be in column " + std::to_string(column) + " and first is in " +
           std::to_string(f.column);
  }
};

/// Welford's mean: with M the largest |x|, an update commits half an ulp of the mean and three of a
/// share of what lies between mean and x, and damps what was there before: less than depth + 32
/// halves of an ulp of M, merges included.
inline double mean_off(const Facts& f, double depth) {
  return (depth + 32) * kHalfUlp * f.largest();
}
/// Its variance: that many roundings of what is added up; and a mean that is off by e changes both
/// factors of a product by e, where each is no larger than the range, and rounds as often.
inline double variance_off(const Facts& f, double depth) {
  return (depth + 32) * kHalfUlp * f.variance + 4 * mean_off(f, depth) * f.range();
}
struct MomentsOfRow {
  static constexpr const char* kName = "mean and variance";
  static constexpr bool by_column = false;
  static constexpr Needs kNeeds = Needs::kSpread;
  static std::size_t size(std::size_t rows, std::size_t) { return 2 * rows; }
  static std::string wrong(const Facts& f, const Seen& seen, const float* found) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    const bool finite = f.finite();
    std::string text =
        unless_near("the mean", found[0], finite ? f.mean : kNan, mean_off(f, seen.depth));
    if (!text.empty()) return text;
    return unless_near("the variance", found[1], finite ? f.variance : kNan,
                       variance_off(f, seen.depth));
  }
};

/// Softmax: x - most rounds by half an ulp of itself, in two steps where a thread has a maximum of
/// its own, and so do the exponentials' arguments; exp is off by two ulps at most, a division and
/// a product by one. The sum has `depth` roundings, and as many merges as there are 16 elements,
/// each with two exponentials. Below 2^-126 results come in steps of 2^-149.
struct SoftmaxOfRow {
  static constexpr const char* kName = "softmax";
  static constexpr bool by_column = false;
  static constexpr Needs kNeeds = Needs::kExponentials;
  static std::size_t size(std::size_t rows, std::size_t columns) { return rows * columns; }
  static std::string wrong(const Facts& f, const Seen& seen, const float* found) {
    for (std::size_t column = 0; column < seen.columns; ++column) {
      const double below = double{seen.values.at(seen.row, column)} - f.most;
      const double exact = f.exponential[column] / f.exponentials;
      double roundings = 3 * seen.depth + 64;
      if (std::isfinite(below)) roundings -= 2 * below;
      const double allowed = roundings * kHalfUlp * exact + 0x1p-147;
      if (std::abs(found[column] - exact) <= allowed) continue;
      std::string text =
          unless_near("element " + std::to_string(column), found[column], exact, allowed);
      if (!text.empty()) return text;
    }
    return "";
  }
};

/// Layer normalisation: mean and variance as above, and a few roundings of the result.
struct LayerNormOfRow {
  static constexpr const char* kName = "normalised row";
  static constexpr bool by_column = false;
  static constexpr Needs kNeeds = Needs::kSpread;
  static std::size_t size(std::size_t rows, std::size_t columns) { return rows * columns; }
  static std::string wrong(const Facts& f, const Seen& seen, const float* found) {
    const double spread = f.variance + double{kEpsilon};
    const double scale = 1 / std::sqrt(spread);
    const double mean_error = mean_off(f, seen.depth);
    const double scale_error = variance_off(f, seen.depth) / spread / 2 + 8 * kHalfUlp;
    for (std::size_t column = 0; column < seen.columns; ++column) {
      const double x = seen.values.at(seen.row, column);
      const double weight = Weight{}(column);
      const double bias = Bias{}(column);
      const double scaled = (x - f.mean) * scale * weight;
      const double exact = f.finite() ? scaled + bias : std::numeric_limits<double>::quiet_NaN();
      const double allowed = mean_error * scale * weight + scale_error * std::abs(scaled) +
                             4 * kHalfUlp * (std::abs(scaled) + std::abs(bias));
      if (std::abs(found[column] - exact) <= allowed) continue;
      std::string text =
          unless_near("element " + std::to_string(column), found[column], exact, allowed);
      if (!text.empty()) return text;
    }
    return "";
  }
};

}  // namespace chapter12
