#include <cmath>

#include "book/input.hpp"
#include "book/sum.hpp"
#include "kernels.cuh"

namespace {

/// A walk through shared memory of which it is known where it ends: as far on as it took rounds
/// from where the thread's warp began, in a ring of Ring elements.
template <unsigned Ring>
class Walk : public book::Problem {
 public:
  struct Launch {
    unsigned* out;
    std::size_t n;
    unsigned grid, block;
  };
  Launch launch(const book::Shape& s) const { return {out_.data(), s.n, s.grid, s.block}; }

  std::size_t device_bytes(const book::Shape& s) const override { return s.n * sizeof(unsigned); }
  void accept(const book::Shape&) const override {}
  void prepare(const book::Shape& s, std::uint64_t, book::Fill) override {
    shape_ = s;
    if (out_.size() == s.n) return;
    release();
    out_ = book::Buffer<unsigned>(s.n);
  }
  void release() override { out_ = {}; }
  void restore() override {}
  void poison() override { BOOK_CUDA(cudaMemset(out_.data(), 0xff, out_.bytes())); }
  book::Verdict check() override {
    const std::vector<unsigned> found = out_.to_host(shape_.n);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t block = i / shape_.block, warp = i % shape_.block / 32;
      const auto end = static_cast<unsigned>((block + warp + chapter04::kRounds) % Ring);
      if (found[i] != end) {
        return {false, "thread " + std::to_string(i) + " ends at " + std::to_string(found[i]) +
                           ", not at " + std::to_string(end)};
      }
    }
    return {true, "every walk ends where it must"};
  }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = 0, .written = s.n * sizeof(unsigned)};
  }

 private:
  book::Buffer<unsigned> out_;
  book::Shape shape_;
};

using Strides = Walk<chapter04::kWords>;
using Widths = Walk<chapter04::kElements>;

/// C = A · Aᵀ for n rows of n numbers 0…15: sums of products are integers, and exact in a float as
/// long as they are below 2^24.
class Product : public book::Problem {
 public:
  struct Launch {
    const float* a;
    float* c;
    unsigned n;
    dim3 grid, block;
  };
  Launch launch(const book::Shape& s) const {
    const unsigned tiles = across(s.n);
    return {a_.data(), c_.data(), static_cast<unsigned>(s.n), {tiles, tiles}, {32, 32}};
  }
  static unsigned across(std::size_t n) {
    return static_cast<unsigned>((n + chapter04::kTile - 1) / chapter04::kTile);
  }

  std::size_t device_bytes(const book::Shape& s) const override {
    return 2 * s.n * s.n * sizeof(float);
  }
  void accept(const book::Shape&) const override {}
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill) override {
    if (s.n != n_ || seed != seed_) {
      n_ = s.n;
      seed_ = seed;
      make_reference();
      release();
    }
    if (a_.size() > 0) return;
    a_ = book::Buffer<float>(n_ * n_);
    c_ = book::Buffer<float>(n_ * n_);
    a_.copy_from(host_a_);
  }
  void release() override {
    a_ = {};
    c_ = {};
  }
  void restore() override {}
  void poison() override { BOOK_CUDA(cudaMemset(c_.data(), 0xff, c_.bytes())); }  // every one a NaN
  // begin check-product
  /// To n = 512 against the host's whole product. Beyond that C · r against A · (Aᵀ · r), for a
  /// vector r of random integers: two products of a matrix and a vector in place of one of
  /// matrices.
  book::Verdict check() override {
    const std::vector<float> c = c_.to_host(n_ * n_);
    for (std::size_t i = 0; i < n_; ++i) {
      std::int64_t row = 0;
      for (std::size_t j = 0; j < n_; ++j) {
        const float value = c[i * n_ + j];
        const bool whole =
            value >= 0 && value <= 225.0f * static_cast<float>(n_) && value == std::floor(value);
        const auto number = whole ? static_cast<std::int64_t>(value) : -1;
        if (!whole || (!product_.empty() && number != product_[i * n_ + j])) {
          return {false, "row " + std::to_string(i) + ", column " + std::to_string(j) + " is " +
                             std::to_string(value)};
        }
        row += number * r_[j];
      }
      if (row != c_times_r_[i]) return {false, "row " + std::to_string(i) + " is not the host's"};
    }
    return {true, product_.empty() ? "C times a random vector agrees with the host's"
                                   : "every element of C agrees with the host's"};
  }
  // end check-product
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = s.n * s.n * sizeof(float), .written = s.n * s.n * sizeof(float)};
  }

 private:
  void make_reference() {
    host_a_.resize(n_ * n_);
    r_.resize(n_);
    for (std::size_t e = 0; e < host_a_.size(); ++e) {
      host_a_[e] = static_cast<float>(book::input_value(seed_, e) % 16);
    }
    for (std::size_t j = 0; j < n_; ++j) r_[j] = book::input_value(seed_ + 1, j);
    const auto a = [this](std::size_t i, std::size_t k) {
      return static_cast<std::int64_t>(host_a_[i * n_ + k]);
    };
    std::vector<std::int64_t> at_times_r(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      for (std::size_t k = 0; k < n_; ++k) at_times_r[k] += a(j, k) * r_[j];
    }
    c_times_r_.assign(n_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < n_; ++k) c_times_r_[i] += a(i, k) * at_times_r[k];
    }
    product_.clear();
    if (n_ > 512) return;
    product_.resize(n_ * n_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        for (std::size_t k = 0; k < n_; ++k) product_[i * n_ + j] += a(i, k) * a(j, k);
      }
    }
  }

  book::Buffer<float> a_, c_;
  std::vector<float> host_a_;
  std::vector<std::int64_t> r_, c_times_r_, product_;
  std::size_t n_ = 0;
  std::uint64_t seed_ = 0;
};

