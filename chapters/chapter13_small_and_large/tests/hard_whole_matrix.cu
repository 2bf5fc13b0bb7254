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
template <unsigned Skip>
class Skewed : public book::WholeSum<Sum> {
 public:
  Launch launch(const book::Shape& shape) const {
    auto l = book::WholeSum<Sum>::launch(shape);
    const auto skip = std::min<std::size_t>(l.n, Skip);
    l.in += skip;
    l.n -= skip;
    return l;
  }

 protected:
  std::int64_t sum_of(std::size_t n, std::uint64_t seed) const override {
    std::int64_t sum = book::WholeSum<Sum>::sum_of(n, seed);
    for (std::size_t i = 0; i < std::min<std::size_t>(n, Skip); ++i) {
      sum -= book::input_value(seed, i);
    }
    return sum;
  }
};

/// One value again and again.
template <int Value>
class Equal : public book::WholeSum<Sum> {
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
  const auto on = [&](unsigned most, book::Variant v) {
    chapter.add(hard(std::move(v), input, most));
  };
  on(3, warp_alone<P>());
  on(3, block_alone<P>());
  on(3, in_two<P, Second::kOrdinary>("two_launches", false));
  on(3, in_two<P, Second::kDependent>("two_dependent", false));
  on(3, in_two<P, Second::kDependent>("two_dependent_in_graph", true));
  book::Variant few = handed_over<P>();  // larger sums of these don't fit its word
  few.sizes = book::Sizes{.usual = {100'003},
                          .usual_embedded = 100'003,
                          .most = kMostOfFew,
                          .most_embedded = (1u << 19) - 1};
  on(3, std::move(few));
  on(3, by_loads<P>());
  on(3, rings_of_warps<P, 4, 4096>());
  on(3, ring_of_block<P, 1, 16384>());
  on(3, ring_of_block<P, 4, 16384>());
  on(2, rings_of_warps<P, 2, 128>());  // round and round, with few elements too
  on(1, ring_of_block<P, 2, 512>());
  on(8, cluster_alone<P>("cluster", "cluster-alone", one_cluster, 8));
  on(16, cluster_alone<P>("sent", "cluster-by-mail", sent_to_one, 16));
}

/// A ring on one small block, of pieces of one vector each: the most elements are more pieces than
/// 16 bits count.
void add_many_pieces(book::Chapter& chapter) {
  const auto on = [&](unsigned block, book::Variant v) {
    v.blocks = book::any_block(block, block);
    v.sizes = book::Sizes{.usual = {100'003},
                          .usual_embedded = 100'003,
                          .most = (1u << 19) - 1,
                          .most_embedded = (1u << 19) - 1};
    chapter.add(hard(std::move(v), "skewed1", 1));
  };
  on(32, rings_of_warps<Skewed<1>, 2, 16>());
  on(64, ring_of_block<Skewed<1>, 2, 16>());
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
  add_hard_ones<Skewed<1>>(chapter, "skewed1");
  add_hard_ones<Skewed<3>>(chapter, "skewed3");
  add_hard_ones<Equal<kLowest>>(chapter, "lowest");
  add_hard_ones<Equal<kHighest>>(chapter, "highest");
  add_many_pieces(chapter);
  return chapter.run(argc, argv);
}
