#pragma once

namespace chapter00::answers {

// begin answer-ranks
/// Two of the samples, by rank, the smallest being 1.
struct Ranks {
  unsigned low, high;
};

/// The two samples between which the true median lies with a probability of at least 95 %, as close
/// to the middle as that allows; {0, 0} where even the outermost two are not enough.
///
/// \pre samples is at most 1000: beyond that, the first probability no longer fits a double
constexpr Ranks ranks(unsigned samples) {
  double exactly = 1;  // the probability that k samples lie below the true median
  for (unsigned s = 0; s < samples; ++s) exactly /= 2;

  double at_most = 0;  // that fewer than `low` do
  unsigned low = 0;
  while (low < samples / 2 && 2 * (at_most + exactly) <= 0.05) {
    at_most += exactly;
    exactly *= static_cast<double>(samples - low) / (low + 1);
    ++low;
  }
  return low == 0 ? Ranks{0, 0} : Ranks{low, samples + 1 - low};
}

static_assert(ranks(5).low == 0, "two times 1/32 is too much");
static_assert(ranks(6).low == 1 && ranks(6).high == 6);
static_assert(ranks(20).low == 6 && ranks(20).high == 15);
// end answer-ranks

}  // namespace chapter00::answers
