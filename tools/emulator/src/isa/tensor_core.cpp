#include "isa/tensor_core.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace emu {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr int kKept = 25;  // bits of an aligned term below the largest exponent
constexpr U32 kNan32 = 0x7fff'ffff, kNan16 = 0x7fff;

/// How a number lies in its bits.
struct Layout {
  std::string_view name;
  unsigned bits;
  int exponent, fraction;  ///< bits of each
  int shift;               ///< of its lowest bit
  bool infinite;           ///< it has infinities
};
constexpr std::array<Layout, 13> kLayouts = {{{"f16", 16, 5, 10, 0, true},
                                              {"bf16", 16, 8, 7, 0, true},
                                              {"tf32", 32, 8, 10, 13, true},
                                              {"e4m3", 8, 4, 3, 0, false},
                                              {"e5m2", 8, 5, 2, 0, true},
                                              {"f32", 32, 8, 23, 0, true},
                                              {"f64", 64, 11, 52, 0, true},
                                              {"s8", 8, 0, 0, 0, false},
                                              {"u8", 8, 0, 0, 0, false},
                                              {"s4", 4, 0, 0, 0, false},
                                              {"u4", 4, 0, 0, 0, false},
                                              {"b1", 32, 0, 0, 0, false},
                                              {"s32", 32, 0, 0, 0, false}}};
const Layout& layout_of(Number number) {
  return kLayouts[static_cast<std::size_t>(number)];
}

enum class Class : std::uint8_t { kFinite, kInfinity, kNan };

/// significand * 2^(exponent - fraction)
struct Part {
  std::int32_t exponent = 0;
  U32 significand = 0;
  bool negative = false;
  Class kind = Class::kFinite;
};

Part part_of(const Layout& layout, U64 word) {
  const auto bits = static_cast<U32>(word >> layout.shift);
  const U32 ones = (1u << layout.exponent) - 1, field = bits >> layout.fraction & ones;
  const U32 fraction = bits & ((1u << layout.fraction) - 1);
  const int bias = static_cast<int>(ones >> 1);
  Part part;
  part.negative = bits >> (layout.fraction + layout.exponent) & 1;
  if (layout.infinite && field == ones) {
    part.kind = fraction ? Class::kNan : Class::kInfinity;
  } else if (!layout.infinite && field == ones && fraction == (1u << layout.fraction) - 1) {
    part.kind = Class::kNan;
  } else {
    part.exponent = field ? static_cast<int>(field) - bias : 1 - bias;
    part.significand = field ? fraction | 1u << layout.fraction : fraction;
  }
  return part;
}

