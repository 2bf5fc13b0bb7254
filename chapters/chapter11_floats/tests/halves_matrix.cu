// Sums of 16-bit floats from addresses that are no multiple of 16.
#include <string>

#include "../half_variants.cuh"
#include "book/chapter.hpp"

namespace {

using namespace chapter11;

template <class T, template <class> class Way, Short S>
void add(book::Chapter& chapter, const std::string& method, const char* region) {
  using Uniform = Floats<Data::kUniform>;
  chapter.add(half_variant<T, Way, S, Uniform, 3>(method, "skewed", region));
  chapter.add(half_variant<T, Way, S, Uniform, 7>(method, "one_before", region));
}

template <class T>
void add_ways(book::Chapter& chapter) {
  add<T, InFloats, Short::kNone>(chapter, "plain", "half-plain");
  add<T, InPairs, Short::kAll>(chapter, "packed", "half-packed");
  add<T, InGroups, Short::kTwo>(chapter, "groups", "half-groups");
  add<T, ByMatrix, Short::kNone>(chapter, "matrix", "half-matrix");
}

/// Floats by the same reading, for the blocks of which a warp isn't whole.
book::Variant floats_of_any_block() {
  static constexpr auto kKernel = sum<Plain, kLoads>;
  book::Variant v{.name = "floats", .region = "plain-float", .launch = {}};
  v.kernel = book::kernel(kKernel);
  v.grid = full_grid(
      +[](unsigned) { return kKernel; }, no_bins);
  v.launch = book::launch<FloatSum<Floats<Data::kUniform>, Bound::kRounds>>([](const auto& l) {
    kKernel<<<l.grid, l.block>>>(l.in, l.out, reinterpret_cast<Plain*>(l.partial), l.ticket, l.n);
  });
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter11_halves", "Sums of 16-bit floats from odd addresses"};
  chapter.add(floats_of_any_block());
  add_ways<__half>(chapter);
  add_ways<__nv_bfloat16>(chapter);
  return chapter.run(argc, argv);
}
