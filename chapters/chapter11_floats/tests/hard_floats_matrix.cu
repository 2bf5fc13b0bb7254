// Sums of floats where they could go wrong unseen, as the variants of a chapter of its own, so that
// the matrix checks them like any kernel. The exact sum: elements that are no numbers, numbers too
// small to be normal, sums past the largest float on the way or at the end, sums half-way between
// two floats, addresses that are no multiple of 16, grids of one block and of many more than fit,
// so many elements in one block that its sums need all their bits, a sum in place of an element,
// and two launches with the same state. Kahan's and Neumaier's: so many elements per thread that
// what they catch is more than they may lose; and what one lane has caught is all that is left of
// the sum.
#include <algorithm>
#include <limits>

#include "../problem.cuh"
#include "book/chapter.hpp"

namespace {

using chapter11::Bound;
using chapter11::Data;
using chapter11::FloatSum;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();

/// Any float's bits but those of an infinity or NaN.
struct AnyBits {
  std::uint64_t seed = 0;
  __host__ __device__ float operator()(std::size_t position) const {
    auto bits = static_cast<std::uint32_t>(book::input_bits(seed, position));
    if (((bits >> 23) & 255) == 255) bits ^= 0x40000000u;
    return chapter11::float_of(bits);
  }
};
/// The least below 0: in two halves, the lower of which is as large as it can be.
struct BelowZero {
  std::uint64_t seed = 0;
  __host__ __device__ float operator()(std::size_t) const { return -kSmallest; }
};
/// Numbers below the smallest normal one, of either sign.
struct Denormal {
  std::uint64_t seed = 0;
  __host__ __device__ float operator()(std::size_t position) const {
    const auto bits = static_cast<std::uint32_t>(book::input_bits(seed, position)) & 0x807fffffu;
    return chapter11::float_of(bits);
  }
};
/// One value everywhere but at a few positions, which have two others in turns.
template <int Kind>
struct Planted {
  std::uint64_t seed = 0;
  __host__ __device__ float operator()(std::size_t position) const {
    const bool first = position == 5;
    const bool second = position == 777;
    switch (Kind) {
      case 0: return first ? kInfinity : 1.0f;
      case 1: return first ? -kInfinity : 1.0f;
      case 2: return first ? kInfinity : second ? -kInfinity : 1.0f;
      case 3: return first ? kNan : 1.0f;
      case 4: return position % 2 == 0 ? kLargest : -kLargest;  // past the largest, and back
      case 5: return position % 2 == 0 ? kLargest : kLargest / 4;
      case 6: return -kLargest;
      case 7: return -0.0f;
      case 8: return position == 0 ? 0x1p24f : second ? 1.0f : 0.0f;         // a tie, to even
      case 9: return position == 0 ? 0x1.000002p24f : second ? 1.0f : 0.0f;  // a tie, from odd
      case 10:                                                               // just past a tie
        return position == 0 ? 0x1p24f : second ? 1.0f : first ? kSmallest : 0.0f;
      case 11: return position == 0 ? -0x1p24f : second ? -1.0f : first ? kSmallest : 0.0f;
      case 12: return position == 0 ? kLargest : second ? 0x1p102f : 0.0f;  // just short of inf
      case 13: return position == 0 ? kLargest : second ? 0x1p103f : 0.0f;  // half-way: inf
      case 14: return position == 0 ? 0x1p-126f : position == 1 ? -kSmallest : 0.0f;
      case 15:
        return first ? kSmallest : 0.0f;  // the lowest digit alone
      // Ties where the leading digit is the second; where it is the fourth and is 1; and just past
      // one, told by the lowest digit.
      case 16: return position == 0 ? 0x1p-124f : second ? 0x1p-148f : 0.0f;
      case 17: return position == 0 ? 0x1p-102f : second ? 0x1p-126f : 0.0f;
      default: return position == 0 ? 0x1p-90f : second ? 0x1p-114f : first ? kSmallest : 0.0f;
    }
  }
};

template <unsigned Block>
void launch(unsigned grid, const float* in, float* out, chapter11::Exact* state, std::size_t n) {
  constexpr std::size_t kBytes = sizeof(long long) * chapter11::kBins * Block;
  const auto kernel = chapter11::exact<Block, 2>;
  BOOK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(kBytes)));
  kernel<<<grid, Block, kBytes>>>(in, out, state, n);
}

