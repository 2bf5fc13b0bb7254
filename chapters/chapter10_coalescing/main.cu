#include <string>

#include "book/buffer.hpp"
#include "book/chapter.hpp"
#include "book/input.hpp"
#include "kernels.cuh"
#include "legacy.cuh"

namespace {

using book::Buffer;
using book::Fill;
using book::Shape;

// ---------------------------------------------------------------- filling and checking arrays

/// Sets data[i] to value(i) for all i < n.
template <class Value>
__global__ void fill_kernel(int* data, std::size_t n, Value value) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    data[i] = value(i);
  }
}

/// How many elements are wrong, and the first of them.
struct Wrong {
  unsigned long long count, first;
};

template <class Value>
__global__ void compare_kernel(const int* data, std::size_t n, Value value, Wrong* wrong) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    if (data[i] == value(i)) continue;
    atomicAdd(&wrong->count, 1);
    atomicMin(&wrong->first, static_cast<unsigned long long>(i));
  }
}

constexpr unsigned kGrid = 1024, kBlock = 256;        // of the two above
constexpr std::size_t kPiece = std::size_t{1} << 22;  // ints on the host at a time

/// Ints in device memory that are all functions of their place. Under `--once`, where no kernel
/// but the variant's may run, the host fills and compares.
class Array {
 public:
  void allocate(std::size_t size, Fill fill) {
    fill_ = fill;
    if (data_.size() == size) return;
    data_ = {};  // freed before the other is asked for
    data_ = Buffer<int>(size);
  }
  int* data() const { return data_.data(); }

  template <class Value>
  void fill(Value value) {
    if (fill_ == Fill::kKernel) {
      fill_kernel<<<kGrid, kBlock>>>(data_.data(), data_.size(), value);
      BOOK_CUDA(cudaGetLastError());
      return;
    }
    std::vector<int> piece(std::min(kPiece, data_.size()));
    for (std::size_t first = 0; first < data_.size(); first += kPiece) {
      const std::size_t count = std::min(kPiece, data_.size() - first);
      for (std::size_t i = 0; i < count; ++i) piece[i] = value(first + i);
      BOOK_CUDA(cudaMemcpy(data_.data() + first, piece.data(), count * sizeof(int),
                           cudaMemcpyHostToDevice));
    }
  }

  template <class Value>
  book::Verdict compare(Value value) const {
    const Wrong wrong = fill_ == Fill::kKernel ? compare_there(value) : compare_here(value);
    if (wrong.count == 0) return {true, "every element is where it belongs"};
    int found = 0;
    BOOK_CUDA(cudaMemcpy(&found, data_.data() + wrong.first, sizeof found, cudaMemcpyDeviceToHost));
    return {false, std::to_string(wrong.count) + " of " + std::to_string(data_.size()) +
                       " elements are wrong; the first, " + std::to_string(wrong.first) + ", is " +
                       std::to_string(found) + " and should be " +
                       std::to_string(value(wrong.first))};
  }

 private:
  template <class Value>
  Wrong compare_there(Value value) const {
    Buffer<Wrong> wrong(1);
    wrong.copy_from(std::vector<Wrong>{{0, ~0ull}});
    compare_kernel<<<kGrid, kBlock>>>(data_.data(), data_.size(), value, wrong.data());
    BOOK_CUDA(cudaGetLastError());
    return wrong.to_host(1)[0];
  }
  template <class Value>
  Wrong compare_here(Value value) const {
    Wrong wrong{0, ~0ull};
    std::vector<int> piece(std::min(kPiece, data_.size()));
    for (std::size_t first = 0; first < data_.size(); first += kPiece) {
      const std::size_t count = std::min(kPiece, data_.size() - first);
      BOOK_CUDA(cudaMemcpy(piece.data(), data_.data() + first, count * sizeof(int),
                           cudaMemcpyDeviceToHost));
      for (std::size_t i = 0; i < count; ++i) {
        if (piece[i] != value(first + i) && wrong.count++ == 0) wrong.first = first + i;
      }
    }
    return wrong;
  }

