/// \file
/// The chapter's variants: each way over 1 to kMostGpus GPUs, on an array that is spread over them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../chapter00_timing/problem.cuh"
#include "book/chapter.hpp"
#include "launches.cuh"

namespace chapter14 {

/// Any number of GPUs of one process, up to kMostGpus; and those at which single steps are looked
/// at.
inline const std::vector<unsigned> kAnyNumber{1, 2, 3, 4, 5, 6, 7, 8};
inline const std::vector<unsigned> kSomeNumbers{1, 2, 4, 8};

/// As many elements for all, and as many for each GPU: with few elements one GPU alone is quicker,
/// and it shows where that ends.
inline std::vector<std::size_t> sizes(unsigned gpus) {
  std::vector<std::size_t> all = book::powers(10, 31);
  for (const unsigned k : {20u, 22u, 24u, 26u, 28u, 30u})
    all.push_back((std::size_t{1} << k) * gpus);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Why GPUs can't store into GPU 0's memory; empty where they can.
inline std::string no_stores(unsigned gpus) {
  return ranks() ? "the processes don't share their GPUs' memory" : Gpus::here().give_access(gpus);
}
/// Why there is no NCCL; empty where there is. Says which the first time.
inline std::string no_nccl() {
  const Nccl& nccl = Nccl::here();
  static bool told = false;
  if (nccl.missing().empty() && !std::exchange(told, true) && (!ranks() || ranks()->rank() == 0)) {
    std::cerr << "chapter14_many_gpus: NCCL " << nccl.version() << ", multicast off\n";
  }
  return nccl.missing();
}

/// Of each number of GPUs, and for each purpose, the one problem that all variants share: its
/// arrays are made once for neighbours among them, and end with the chapter.
template <class P>
std::shared_ptr<P> shared(unsigned gpus, Ends ends, Does does) {
  static std::map<std::tuple<unsigned, Ends, Does>, std::weak_ptr<P>> all;
  std::weak_ptr<P>& known = all[{gpus, ends, does}];
  std::shared_ptr<P> one = known.lock();
  if (!one) known = one = std::make_shared<P>(gpus, ends, does);
  return one;
}

/// A launch on a problem that is there.
template <class P, class Queue>
book::Launch launch_on(std::shared_ptr<P> problem, Queue queue) {
  return {.type = typeid(P),
          .make = {},
          .queue = [queue = std::move(queue)](
                       book::Problem& p,
                       const book::Shape& shape) { queue(static_cast<const P&>(p).launch(shape)); },
          .problem = std::move(problem)};
}

/// A way, before it is known on what it is launched.
inline book::Variant variant(const std::string& name, const char* region, unsigned gpus) {
  book::Variant v{.name = name + "_" + std::to_string(gpus), .region = region, .launch = {}};
  v.params = {{"gpus", std::int64_t{gpus}}};
  v.devices = gpus;
  v.axes = {{"n", sizes(gpus)}, {"gpus", {gpus}}};
  v.counters = book::Counters::kNone;  // GPUs wait for each other as long as it takes
  v.profiled = false;                  // NCCL's kernels are its own business
  return v;
}

/// Adds NCCL's needs.
inline book::Variant with_nccl(book::Variant v) {
  v.missing = no_nccl;
  v.embedded = false;
  return v;
}
/// Adds the needs of who stores into GPU 0's memory; compute-sanitizer looks at that between two.
inline book::Variant with_stores(book::Variant v) {
  v.profiled = v.devices == 2;
  v.missing = [gpus = v.devices] { return no_stores(gpus); };
  return v;
}

/// Atomics need what stores do, and more.
inline book::Variant with_atomics(book::Variant v) {
  v = with_stores(std::move(v));
  v.missing = [no_access = v.missing, gpus = v.devices] {
    const std::string why = no_access();
    return why.empty() ? Gpus::here().give_atomics(gpus) : why;
  };
  return v;
}

/// With the whole sum of integers: chapter 8's kernel, and its blocks.
template <class P = Ints, class Queue>
book::Variant of_ints(const std::string& name, const char* region, unsigned gpus, Ends ends,
                      Queue queue) {
  book::Variant v = variant(name, region, gpus);
  v.blocks = book::whole_warps();
  if (name == "stores") v.axes.push_back({"block"});
  v.kernel = book::kernel(chapter08::whole<long long>);
  v.grid = [gpus](std::size_t n, unsigned block) {
    const std::size_t share = n / gpus + (n % gpus != 0 ? 1 : 0);
    return std::min(book::resident_grid(share / 16 + (share % 16 != 0 ? 1 : 0), block),
                    65535u / kMostGpus);
  };
  v.launch = launch_on(shared<P>(gpus, ends, Does::kAll), std::move(queue));
  return v;
}

/// The last step alone: each GPU's sum is there.
template <class Queue>
book::Variant last(const std::string& name, const char* region, unsigned gpus, Ends ends,
                   Queue queue) {
  book::Variant v = variant("last_" + name, region, gpus);
  v.blocks = book::any_block(32, 32);
  v.grid = book::one_block;
  v.axes = {{"gpus", {gpus}}};
  v.sizes = book::Sizes{.usual = {1u << 16}, .usual_embedded = 1u << 16};
  v.launch = launch_on(shared<Ints>(gpus, ends, Does::kLastStep), std::move(queue));
  return v;
}

template <class P, class Queue>
book::Variant of_floats(const std::string& name, const char* region, unsigned gpus, Ends ends,
                        Queue queue) {
  book::Variant v = variant(name, region, gpus);
  v.blocks = book::powers_of_two(32);
  v.block = 512;
  v.kernel = [](unsigned block) { return reinterpret_cast<const void*>(exact_for(block)); };
  v.shared_bytes = chapter11::bins_of;
  v.grid = [gpus](std::size_t n, unsigned block) {
    return chapter11::full_grid(exact_for, chapter11::bins_of)((n + gpus - 1) / gpus, block);
  };
  v.launch = launch_on(shared<P>(gpus, ends, Does::kAll), std::move(queue));
  return v;
}

/// Where the host adds, each of several processes gets to know the total.
inline Ends by_host_on() {
  return ranks() ? Ends::kOnAll : Ends::kOnFirst;
}

/// All ways to the whole sum. \tparam P  Ints, or another input of theirs
template <class P = Ints>
std::vector<book::Variant> ways(unsigned gpus) {
  using L = Ints::Launch;
  constexpr Does kAll = Does::kAll;
  // begin ways-of-ints
  book::Variant atomics = of_ints<P>("atomics", "across-gpus", gpus, Ends::kOnFirst, by_atomics);
  atomics.kernel = book::kernel(across);
  return {with_stores(of_ints<P>("stores", "send-words", gpus, Ends::kOnFirst,
                                 [](const L& l) { by_stores<kAll>(l); })),
          with_atomics(std::move(atomics)),
          with_nccl(of_ints<P>("all_reduce", "run-nccl", gpus, Ends::kOnAll,
                               [](const L& l) { by_nccl<kAll, Ends::kOnAll>(l); })),
          with_nccl(of_ints<P>("reduce", "run-nccl", gpus, Ends::kOnFirst,
                               [](const L& l) { by_nccl<kAll, Ends::kOnFirst>(l); })),
          of_ints<P>("host", "run-host", gpus, by_host_on(), [](const L& l) { by_host<kAll>(l); })};
  // end ways-of-ints
}

/// What the events take that surround all of these: kernels that do nothing, on each GPU.
inline book::Variant events_alone(unsigned gpus) {
  book::Variant v = variant("nothing", "empty-kernel", gpus);
  v.from = "chapter00_timing";
  v.grid = book::one_block;
  v.axes = {{"gpus", {gpus}}};
  v.launch = book::launch<chapter00::Nothing>([gpus](const auto& l) { by_nothing(gpus, l.block); });
  return v;
}

/// The last step of each.
inline std::vector<book::Variant> last_steps(unsigned gpus) {
  using L = Ints::Launch;
  constexpr Does kLast = Does::kLastStep;
  return {with_stores(last("stores", "collect-words", gpus, Ends::kOnFirst,
                           [](const L& l) { by_stores<kLast>(l); })),
          with_atomics(last("atomics", "sum-hand-in", gpus, Ends::kOnFirst, by_atomics_of_gpus)),
          with_nccl(last("all_reduce", "run-nccl", gpus, Ends::kOnAll,
                         [](const L& l) { by_nccl<kLast, Ends::kOnAll>(l); })),
          with_nccl(last("reduce", "run-nccl", gpus, Ends::kOnFirst,
                         [](const L& l) { by_nccl<kLast, Ends::kOnFirst>(l); })),
          last("host", "run-host", gpus, by_host_on(), [](const L& l) { by_host<kLast>(l); })};
}

/// The exact sum of floats.
template <class Input, class P = Floats<Input>>
std::vector<book::Variant> exact_ways(const std::string& kind, unsigned gpus) {
  using L = P::Launch;
  constexpr Does kAll = Does::kAll;
  return {with_stores(of_floats<P>("exact_stores" + kind, "exact-words", gpus, Ends::kOnFirst,
                                   [](const L& l) { by_stores<kAll>(l); })),
          with_nccl(of_floats<P>("exact_all_reduce" + kind, "exact-words", gpus, Ends::kOnAll,
                                 [](const L& l) { by_nccl<kAll, Ends::kOnAll>(l); })),
          of_floats<P>("exact_host" + kind, "exact-words", gpus, by_host_on(),
                       [](const L& l) { by_host<kAll>(l); })};
}

}  // namespace chapter14