/// \param share  elements per thread, roughly; 0 for a single block
template <class Input, unsigned Block = 128, unsigned Launches = 1>
book::Variant exact(std::string name, unsigned share = 32) {
  return {
      .name = std::move(name),
      .from = "chapter11_floats",
      .region = "exact-sum",
      .blocks = book::any_block(Block, Block),
      .grid =
          [share](std::size_t n, unsigned block) {
            return share == 0 ? 1 : book::grid_for(std::max<std::size_t>(n, 1), block, share);
          },
      .axes = {{"n"}},
      .launch = book::launch<FloatSum<Input, Bound::kExact>>([](const auto& l) {
        for (unsigned k = 0; k < Launches; ++k) launch<Block>(l.grid, l.in, l.out, l.state, l.n);
      }),
  };
}

/// Any bits at any block: with as many threads as the next power of two.
book::Variant any_block() {
  book::Variant v = exact<AnyBits>("any_bits", 64);
  v.blocks = book::any_block();
  v.launch = book::launch<FloatSum<AnyBits, Bound::kExact>>([](const auto& l) {
    const auto run = l.block <= 32    ? launch<32>
                     : l.block <= 64  ? launch<64>
                     : l.block <= 128 ? launch<128>
                     : l.block <= 256 ? launch<256>
                     : l.block <= 512 ? launch<512>
                                      : launch<1024>;
    run(l.grid, l.in, l.out, l.state, l.n);
  });
  return v;
}

/// The sum of all elements but the first Skip: from an address that is no multiple of 16.
template <unsigned Skip>
struct Skipped {
  std::uint64_t seed = 0;
  __host__ __device__ float operator()(std::size_t position) const {
    return position < Skip ? 0.0f : AnyBits{seed}(position);
  }
};
template <unsigned Skip>
book::Variant skewed() {
  book::Variant v = exact<Skipped<Skip>>("skewed" + std::to_string(Skip));
  v.launch = book::launch<FloatSum<Skipped<Skip>, Bound::kExact>>([](const auto& l) {
    const auto skip = std::min<std::size_t>(l.n, Skip);
    launch<128>(l.grid, l.in + skip, l.out, l.state, l.n - skip);
  });
  return v;
}

/// Numbers that every addition to a larger sum rounds the same way for long.
struct Thirds {
  std::uint64_t seed = 0;
  __host__ __device__ float operator()(std::size_t) const { return 0x1.555556p-2f; }
};
/// Ones that vanish in what comes before them, or lose what comes after, until that is taken away.
struct Swamped {
  std::uint64_t seed = 0;
  __host__ __device__ float operator()(std::size_t position) const {
    return position % 2 == 0 ? 1.0f : position % 4 == 1 ? 0x1p30f : -0x1p30f;
  }
};

/// The first lane's sum and the second's are opposite, but for a 1 that the second has lost and
/// kept.
struct Opposite {
  std::uint64_t seed = 0;
  __host__ __device__ float operator()(std::size_t position) const {
    return position == 0 ? -0x1p24f : position == 4 ? 0x1p24f : position == 5 ? 1.0f : 0.0f;
  }
};