  Buffer<int> data_;
  Fill fill_ = Fill::kKernel;
};

/// What no right output holds.
struct Poison {
  __host__ __device__ int operator()(std::size_t) const { return book::kPoison; }
};

/// The input's value at `scale` times the place, and `shift` more.
struct Input {
  std::uint64_t seed;
  std::size_t scale = 1, shift = 0;
  __host__ __device__ int operator()(std::size_t i) const {
    return book::input_value(seed, i * scale + shift);
  }
};

/// The input's values, a stride apart, and poison between them.
struct Scattered {
  std::uint64_t seed;
  std::size_t stride;
  __host__ __device__ int operator()(std::size_t i) const {
    return i % stride == 0 ? book::input_value(seed, i / stride) : book::kPoison;
  }
};

// ------------------------------------------------------------------------------------- copies

/// An array of n elements of which every Stride-th is taken.
template <unsigned Stride>
struct LoadStride {
  static std::size_t taken(std::size_t n) { return (n + Stride - 1) / Stride; }
  static std::size_t in_size(std::size_t n) { return n; }
  static std::size_t out_size(std::size_t n) { return taken(n); }
  static Input right(std::uint64_t seed) { return {seed, Stride}; }
};

/// An array of n elements, every Stride-th of which is written; the others stay poisoned.
template <unsigned Stride>
struct StoreStride {
  static std::size_t taken(std::size_t n) { return (n + Stride - 1) / Stride; }
  static std::size_t in_size(std::size_t n) { return taken(n); }
  static std::size_t out_size(std::size_t n) { return n; }
  static Scattered right(std::uint64_t seed) { return {seed, Stride}; }
};

/// n elements, of which the first is the input's Offset-th. The input is equally long for every
/// offset, so that the two arrays lie alike and nothing but the offset differs.
template <unsigned Offset>
struct LoadOffset {
  static constexpr unsigned kFurthest = 32;
  static_assert(Offset <= kFurthest);
  static std::size_t taken(std::size_t n) { return n; }
  static std::size_t in_size(std::size_t n) { return n + kFurthest; }
  static std::size_t out_size(std::size_t n) { return n; }
  static Input right(std::uint64_t seed) { return {seed, 1, Offset}; }
};

/// Elements copied as the Pattern says. Useful bytes: 4 read and 4 written for each one taken.
template <class Pattern>
class Copy : public book::Problem {
 public:
  struct Launch {
    const int* in;
    int* out;
    std::size_t n;
    unsigned grid, block;
  };
  Launch launch(const Shape& s) const { return {in_.data(), out_.data(), s.n, s.grid, s.block}; }

  std::size_t device_bytes(const Shape& s) const override {
    return (Pattern::in_size(s.n) + Pattern::out_size(s.n)) * sizeof(int);
  }
  void accept(const Shape&) const override {}
  void prepare(const Shape& s, std::uint64_t seed, Fill fill) override {
    seed_ = seed;
    in_.allocate(Pattern::in_size(s.n), fill);
    out_.allocate(Pattern::out_size(s.n), fill);
    restore();
  }
  void release() override {
    in_ = {};
    out_ = {};
  }
  void restore() override { in_.fill(Input{seed_}); }
  void poison() override { out_.fill(Poison{}); }
  book::Verdict check() override { return out_.compare(Pattern::right(seed_)); }
  book::UsefulBytes useful_bytes(const Shape& s) const override {
    const std::size_t bytes = Pattern::taken(s.n) * sizeof(int);
    return {.read = bytes, .written = bytes};
  }

 private:
  Array in_, out_;
  std::uint64_t seed_ = 0;
};

/// As many blocks as every Stride-th of n elements needs.
template <unsigned Stride>
unsigned every(std::size_t n, unsigned block) {
  return book::grid_for((n + Stride - 1) / Stride, block);
}

