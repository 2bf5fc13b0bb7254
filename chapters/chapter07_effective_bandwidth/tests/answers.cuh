// The answers to the chapter's exercises that are code, as variants: the matrix checks them.
#pragma once
#include "../answers.cuh"
#include "book/chapter.hpp"
#include "book/sum.hpp"

namespace chapter07::answers {

inline void add_to(book::Chapter& chapter) {
  chapter.add({
      .name = "many_wide",
      .from = "chapter07_effective_bandwidth",
      .region = "answer-many-wide",
      .kernel = book::kernel(many_wide),
      .grid = book::resident_grid,
      .launch = book::launch<book::Sum>(
          [](const auto& l) { many_wide<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
}

}  // namespace chapter07::answers
