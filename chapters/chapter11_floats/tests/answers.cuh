// The answer to the chapter's exercise that is code, as variants: the matrix checks it.
#pragma once
#include <string>

#include "../answers.cuh"
#include "../problem.cuh"
#include "book/chapter.hpp"

namespace chapter11::answers {

/// The answer on one kind of data.
template <Data D>
book::Variant two_sum() {
  constexpr auto kKernel = sum<TwoSum, 4>;
  return {
      .name = std::string("two_sum_") + word(D),
      .from = "chapter11_floats",
      .region = "answer-two-sum",
      .kernel = book::kernel(kKernel),
      .factor = 16,
      .launch = book::launch<FloatSum<Floats<D>, Bound::kTwice>>([](const auto& l) {
        kKernel<<<l.grid, l.block>>>(l.in, l.out, reinterpret_cast<TwoSum*>(l.partial), l.ticket,
                                     l.n);
      }),
  };
}

inline void add_to(book::Chapter& chapter) {
  chapter.add(two_sum<Data::kUniform>());
  chapter.add(two_sum<Data::kMixed>());
  chapter.add(two_sum<Data::kIll>());
  chapter.add(two_sum<Data::kWide>());
}

}  // namespace chapter11::answers
