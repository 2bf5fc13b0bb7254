// The answers to the chapter's exercises that are code, as variants: the matrix checks them.
#pragma once
#include "../answers.cuh"
#include "book/chapter.hpp"
#include "book/sum.hpp"

namespace chapter05::answers {

inline void add_to(book::Chapter& chapter) {
  chapter.add({
      .name = "unrolled_stride",
      .from = "chapter05_unroll4",
      .region = "answer-unrolled-stride",
      .kernel = book::kernel(unrolled_stride<8>),
      .grid = book::resident_grid,
      .launch = book::launch<book::Sum>(
          [](const auto& l) { unrolled_stride<8><<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
}

}  // namespace chapter05::answers
