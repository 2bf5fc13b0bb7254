// The answers to the chapter's exercises that are code, as variants: the matrix checks them.
#pragma once
#include "../answers.cuh"
#include "book/chapter.hpp"
#include "book/sum.hpp"

namespace chapter04::answers {

inline void add_to(book::Chapter& chapter) {
  chapter.add({
      .name = "strided_swizzled",
      .from = "chapter04_bank_conflicts",
      .region = "answer-swizzled",
      .kernel = book::kernel(strided_swizzled),
      .launch = book::launch<book::Sum>(
          [](const auto& l) { strided_swizzled<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
}

}  // namespace chapter04::answers
