// The answers to the chapter's exercises that are code, as variants: the matrix checks them.
#pragma once
#include <string>

#include "../answers.cuh"
#include "../problem.cuh"
#include "book/chapter.hpp"

namespace chapter09::answers {

/// The answer on one kind of data.
template <Data D>
book::Variant runs() {
  return {
      .name = std::string("runs_") + word(D),
      .from = "chapter09_histogram",
      .region = "answer-runs",
      .kernel = book::kernel(count_runs),
      .factor = 64,  // so that a thread has several loads, and runs go on from one to the next
      .shared_bytes = [](unsigned) { return 32 * kBins * sizeof(unsigned); },
      .launch = book::launch<Histogram<D>>([](const auto& l) {
        BOOK_CUDA(cudaMemsetAsync(l.bins, 0, kBins * sizeof(unsigned)));
        count_runs<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.bins, l.n);
      }),
  };
}

inline void add_to(book::Chapter& chapter) {
  chapter.add(runs<Data::kUniform>());
  chapter.add(runs<Data::kMostly>());
  chapter.add(runs<Data::kEqual>());
}

}  // namespace chapter09::answers
