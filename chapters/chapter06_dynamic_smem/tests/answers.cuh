// The answers to the chapter's exercises that are code, as variants: the matrix checks them.
#pragma once
#include "../answers.cuh"
#include "book/chapter.hpp"
#include "book/sum.hpp"

namespace chapter06::answers {

inline void add_to(book::Chapter& chapter) {
  chapter.add({
      .name = "warp_slots",
      .from = "chapter06_dynamic_smem",
      .region = "answer-warp-slots",
      .kernel = book::kernel(warp_slots),
      .blocks = book::powers_of_two(),
      .factor = 4,
      .shared_bytes = [](unsigned block) { return (block + 31) / 32 * sizeof(int); },
      .launch = book::launch<book::Sum>([](const auto& l) {
        warp_slots<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
      }),
  });
}

}  // namespace chapter06::answers
