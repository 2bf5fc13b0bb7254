// The answers to the chapter's exercises that are code, as variants: the matrix checks them.
#pragma once
#include "../answers.cuh"
#include "book/chapter.hpp"
#include "book/sum.hpp"

namespace chapter01::answers {

inline void add_to(book::Chapter& chapter) {
  chapter.add({
      .name = "gmem_by_three",
      .from = "chapter01_gmem",
      .region = "answer-by-three",
      .kernel = book::kernel(gmem_by_three),
      .destroys_input = true,
      .launch = book::launch<book::Sum>(
          [](const auto& l) { gmem_by_three<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
}

}  // namespace chapter01::answers
