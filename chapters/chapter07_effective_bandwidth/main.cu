#include <algorithm>

#include "book/cub_sum.hpp"
#include "book/input.hpp"
#include "book/reference.hpp"
#include "book/sum.hpp"
#include "book/whole_sum.hpp"
#include "kernels.cuh"
#include "legacy.cuh"

namespace {

using book::Cache;
using Sum = book::Sum;
using WholeSum = book::WholeSum<long long>;
using Rung = void (*)(const int*, int*, std::size_t);

/// The instance of a kernel template for a block size; null where there is none.
template <template <unsigned> class Kernel>
Rung instance(unsigned block) {
  switch (block) {
    case 1: return Kernel<1>::get();
    case 2: return Kernel<2>::get();
    case 4: return Kernel<4>::get();
    case 8: return Kernel<8>::get();
    case 16: return Kernel<16>::get();
    case 32: return Kernel<32>::get();
    case 64: return Kernel<64>::get();
    case 128: return Kernel<128>::get();
    case 256: return Kernel<256>::get();
    case 512: return Kernel<512>::get();
    case 1024: return Kernel<1024>::get();
    default: return nullptr;
  }
}
template <unsigned Block>
struct Complete {
  static Rung get() { return chapter05::complete<Block>; }
};
template <unsigned Block>
struct Many {
  static Rung get() { return chapter07::many<Block>; }
};

int sm_count() {
  int device = 0;
  int count = 0;
  BOOK_CUDA(cudaGetDevice(&device));
  BOOK_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

// begin run-many
/// A grid for `many`: no more blocks than have something to do, and no fewer than keep a block's
/// sum within an int.
unsigned grid_of_many(std::size_t n, unsigned block, std::size_t wanted) {
  const unsigned most = book::grid_for(n, block, 2);
  const unsigned least = book::grid_for(n, 1, Sum::kMaxElementsPerBlock);
  return std::max(static_cast<unsigned>(std::min<std::size_t>(wanted, most)), least);
}
unsigned as_many_as_fit(std::size_t n, unsigned block) {
  return grid_of_many(n, block, book::resident_grid(n, block));
}
// end run-many

/// One of the seven methods: where it is taught, what it launches.
struct Method {
  std::string number;
  std::string from;
  std::string region;
  std::function<Rung(unsigned block)> kernel;
  std::size_t factor;  ///< elements a thread; 0 for as many as it takes
  book::Blocks blocks;

  unsigned grid(std::size_t n, unsigned block) const {
    return factor > 0 ? book::grid_for(n, block, factor) : as_many_as_fit(n, block);
  }
};

std::vector<Method> seven_methods() {
  const auto one = [](Rung kernel) { return [kernel](unsigned) { return kernel; }; };
  const book::Blocks any = book::any_block();
  const book::Blocks powers = book::powers_of_two();
  return {
      {"1", "chapter03_divergence", "interleaved-modulo", one(chapter03::interleaved), 1, any},
      {"2", "chapter03_divergence", "strided-index", one(chapter03::strided), 1, any},
      {"3", "chapter02_smem", "smem-loop", one(chapter02::smem), 1, any},
      {"4", "chapter05_unroll4", "first-add", one(chapter05::first_add), 2, any},
      {"5", "chapter05_unroll4", "last-warp-sync", one(chapter05::last_warp_sync), 4, powers},
      {"6", "chapter05_unroll4", "complete-unroll", instance<Complete>, 4, powers},
      {"7", "", "many-elements", instance<Many>, 0, powers},
  };
}

/// The method's kernel alone, as every chapter before has timed it: one partial sum a block.
book::Variant<Sum> partial(const Method& m) {
  return {
      .name = "reduce" + m.number,
      .from = m.from,
      .region = m.region,
      .kernel = [m](unsigned block) { return reinterpret_cast<const void*>(m.kernel(block)); },
      .blocks = m.blocks,
      .grid = [m](std::size_t n, unsigned block) { return m.grid(n, block); },
      .launch =
          [m](const Sum::Launch& l) {
            m.kernel(l.block)<<<l.grid, l.block>>>(l.in, l.partial, l.n);
          },
  };
}

// begin run-finish
/// The method's kernel and then, whichever it is, the same kernel for the rest.
book::Variant<WholeSum> finished(const Method& m) {
  return {
      .name = "sum" + m.number,
      .from = m.from,
      .region = m.region,
      .blocks = m.blocks,
      .grid = [m](std::size_t n, unsigned block) { return m.grid(n, block); },
      .profiled = m.number == "7",  // the others' kernels are looked at as reduce1 to reduce6
      .launch =
          [m](const WholeSum::Launch& l) {
            m.kernel(l.block)<<<l.grid, l.block>>>(l.in, l.rung, l.n);
            const unsigned blocks =
                std::min(book::grid_for(l.grid, 512, 8), book::resident_grid(l.grid, 512));
            chapter07::finish<<<blocks, 512>>>(l.rung, l.grid, l.out, l.word, l.ticket);
          },
  };
}
// end run-finish

/// reduce7 on so many blocks, or with the cache in such a state.
book::Variant<Sum> seventh(std::string name) {
  book::Variant<Sum> v = partial(seven_methods().back());
  v.name = std::move(name);
  v.profiled = false;
  return v;
}

// begin run-grids
book::Variant<Sum> on_blocks_an_sm(unsigned blocks) {
  book::Variant<Sum> v = seventh("grid" + std::to_string(blocks));
  v.params = {{"blocks_an_sm", blocks}};
  v.grid = [blocks](std::size_t n, unsigned block) {
    return grid_of_many(n, block, static_cast<std::size_t>(blocks) * sm_count());
  };
  v.sized = false;
  return v;
}

/// As the classic program launched it: a block for every `block` elements, so that half of the
/// blocks find two elements a thread, and the other half none.
book::Variant<Sum> one_element_a_thread() {
  book::Variant<Sum> v = seventh("reduce7_one_each");
  v.grid = [](std::size_t n, unsigned block) { return book::grid_for(n, block); };
  return v;
}
// end run-grids

book::Variant<Sum> with_cache(std::string name, Cache cache) {
  book::Variant<Sum> v = seventh(std::move(name));
  v.params = {{"cache", std::string(book::to_string(cache))}};
  v.timing = {.cache = cache};
  v.fixed_cache = true;
  return v;
}

/// The memory's roofs, for numbers of 8 bytes as in BabelStream: x and, for the triad, y in; out.
enum class Roof { kRead, kCopy, kTriad };

/// Small whole numbers, so that every result is exact.
constexpr double kScale = 3;

template <Roof roof>
__host__ __device__ double result_at(std::uint64_t seed, std::size_t i) {
  const double x = book::input_value(seed, i);
  return roof == Roof::kTriad ? x + kScale * book::input_value(seed + 1, i) : x;
}

__global__ void fill_doubles(double* data, std::size_t n, std::uint64_t seed) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    data[i] = book::input_value(seed, i);
  }
}

