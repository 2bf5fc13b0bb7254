// Chapter 14's sums where they could go wrong unseen: with shares of any size, some of them empty,
// of the least and the greatest values, and of floats that are no numbers, on a number of GPUs that
// is no power of two. Each is launched twice, so that it finds what it has left.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../ways.cuh"
#include "book/chapter.hpp"

namespace {

using namespace chapter14;

/// Shares as GPUs of very different speeds would have them: the second has none.
std::vector<Share> of_unequal(std::size_t n, unsigned gpus) {
  std::vector<double> weights;
  for (unsigned g = 0; g < gpus; ++g) weights.push_back(g == 1 ? 0 : 1 + 7 * (g % 3));
  return split(n, weights);
}

template <class Base>
class Unequal : public Base {
 public:
  using Base::Base;

 protected:
  std::vector<Share> split_up(std::size_t n, bool) const override {
    return of_unequal(n, this->gpus());
  }
};

/// All elements on the last GPU.
class OnLast : public Ints {
 public:
  using Ints::Ints;

 protected:
  std::vector<Share> split_up(std::size_t n, bool) const override {
    std::vector<double> weights(gpus());
    weights.back() = 1;
    return split(n, weights);
  }
};

/// One value again and again.
template <int Value>
class Equal : public Ints {
 public:
  using Ints::Ints;

 protected:
  void fill_in(book::Array<int>& in, std::size_t) const override {
    in.fill(book::Constant<int>{Value});
  }
  std::int64_t sum_of(std::size_t n) const override { return static_cast<std::int64_t>(n) * Value; }
};
constexpr int kLowest = std::numeric_limits<int>::min();
constexpr int kHighest = std::numeric_limits<int>::max();

/// Floats of all sizes, and at some positions what is no number: +inf, -inf or NaN.
template <bool Plus, bool Minus, bool None>
struct Special {
  std::uint64_t seed = 0;
  __host__ __device__ float operator()(std::size_t position) const {
    const chapter11::Floats<chapter11::Data::kWide> usual{seed};
    const float infinite = chapter11::float_of(0x7f800000u);
    if (Plus && position % 1000 == 999) return infinite;
    if (Minus && position % 1000 == 30) return -infinite;
    if (None && position % 1000 == 500) return infinite - infinite;
    return usual(position);
  }
};

/// Launched twice.
book::Variant hard(book::Variant v, const std::string& input) {
  if (!input.empty()) v.name += "_" + input;
  v.axes = {};
  v.launch.queue = [queue = std::move(v.launch.queue)](book::Problem& problem,
                                                       const book::Shape& shape) {
    queue(problem, shape);
    queue(problem, shape);
  };
  return v;
}

void add(book::Chapter& chapter, const std::string& input, std::vector<book::Variant> variants) {
  for (book::Variant& v : variants) chapter.add(hard(std::move(v), input));
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{
      "chapter14_hard_spread", "Sums that are hard to get right", "", {.devices = kMostGpus}};
  chapter.add(events_alone(1));  // whatever n and block: there is always one that takes them
  chapter.add(events_alone(8));
  add(chapter, "unequal", ways<Unequal<Ints>>(3));
  add(chapter, "unequal", ways<Unequal<Ints>>(7));
  add(chapter, "on_last", ways<OnLast>(5));
  add(chapter, "lowest", ways<Equal<kLowest>>(8));
  add(chapter, "highest", ways<Equal<kHighest>>(6));
  using Wide = chapter11::Floats<chapter11::Data::kWide>;
  add(chapter, "", exact_ways<Wide, Unequal<Floats<Wide>>>("_unequal", 5));
  add(chapter, "", exact_ways<Special<true, false, false>>("_plus", 3));
  add(chapter, "", exact_ways<Special<false, true, false>>("_minus", 2));
  add(chapter, "", exact_ways<Special<true, true, false>>("_both", 3));
  add(chapter, "", exact_ways<Special<true, false, true>>("_nan", 4));
  const int status = chapter.run(argc, argv);
  Gpus::all_communicators().clear();
  return status;
}
