#include "book/finished_sum.hpp"
#include "book/sum.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
  book::Chapter chapter{"chapterNN_name", "What the chapter is about"};

  // begin run-chapterNN
  const auto pass = [](const book::Sum::Launch& l) {
    chapterNN::rung<<<l.grid, l.block>>>(l.in, l.partial, l.n);
  };
  const book::Variant rung{
      .name = "rung",
      .region = "chapterNN-rung",
      .kernel = book::kernel(chapterNN::rung),
      .launch = book::launch<book::Sum>(pass),
  };
  chapter.add(rung);                        // a first pass: one sum per block
  chapter.add(book::finished(rung, pass));  // passes until one sum is left
  // end run-chapterNN

  return chapter.run(argc, argv);
}