template <Roof roof>
__global__ void count_wrong(const double* out, std::size_t n, std::uint64_t seed,
                            unsigned long long* wrong) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    if (out[i] != result_at<roof>(seed, i)) atomicAdd(wrong, 1ull);
  }
}

template <Roof roof>
class Stream : public book::Problem {
 public:
  struct Launch {
    const double *x, *y;
    double* out;
    std::size_t n;
    unsigned grid, block;
  };
  Launch launch(const book::Shape& s) const {
    return {x_.data(), y_.data(), out_.data(), s.n, s.grid, s.block};
  }

  std::size_t device_bytes(const book::Shape& s) const override {
    return ((roof == Roof::kTriad ? 2 : 1) * s.n + outputs(s)) * sizeof(double);
  }
  void accept(const book::Shape&) const override {}
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    const bool same_input = filled_ && s.n == shape_.n && seed == seed_;
    shape_ = s;
    seed_ = seed;
    fill_ = fill;
    out_.grow(outputs(s));
    if (same_input) return;
    x_ = {};
    y_ = {};
    x_ = book::Buffer<double>(s.n);
    if (roof == Roof::kTriad) y_ = book::Buffer<double>(s.n);
    restore();
    filled_ = true;
  }
  void release() override {
    x_ = {};
    y_ = {};
    out_ = {};
    filled_ = false;
  }
  void restore() override {
    fill(x_, seed_);
    fill(y_, seed_ + 1);
  }
  void poison() override { BOOK_CUDA(cudaMemset(out_.data(), 0xff, out_.bytes())); }  // NaN
  book::Verdict check() override {
    if (roof == Roof::kRead) {
      double sum = 0;
      for (const double each : out_.to_host(outputs(shape_))) sum += each;
      const auto expected = static_cast<double>(book::sum_of_input(shape_.n, seed_));
      return {sum == expected, "read: sum " + std::to_string(static_cast<long long>(sum)) +
                                   ", the host's " +
                                   std::to_string(static_cast<long long>(expected))};
    }
    const std::size_t wrong = fill_ == book::Fill::kKernel ? wrong_on_device() : wrong_on_host();
    const std::string name = roof == Roof::kCopy ? "copy: " : "triad: ";
    return {wrong == 0, name + (wrong == 0 ? "every element as expected"
                                           : std::to_string(wrong) + " elements are wrong")};
  }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return {.read = (roof == Roof::kTriad ? 2 : 1) * s.n * sizeof(double),
            .written = outputs(s) * sizeof(double)};
  }

 private:
  static std::size_t outputs(const book::Shape& s) {
    return roof == Roof::kRead ? std::size_t{s.grid} * (s.block / 32) : s.n;
  }
  void fill(book::Buffer<double>& data, std::uint64_t seed) const {
    if (data.size() == 0) return;
    if (fill_ == book::Fill::kKernel) {
      fill_doubles<<<1024, 256>>>(data.data(), data.size(), seed);
      BOOK_CUDA(cudaGetLastError());
      return;
    }
    std::vector<double> values(data.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = book::input_value(seed, i);
    data.copy_from(values);
  }
  std::size_t wrong_on_device() const {
    book::Buffer<unsigned long long> wrong(1);
    wrong.copy_from(std::vector<unsigned long long>{0});
    count_wrong<roof><<<1024, 256>>>(out_.data(), shape_.n, seed_, wrong.data());
    BOOK_CUDA(cudaGetLastError());
    return wrong.to_host(1)[0];
  }
  std::size_t wrong_on_host() const {
    const std::vector<double> out = out_.to_host(shape_.n);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < out.size(); ++i) wrong += out[i] != result_at<roof>(seed_, i);
    return wrong;
  }

  book::Buffer<double> x_, y_, out_;
  book::Shape shape_;
  std::uint64_t seed_ = 0;
  book::Fill fill_ = book::Fill::kKernel;
  bool filled_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  // 128 threads a block, as Harris had; sizes from the first of the classic nine.
  book::Chapter chapter{"chapter07_effective_bandwidth",
                        "How close to what the memory can give",
                        "--sweep n: the nine sizes, and the L2 step",
                        {.block = 128, .first_n = std::size_t{1} << 17}};

  for (const Method& m : seven_methods()) chapter.add<Sum>(partial(m));
  for (const Method& m : seven_methods()) chapter.add<WholeSum>(finished(m));
  // begin run-cub
  chapter.add<WholeSum>({
      .name = "sum_cub",
      .region = "run-cub",
      .grid = [](std::size_t, unsigned) { return 0u; },  // CUB's own business, as is the block
      .launch =
          [](const WholeSum::Launch& l) {
            book::cub_sum(l.storage, l.storage_bytes, l.in, l.out, l.n);
          },
  });
  // end run-cub
  for (const unsigned blocks : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u}) {
    chapter.add<Sum>(on_blocks_an_sm(blocks));
  }
  chapter.add<Sum>(one_element_a_thread());
  chapter.add<Sum>(with_cache("reduce7_warm", Cache::kWarm));
  chapter.add<Sum>(with_cache("reduce7_after_write", Cache::kDirty));

  // Smaller blocks could not be started fast enough to keep the memory busy.
  const book::Blocks roof_blocks = book::powers_of_two(256);
  chapter.add<Stream<Roof::kRead>>({
      .name = "read",
      .region = "roof-read",
      .kernel = book::kernel(chapter07::read),
      .blocks = roof_blocks,
      .factor = 8,
      .shaped = false,
      .launch =
          [](const Stream<Roof::kRead>::Launch& l) {
            chapter07::read<<<l.grid, l.block>>>(l.x, l.out, l.n);
          },
  });
  chapter.add<Stream<Roof::kCopy>>({
      .name = "copy",
      .region = "roof-copy",
      .kernel = book::kernel(chapter07::copy),
      .blocks = roof_blocks,
      .shaped = false,
      .launch =
          [](const Stream<Roof::kCopy>::Launch& l) {
            chapter07::copy<<<l.grid, l.block>>>(l.x, l.out, l.n);
          },
  });
  chapter.add<Stream<Roof::kTriad>>({
      .name = "triad",
      .region = "roof-triad",
      .kernel = book::kernel(chapter07::triad),
      .blocks = roof_blocks,
      .shaped = false,
      .launch =
          [](const Stream<Roof::kTriad>::Launch& l) {
            chapter07::triad<<<l.grid, l.block>>>(l.x, l.y, l.out, l.n, kScale);
          },
  });

  // The seventh with 128 in the template, whatever the block: meant for a block of 128.
  chapter.add<Sum>({
      .name = "reduce7_classic",
      .region = "many-classic",
      .kernel = book::kernel(chapter07::legacy::many_classic<128>),
      .blocks = book::powers_of_two(64),
      .shared_bytes = [](unsigned block) { return block * sizeof(int); },
      .legacy = true,
      .findings = {"memcheck", "racecheck"},
      .launch =
          [](const Sum::Launch& l) {
            chapter07::legacy::many_classic<128>
                <<<l.grid, l.block, l.shared_bytes>>>(l.in, l.partial, static_cast<unsigned>(l.n));
          },
  });

  return chapter.run(argc, argv);
}
