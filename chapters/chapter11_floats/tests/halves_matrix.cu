// Sums of 16-bit floats from addresses that are no multiple of 16, and by so few blocks that each
// goes round; and all that the tensor core gives back, of which the sums need half.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../half_variants.cuh"
#include "book/chapter.hpp"
#include "halves_kernels.cuh"

namespace {

using namespace chapter11;

template <class T, template <class> class Way, Short S>
void add(book::Chapter& chapter, const std::string& method, const char* region) {
  using Uniform = Floats<Data::kUniform>;
  chapter.add(half_variant<T, Way, S, Uniform, 3>(method, "skewed", region));
  chapter.add(half_variant<T, Way, S, Uniform, 7>(method, "one_before", region));
}

/// On two blocks at most.
template <class T, template <class> class Way>
book::Variant on_few(const std::string& method, const char* region) {
  book::Variant v =
      half_variant<T, Way, Short::kNone, Floats<Data::kUniform>>(method, "few_blocks", region);
  v.grid = [grid = std::move(v.grid)](std::size_t n, unsigned block) {
    return std::min(2u, grid(n, block));
  };
  return v;
}

/// One matrix, whose rows have other sums each, added twice.
template <class T>
class Products : public book::Problem {
 public:
  struct Launch {
    const Eight<T>* in;
    float* out;
  };
  Launch launch(const book::Shape&) const {
    return {reinterpret_cast<const Eight<T>*>(in_.data()), out_.data()};
  }

  std::size_t device_bytes(const book::Shape&) const override {
    return kLanes * (sizeof(Eight<T>) + 4 * sizeof(float));
  }
  void prepare(const book::Shape&, std::uint64_t, book::Fill) override {
    std::vector<T> elements;
    for (unsigned i = 0; i < 8 * kLanes; ++i) {
      elements.emplace_back();
      nearest(static_cast<float>(i), &elements.back());
    }
    in_ = book::Buffer<T>(elements.size());
    in_.copy_from(elements);
    out_ = book::Buffer<float>(4 * kLanes);
  }
  void poison() override { out_.copy_from(std::vector<float>(4 * kLanes, -1)); }
  book::Verdict check() override {
    const std::vector<float> found = out_.to_host(4 * kLanes);
    for (unsigned i = 0; i < 4 * kLanes; ++i) {
      const float right = 2 * row_of(i / 4, i % 4 / 2);
      if (found[i] != right) {
        return {false, "sum " + std::to_string(i % 4) + " of lane " + std::to_string(i / 4) +
                           " is " + std::to_string(found[i]) + ", not " + std::to_string(right)};
      }
    }
    return {true, "each row's sum, in all columns"};
  }
  book::UsefulBytes useful_bytes(const book::Shape&) const override { return {}; }

 private:
  static constexpr unsigned kLanes = 32;
  /// The sum of a row: four lanes have two of its pairs each, the first and the third of theirs, or
  /// the two others.
  static float row_of(unsigned lane, unsigned half) {
    unsigned sum = 0;
    for (unsigned l = lane / 4 * 4; l < lane / 4 * 4 + 4; ++l) {
      for (unsigned i = 0; i < 8; ++i) {
        if (i / 2 % 2 == half) sum += 8 * l + i;
      }
    }
    return static_cast<float>(sum);
  }
  book::Buffer<T> in_;
  book::Buffer<float> out_;
};
template <class T>
book::Variant products(std::string name) {
  return {
      .name = std::move(name),
      .from = "chapter11_floats",
      .region = "half-matrix",
      .blocks = book::any_block(32, 32),
      .grid = book::one_block,
      .capability = 80,
      .launch = book::launch<Products<T>>(
          [](const auto& l) { halves::products<<<1, 32>>>(l.in, l.out); }),
  };
}

template <class T>
void add_ways(book::Chapter& chapter) {
  add<T, InFloats, Short::kNone>(chapter, "plain", "half-plain");
  add<T, InPairs, Short::kAll>(chapter, "packed", "half-packed");
  add<T, InGroups, Short::kTwo>(chapter, "groups", "half-groups");
  add<T, ByMatrix, Short::kNone>(chapter, "matrix", "half-matrix");
}

/// Floats by the same reading, for the blocks of which a warp isn't whole.
book::Variant floats_of_any_block() {
  static constexpr auto kKernel = sum<Plain, kLoads>;
  book::Variant v{.name = "floats", .region = "plain-float", .launch = {}};
  v.kernel = book::kernel(kKernel);
  v.grid = full_grid(
      +[](unsigned) { return kKernel; }, no_bins);
  v.launch = book::launch<FloatSum<Floats<Data::kUniform>, Bound::kRounds>>([](const auto& l) {
    kKernel<<<l.grid, l.block>>>(l.in, l.out, reinterpret_cast<Plain*>(l.partial), l.ticket, l.n);
  });
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter11_halves", "Sums of 16-bit floats from odd addresses"};
  chapter.add(floats_of_any_block());
  add_ways<__half>(chapter);
  add_ways<__nv_bfloat16>(chapter);
  chapter.add(on_few<__half, InFloats>("plain", "half-plain"));
  chapter.add(on_few<__nv_bfloat16, ByMatrix>("matrix", "half-matrix"));
  chapter.add(products<__half>("half_products"));
  chapter.add(products<__nv_bfloat16>("bfloat16_products"));
  return chapter.run(argc, argv);
}
