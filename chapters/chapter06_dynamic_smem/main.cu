#include "book/input.hpp"
#include "book/reference.hpp"
#include "book/sum.hpp"
#include "kernels.cuh"
#include "legacy.cuh"

namespace {

using Launch = book::Sum::Launch;

constexpr std::size_t kKiB = 1024;

std::size_t ints(unsigned block) {
  return block * sizeof(int);  // bytes: the launch does not know what the kernel keeps there
}

// begin allow-shared
/// Lets a kernel be launched with so many bytes of dynamic shared memory. Up to 48 KiB it may
/// without asking.
template <class... Args>
void allow(void (*kernel)(Args...), std::size_t bytes) {
  BOOK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)));
}
// end allow-shared

// begin run-ask
/// dynamic_unroll<4> with far more shared memory than it needs, so that fewer blocks fit an SM.
book::Variant<book::Sum> ask(unsigned kib) {
  return {
      .name = "ask" + std::to_string(kib) + "k",
      .region = "dynamic-unroll",
      .kernel = book::kernel(chapter06::dynamic_unroll<4>),
      .factor = 4,
      .shared_bytes = [kib](unsigned) { return kib * kKiB; },
      .params = {{"shared_kib", kib}},
      .launch =
          [](const Launch& l) {
            allow(chapter06::dynamic_unroll<4>, l.shared_bytes);
            chapter06::dynamic_unroll<4><<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
          },
  };
}
// end run-ask

/// typed_sum<T> as a variant.
template <class T>
book::Variant<book::Sum> typed(std::string name) {
  return {
      .name = std::move(name),
      .region = "typed-sum",
      .kernel = book::kernel(chapter06::typed_sum<T>),
      .shared_bytes = [](unsigned block) { return block * sizeof(T); },
      .launch =
          [](const Launch& l) {
            chapter06::typed_sum<T><<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
          },
  };
}

/// The sum and the sum of squares of n integers, one pair a block.
class Moments : public book::Problem {
 public:
  struct Launch {
    const int* in;
    int* sums;
    long long* squares;
    std::size_t n;
    unsigned grid, block;
    std::size_t shared_bytes;
  };
  Launch launch(const book::Shape& s) const {
    return {in_.data(), sums_.data(), squares_.data(), s.n, s.grid, s.block, s.shared_bytes};
  }

  std::size_t device_bytes(const book::Shape& s) const override {
    return s.n * sizeof(int) + s.grid * (sizeof(int) + sizeof(long long));
  }
  void accept(const book::Shape&) const override {}  // a block's 1024 elements fit in any case
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    release();
    in_ = book::Buffer<int>(s.n);
    sums_ = book::Buffer<int>(s.grid);
    squares_ = book::Buffer<long long>(s.grid);
    book::fill_input(in_.data(), s.n, seed, fill);
    expected_sum_ = book::sum_of_input(s.n, seed);
    if (s.n == n_ && seed == seed_) return;
    n_ = s.n;
    seed_ = seed;
    expected_squares_ = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const long long value = book::input_value(seed, i);
      expected_squares_ += value * value;
    }
  }
  void release() override {
    in_ = {};
    sums_ = {};
    squares_ = {};
  }
  void restore() override {}
  void poison() override {
    sums_.copy_from(std::vector<int>(sums_.size(), book::kPoison));
    squares_.copy_from(std::vector<long long>(squares_.size(), -1));
  }
  book::Verdict check() override {
    book::Verdict sums = book::compare_sums(sums_.to_host(sums_.size()), expected_sum_);
    if (!sums.agrees) return sums;
    long long found = 0;
    for (const long long square : squares_.to_host(squares_.size())) {
      if (square < 0) return {false, "a block left no sum of squares"};
      found += square;
    }
    return {found == expected_squares_, "sum of squares " + std::to_string(found) +
                                            ", the host's " + std::to_string(expected_squares_)};
  }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = s.n * sizeof(int), .written = s.grid * (sizeof(int) + sizeof(long long))};
  }

 private:
  book::Buffer<int> in_, sums_;
  book::Buffer<long long> squares_;
  std::size_t n_ = 0;
  std::uint64_t seed_ = 0;
  std::int64_t expected_sum_ = 0;
  long long expected_squares_ = 0;
};

/// How much shared memory a block is given, and what is said where it asks for more.
class Limits : public book::Problem {
 public:
  struct Launch {
    int* out;
    unsigned block;
    std::size_t bytes;
  };
  Launch launch(const book::Shape& s) const { return {out_.data(), s.block, most_}; }

  std::size_t device_bytes(const book::Shape&) const override { return sizeof(int); }
  void accept(const book::Shape&) const override {}
  // begin run-limits
  void prepare(const book::Shape& s, std::uint64_t, book::Fill) override {
    if (out_.size() == 0) out_ = book::Buffer<int>(1);
    plain_ = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    most_ = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);

