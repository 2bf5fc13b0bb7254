// Adds the chapter's floats one by one, as a loop on the host does, and says how far off that is.
// No kernel: it needs nvcc for the header alone.
#include <cstdio>

#include "exact_host.hpp"
#include "problem.cuh"

namespace {

using namespace chapter11;

// begin one-by-one
/// Adds n floats in their order, and says at four sizes what has come of it.
template <Data D>
void one_by_one(std::uint64_t seed) {
  float sum = 0;
  ExactSum exact;
  for (std::size_t n = 1; n <= std::size_t{1} << 28; ++n) {
    const float x = float_at<D>(seed, n - 1);
    sum += x;
    exact.add(x);
    if (n == 1u << 20 || n == 1u << 24 || n == 1u << 26 || n == 1u << 28) {
      std::printf("%-8s %10zu   %15.9g   %15.9g   %.1e\n", word(D), n, sum, exact.nearest(),
                  exact.relative(sum));
    }
  }
}
// end one-by-one

}  // namespace

int main() {
  constexpr std::uint64_t kSeed = 2018;  // the chapter's program has the same
  std::printf("%-8s %10s   %15s   %15s   %s\n", "data", "n", "one by one", "exact", "off by");
  one_by_one<Data::kUniform>(kSeed);
  one_by_one<Data::kMixed>(kSeed);
  one_by_one<Data::kWide>(kSeed);
  one_by_one<Data::kIll>(kSeed);
}
