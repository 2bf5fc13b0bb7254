// The sum of few numbers, where the launch is everything, and of many, where memory is.
#include <string>
#include <utility>

#include "../chapter00_timing/problem.cuh"
#include "book/chapter.hpp"
#include "legacy.cuh"
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
  book::Variant cluster = empty("empty_cluster", [](const NoLaunch& l) {
    launch_with(cluster_of(l.grid), l.grid, l.block, nullptr, chapter00::empty);
  });
  cluster.grid = [](std::size_t, unsigned) { return 8u; };
  cluster.capability = kHopper;
  chapter.add(std::move(cluster));
}

using P = book::WholeSum<Sum>;

/// What may be best for few elements.
void add_few(book::Chapter& chapter) {
  chapter.add(warp_alone<P>());
  chapter.add(block_alone<P>());
  chapter.add(in_two<P, Second::kOrdinary>("two_launches", false));
  chapter.add(in_two<P, Second::kOrdinary>("two_in_graph", true));
  chapter.add(in_two<P, Second::kDependent>("two_dependent", false));
  chapter.add(in_two<P, Second::kDependent>("two_dependent_in_graph", true));
  chapter.add(cluster_alone<P>("cluster", "cluster-alone", one_cluster, 8));
  chapter.add(cluster_alone<P>("sent", "cluster-by-mail", sent_to_one, 8));
  chapter.add(cluster_alone<P>("sent", "cluster-by-mail", sent_to_one, 16));
  chapter.add(handed_over<P>());
}

/// What may be best for many.
void add_many(book::Chapter& chapter) {
  chapter.add(by_loads<P>());
  chapter.add(rings_of_warps<P, 4, 4096>());
  chapter.add(rings_of_warps<P, 2, 8192>(128));
  chapter.add(ring_of_block<P, 1, 16384>());
  chapter.add(ring_of_block<P, 2, 16384>());
  chapter.add(ring_of_block<P, 4, 16384>());
  chapter.add(ring_of_block<P, 8, 16384>());
  chapter.add(ring_of_block<P, 12, 16384>());
}

/// Two passes, of which the second doesn't wait for the first.
book::Variant unwaited() {
  book::Variant v = variant("two_unwaited", "no-wait");
  v.capability = kHopper;
  v.legacy = true;
  v.grid = grid_of_first;
  v.launch = book::launch<P>([](const P::Launch& l) {
    first_pass<<<l.grid, l.block>>>(l.in, l.partial, l.n);
    launch_with(dependent(), 1, kSecondBlock, nullptr, legacy::second_at_once, l.partial, l.out,
                l.grid);
  });
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter13_small_and_large",
                        "The sum of few numbers, and of many",
                        "--sweep n: the launch, then the memory",
                        {.n = book::powers(0, 30)}};
  add_empty(chapter);
  add_few(chapter);
  chapter.add(handed_in<P>());
  chapter.add(by_cub<P>());
  add_many(chapter);
  chapter.add(unwaited());
  return chapter.run(argc, argv);
}
