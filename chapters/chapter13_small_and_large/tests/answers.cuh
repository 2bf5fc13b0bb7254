// The answer to the chapter's exercise that is code, as a variant: the matrix checks it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

#include "../answers.cuh"
#include "book/array.hpp"
#include "book/chapter.hpp"

namespace chapter13::answers {

constexpr unsigned kArrays = 9;

/// Where the arrays begin, among n elements.
struct Begin {
  std::size_t n;
  __host__ __device__ std::size_t operator()(std::size_t i) const {
    return n * i * i / (kArrays * kArrays);
  }
};
/// Their sums.
struct Sums {
  Sum of[kArrays];
  __host__ __device__ Sum operator()(std::size_t i) const { return of[i]; }
};

/// n elements in nine arrays: the first few are short or empty, and none need begin at a multiple
/// of 16 bytes.
class ManySums : public book::Problem {
 public:
  struct Launch {
    const int* in;
    const std::size_t* begin;
    Sum* out;
    unsigned grid, block;
  };
  Launch launch(const book::Shape& shape) const {
    return {in_.data(), begin_.data(), out_.data(), shape.grid, shape.block};
  }

  std::size_t device_bytes(const book::Shape& shape) const override {
    return shape.n * sizeof(int) + (kArrays + 1) * sizeof(std::size_t) + kArrays * sizeof(Sum);
  }
  void prepare(const book::Shape& shape, std::uint64_t seed, book::Fill fill) override {
    n_ = shape.n;
    seed_ = seed;
    in_.resize(n_, fill);
    in_.fill(book::Input{seed});
    begin_.resize(kArrays + 1, book::Fill::kCopy);
    begin_.fill(Begin{n_});
    out_.resize(kArrays, book::Fill::kCopy);
  }
  void release() override {
    in_.release();
    begin_.release();
    out_.release();
  }
  void poison() override { out_.poison(std::numeric_limits<Sum>::min()); }
  book::Verdict check() override {
    const Begin begin{n_};
    Sums right{};
    for (unsigned i = 0; i < kArrays; ++i) {
      for (std::size_t at = begin(i); at < begin(i + 1); ++at) {
        right.of[i] += book::input_value(seed_, at);
      }
    }
    return out_.compare(right, "all nine sums agree");
  }
  book::UsefulBytes useful_bytes(const book::Shape& shape) const override {
    return {.read = shape.n * sizeof(int), .written = kArrays * sizeof(Sum)};
  }

 private:
  book::Array<int> in_;
  book::Array<std::size_t> begin_;
  book::Array<Sum> out_;
  std::size_t n_ = 0;
  std::uint64_t seed_ = 0;
};

inline void add_to(book::Chapter& chapter) {
  chapter.add({
      .name = "many_small",
      .from = "chapter13_small_and_large",
      .region = "answer-many-small",
      .kernel = book::kernel(many_small),
      .blocks = book::whole_warps(),
      .grid = [](std::size_t, unsigned) { return kArrays; },
      .launch = book::launch<ManySums>(
          [](const auto& l) { many_small<<<l.grid, l.block>>>(l.in, l.begin, l.out); }),
  });
}

}  // namespace chapter13::answers