    allow(chapter06::both_ends, plain_);  // as it is for a kernel that never asked
    past_plain_ = launched(s.block, plain_ + 1);
    asked_past_most_ =
        cudaFuncSetAttribute(chapter06::both_ends, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(most_ + 1));
    allow(chapter06::both_ends, most_);
    past_most_ = launched(s.block, most_ + 1);
    static_cast<void>(cudaGetLastError());  // the refusals are noted, and done with
  }
  // end run-limits
  void restore() override {}
  void poison() override { out_.copy_from(std::vector<int>{book::kPoison}); }
  book::Verdict check() override {
    const bool whole = out_.to_host(1)[0] == static_cast<int>(most_ / sizeof(int));
    const auto refused = cudaErrorInvalidValue;
    return {whole && past_plain_ == refused && asked_past_most_ == refused && past_most_ == refused,
            "shared memory, bytes a block:" +
                line("launched with ", plain_ + 1, ", nothing asked for: ", past_plain_) +
                line("asked for ", most_ + 1, ": ", asked_past_most_) +
                line("launched with ", most_ + 1, ", the most asked for: ", past_most_) +
                line("launched with ", most_, ", the most asked for: ", cudaSuccess) +
                (whole ? "" : ", and its ends did not hold what was written")};
  }
  book::UsefulBytes useful_bytes(const book::Shape&) const override { return {}; }

 private:
  static std::size_t attribute(cudaDeviceAttr which) {
    int device = 0;
    int value = 0;
    BOOK_CUDA(cudaGetDevice(&device));
    BOOK_CUDA(cudaDeviceGetAttribute(&value, which, device));
    return static_cast<std::size_t>(value);
  }
  cudaError_t launched(unsigned block, std::size_t bytes) const {
    chapter06::both_ends<<<1, block, bytes>>>(out_.data(), 2);
    return cudaGetLastError();
  }
  static std::string line(const char* what, std::size_t bytes, const char* how, cudaError_t said) {
    return std::string("\n  ") + what + std::to_string(bytes) + how + cudaGetErrorName(said) +
           " (" + std::to_string(said) + ")";
  }

  book::Buffer<int> out_;
  std::size_t plain_ = 0, most_ = 0;
  cudaError_t past_plain_ = cudaSuccess, asked_past_most_ = cudaSuccess, past_most_ = cudaSuccess;
};

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter06_dynamic_smem", "Shared memory of a size given at launch",
                        "the page's figure of shared bytes, occupancy and time"};

  chapter.add<book::Sum>({
      .name = "smem",
      .from = "chapter02_smem",
      .region = "smem-loop",
      .kernel = book::kernel(chapter02::smem),
      .launch = [](const Launch& l) { chapter02::smem<<<l.grid, l.block>>>(l.in, l.partial, l.n); },
  });
  // begin run-dynamic-smem
  chapter.add<book::Sum>({
      .name = "dynamic_smem",
      .region = "dynamic-smem",
      .kernel = book::kernel(chapter06::dynamic_smem),
      .shared_bytes = ints,
      .launch =
          [](const Launch& l) {
            chapter06::dynamic_smem<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
          },
  });
  // end run-dynamic-smem
  chapter.add<book::Sum>({
      .name = "unroll4",
      .from = "chapter05_unroll4",
      .region = "unroll-factor",
      .kernel = book::kernel(chapter05::unroll<4>),
      .factor = 4,
      .launch =
          [](const Launch& l) { chapter05::unroll<4><<<l.grid, l.block>>>(l.in, l.partial, l.n); },
  });
  chapter.add<book::Sum>({
      .name = "dynamic_unroll4",
      .region = "dynamic-unroll",
      .kernel = book::kernel(chapter06::dynamic_unroll<4>),
      .factor = 4,
      .shared_bytes = ints,
      .launch =
          [](const Launch& l) {
            chapter06::dynamic_unroll<4><<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
          },
  });
  for (const unsigned kib : {32u, 48u, 64u, 96u, 227u}) chapter.add<book::Sum>(ask(kib));
  chapter.add<book::Sum>(typed<int>("typed_int"));
  chapter.add<book::Sum>(typed<long long>("typed_long"));
  chapter.add<Moments>({
      .name = "moments",
      .region = "two-arrays",
      .kernel = book::kernel(chapter06::moments),
      .shared_bytes = chapter06::moments_bytes,
      .launch =
          [](const Moments::Launch& l) {
            chapter06::moments<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.sums, l.squares, l.n);
          },
  });
  chapter.add<Limits>({
      .name = "limits",
      .region = "both-ends",
      .grid = [](std::size_t, unsigned) { return 1u; },
      .findings = {"memcheck"},  // which reports every call that is refused
      .launch =
          [](const Limits::Launch& l) {
            chapter06::both_ends<<<1, l.block, l.bytes>>>(
                l.out, static_cast<unsigned>(l.bytes / sizeof(int)));
          },
  });
  // begin run-too-few-bytes
  chapter.add<book::Sum>({
      .name = "too_few_bytes",
      .region = "dynamic-smem",
      .kernel = book::kernel(chapter06::dynamic_smem),
      .shared_bytes = [](unsigned block) -> std::size_t { return block; },  // fault: elements
      .legacy = true,
      .findings = {"memcheck"},
      .launch =
          [](const Launch& l) {
            chapter06::dynamic_smem<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, l.n);
          },
  });
  // end run-too-few-bytes
  chapter.add<Moments>({
      .name = "ints_first",
      .region = "ints-first",
      .kernel = book::kernel(chapter06::legacy::ints_first),
      .blocks = book::any_block(255, 255),  // an even one hides the fault
      .shared_bytes = chapter06::moments_bytes,
      .legacy = true,
      .findings = {"memcheck"},
      .launch =
          [](const Moments::Launch& l) {
            chapter06::legacy::ints_first<<<l.grid, l.block, l.shared_bytes>>>(l.in, l.sums,
                                                                               l.squares, l.n);
          },
  });

  return chapter.run(argc, argv);
}
