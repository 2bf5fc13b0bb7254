// The answers to the chapter's exercises that are code, as variants: the matrix checks them.
#pragma once
#include "../answers.cuh"
#include "book/chapter.hpp"
#include "book/whole_sum.hpp"

namespace chapter08::answers {

inline void add_to(book::Chapter& chapter) {
  chapter.add({
      .name = "last_block_acq_rel",
      .from = "chapter08_multi_pass",
      .region = "answer-acq-rel",
      .kernel = book::kernel(last_block_acq_rel),
      .grid = book::resident_grid,
      .launch =
          book::launch<book::WholeSum<long long>>([](const book::WholeSum<long long>::Launch& l) {
            last_block_acq_rel<<<l.grid, l.block>>>(l.in, l.partial, l.ticket, l.out, l.n);
          }),
  });
}

}  // namespace chapter08::answers
