// The exercises' answers that are code, as the variants of a chapter of their own, so that the
// matrix checks them like any kernel.
#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "../chapter00_timing/answers.cuh"
#include "../chapter01_gmem/answers.cuh"
#include "../chapter02_smem/answers.cuh"
#include "../chapter03_divergence/answers.cuh"
#include "../chapter04_bank_conflicts/answers.cuh"
#include "../chapter05_unroll4/answers.cuh"
#include "../chapter06_dynamic_smem/answers.cuh"
#include "../chapter07_effective_bandwidth/answers.cuh"
#include "../chapter08_multi_pass/answers.cuh"
#include "../chapter09_histogram/answers.cuh"
#include "../chapter09_histogram/problem.cuh"
#include "../chapter10_coalescing/answers.cuh"
#include "book/array.hpp"
#include "book/buffer.hpp"
#include "book/sum.hpp"
#include "book/whole_sum.hpp"

namespace {

using chapter02::answers::Largest;
using chapter02::answers::Smallest;

bool same(int a, int b) {
  return a == b;
}
bool same(Smallest::Value a, Smallest::Value b) {
  return a.x == b.x && a.at == b.at;
}

/// What a loop over a block's share of the elements gives, written without the operation's own
/// code.
int expected(std::type_identity<Largest>, std::uint64_t seed, std::size_t from, std::size_t to) {
  int most = -1;
  for (std::size_t i = from; i < to; ++i) most = std::max(most, book::input_value(seed, i));
  return most;
}
Smallest::Value expected(std::type_identity<Smallest>, std::uint64_t seed, std::size_t from,
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
      .kernel = book::kernel(chapter02::answers::smem_any<Operation>),
      .launch = book::launch<Any<Operation>>([](const auto& l) {
        chapter02::answers::smem_any<Operation><<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  };
}

/// chapter09's answer on one kind of data.
template <chapter09::Data D>
book::Variant runs() {
  return {
      .name = std::string("runs_") + chapter09::word(D),
      .from = "chapter09_histogram",
      .region = "answer-runs",
      .kernel = book::kernel(chapter09::answers::count_runs),
      .factor = 64,  // so that a thread has several loads, and runs go on from one to the next
      .shared_bytes = [](unsigned) { return 32 * chapter09::kBins * sizeof(unsigned); },
      .launch = book::launch<chapter09::Histogram<D>>([](const auto& l) {
        BOOK_CUDA(cudaMemsetAsync(l.bins, 0, chapter09::kBins * sizeof(unsigned)));
        chapter09::answers::count_runs<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.bins, l.n);
      }),
  };
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"answers", "The exercises' answers"};
  using Launch = book::Sum::Launch;

  chapter.add({
      .name = "gmem_by_three",
      .from = "chapter01_gmem",
      .region = "answer-by-three",
      .kernel = book::kernel(chapter01::answers::gmem_by_three),
      .destroys_input = true,
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter01::answers::gmem_by_three<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  chapter.add({
      .name = "smem_chunk",
      .from = "chapter02_smem",
      .region = "answer-chunk",
      .kernel = book::kernel(chapter02::answers::smem_chunk),
      .grid = book::resident_grid,
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter02::answers::smem_chunk<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  chapter.add(any<Largest>("largest"));
  chapter.add(any<Smallest>("smallest"));
  chapter.add({
      .name = "mixed_as_data",
      .from = "chapter03_divergence",
      .region = "answer-pattern",
      .kernel = book::kernel(chapter03::answers::mixed_as_data),
      .params = {{"paths", 32u}},
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter03::answers::mixed_as_data<<<l.grid, l.block>>>(l.in, l.partial, l.n, 32);
      }),
  });
  chapter.add({
      .name = "warp_first",
      .from = "chapter03_divergence",
      .region = "answer-warp-first",
      .kernel = book::kernel(chapter03::answers::warp_first),
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter03::answers::warp_first<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  chapter.add({
      .name = "strided_swizzled",
      .from = "chapter04_bank_conflicts",
      .region = "answer-swizzled",
      .kernel = book::kernel(chapter04::answers::strided_swizzled),
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter04::answers::strided_swizzled<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  chapter.add({
      .name = "unrolled_stride",
      .from = "chapter05_unroll4",
      .region = "answer-unrolled-stride",
      .kernel = book::kernel(chapter05::answers::unrolled_stride<8>),
      .grid = book::resident_grid,
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter05::answers::unrolled_stride<8><<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  chapter.add({
      .name = "warp_slots",
      .from = "chapter06_dynamic_smem",
      .region = "answer-warp-slots",
      .kernel = book::kernel(chapter06::answers::warp_slots),
      .blocks = book::powers_of_two(),
      .factor = 4,
      .shared_bytes = [](unsigned block) { return (block + 31) / 32 * sizeof(int); },
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter06::answers::warp_slots<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
      }),
  });
  chapter.add({
      .name = "many_wide",
      .from = "chapter07_effective_bandwidth",
      .region = "answer-many-wide",
      .kernel = book::kernel(chapter07::answers::many_wide),
      .grid = book::resident_grid,
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter07::answers::many_wide<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  chapter.add({
      .name = "wide_sum",
      .from = "chapter10_coalescing",
      .region = "answer-wide-sum",
      .kernel = book::kernel(chapter10::answers::wide_sum),
      .factor = 4,
      .launch = book::launch<book::Sum>([](const auto& l) {
        chapter10::answers::wide_sum<<<l.grid, l.block>>>(l.in, l.partial, l.n);
      }),
  });
  chapter.add({
      .name = "last_block_acq_rel",
      .from = "chapter08_multi_pass",
      .region = "answer-acq-rel",
      .kernel = book::kernel(chapter08::answers::last_block_acq_rel),
      .grid = book::resident_grid,
      .launch =
          book::launch<book::WholeSum<long long>>([](const book::WholeSum<long long>::Launch& l) {
            chapter08::answers::last_block_acq_rel<<<l.grid, l.block>>>(l.in, l.partial, l.ticket,
                                                                        l.out, l.n);
          }),
  });
  chapter.add(runs<chapter09::Data::kUniform>());
  chapter.add(runs<chapter09::Data::kMostly>());
  chapter.add(runs<chapter09::Data::kEqual>());

  return chapter.run(argc, argv);
}
