#include "../chapter02_smem/kernels.cuh"
#include "../chapter05_unroll4/kernels.cuh"
#include "book/sum.hpp"
#include "debug.hpp"
#include "kernels.cuh"

namespace {

using book::Cache;
using book::Clock;

/// A launch of nothing. There is no result to compare: that the launch ended without an error,
/// which the driver asks anyway, is all that can be right about it.
class Nothing : public book::Problem {
 public:
  struct Launch {
    unsigned grid, block;
  };
  Launch launch(const book::Shape& shape) const { return {shape.grid, shape.block}; }
  std::size_t device_bytes(const book::Shape&) const override { return 0; }
  void accept(const book::Shape&) const override {}
  void prepare(const book::Shape&, std::uint64_t, book::Fill) override {}
  void restore() override {}
  void poison() override {}
  book::Verdict check() override { return {true, "an empty kernel computes nothing"}; }
  book::UsefulBytes useful_bytes(const book::Shape&) const override { return {}; }
};

/// The element after `at` in a ring that visits all of 0…n-1 in a scattered order.
///
/// A linear congruential generator modulo the next power of two m has full period when its
/// increment is odd and its multiplier is 1 modulo 4 (Hull and Dobell, SIAM Review 4, 1962);
/// leaving out what is not below n leaves one ring through the rest.
__host__ __device__ unsigned successor(unsigned at, unsigned n, unsigned m) {
  do {
    at = (at * 1664525u + 1013904223u) & (m - 1);
  } while (at >= n);
  return at;
}

__global__ void link_ring(unsigned* next, unsigned n, unsigned m) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    next[i] = successor(i, n, m);
  }
}

/// A ring of n elements, of which a chase visits kHops one after the other.
class Ring : public book::Problem {
 public:
  static constexpr unsigned kHops = 4096;
  struct Launch {
    const unsigned* next;
    unsigned* last;
  };
  Launch launch(const book::Shape&) const { return {next_.data(), last_.data()}; }

  std::size_t device_bytes(const book::Shape& shape) const override {
    return (shape.n + 1) * sizeof(unsigned);
  }
  void accept(const book::Shape& shape) const override {
    if (shape.n > (std::size_t{1} << 31)) {
      throw book::bad_argument("a ring has at most 2^31 elements, so that 32 bits can number them");
    }
  }
  void prepare(const book::Shape& shape, std::uint64_t, book::Fill fill) override {
    if (last_.size() == 0) last_ = book::Buffer<unsigned>(1);
    if (shape.n == n_) return;
    n_ = static_cast<unsigned>(shape.n);
    m_ = 1;
    while (m_ < n_) m_ *= 2;
    next_ = {};
    next_ = book::Buffer<unsigned>(n_);
    if (fill == book::Fill::kKernel) {
      link_ring<<<1024, 256>>>(next_.data(), n_, m_);
      BOOK_CUDA(cudaGetLastError());
    } else {
      std::vector<unsigned> next(n_);
      for (unsigned i = 0; i < n_; ++i) next[i] = successor(i, n_, m_);
      next_.copy_from(next);
    }
  }
  void restore() override {}
  void poison() override { last_.copy_from(std::vector<unsigned>{~0u}); }
  book::Verdict check() override {
    unsigned expected = 0;
    for (unsigned hop = 0; hop < kHops; ++hop) expected = successor(expected, n_, m_);
    const unsigned found = last_.to_host(1)[0];
    return {found == expected, "the chase ended at element " + std::to_string(found) +
                                   ", the host's at " + std::to_string(expected)};
  }
  book::UsefulBytes useful_bytes(const book::Shape&) const override {
    return {.read = kHops * sizeof(unsigned), .written = sizeof(unsigned)};
  }

 private:
  book::Buffer<unsigned> next_, last_;
  unsigned n_ = 0, m_ = 1;
};

/// One way to measure chapter02's smem.
book::Variant<book::Sum> smem(std::string name, book::Timing timing) {
  return {
      .name = std::move(name),
      .from = "chapter02_smem",
      .region = "smem-loop",
      .kernel = book::kernel(chapter02::smem),
      .params = {{"cache", std::string(book::to_string(timing.cache))}},
      .timing = timing,
      .fixed_cache = true,
      .launch =
          [](const book::Sum::Launch& l) {
            chapter02::smem<<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  };
}

/// One way to measure chapter05's unroll<8>, a kernel near the roof.
book::Variant<book::Sum> fast(std::string name, book::Timing timing) {
  return {
      .name = std::move(name),
      .from = "chapter05_unroll4",
      .region = "unroll-factor",
      .kernel = book::kernel(chapter05::unroll<8>),
      .factor = 8,
      .params = {{"cache", std::string(book::to_string(timing.cache))}},
      .timing = timing,
      .fixed_cache = true,
      .launch =
          [](const book::Sum::Launch& l) {
            chapter05::unroll<8><<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  };
}

/// A chase through the ring with the cache as given.
book::Variant<Ring> chase(std::string name, Cache cache) {
  return {
      .name = std::move(name),
      .region = "pointer-chase",
      .kernel = book::kernel(chapter00::chase),
      .blocks = book::any_block(1, 1),
      .grid = [](std::size_t, unsigned) { return 1u; },
      .params = {{"hops", Ring::kHops}, {"cache", std::string(book::to_string(cache))}},
      .timing = {.cache = cache},
      .fixed_cache = true,
      .launch =
          [](const Ring::Launch& l) { chapter00::chase<<<1, 1>>>(l.next, l.last, Ring::kHops); },
  };
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter00_timing", "How to measure, and how not to",
                        "chapter01_gmem: the first kernel worth timing"};

  // First of all, or it would not be the first launch.
  chapter.add<book::Sum>(smem("first_launch", {.clock = Clock::kHost, .first_launch = true}));
  chapter.add<book::Sum>(smem("host_clock", {.clock = Clock::kHost}));
  book::Variant<book::Sum> debug = smem("debug_build", {});
  debug.kernel = debug_smem;
  debug.launch = launch_debug_smem;
  chapter.add<book::Sum>(std::move(debug));
  chapter.add<book::Sum>(smem("after_write", {.cache = Cache::kDirty}));
  chapter.add<book::Sum>(smem("after_read", {.cache = Cache::kCold}));
  chapter.add<book::Sum>(smem("warm", {.cache = Cache::kWarm}));
  chapter.add<book::Sum>(fast("fast_after_write", {.cache = Cache::kDirty}));
  chapter.add<book::Sum>(fast("fast_after_read", {.cache = Cache::kCold}));
  chapter.add<book::Sum>(fast("fast_warm", {.cache = Cache::kWarm}));
  book::Variant<Nothing> empty{
      .name = "empty_launch",
      .region = "empty-kernel",
      .kernel = book::kernel(chapter00::empty),
      .grid = [](std::size_t, unsigned) { return 1u; },
      .launch = [](const Nothing::Launch& l) { chapter00::empty<<<l.grid, l.block>>>(); },
  };
  chapter.add<Nothing>(empty);
  empty.name = "empty_blocks";  // as many blocks as a kernel with one element a thread has
  empty.grid = [](std::size_t n, unsigned block) { return book::grid_for(n, block); };
  chapter.add<Nothing>(empty);
  chapter.add<Ring>(chase("pointer_chase", Cache::kCold));
  chapter.add<Ring>(chase("pointer_chase_l2", Cache::kWarm));

  return chapter.run(argc, argv);
}