// begin run-load-stride
template <unsigned Stride>
book::Variant<Copy<LoadStride<Stride>>> load_stride() {
  return {
      .name = "load_stride" + std::to_string(Stride),
      .region = "load-stride",
      .kernel = book::kernel(chapter10::load_stride),
      .grid = every<Stride>,
      .params = {{"stride", Stride}},
      .launch =
          [](const auto& l) {
            chapter10::load_stride<<<l.grid, l.block>>>(l.in, l.out, l.n, Stride);
          },
  };
}
// end run-load-stride

template <unsigned Stride>
book::Variant<Copy<StoreStride<Stride>>> store_stride() {
  return {
      .name = "store_stride" + std::to_string(Stride),
      .region = "store-stride",
      .kernel = book::kernel(chapter10::store_stride),
      .grid = every<Stride>,
      .params = {{"stride", Stride}},
      .launch =
          [](const auto& l) {
            chapter10::store_stride<<<l.grid, l.block>>>(l.in, l.out, l.n, Stride);
          },
  };
}

template <unsigned Offset>
book::Variant<Copy<LoadOffset<Offset>>> load_offset() {
  return {
      .name = "load_offset" + std::to_string(Offset),
      .region = "load-offset",
      .kernel = book::kernel(chapter10::load_offset),
      .params = {{"offset", Offset}},
      .launch =
          [](const auto& l) {
            chapter10::load_offset<<<l.grid, l.block>>>(l.in, l.out, l.n, Offset);
          },
  };
}

using Whole = Copy<LoadStride<1>>;

// begin run-copy-words
template <class Word>
book::Variant<Whole> copy_words() {
  return {
      .name = "copy" + std::to_string(sizeof(Word)),
      .region = "copy-words",
      .kernel = book::kernel(chapter10::copy_words<Word>),
      .grid =
          [](std::size_t n, unsigned block) {
            return book::grid_for((n * sizeof(int) + sizeof(Word) - 1) / sizeof(Word), block);
          },
      .params = {{"width", static_cast<unsigned>(sizeof(Word))}},
      .launch =
          [](const auto& l) { chapter10::copy_words<Word><<<l.grid, l.block>>>(l.in, l.out, l.n); },
  };
}
// end run-copy-words

// ------------------------------------------------------------------------------------ vectors

/// How n vectors of three ints lie in memory. Whatever the layout, vector i is the input's
/// values 3i, 3i + 1 and 3i + 2.
enum class Layout { kPacked, kAligned, kArrays };

/// Each fourth int is nobody's: whoever uses it is found out.
struct Padded {
  std::uint64_t seed;
  __host__ __device__ int operator()(std::size_t i) const {
    return i % 4 == 3 ? book::kPoison : book::input_value(seed, i / 4 * 3 + i % 4);
  }
};
struct SquaredLength {
  std::uint64_t seed;
  __host__ __device__ int operator()(std::size_t i) const {
    int sum = 0;
    for (unsigned k = 0; k < 3; ++k) {
      const int value = book::input_value(seed, 3 * i + k);
      sum += value * value;
    }
    return sum;
  }
};

/// Squared lengths of n vectors. Useful bytes: 12 read and 4 written for each.
template <Layout layout>
class Vectors : public book::Problem {
 public:
  struct Launch {
    const int *in, *y, *z;  // one array, or the three
    int* out;
    std::size_t n;
    unsigned grid, block;
    std::size_t shared_bytes;
    const chapter10::Vec3* packed() const { return reinterpret_cast<const chapter10::Vec3*>(in); }
    const chapter10::AlignedVec3* aligned() const {
      return reinterpret_cast<const chapter10::AlignedVec3*>(in);
    }
  };
  Launch launch(const Shape& s) const {
    return {in_.data(), y_.data(), z_.data(), out_.data(), s.n, s.grid, s.block, s.shared_bytes};
  }