/// sum * 2^low, cut off.
U32 to_single(std::int64_t sum, int low) {
  const U32 sign = sum < 0 ? 0x8000'0000u : 0;
  const U64 size = sum < 0 ? 0 - static_cast<U64>(sum) : static_cast<U64>(sum);
  if (size == 0) return 0;
  const int top = 63 - std::countl_zero(size), exponent = top + low;
  if (exponent > 127) return sign | 0x7f80'0000u;
  const int last = std::max(exponent, -126) - 23;  // exponent of the result's last bit
  const int down = last - low;
  const U64 kept = down >= 64 ? 0 : down >= 0 ? size >> down : size << -down;
  if (kept == 0) return 0;
  const U32 field = exponent >= -126 ? static_cast<U32>(exponent + 127) << 23 : 0;
  return sign | field | (static_cast<U32>(kept) & 0x7f'ffffu);
}

/// sum * 2^low, rounded to the nearest.
U32 to_half(std::int64_t sum, int low) {
  const U64 size = sum < 0 ? 0 - static_cast<U64>(sum) : static_cast<U64>(sum);
  if (size == 0) return 0;
  const int exponent = 63 - std::countl_zero(size) + low;
  const int down = std::max(exponent, -14) - 10 - low;
  U64 kept = 0;
  if (down <= 0) {
    kept = size << -down;
  } else if (down < 64) {
    const U64 rest = size & ((U64{1} << down) - 1), half = U64{1} << (down - 1);
    kept = size >> down;
    kept += rest > half || (rest == half && (kept & 1));
  }
  // A carry into the next exponent comes out right by itself.
  U64 bits = exponent >= -14 ? (static_cast<U64>(exponent + 15) << 10) + kept - 1024 : kept;
  if (exponent > 15 || bits > 0x7c00) bits = 0x7c00;
  if (bits == 0) return 0;
  return static_cast<U32>(bits) | (sum < 0 ? 0x8000u : 0);
}

/// Adds the products of `count` pairs to c; `across` is from one element of b to the next.
U32 add_products(const Part* a, const Part* b, std::size_t across, unsigned count, int fraction,
                 U32 sum, Number format) {
  const bool half = format == Number::kF16;
  const Layout& layout = layout_of(format);
  const Part c = part_of(layout, sum);
  bool nan = c.kind == Class::kNan;
  bool up = c.kind == Class::kInfinity && !c.negative,
       down = c.kind == Class::kInfinity && c.negative;
  constexpr int kNone = -100'000;
  int largest = c.significand ? c.exponent : kNone;
  for (unsigned i = 0; i < count; ++i) {
    const Part &x = a[i], &y = b[i * across];
    if (x.kind == Class::kFinite && y.kind == Class::kFinite) {
      if (x.significand && y.significand) largest = std::max(largest, x.exponent + y.exponent);
      continue;
    }
    const auto zero = [](const Part& p) { return p.kind == Class::kFinite && !p.significand; };
    if (x.kind == Class::kNan || y.kind == Class::kNan || zero(x) || zero(y)) {
      nan = true;
    } else {
      (x.negative != y.negative ? down : up) = true;
    }
  }
  if (nan || (up && down)) return half ? kNan16 : kNan32;
  if (up) return half ? 0x7c00 : 0x7f80'0000;
  if (down) return half ? 0xfc00 : 0xff80'0000;
  if (largest == kNone) return 0;
  const int low = largest - kKept;
  std::int64_t total = 0;
  const auto add = [&](bool negative, U64 size, int last) {
    const int by = last - low;
    const U64 aligned = by >= 0 ? size << by : by > -64 ? size >> -by : 0;
    total += negative ? -static_cast<std::int64_t>(aligned) : static_cast<std::int64_t>(aligned);
  };
  for (unsigned i = 0; i < count; ++i) {
    const Part &x = a[i], &y = b[i * across];
    const U64 size = U64{x.significand} * y.significand;
    if (size) add(x.negative != y.negative, size, x.exponent + y.exponent - fraction);
  }
  if (c.significand) add(c.negative, c.significand, c.exponent - layout.fraction);
  return half ? to_half(total, low) : to_single(total, low);
}

constexpr std::size_t kMost = 1024;  // elements of A or B

void multiply_floats(const Product& p, const U64* a, const U64* b, const U64* c, U64* d) {
  std::array<Part, kMost> pa, pb;
  const Layout &la = layout_of(p.a), &lb = layout_of(p.b);
  std::transform(a, a + p.m * p.k, pa.begin(), [&](U64 word) { return part_of(la, word); });
  std::transform(b, b + p.k * p.n, pb.begin(), [&](U64 word) { return part_of(lb, word); });
  for (unsigned i = 0; i < p.m; ++i) {
    for (unsigned j = 0; j < p.n; ++j) {
      auto sum = static_cast<U32>(c[i * p.n + j]);
      for (unsigned k = 0; k < p.k; k += p.step) {
        sum = add_products(&pa[i * p.k + k], &pb[k * p.n + j], p.n, p.step,
                           la.fraction + lb.fraction, sum, p.sum);
      }
      d[i * p.n + j] = sum;
    }
  }
}

/// Floats of 8 bits, which the assembler makes halves of: of each four elements along k the first
/// two are added, then the last two, and C at the end, as two numbers are.
void multiply_bytes(const Product& p, const U64* a, const U64* b, const U64* c, U64* d) {
  std::array<Part, kMost / 2> pa, pb;
  const Layout &la = layout_of(p.a), &lb = layout_of(p.b);
  const unsigned half = p.k / 2u;
  std::fill_n(d, p.m * p.n, 0);
  for (unsigned part = 0; part < 2; ++part) {
    const auto from = [&](unsigned k) { return k / 2 * 4 + part * 2 + k % 2; };
    for (unsigned i = 0; i < p.m; ++i) {
      for (unsigned k = 0; k < half; ++k) pa[i * half + k] = part_of(la, a[i * p.k + from(k)]);
    }
    for (unsigned k = 0; k < half; ++k) {
      for (unsigned j = 0; j < p.n; ++j) pb[k * p.n + j] = part_of(lb, b[from(k) * p.n + j]);
    }
    for (unsigned i = 0; i < p.m; ++i) {
      for (unsigned j = 0; j < p.n; ++j) {
        U64& sum = d[i * p.n + j];
        sum = add_products(&pa[i * half], &pb[j], p.n, half, la.fraction + lb.fraction,
                           static_cast<U32>(sum), p.sum);
      }
    }
  }
  for (unsigned i = 0; i < p.m * p.n; ++i) {
    if (p.sum == Number::kF16) {
      const double sum =
          widen(static_cast<U32>(d[i]), kHalf) + widen(static_cast<U32>(c[i]), kHalf);
      d[i] = sum == sum ? narrow(sum, kHalf, Rounding::kNearest) : kNan16;
    } else {
      const float sum = std::bit_cast<float>(static_cast<U32>(d[i])) +
                        std::bit_cast<float>(static_cast<U32>(c[i]));
      d[i] = std::bit_cast<U32>(canonical(sum));
    }
  }
}

/// The first NaN of b, c and a is the result, made quiet.
U64 fma_of_bits(U64 a, U64 b, U64 c, Rounding rounding) {
  for (const U64 x : {b, c, a}) {
    if ((x & ~(U64{1} << 63)) > 0x7ff0'0000'0000'0000u) return x | U64{1} << 51;
  }
  const double r = compute(Arithmetic::kFma, rounding, std::bit_cast<double>(a),
                           std::bit_cast<double>(b), std::bit_cast<double>(c));
  return r == r ? std::bit_cast<U64>(r) : 0xfff8'0000'0000'0000u;
}

void multiply_doubles(const Product& p, const U64* a, const U64* b, const U64* c, U64* d) {
  for (unsigned i = 0; i < p.m; ++i) {
    for (unsigned j = 0; j < p.n; ++j) {
      U64 sum = c[i * p.n + j];
      for (unsigned k = 0; k < p.k; ++k) {
        sum = fma_of_bits(a[i * p.k + k], b[k * p.n + j], sum, p.rounding);
      }
      d[i * p.n + j] = sum;
    }
  }
}

std::int64_t whole(Number number, U64 word) {
  switch (number) {
    case Number::kS8: return static_cast<std::int8_t>(word);
    case Number::kS4: return static_cast<std::int64_t>(word << 60) >> 60;
    default: return static_cast<std::int64_t>(word);
  }
}

void multiply_integers(const Product& p, const U64* a, const U64* b, const U64* c, U64* d) {
  for (unsigned i = 0; i < p.m; ++i) {
    for (unsigned j = 0; j < p.n; ++j) {
      std::int64_t sum = static_cast<std::int32_t>(c[i * p.n + j]);
      for (unsigned k = 0; k < p.k; ++k) {
        const U64 x = a[i * p.k + k], y = b[k * p.n + j];
        if (p.a == Number::kB1) {
          sum += std::popcount(static_cast<U32>(p.exclusive ? x ^ y : x & y));
        } else {
          sum += whole(p.a, x) * whole(p.b, y);
        }
      }
      if (p.saturates) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      d[i * p.n + j] = static_cast<U32>(sum);
    }
  }
}

}  // namespace

std::optional<Number> number_named(std::string_view name) {
  for (std::size_t i = 0; i < kLayouts.size(); ++i) {
    if (kLayouts[i].name == name) return static_cast<Number>(i);
  }
  return std::nullopt;
}

unsigned bits_of(Number number) {
  return layout_of(number).bits;
}

bool is_whole(Number number) {
  return layout_of(number).exponent == 0;
}

void multiply(const Product& product, const U64* a, const U64* b, const U64* c, U64* d) {
  if (is_whole(product.a)) return multiply_integers(product, a, b, c, d);
  if (product.a == Number::kF64) return multiply_doubles(product, a, b, c, d);
  if (bits_of(product.a) == 8) return multiply_bytes(product, a, b, c, d);
  multiply_floats(product, a, b, c, d);
}

}  // namespace emu
