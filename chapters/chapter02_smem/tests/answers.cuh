// The answers to the chapter's exercises that are code, as variants: the matrix checks them.
#pragma once
#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "../answers.cuh"
#include "book/array.hpp"
#include "book/buffer.hpp"
#include "book/chapter.hpp"
#include "book/sum.hpp"

namespace chapter02::answers {

inline bool same(int a, int b) {
  return a == b;
}
inline bool same(Smallest::Value a, Smallest::Value b) {
  return a.x == b.x && a.at == b.at;
}

/// What a loop over a block's share of the elements gives, written without the operation's own
/// code.
inline int expected(std::type_identity<Largest>, std::uint64_t seed, std::size_t from,
                    std::size_t to) {
  int most = -1;
  for (std::size_t i = from; i < to; ++i) most = std::max(most, book::input_value(seed, i));
  return most;
}
inline Smallest::Value expected(std::type_identity<Smallest>, std::uint64_t seed, std::size_t from,
                                std::size_t to) {
  Smallest::Value least{256, 0};
  for (std::size_t i = from; i < to; ++i) {
    const int x = book::input_value(seed, i);
    if (x < least.x) least = {x, i};
  }
  return least;
}

/// One value a block, of the operation; each is compared with a loop's.
template <class Operation>
class Any : public book::Problem {
 public:
  using Value = typename Operation::Value;
  struct Launch {
    const int* in;
    Value* partial;
    std::size_t n;
    unsigned grid, block;
  };
  Launch launch(const book::Shape& shape) const {
    return {in_.data(), partial_.data(), shape.n, shape.grid, shape.block};
  }
  std::size_t device_bytes(const book::Shape& shape) const override {
    return shape.n * sizeof(int) + shape.grid * sizeof(Value);
  }
  void prepare(const book::Shape& shape, std::uint64_t seed, book::Fill fill) override {
    shape_ = shape;
    seed_ = seed;
    in_.resize(shape.n, fill);
    in_.fill(book::Input{seed});
    partial_.grow(shape.grid);
  }
  void release() override {
    in_.release();
    partial_ = {};
  }
  void poison() override { BOOK_CUDA(cudaMemset(partial_.data(), 0xee, partial_.bytes())); }
  book::Verdict check() override {
    const std::vector<Value> partial = partial_.to_host(shape_.grid);
    for (std::size_t b = 0; b < partial.size(); ++b) {
      const std::size_t from = b * shape_.block;
      const std::size_t to = std::min(from + shape_.block, shape_.n);
      if (!same(partial[b], expected(std::type_identity<Operation>{}, seed_, from, to))) {
        return {false, "block " + std::to_string(b) + " is wrong"};
      }
    }
    return {true, "as a loop has it"};
  }
  book::UsefulBytes useful_bytes(const book::Shape& shape) const override {
    return {shape.n * sizeof(int), shape.grid * sizeof(Value)};
  }

 private:
  book::Array<int> in_;
  book::Buffer<Value> partial_;
  book::Shape shape_;
  std::uint64_t seed_ = 0;
};

template <class Operation>
book::Variant any(const char* name) {
  return {
      .name = name,
      .from = "chapter02_smem",
      .region = "answer-any-operation",
      .kernel = book::kernel(smem_any<Operation>),
      .launch = book::launch<Any<Operation>>(
          [](const auto& l) { smem_any<Operation><<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  };
}

inline void add_to(book::Chapter& chapter) {
  chapter.add({
      .name = "smem_chunk",
      .from = "chapter02_smem",
      .region = "answer-chunk",
      .kernel = book::kernel(smem_chunk),
      .grid = book::resident_grid,
      .launch = book::launch<book::Sum>(
          [](const auto& l) { smem_chunk<<<l.grid, l.block>>>(l.in, l.partial, l.n); }),
  });
  chapter.add(any<Largest>("largest"));
  chapter.add(any<Smallest>("smallest"));
}

}  // namespace chapter02::answers
