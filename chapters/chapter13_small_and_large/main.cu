// The sum of few numbers, where the launch is everything, and of many, where memory is.
#include <string>
#include <type_traits>
#include <utility>

#include "../chapter00_timing/problem.cuh"
#include "book/chapter.hpp"
#include "ways.cuh"

namespace {

using namespace chapter13;
using chapter00::Nothing;

/// A launch of nothing, however it is launched.
template <class Queue>
book::Variant empty(const std::string& name, Queue queue) {
  book::Variant v{.name = name, .region = "empty-kernel", .launch = {}};
  v.from = "chapter00_timing";
  v.grid = book::one_block;
  v.axes = {};
  v.profiled = false;
  v.launch = book::launch<Nothing>(std::move(queue));
  return v;
}
using NoLaunch = Nothing::Launch;

void add_empty(book::Chapter& chapter) {
  chapter.add(empty("empty", [](const NoLaunch& l) { chapter00::empty<<<l.grid, l.block>>>(); }));
  chapter.add(
      empty("empty_twice", [](const NoLaunch& l) { two_empty<Second::kOrdinary>(l, nullptr); }));
  chapter.add(empty("empty_graph", as_graph<NoLaunch>(two_empty<Second::kOrdinary>)));
  book::Variant dependent = empty(
      "empty_dependent", [](const NoLaunch& l) { two_empty<Second::kDependent>(l, nullptr); });
  dependent.capability = kHopper;
  chapter.add(std::move(dependent));
  for (const unsigned blocks : {2u, 8u, 16u}) {
    book::Variant cluster = empty("empty_cluster" + std::to_string(blocks), [](const NoLaunch& l) {
      launch_with(cluster_of(l.grid), l.grid, l.block, nullptr, chapter00::empty);
    });
    cluster.grid = [blocks](std::size_t, unsigned) {
      if (blocks > 8) allow_large_clusters(chapter00::empty);
      return blocks;
    };
    cluster.capability = kHopper;
    chapter.add(std::move(cluster));
  }
}

/// What may be best for few elements.
template <class P>
void add_few(book::Chapter& chapter) {
  using Sum = SumOf<P>;
  chapter.add(warp_alone<P>());
  chapter.add(block_alone<P, 1>());
  chapter.add(block_alone<P, 2>());
  chapter.add(block_alone<P, 4>());
  chapter.add(block_alone<P, 8>());
  chapter.add(in_two<P, Second::kOrdinary>("two_launches", false));
  chapter.add(in_two<P, Second::kOrdinary>("two_in_graph", true));
  chapter.add(in_two<P, Second::kDependent>("two_dependent", false));
  chapter.add(in_two<P, Second::kDependent>("two_dependent_in_graph", true));
  for (const unsigned blocks : {2u, 4u, 8u, 16u}) {
    chapter.add(cluster_alone<P>("cluster", "cluster-alone", one_cluster<Sum, 4>, blocks));
    chapter.add(cluster_alone<P>("sent", "cluster-by-mail", sent_to_one<Sum, 4>, blocks));
  }
  chapter.add(handed_over<P, 1>());
  chapter.add(handed_over<P, 2>());
  chapter.add(handed_over<P, 4>());
  chapter.add(few_of_clusters<P, 2>());
  chapter.add(few_of_clusters<P, 4>());
  chapter.add(few_of_clusters<P, 8>());
}

/// What may be best for many.
template <class P>
void add_many(book::Chapter& chapter) {
  chapter.add(by_loads<P, 2>());
  chapter.add(by_loads<P, 4>());
  chapter.add(by_loads<P, 8>());
  chapter.add(by_loads<P, 16>());
  chapter.add(ring<P, Team::kWarp, 2048, 2>());
  chapter.add(ring<P, Team::kWarp, 2048, 4>());
  chapter.add(ring<P, Team::kWarp, 4096, 2>());
  chapter.add(ring<P, Team::kWarp, 4096, 4>());
  chapter.add(ring<P, Team::kWarp, 8192, 2>());
  chapter.add(ring<P, Team::kWarp, 8192, 4>());
  chapter.add(ring<P, Team::kBlock, 16384, 4>());
  chapter.add(ring<P, Team::kBlock, 16384, 8>());
  chapter.add(ring<P, Team::kBlock, 32768, 4>());
}

template <class P>
void add_all(book::Chapter& chapter) {
  add_few<P>(chapter);
  chapter.add(handed_in<P>());
  chapter.add(by_cub<P>());
  add_many<P>(chapter);
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter13_small_and_large",
                        "The sum of few numbers, and of many",
                        "--sweep n: the launch, then the memory",
                        {.n = book::powers(0, 30)}};
  add_empty(chapter);
  add_all<book::WholeSum<long long>>(chapter);
  add_all<book::WholeSum<unsigned>>(chapter);
  return chapter.run(argc, argv);
}
