#include <memory>
#include <string>

#include "answers.cuh"
#include "book/chapter.hpp"
#include "book/sum.hpp"
#include "kernels.cuh"
#include "legacy.cuh"
#include "problem.cuh"

namespace {

using chapter10::Aligned;
using chapter10::Allocations;
using chapter10::Arrays;
using chapter10::Copy;
using chapter10::kFurthestOffset;
using chapter10::Packed;
using chapter10::Pattern;

std::shared_ptr<Copy> copy(const Pattern& pattern) {
  return std::make_shared<Copy>(pattern);
}

/// As many blocks as every stride-th of n elements needs.
auto every(unsigned stride) {
  return [stride](std::size_t n, unsigned block) {
    return book::grid_for((n + stride - 1) / stride, block);
  };
}

// begin run-load-stride
book::Variant load_stride(unsigned stride) {
  return {
      .name = "load_stride" + std::to_string(stride),
      .region = "load-stride",
      .kernel = book::kernel(chapter10::load_stride),
      .grid = every(stride),
      .launch = book::launch(copy({.load = stride}),
                             [stride](const auto& l) {
                               chapter10::load_stride<<<l.grid, l.block>>>(l.in, l.out, l.n,
                                                                           stride);
                             }),
  };
}
// end run-load-stride

book::Variant store_stride(unsigned stride) {
  return {
      .name = "store_stride" + std::to_string(stride),
      .region = "store-stride",
      .kernel = book::kernel(chapter10::store_stride),
      .grid = every(stride),
      .launch = book::launch(copy({.store = stride}),
                             [stride](const auto& l) {
                               chapter10::store_stride<<<l.grid, l.block>>>(l.in, l.out, l.n,
                                                                            stride);
                             }),
  };
}

book::Variant load_offset(unsigned offset) {
  return {
      .name = "load_offset" + std::to_string(offset),
      .region = "load-offset",
      .kernel = book::kernel(chapter10::load_offset),
      .launch = book::launch(copy({.offset = offset, .behind = kFurthestOffset}),
                             [offset](const auto& l) {
                               chapter10::load_offset<<<l.grid, l.block>>>(l.in, l.out, l.n,
                                                                           offset);
                             }),
  };
}

book::Variant four_offset(unsigned offset) {
  return {
      .name = "four_offset" + std::to_string(offset),
      .region = "load-offset-four",
      .kernel = book::kernel(chapter10::load_offset_four),
      .factor = 4,
      .launch = book::launch(copy({.offset = offset, .behind = kFurthestOffset}),
                             [offset](const auto& l) {
                               chapter10::load_offset_four<<<l.grid, l.block>>>(l.in, l.out, l.n,
                                                                                offset);
                             }),
  };
}

// begin run-copy-words
template <class Word>
book::Variant copy_words() {
  return {
      .name = "copy" + std::to_string(sizeof(Word)),
      .region = "copy-words",
      .kernel = book::kernel(chapter10::copy_words<Word>),
      .grid =
          [](std::size_t n, unsigned block) {
            return book::grid_for((n * sizeof(int) + sizeof(Word) - 1) / sizeof(Word), block);
          },
      // Words of 4 bytes in blocks of 1024 make as many blocks as words of 16 in blocks of 256.
      .axes = {{"n"}, {"block", {64, 256, 1024}}},
      .launch = book::launch<Copy>([](const auto& l) {
        chapter10::copy_words<Word><<<l.grid, l.block>>>(l.in, l.out, l.n);
      }),
  };
}
// end run-copy-words

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter10_coalescing",
                        "What a warp asks for, and what is sent",
                        "the page's figures of sectors and bandwidth against stride and offset",
                        // What is swept here is the pattern; one n, and one that no cache holds.
                        {.n = {std::size_t{1} << 28},
                         .blocks = {},
                         .counted = {{std::size_t{1} << 24, 256}, {std::size_t{1} << 16, 256}}}};

  chapter.add(book::family({"stride", {1, 2, 3, 4, 8, 16, 32}}, load_stride));
  chapter.add(book::family({"stride", {2, 4, 8, 16, 32}}, store_stride));
  chapter.add(book::family({"offset", {0, 1, 2, 4, 7, 8, 9, 16, 32}}, load_offset));
  chapter.add(book::family({"offset", {0, 1, 8, 16}}, four_offset));
  chapter.add(book::family_of_types<char, int, int2, int4>(
      "width", [](auto word) { return copy_words<typename decltype(word)::type>(); }));
  chapter.add({
      .name = "vec3_packed",
      .region = "vec3-packed",
      .kernel = book::kernel(chapter10::vec3_packed),
      .launch = book::launch<Packed>([](const auto& l) {
        chapter10::vec3_packed<<<l.grid, l.block>>>(l.packed(), l.out, l.n);
      }),
  });
  chapter.add({
      .name = "vec3_aligned",
      .region = "vec3-aligned",
      .kernel = book::kernel(chapter10::vec3_aligned),
      .launch = book::launch<Aligned>([](const auto& l) {
        chapter10::vec3_aligned<<<l.grid, l.block>>>(l.aligned(), l.out, l.n);
      }),
  });
  chapter.add({
      .name = "vec3_arrays",
      .region = "vec3-arrays",
      .kernel = book::kernel(chapter10::vec3_arrays),
      .launch = book::launch<Arrays>([](const auto& l) {
        chapter10::vec3_arrays<<<l.grid, l.block>>>(l.in, l.y, l.z, l.out, l.n);
      }),
  });
  chapter.add({
      .name = "vec3_staged",
      .region = "vec3-staged",
      .kernel = book::kernel(chapter10::vec3_staged),
      .shared_bytes = [](unsigned block) { return sizeof(int) * 3 * block; },
      .launch = book::launch<Packed>([](const auto& l) {
        chapter10::vec3_staged<<<l.grid, l.block, l.shared_bytes>>>(l.packed(), l.out, l.n);
      }),
  });
  chapter.add({
      .name = "allocations",
      .region = "where-they-begin",
      .kernel = book::kernel(chapter10::where_they_begin),
      .grid = book::one_block,
      .launch = book::launch<Allocations>([](const auto& l) {
        chapter10::where_they_begin<<<1, l.block>>>(l.arrays, l.addresses, Allocations::kCount);
      }),
  });
  chapter.add({
      .name = "wide_sum",
      .region = "answer-wide-sum",
      .kernel = book::kernel(chapter10::answers::wide_sum),
      .factor = 4,
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter10::answers::wide_sum<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  // begin run-offset-words
  chapter.add({
      .name = "offset_words",
      .region = "offset-words",
      .kernel = book::kernel(chapter10::legacy::offset_words),
      .factor = 4,
      .legacy = true,
      .findings = {"memcheck"},
      .compared = false,  // the device stops it
      .launch = book::launch(copy({.offset = 1, .behind = kFurthestOffset}),
                             [](const auto& l) {
                               chapter10::legacy::offset_words<<<l.grid, l.block>>>(l.in, l.out,
                                                                                    l.n, 1);
                             }),
  });
  // end run-offset-words
  chapter.add({
      .name = "rounded_up",
      .region = "rounded-up",
      .kernel = book::kernel(chapter10::legacy::rounded_up),
      .factor = 4,
      .legacy = true,
      .findings = {"memcheck"},
      .launch = book::launch<Copy>([](const auto& l) {
        chapter10::legacy::rounded_up<<<l.grid, l.block>>>(l.in, l.out, l.n);
      }),
  });

  return chapter.run(argc, argv);
}