/// How many threads walk.
book::Sizes walkers() {
  return {.usual = {std::size_t{1} << 22},
          .usual_embedded = std::size_t{1} << 14,
          .most = std::size_t{1} << 30,
          .most_embedded = std::size_t{1} << 14,
          .counted = {std::size_t{1} << 14}};
}

/// How many rows A has. 225 · n stays below 2^24.
book::Sizes rows(std::vector<std::size_t> usual) {
  return {.usual = std::move(usual),
          .usual_embedded = 256,
          .most = 16384,
          .most_embedded = 512,
          .counted = {2048, 256}};
}

// begin run-walk
book::Variant<Strides> stride(unsigned words) {
  return {
      .name = "stride" + std::to_string(words),
      .region = "stride-walk",
      .kernel = book::kernel(chapter04::stride_walk),
      .params = {{"stride", words}},
      .sizes = walkers(),
      .launch =
          [words](const Strides::Launch& l) {
            chapter04::stride_walk<<<l.grid, l.block>>>(l.out, l.n, words);
          },
  };
}
// end run-walk

template <class T>
book::Variant<Widths> width(const std::string& name, chapter04::Sharing sharing) {
  return {
      .name = name + std::to_string(sizeof(T)),
      .region = "width-walk",
      .kernel = book::kernel(chapter04::width_walk<T>),
      .params = {{"width", static_cast<std::int64_t>(sizeof(T))}},
      .sizes = walkers(),
      .launch =
          [sharing](const Widths::Launch& l) {
            chapter04::width_walk<T><<<l.grid, l.block>>>(l.out, l.n, sharing);
          },
  };
}

using ProductKernel = void (*)(const float*, float*, unsigned);

book::Variant<Product> product(std::string name, std::string region, ProductKernel kernel,
                               std::vector<std::size_t> sizes) {
  return {
      .name = std::move(name),
      .region = std::move(region),
      .kernel = book::kernel(kernel),
      .blocks = book::any_block(1024, 1024),
      .grid = [](std::size_t n, unsigned) { return Product::across(n) * Product::across(n); },
      .sizes = rows(std::move(sizes)),
      .launch = [kernel](const Product::Launch& l) { kernel<<<l.grid, l.block>>>(l.a, l.c, l.n); },
  };
}

}  // namespace

int main(int argc, char** argv) {
  using book::Sum;
  using chapter04::Sharing;
  book::Chapter chapter{"chapter04_bank_conflicts", "Shared memory has 32 banks",
                        "the page's figure of time against stride, and the table of tiles"};

  chapter.add<Sum>({
      .name = "strided",
      .from = "chapter03_divergence",
      .region = "strided-index",
      .kernel = book::kernel(chapter03::strided),
      .launch =
          [](const Sum::Launch& l) {
            chapter03::strided<<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  });
  chapter.add<Sum>({
      .name = "strided_padded",
      .region = "strided-padded",
      .kernel = book::kernel(chapter04::strided_padded),
      .launch =
          [](const Sum::Launch& l) {
            chapter04::strided_padded<<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  });
  chapter.add<Sum>({
      .name = "smem",
      .from = "chapter02_smem",
      .region = "smem-loop",
      .kernel = book::kernel(chapter02::smem),
      .launch =
          [](const Sum::Launch& l) { chapter02::smem<<<l.grid, l.block>>>(l.in, l.partial, l.n); },
  });

  for (unsigned words = 1; words <= 33; ++words) chapter.add<Strides>(stride(words));

  chapter.add<Widths>(width<unsigned char>("width", Sharing::kNone));
  chapter.add<Widths>(width<unsigned short>("width", Sharing::kNone));
  chapter.add<Widths>(width<unsigned>("width", Sharing::kNone));
  chapter.add<Widths>(width<uint2>("width", Sharing::kNone));
  chapter.add<Widths>(width<uint4>("width", Sharing::kNone));
  for (const auto& [name, sharing] : {std::pair{"pairs", Sharing::kPairs},
                                      {"twos", Sharing::kTwos},
                                      {"halves", Sharing::kHalves},
                                      {"all", Sharing::kAll}}) {
    chapter.add<Widths>(width<unsigned>(name, sharing));
    chapter.add<Widths>(width<uint2>(name, sharing));
    chapter.add<Widths>(width<uint4>(name, sharing));
  }

  using namespace chapter04;
  using Volatile = volatile float;
  const std::vector<std::size_t> both{2048, 4096};
  const auto add_product = [&chapter, &both](std::string name, ProductKernel kernel) {
    chapter.add<Product>(product(std::move(name), "tile-product", kernel, both));
  };
  add_product("tile", chapter04::product<Plain>);
  add_product("tile_padded", chapter04::product<Padded>);
  add_product("tile_padded4", chapter04::product<PaddedBy4>);
  add_product("tile_swizzled", chapter04::product<Swizzled>);
  chapter.add<Product>(product("tile_swizzled4", "tile-vectors", product_by_4<SwizzledBy4>, both));
  // Slow, and of interest for its counts.
  chapter.add<Product>(
      product("tile_as_written", "tile-product", chapter04::product<Plain, Volatile>, {2048}));
  chapter.add<Product>(product("tile_padded_as_written", "tile-product",
                               chapter04::product<Padded, Volatile>, {2048}));

  // begin run-tile-misaligned
  book::Variant<Product> misaligned =  // fault: rows of 33 words, and loads of four of them
      product("tile_misaligned", "tile-vectors", product_by_4<Padded>, {2048});
  // end run-tile-misaligned
  misaligned.legacy = true;
  misaligned.findings = {"memcheck"};
  chapter.add<Product>(std::move(misaligned));

  return chapter.run(argc, argv);
}
