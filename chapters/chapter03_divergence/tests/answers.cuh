// The answers to the chapter's exercises that are code, as variants: the matrix checks them.
#pragma once
#include "../answers.cuh"
#include "book/chapter.hpp"
#include "book/sum.hpp"

namespace chapter03::answers {

inline void add_to(book::Chapter& chapter) {
  chapter.add({
      .name = "mixed_as_data",
      .from = "chapter03_divergence",
      .region = "answer-pattern",
      .kernel = book::kernel(mixed_as_data),
      .params = {{"paths", 32u}},
      .launch = book::launch<book::Sum>(
          [](const auto& l) { mixed_as_data<<<l.grid, l.block>>>(l.in, l.partial, l.n, 32); }),
  });
  chapter.add({
      .name = "warp_first",
      .from = "chapter03_divergence",
      .region = "answer-warp-first",
      .kernel = book::kernel(warp_first),
      .launch = book::launch<book::Sum>(
          [](const auto& l) { warp_first<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
}

}  // namespace chapter03::answers
