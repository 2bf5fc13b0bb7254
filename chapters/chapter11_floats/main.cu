// Six ways to add floats, on four kinds of them, and four to add those of 16 bits.
#include <algorithm>

#include "book/chapter.hpp"
#include "grids.cuh"
#include "half_variants.cuh"
#include "kernels.cuh"
#include "problem.cuh"

namespace {

using chapter11::bins_of;
using chapter11::Bound;
using chapter11::Data;
using chapter11::Floats;
using chapter11::FloatSum;
using chapter11::full_grid;
using chapter11::kLoads;
using chapter11::no_bins;

/// Every other power of two, and all of those that no cache holds.
const std::vector<std::size_t> kSizes{1u << 10, 1u << 12, 1u << 14, 1u << 16, 1u << 18,
                                      1u << 20, 1u << 22, 1u << 24, 1u << 26, 1u << 27,
                                      1u << 28, 1u << 29, 1u << 30};

/// The variants of one kind of data: on uniform data they are swept over n and blocks.
template <Data D>
book::Variant on(const std::string& method, const char* region) {
  book::Variant v{.name = method + "_" + chapter11::word(D),
                  .region = region,

                  .params = {{"method", method}, {"data", std::string(chapter11::word(D))}},
                  .launch = {}};
  v.counters = book::Counters::kLessArbitration;  // blocks meet where they hand in
  v.axes = {{"n"}};
  if (D != Data::kUniform) {
    v.axes = book::at_large_n();
    v.profiled = false;
  }
  return v;
}

// begin run-total
/// The sum by one kind of Total.
template <class Total, Data D, Bound B>
book::Variant total(const std::string& method, const char* region) {
  constexpr auto kKernel = chapter11::sum<Total, kLoads>;
  book::Variant v = on<D>(method, region);
  v.kernel = book::kernel(kKernel);
  v.grid = full_grid(
      +[](unsigned) { return kKernel; }, no_bins);
  v.launch = book::launch<FloatSum<Floats<D>, B>>([](const auto& l) {
    kKernel<<<l.grid, l.block>>>(l.in, l.out, reinterpret_cast<Total*>(l.partial), l.ticket, l.n);
  });
  return v;
}
// end run-total

// begin run-exact
using ExactKernel = void (*)(const float*, float*, chapter11::Exact*, std::size_t);

/// The instance for a block.
ExactKernel exact_for(unsigned block) {
  switch (block) {
    case 32: return chapter11::exact<32, kLoads>;
    case 64: return chapter11::exact<64, kLoads>;
    case 128: return chapter11::exact<128, kLoads>;
    case 256: return chapter11::exact<256, kLoads>;
    case 512: return chapter11::exact<512, kLoads>;
    default: return chapter11::exact<1024, kLoads>;
  }
}

template <Data D>
book::Variant exact() {
  book::Variant v = on<D>("exact", "exact-sum");
  v.kernel = [](unsigned block) { return reinterpret_cast<const void*>(exact_for(block)); };
  v.blocks = book::powers_of_two(32);
  v.block = 512;
  v.grid = full_grid(exact_for, bins_of);
  v.shared_bytes = bins_of;
  v.launch = book::launch<FloatSum<Floats<D>, Bound::kExact>>([](const auto& l) {
    exact_for(l.block)<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.out, l.state, l.n);
  });
  return v;
}
// end run-exact

template <Data D>
void add_methods(book::Chapter& chapter) {
  using namespace chapter11;
  book::Variant plain = total<Plain, D, Bound::kRounds>("plain", "plain-float");
  book::Variant whole = exact<D>();
  if (D == Data::kUniform) {
    plain.axes.push_back({"block"});
    whole.axes.push_back({"block"});
  }
  chapter.add(std::move(plain));
  chapter.add(total<Kahan, D, Bound::kOnce>("kahan", "kahan-float"));
  chapter.add(total<Neumaier, D, Bound::kTwice>("neumaier", "neumaier-float"));
  chapter.add(total<Double, D, Bound::kTwice>("double", "in-double"));
  chapter.add(std::move(whole));
  book::Variant atomics = on<D>("atomics", "float-atomics");
  static constexpr auto kKernel = sum_in_any_order<kLoads>;
  atomics.kernel = book::kernel(kKernel);
  atomics.grid = full_grid(
      +[](unsigned) { return kKernel; }, no_bins);
  atomics.launch = book::launch<FloatSum<Floats<D>, Bound::kRounds>>([](const auto& l) {
    BOOK_CUDA(cudaMemsetAsync(l.out, 0, sizeof(float)));
    kKernel<<<l.grid, l.block>>>(l.in, l.out, l.n);
  });
  chapter.add(std::move(atomics));

  // begin floats-by-cub
  book::Variant cub = on<D>("cub", "floats-by-cub");
  cub.blocks = book::any_block(256, 256);  // CUB chooses for itself
  cub.grid = book::library_grid;
  cub.compared = false;
  cub.profiled = false;
  cub.launch = book::launch<FloatSum<Floats<D>, Bound::kRounds>>(
      [](const auto& l) { book::cub_sum(l.storage, l.storage_bytes, l.in, l.out, l.n); });
  chapter.add(std::move(cub));
  // end floats-by-cub
}

/// Elements of 16 bits, on the two kinds of data that they can hold.
template <class T, template <class> class Way, chapter11::Short S>
void add_halves(book::Chapter& chapter, const std::string& method, const char* region) {
  const auto add = [&](book::Variant v) {
    v.axes = {{"n", {1u << 20, 1u << 24, 1u << 28}}};
    chapter.add(std::move(v));
  };
  add(chapter11::half_variant<T, Way, S, Floats<Data::kUniform>>(method, "uniform", region));
  add(chapter11::half_variant<T, Way, S, Floats<Data::kMixed>>(method, "mixed", region));
}
template <class T>
void add_halves(book::Chapter& chapter) {
  using namespace chapter11;
  add_halves<T, InFloats, Short::kNone>(chapter, "plain", "half-plain");
  add_halves<T, InPairs, Short::kAll>(chapter, "packed", "half-packed");
  add_halves<T, InGroups, Short::kTwo>(chapter, "groups", "half-groups");
  add_halves<T, ByMatrix, Short::kNone>(chapter, "matrix", "half-matrix");
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{
      "chapter11_floats",
      "What a sum of floats costs, and what it is worth",
      "--sweep n, and the page's figure of error and speed",
      {.n = kSizes,
       .counted = {
           {std::size_t{1} << 24, 256}, {std::size_t{1} << 20, 256}, {std::size_t{1} << 16, 256}}}};
  add_methods<Data::kUniform>(chapter);
  add_methods<Data::kMixed>(chapter);
  add_methods<Data::kIll>(chapter);
  add_methods<Data::kWide>(chapter);
  add_halves<__half>(chapter);
  add_halves<__nv_bfloat16>(chapter);
  return chapter.run(argc, argv);
}
