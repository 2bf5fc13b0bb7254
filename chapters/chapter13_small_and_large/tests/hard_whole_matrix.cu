// Chapter 13's sums where they could go wrong unseen: from addresses that are no multiple of 16,
// of the least and the greatest values, and of more pieces than a ring has stages, many times over,
// for a few blocks have all the work. Each is launched twice, so that it finds what it has left.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "../../chapter00_timing/problem.cuh"
#include "../ways.cuh"
#include "book/chapter.hpp"

namespace {

using namespace chapter13;

/// The sum of all elements but the first Skip.
template <class Out, unsigned Skip>
class Skewed : public book::WholeSum<Out> {
 public:
  typename book::WholeSum<Out>::Launch launch(const book::Shape& shape) const {
    auto l = book::WholeSum<Out>::launch(shape);
    const auto skip = std::min<std::size_t>(l.n, Skip);
    l.in += skip;
    l.n -= skip;
    return l;
  }

 protected:
  std::int64_t sum_of(std::size_t n, std::uint64_t seed) const override {
    std::int64_t sum = book::WholeSum<Out>::sum_of(n, seed);
    for (std::size_t i = 0; i < std::min<std::size_t>(n, Skip); ++i) {
      sum -= book::input_value(seed, i);
    }
    return sum;
  }
};

/// One value again and again.
template <class Out, int Value>
class Equal : public book::WholeSum<Out> {
 protected:
  void fill_in(book::Array<int>& in, std::uint64_t) const override {
    in.fill(book::Constant<int>{Value});
  }
  std::int64_t sum_of(std::size_t n, std::uint64_t) const override {
    return static_cast<std::int64_t>(n) * Value;
  }
};
constexpr int kLowest = std::numeric_limits<int>::min();
constexpr int kHighest = std::numeric_limits<int>::max();

/// Launched twice, on `most` blocks at most, where it isn't one cluster.
book::Variant hard(book::Variant v, const std::string& input, unsigned most) {
  v.name += "_" + input;
  v.axes = {};
  v.profiled = false;
  v.grid = [grid = std::move(v.grid), most](std::size_t n, unsigned block) {
    return std::min(grid(n, block), most);
  };
  v.launch.queue = [queue = std::move(v.launch.queue)](book::Problem& problem,
                                                       const book::Shape& shape) {
    queue(problem, shape);
    queue(problem, shape);
  };
  if (!v.sizes) {
    v.sizes = book::Sizes{.usual = {100'003},
                          .usual_embedded = 100'003,
                          .most = std::size_t{1} << 26,
                          .most_embedded = (1u << 19) - 1};
  }
  return v;
}

template <class P>
void add_hard_ones(book::Chapter& chapter, const std::string& input) {
  using Sum = SumOf<P>;
  constexpr unsigned kFewBlocks = 3;
  const auto add = [&](book::Variant v) { chapter.add(hard(std::move(v), input, kFewBlocks)); };
  add(warp_alone<P>());
  add(block_alone<P, 1>());
  add(block_alone<P, 8>());
  add(in_two<P, Second::kOrdinary>("two_launches", false));
  add(in_two<P, Second::kDependent>("two_dependent", false));
  add(in_two<P, Second::kDependent>("two_dependent_in_graph", true));
  add(handed_over<P, 1>());
  add(handed_over<P, 4>());
  add(by_loads<P, 2>());
  add(by_loads<P, 16>());
  add(ring<P, Team::kWarp, 2048, 2>());
  add(ring<P, Team::kWarp, 4096, 4>());
  add(ring<P, Team::kBlock, 16384, 4>());
  const auto on = [&](unsigned most, book::Variant v) {
    chapter.add(hard(std::move(v), input, most));
  };
  on(1, ring<P, Team::kWarp, 128, 2>());  // round and round, with few elements too
  on(1, ring<P, Team::kBlock, 512, 2>());
  on(2, cluster_alone<P>("cluster", "cluster-alone", one_cluster<Sum, 4>, 2));
  on(16, cluster_alone<P>("sent", "cluster-by-mail", sent_to_one<Sum, 4>, 16));
  on(12, few_of_clusters<P, 4>());
}

template <class Out>
void add_hard_inputs(book::Chapter& chapter) {
  add_hard_ones<Skewed<Out, 1>>(chapter, "skewed1");
  add_hard_ones<Skewed<Out, 3>>(chapter, "skewed3");
  add_hard_ones<Equal<Out, kLowest>>(chapter, "lowest");
  add_hard_ones<Equal<Out, kHighest>>(chapter, "highest");
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter13_hard_whole", "Sums that are hard to get right", "--sweep n"};
  // Whatever n and block: there is always one that takes them.
  book::Variant any{.name = "empty", .region = "empty-kernel", .launch = {}};
  any.grid = book::one_block;
  any.from = "chapter00_timing";
  any.launch = book::launch<chapter00::Nothing>(
      [](const auto& l) { chapter00::empty<<<l.grid, l.block>>>(); });
  chapter.add(std::move(any));
  add_hard_inputs<long long>(chapter);
  add_hard_inputs<unsigned>(chapter);
  return chapter.run(argc, argv);
}