  std::size_t device_bytes(const Shape& s) const override {
    return (layout == Layout::kAligned ? 5 : 4) * s.n * sizeof(int);
  }
  void accept(const Shape&) const override {}
  void prepare(const Shape& s, std::uint64_t seed, Fill fill) override {
    seed_ = seed;
    in_.allocate(s.n * (layout == Layout::kPacked ? 3 : layout == Layout::kAligned ? 4 : 1), fill);
    if (layout == Layout::kArrays) {
      y_.allocate(s.n, fill);
      z_.allocate(s.n, fill);
    }
    out_.allocate(s.n, fill);
    restore();
  }
  void release() override {
    for (Array* each : {&in_, &y_, &z_, &out_}) *each = {};
  }
  void restore() override {
    if constexpr (layout == Layout::kPacked) {
      in_.fill(Input{seed_});
    } else if constexpr (layout == Layout::kAligned) {
      in_.fill(Padded{seed_});
    } else {
      in_.fill(Input{seed_, 3, 0});
      y_.fill(Input{seed_, 3, 1});
      z_.fill(Input{seed_, 3, 2});
    }
  }
  void poison() override { out_.fill(Poison{}); }
  book::Verdict check() override { return out_.compare(SquaredLength{seed_}); }
  book::UsefulBytes useful_bytes(const Shape& s) const override {
    return {.read = 3 * s.n * sizeof(int), .written = s.n * sizeof(int)};
  }

 private:
  Array in_, y_, z_, out_;
  std::uint64_t seed_ = 0;
};

using Packed = Vectors<Layout::kPacked>;
using Aligned = Vectors<Layout::kAligned>;
using Arrays = Vectors<Layout::kArrays>;

// -------------------------------------------------------------------------------- allocations

/// Where arrays of odd sizes begin.
class Allocations : public book::Problem {
 public:
  static constexpr std::size_t kSizes[] = {1, 12, 100, 256, 257, 1000, 4097, 100001};  // bytes
  static constexpr unsigned kCount = std::size(kSizes);
  struct Launch {
    const char* const* arrays;
    std::uint64_t* addresses;
    unsigned block;
  };
  Launch launch(const Shape& s) const { return {pointers_.data(), addresses_.data(), s.block}; }

  std::size_t device_bytes(const Shape&) const override { return std::size_t{1} << 20; }
  void accept(const Shape&) const override {}
  void prepare(const Shape&, std::uint64_t, Fill) override {
    if (pointers_.size() != 0) return;
    std::vector<const char*> pointers;
    for (const std::size_t size : kSizes) {
      arrays_.emplace_back(size);
      pointers.push_back(arrays_.back().data());
    }
    pointers_ = Buffer<const char*>(kCount);
    pointers_.copy_from(pointers);
    addresses_ = Buffer<std::uint64_t>(kCount);
  }
  void release() override {
    arrays_.clear();
    pointers_ = {};
    addresses_ = {};
  }
  void restore() override {}
  void poison() override { addresses_.copy_from(std::vector<std::uint64_t>(kCount, 1)); }
  book::Verdict check() override {
    std::uint64_t all = 0;  // whose lowest bit is the lowest of any address
    const std::vector<std::uint64_t> addresses = addresses_.to_host(kCount);
    for (unsigned i = 0; i < kCount; ++i) {
      if (addresses[i] != reinterpret_cast<std::uint64_t>(arrays_[i].data())) {
        return {false, "the device and the host have different addresses for one array"};
      }
      all |= addresses[i];
    }
    return {all % 256 == 0, std::to_string(kCount) +
                                " arrays of 1 to 100001 bytes begin at multiples of " +
                                std::to_string(all & -all) + " bytes"};
  }
  book::UsefulBytes useful_bytes(const Shape&) const override { return {}; }