/// As large as a bin's elements can be.
struct FullBin {
  std::uint64_t seed = 0;
  __host__ __device__ float operator()(std::size_t) const { return 0x1.fffffep0f; }
};
/// Sixteen for each of more than 2^20 elements: in a single block, whose sum in one bin then is
/// more than 2^63, and that of the upper halves more than 2^31.
class Sixteenfold : public FloatSum<FullBin, Bound::kExact> {
 public:
  using Base = FloatSum<FullBin, Bound::kExact>;
  static constexpr std::size_t kMost = (std::size_t{1} << 20) + 1;
  static book::Shape all(book::Shape s) {
    if (s.n >= kMost) s.n *= 16;
    return s;
  }
  Launch launch(const book::Shape& s) const { return Base::launch(all(s)); }
  std::size_t device_bytes(const book::Shape& s) const override {
    return Base::device_bytes(all(s));
  }
  void prepare(const book::Shape& s, std::uint64_t seed, book::Fill fill) override {
    Base::prepare(all(s), seed, fill);
  }
  book::UsefulBytes useful_bytes(const book::Shape& s) const override {
    return Base::useful_bytes(all(s));
  }
};
book::Variant full_bin() {
  book::Variant v = exact<FullBin, 32>("full_bin", 0);
  v.sizes = book::Sizes{.usual = {4097},
                        .usual_embedded = 4097,
                        .most = Sixteenfold::kMost,
                        .most_embedded = Sixteenfold::kMost};
  v.launch = book::launch<Sixteenfold>(
      [](const auto& l) { launch<32>(l.grid, l.in, l.out, l.state, l.n); });
  return v;
}

/// The sum in place of the first element: the block that writes it has to come after the one that
/// has read it, which the fences alone say. All else that blocks share goes through atomics, which
/// may meet in any order without a race.
book::Variant in_place() {
  book::Variant v = exact<AnyBits, 64>("in_place", 4);
  v.destroys_input = true;
  v.launch = book::launch<FloatSum<AnyBits, Bound::kExact>>([](const auto& l) {
    float* const sum = l.n > 0 ? const_cast<float*>(l.in) : l.out;
    launch<64>(l.grid, l.in, sum, l.state, l.n);
    if (sum != l.out) {
      BOOK_CUDA(cudaMemcpyAsync(l.out, sum, sizeof *sum, cudaMemcpyDeviceToDevice));
    }
  });
  return v;
}

/// One warp adds up all that there is, and does it again with the ticket as the first launch left
/// it.
template <class Total, class Input, Bound B>
book::Variant one_warp(std::string name, std::string region) {
  return {
      .name = std::move(name),
      .from = "chapter11_floats",
      .region = std::move(region),
      .blocks = book::any_block(32, 32),
      .grid = [](std::size_t, unsigned) { return 1u; },
      .axes = {{"n"}},
      .launch = book::launch<FloatSum<Input, B>>([](const auto& l) {
        auto* partial = reinterpret_cast<Total*>(l.partial);
        for (unsigned k = 0; k < 2; ++k) {
          BOOK_CUDA(cudaMemsetAsync(l.out, 0xff, sizeof *l.out));
          chapter11::sum<Total, 4><<<l.grid, l.block>>>(l.in, l.out, partial, l.ticket, l.n);
        }
      }),
  };
}

template <int... Kinds>
void add_planted(book::Chapter& chapter, std::integer_sequence<int, Kinds...>) {
  (chapter.add(exact<Planted<Kinds>>("planted" + std::to_string(Kinds))), ...);
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter11_hard", "Sums of floats where they could go wrong"};
  add_planted(chapter, std::make_integer_sequence<int, 19>{});
  chapter.add(any_block());
  chapter.add(exact<AnyBits, 32>("any_bits_one_block", 0));
  chapter.add(exact<AnyBits, 64>("any_bits_many_blocks", 4));
  chapter.add(full_bin());
  chapter.add(in_place());
  chapter.add(exact<BelowZero, 64>("below_zero", 1));
  chapter.add(exact<AnyBits, 256, 2>("twice"));
  chapter.add(exact<Denormal>("denormal"));
  chapter.add(skewed<1>());
  chapter.add(skewed<2>());
  chapter.add(skewed<3>());
  chapter.add(one_warp<chapter11::Kahan, Thirds, Bound::kOnce>("kahan_thirds", "kahan-float"));
  chapter.add(one_warp<chapter11::Kahan, Opposite, Bound::kExact>("kahan_opposite", "kahan-float"));
  chapter.add(
      one_warp<chapter11::Neumaier, Thirds, Bound::kTwice>("neumaier_thirds", "neumaier-float"));
  chapter.add(
      one_warp<chapter11::Neumaier, Swamped, Bound::kTwice>("neumaier_swamped", "neumaier-float"));
  return chapter.run(argc, argv);
}
