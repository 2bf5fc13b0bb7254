// The answers to the chapter's exercises that are code, as variants: the matrix checks them.
#pragma once
#include "../answers.cuh"
#include "book/chapter.hpp"
#include "book/sum.hpp"

namespace chapter10::answers {

inline void add_to(book::Chapter& chapter) {
  chapter.add({
      .name = "wide_sum",
      .from = "chapter10_coalescing",
      .region = "answer-wide-sum",
      .kernel = book::kernel(wide_sum),
      .factor = 4,
      .launch = book::launch<book::Sum>(
          [](const auto& l) { wide_sum<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
}

}  // namespace chapter10::answers
