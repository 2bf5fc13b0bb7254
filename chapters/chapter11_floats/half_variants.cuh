/// \file
/// How sums of 16-bit floats are launched.
#pragma once
#include <string>
#include <type_traits>

#include "grids.cuh"
#include "half_problem.cuh"

namespace chapter11 {

/// Elements of type T added up in a Way, which may round to 16 bits as S says. The data are
/// Input's, from element Skip on.
template <class T, template <class> class Way, Short S, class Input, unsigned Skip = 0>
book::Variant half_variant(const std::string& method, const std::string& data, const char* region) {
  static constexpr auto kKernel = sum_of_halves<Way, kLoads, T>;
  const std::string type = std::is_same_v<T, __half> ? "half" : "bfloat16";
  book::Variant v{.name = type + "_" + method + "_" + data,
                  .region = region,
                  .params = {{"method", type + "_" + method}, {"data", data}},
                  .launch = {}};
  v.kernel = book::kernel(kKernel);
  v.blocks = book::whole_warps();
  v.grid = full_grid(
      +[](unsigned) { return kKernel; }, no_bins, 8 * kLoads);
  v.counters = book::Counters::kLessArbitration;  // blocks meet where they hand in
  v.launch = book::launch<HalfSum<T, Input, S, Skip>>(
      [](const auto& l) { kKernel<<<l.grid, l.block>>>(l.in, l.out, l.partial, l.ticket, l.n); });
  return v;
}

}  // namespace chapter11
