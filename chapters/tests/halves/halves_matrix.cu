// Sums of 16-bit floats, which chapter 11 doesn't show yet: until it does, this is their main.cu.
#include <algorithm>
#include <string>

#include "book/chapter.hpp"
#include "problem.cuh"

namespace {

using namespace chapter11;

constexpr unsigned kLoads = 4;

/// As many blocks as the device holds at once, and no more than n elements need.
template <class Kernel>
unsigned full_grid(Kernel kernel, std::size_t n, unsigned block) {
  int device = 0;
  int sm_count = 0;
  int fit = 0;
  BOOK_CUDA(cudaGetDevice(&device));
  BOOK_CUDA(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
  BOOK_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, static_cast<int>(block), 0));
  return std::min(static_cast<unsigned>(sm_count * fit), book::grid_for(n, block, 8 * kLoads));
}

template <class T, template <class> class Way, Short S, class Input, unsigned Skip = 0>
book::Variant variant(const std::string& name, const char* region) {
  static constexpr auto kKernel = sum_of_halves<Way, kLoads, T>;
  const std::string type = std::is_same_v<T, __half> ? "half" : "bfloat16";
  book::Variant v{.name = type + "_" + name, .region = region, .launch = {}};
  v.kernel = book::kernel(kKernel);
  v.blocks = book::whole_warps();
  v.grid = [](std::size_t n, unsigned block) { return full_grid(kKernel, n, block); };
  v.axes = {{"n"}};
  v.counters = book::Counters::kLessArbitration;
  v.launch = book::launch<HalfSum<T, Input, S, Skip>>(
      [](const auto& l) { kKernel<<<l.grid, l.block>>>(l.in, l.out, l.partial, l.ticket, l.n); });
  return v;
}

/// Each way at each kind of data, and from an address that is no multiple of 16.
template <class T, template <class> class Way, Short S>
void add(book::Chapter& chapter, const std::string& name, const char* region) {
  chapter.add(variant<T, Way, S, Floats<Data::kUniform>>(name + "_uniform", region));
  chapter.add(variant<T, Way, S, Floats<Data::kMixed>>(name + "_mixed", region));
  chapter.add(variant<T, Way, S, Floats<Data::kUniform>, 3>(name + "_skewed", region));
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
  book::Variant v{
      .name = "floats", .from = "chapter11_floats", .region = "plain-float", .launch = {}};
  v.kernel = book::kernel(kKernel);
  v.grid = [](std::size_t n, unsigned block) { return full_grid(kKernel, n, block); };
  v.launch = book::launch<FloatSum<Floats<Data::kUniform>, Bound::kRounds>>([](const auto& l) {
    kKernel<<<l.grid, l.block>>>(l.in, l.out, reinterpret_cast<Plain*>(l.partial), l.ticket, l.n);
  });
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter11_halves",
                        "Sums of 16-bit floats",
                        "--sweep n",
                        {.n = {1u << 10, 1u << 20, 1u << 24, 1u << 28}, .blocks = {}}};
  chapter.add(floats_of_any_block());
  add_ways<__half>(chapter);
  add_ways<__nv_bfloat16>(chapter);
  return chapter.run(argc, argv);
}
