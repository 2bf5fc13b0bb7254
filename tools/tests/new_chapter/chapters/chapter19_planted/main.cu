#include "book/sum.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter19_planted", "A chapter that a test adds", "nothing"};
  chapter.add({
      .name = "planted",
      .kernel = book::kernel(chapter19::planted),
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter19::planted<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  chapter.add({
      .name = "planted_warps",
      .region = "planted",
      .kernel = book::kernel(chapter19::planted),
      .blocks = book::whole_warps(),
      .launch = book::launch<book::Sum>(
          [](const auto& l) { chapter19::planted<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  return chapter.run(argc, argv);
}