 private:
  std::vector<Buffer<char>> arrays_;
  Buffer<const char*> pointers_;
  Buffer<std::uint64_t> addresses_;
};

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter10_coalescing", "What a warp asks for, and what is sent",
                        "the page's figures of sectors and bandwidth against stride and offset"};

  chapter.add(load_stride<1>());
  chapter.add(load_stride<2>());
  chapter.add(load_stride<3>());
  chapter.add(load_stride<4>());
  chapter.add(load_stride<8>());
  chapter.add(load_stride<16>());
  chapter.add(load_stride<32>());
  chapter.add(store_stride<2>());
  chapter.add(store_stride<4>());
  chapter.add(store_stride<8>());
  chapter.add(store_stride<16>());
  chapter.add(store_stride<32>());
  chapter.add(load_offset<0>());
  chapter.add(load_offset<1>());
  chapter.add(load_offset<2>());
  chapter.add(load_offset<4>());
  chapter.add(load_offset<7>());
  chapter.add(load_offset<8>());
  chapter.add(load_offset<9>());
  chapter.add(load_offset<16>());
  chapter.add(load_offset<32>());
  chapter.add(copy_words<char>());
  chapter.add(copy_words<int>());
  chapter.add(copy_words<int2>());
  chapter.add(copy_words<int4>());
  chapter.add<Packed>({
      .name = "vec3_packed",
      .region = "vec3-packed",
      .kernel = book::kernel(chapter10::vec3_packed),
      .launch =
          [](const Packed::Launch& l) {
            chapter10::vec3_packed<<<l.grid, l.block>>>(l.packed(), l.out, l.n);
          },
  });
  chapter.add<Aligned>({
      .name = "vec3_aligned",
      .region = "vec3-aligned",
      .kernel = book::kernel(chapter10::vec3_aligned),
      .launch =
          [](const Aligned::Launch& l) {
            chapter10::vec3_aligned<<<l.grid, l.block>>>(l.aligned(), l.out, l.n);
          },
  });
  chapter.add<Arrays>({
      .name = "vec3_arrays",
      .region = "vec3-arrays",
      .kernel = book::kernel(chapter10::vec3_arrays),
      .launch =
          [](const Arrays::Launch& l) {
            chapter10::vec3_arrays<<<l.grid, l.block>>>(l.in, l.y, l.z, l.out, l.n);
          },
  });
  chapter.add<Packed>({
      .name = "vec3_staged",
      .region = "vec3-staged",
      .kernel = book::kernel(chapter10::vec3_staged),
      .shared_bytes = [](unsigned block) { return 3 * block * sizeof(int); },
      .launch =
          [](const Packed::Launch& l) {
            chapter10::vec3_staged<<<l.grid, l.block, l.shared_bytes>>>(l.packed(), l.out, l.n);
          },
  });
  chapter.add<Allocations>({
      .name = "allocations",
      .region = "where-they-begin",
      .kernel = book::kernel(chapter10::where_they_begin),
      .grid = [](std::size_t, unsigned) { return 1u; },
      .launch =
          [](const Allocations::Launch& l) {
            chapter10::where_they_begin<<<1, l.block>>>(l.arrays, l.addresses, Allocations::kCount);
          },
  });
  // begin run-offset-words
  chapter.add<Copy<LoadOffset<1>>>({
      .name = "offset_words",
      .region = "offset-words",
      .kernel = book::kernel(chapter10::legacy::offset_words),
      .factor = 4,
      .legacy = true,
      .findings = {"memcheck"},
      .launch =
          [](const auto& l) {
            chapter10::legacy::offset_words<<<l.grid, l.block>>>(l.in, l.out, l.n, 1);
          },
  });
  // end run-offset-words
  chapter.add<Whole>({
      .name = "rounded_up",
      .region = "rounded-up",
      .kernel = book::kernel(chapter10::legacy::rounded_up),
      .factor = 4,
      .legacy = true,
      .findings = {"memcheck"},
      .launch =
          [](const auto& l) {
            chapter10::legacy::rounded_up<<<l.grid, l.block>>>(l.in, l.out, l.n);
          },
  });

  return chapter.run(argc, argv);
}
