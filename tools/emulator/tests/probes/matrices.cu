// What hardware answers to matrix instructions, bit for bit: mma.sync and wmma of every type, on
// numbers that lay open how a tensor core adds; where ldmatrix, stmatrix, movmatrix and wmma's
// loads and stores put each element.
//
// By hand, on a machine with an H200:
//   nvcc -std=c++17 -arch=sm_90 -o probe matrices.cu && ./probe
// matrices.h200.txt is what that printed, after a line with the GPU and the driver. The embedded
// device is compared with it. A line of a product has the operation, the class of numbers, a hash
// of all results of that class, and the diagonal of the first. `./probe N` adds the first N
// results, by rows.
//
// The inputs come from `Random` below, seeded with the operation's name, the class and the number.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Random {
  u64 state;
  u64 operator()() {  // splitmix64
    u64 z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>((*this)() % static_cast<u64>(n)); }
  int within(int low, int high) { return low + below(high - low + 1); }
};

u64 hash(const void* data, std::size_t bytes, u64 start = 0xcbf29ce484222325) {
  const auto* at = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) start = (start ^ at[i]) * 0x100000001b3;
  return start;
}

// A format of numbers: `bits` a place; integers have no exponent.
struct Format {
  const char* name;
  int bits, exponent, fraction;
  bool is_signed;
  int shift;        // where its lowest bit is in its place
  bool infinities;  // all ones in the exponent are infinity and NaN
  int bias() const { return (1 << (exponent - 1)) - 1; }
  int lowest() const { return 1 - bias(); }
  int highest() const { return (1 << exponent) - 1 - bias() - (infinities ? 1 : 0); }
};
constexpr Format kF16 = {"f16", 16, 5, 10, true, 0, true};
constexpr Format kBf16 = {"bf16", 16, 8, 7, true, 0, true};
constexpr Format kTf32 = {"tf32", 32, 8, 10, true, 13, true};
constexpr Format kF32 = {"f32", 32, 8, 23, true, 0, true};
constexpr Format kF64 = {"f64", 64, 11, 52, true, 0, true};
constexpr Format kE4m3 = {"e4m3", 8, 4, 3, true, 0, false};
constexpr Format kE5m2 = {"e5m2", 8, 5, 2, true, 0, true};
constexpr Format kS8 = {"s8", 8, 0, 0, true, 0, false};
constexpr Format kU8 = {"u8", 8, 0, 0, false, 0, false};
constexpr Format kS4 = {"s4", 4, 0, 0, true, 0, false};
constexpr Format kU4 = {"u4", 4, 0, 0, false, 0, false};
constexpr Format kB1 = {"b1", 1, 0, 0, false, 0, false};
constexpr Format kS32 = {"s32", 32, 0, 0, true, 0, false};

// A number of sign, exponent and fraction; below the lowest exponent a subnormal, or zero.
u64 number(const Format& f, bool negative, int exponent, u64 fraction) {
  u64 bits = fraction & ((u64{1} << f.fraction) - 1);
  if (exponent > f.highest()) exponent = f.highest();
  if (exponent < f.lowest()) {
    const int down = f.lowest() - exponent;
    bits |= u64{1} << f.fraction;
    bits = down > f.fraction ? 0 : bits >> down;
  } else {
    bits |= static_cast<u64>(exponent + f.bias()) << f.fraction;
    if (!f.infinities && f.exponent && exponent == f.highest() && (bits & 7) == 7) bits ^= 1;
  }
  if (negative) bits |= u64{1} << (f.fraction + f.exponent);
  return bits << f.shift;
}
u64 power(const Format& f, int exponent, bool negative = false) {
  return number(f, negative, exponent, 0);
}
u64 special(const Format& f, Random& random) {
  const u64 ones = ((u64{1} << f.exponent) - 1) << f.fraction;
  const u64 sign = u64(random.below(2)) << (f.fraction + f.exponent);
  const u64 fraction = random() & ((u64{1} << f.fraction) - 1);
  switch (random.below(4)) {
    case 0: return (sign | ones) << f.shift;             // infinity (of e4m3 a number)
    case 1: return (sign | ones | fraction) << f.shift;  // NaN of any payload
    case 2: return sign << f.shift;                      // zero
    default: return (sign | fraction) << f.shift;        // subnormal
  }
}

struct Shape {
  int m, n, k;
};
struct Operation {
  const char* name;
  Shape shape;
  Format a, b, c, d;
  void (*kernel)(const void*, const void*, const void*, void*);
};

struct Matrices {
  std::vector<u64> a, b, c;  // by rows: m x k, k x n, m x n
};

constexpr const char* kClasses[] = {"plain",  "wide",     "cancel",  "huge", "subnormal",
                                    "zeros",  "overflow", "special", "bits", "integers",
                                    "sparse", "towards",  "ladder",  "pairs"};
constexpr int kClassCount = sizeof kClasses / sizeof *kClasses;

u64 any(const Format& f, Random& random, int low, int high) {
  const bool negative = random.below(2) != 0;
  const int exponent = random.within(low, high);
  return number(f, negative, exponent, random());
}

// Half a format's range of exponents, so that products stay in reach of single precision.
int reach(const Format& f, const Format& c) {
  const int own = f.highest() - 1;
  const int half = c.highest() / 2 - 1;
  return own < half ? own : half;
}

void fill_floats(const Operation& op, int kind, Random& random, Matrices& x) {
  const int m = op.shape.m, n = op.shape.n, k = op.shape.k;
  const int ra = reach(op.a, op.c), rb = reach(op.b, op.c);
  const auto all = [&](std::vector<u64>& to, const Format& f, int low, int high) {
    for (u64& one : to) one = any(f, random, low, high);
  };
  switch (kind) {
    case 0:  // plain
      all(x.a, op.a, -4, 0), all(x.b, op.b, -4, 0), all(x.c, op.c, -4, 2);
      break;
    case 1: {  // wide
      const int w = ra < 14 ? ra : 14;
      all(x.a, op.a, -w, w), all(x.b, op.b, -w, w), all(x.c, op.c, -w, w);
      break;
    }
    case 2:  // cancel: every second product is the one before it, negated, but for a few
      all(x.a, op.a, -3, 3), all(x.b, op.b, -3, 3), all(x.c, op.c, -24, -8);
      for (int q = 0; q < k / 2; ++q) {
        const int one = random.below(k), other = (one + 1 + random.below(k - 1)) % k;
        for (int i = 0; i < m; ++i) {
          x.a[i * k + other] =
              x.a[i * k + one] ^ u64 { 1 } << (op.a.shift + op.a.fraction + op.a.exponent);
        }
        for (int j = 0; j < n; ++j) x.b[other * n + j] = x.b[one * n + j];
      }
      break;
    case 3:  // huge: a few big, the rest small
      all(x.a, op.a, -ra / 2, -ra / 3), all(x.b, op.b, -rb / 2, -rb / 3), all(x.c, op.c, -14, 14);
      for (int q = 0; q < 1 + random.below(3); ++q) {
        const int p = random.below(k);
        for (int i = 0; i < m; ++i) x.a[i * k + p] = any(op.a, random, 0, ra / 2);
      }
      break;
    case 4:  // subnormal inputs, products and results
      all(x.a, op.a, op.a.lowest() - op.a.fraction, op.a.lowest() + 2);
      all(x.b, op.b, op.b.lowest() / 2 < -30 ? -30 : op.b.lowest(), 4);
      all(x.c, op.c, op.c.lowest() - op.c.fraction, op.c.lowest() + 3);
      break;
    case 5:  // zeros of both signs
      for (auto* to : {&x.a, &x.b}) {
        const Format& f = to == &x.a ? op.a : op.b;
        for (u64& one : *to)
          one = random.below(3) ? number(f, random.below(2), -10000, 0) : any(f, random, -1, 1);
      }
      for (u64& one : x.c) one = number(op.c, random.below(2), -10000, 0);
      break;
    case 6:  // overflow
      all(x.a, op.a, op.a.highest() / 2 - 2, op.a.highest() / 2 + 1);
      all(x.b, op.b, op.b.highest() / 2 - 2, op.b.highest() / 2 + 1);
      all(x.c, op.c, op.c.highest() - 4, op.c.highest());
      break;
    case 7:  // special: a sprinkle of infinities and NaN
      all(x.a, op.a, -3, 3), all(x.b, op.b, -3, 3), all(x.c, op.c, -3, 3);
      for (int q = 0; q < 1 + random.below(6); ++q) {
        const int where = random.below(3);
        auto& to = where == 0 ? x.a : where == 1 ? x.b : x.c;
        to[random.below(static_cast<int>(to.size()))] = special(where == 0   ? op.a
                                                                : where == 1 ? op.b
                                                                             : op.c,
                                                                random);
      }
      break;
    case 8:  // any bits
      for (auto* to : {&x.a, &x.b, &x.c}) {
        const int bits = (to == &x.a ? op.a : to == &x.b ? op.b : op.c).bits;
        for (u64& one : *to) one = bits == 64 ? random() : random() & ((u64{1} << bits) - 1);
      }
      break;
    case 9:  // integers: sums are exact or ties
      for (auto* to : {&x.a, &x.b}) {
        const Format& f = to == &x.a ? op.a : op.b;
        for (u64& one : *to)
          one = number(f, random.below(2), random.below(f.fraction + 1),
                       random() & ~u64{0} << (f.fraction > 3 ? f.fraction - 3 : 0));
      }
      for (u64& one : x.c)
        one = number(op.c, random.below(2), random.within(0, op.c.fraction + 2), random());
      break;
    case 10:  // sparse: powers of two far apart, the rest zero
      for (u64& one : x.a)
        one = random.below(3) ? 0 : power(op.a, random.within(-ra / 2, ra / 2), random.below(2));
      for (u64& one : x.b)
        one =
            random.below(4) == 0 ? 0 : power(op.b, random.within(-rb / 2, rb / 2), random.below(2));
      for (u64& one : x.c)
        one = random.below(2) ? 0 : power(op.c, random.within(-15, 15), random.below(2));
      break;
    case 11: {  // towards: sums of one sign, with long tails
      const int w = ra < 8 ? ra : 8;
      const bool minus = random.below(2);
      for (u64& one : x.a)
        one = number(op.a, minus, random.within(-w, w / 2), ~u64{0} ^ u64(random.below(2)));
      for (u64& one : x.b)
        one = number(op.b, false, random.within(-w, w / 2), ~u64{0} ^ u64(random.below(2)));
      for (u64& one : x.c) one = number(op.c, minus, random.within(-w, w), ~u64{0} ^ random());
      break;
    }
    case 12: {  // ladder: on the diagonal one (c, or the product p) and 2^-e elsewhere, the signs
                // vary
      for (auto* to : {&x.a, &x.b, &x.c})
        for (u64& one : *to) one = 0;
      for (int i = 0; i < (m < n ? m : n); ++i) {
        const int p = random.below(k);
        const int many = random.below(4) ? 1 : 1 + random.below(k);
        const int e = random.within(op.d.fraction - 3, op.d.fraction + 9);
        const bool minus = random.below(2), in_c = random.below(2);
        if (in_c)
          x.c[i * n + i] = power(op.c, 0, random.below(2));
        else
          x.a[i * k + p] = power(op.a, 0, random.below(2)), x.b[p * n + i] = power(op.b, 0);
        for (int q = 1; q <= many; ++q) {
          const int at = (p + q * (1 + (many == 1 ? random.below(k - 1) : 0))) % k;
          if (!in_c && at == p) continue;
          x.a[i * k + at] = power(op.a, -(e / 2), minus),
                      x.b[at * n + i] = power(op.b, -(e - e / 2));
        }
      }
      break;
    }
    case 13:  // pairs: x, -x and 2^-e at any places, c among them
      for (auto* to : {&x.a, &x.b, &x.c})
        for (u64& one : *to) one = 0;
      for (int i = 0; i < (m < n ? m : n); ++i) {
        const int p = random.below(k), q = (p + 1 + random.below(k - 1)) % k;
        int r = random.below(k);
        while (r == p || r == q) r = random.below(k);
        const int e = random.within(op.d.fraction - 4,
                                    2 * ra < op.d.fraction + 12 ? 2 * ra : op.d.fraction + 12);
        x.a[i * k + p] = power(op.a, 0), x.b[p * n + i] = power(op.b, 0);
        if (random.below(3))
          x.a[i * k + q] = power(op.a, 0, true), x.b[q * n + i] = power(op.b, 0);
        else
          x.c[i * n + i] = power(op.c, 0, true);
        const bool minus = random.below(2);
        x.a[i * k + r] = power(op.a, -(e / 2), minus), x.b[r * n + i] = power(op.b, -(e - e / 2));
      }
      break;
  }
}

void fill_integers(const Operation& op, int kind, Random& random, Matrices& x) {
  for (auto* to : {&x.a, &x.b}) {
    const Format& f = to == &x.a ? op.a : op.b;
    const u64 mask = (u64{1} << f.bits) - 1;
    const u64 top = f.is_signed ? u64{1} << (f.bits - 1) : mask;
    for (u64& one : *to) one = kind == 1 ? top : kind == 2 && random.below(3) ? 0 : random() & mask;
  }
  for (u64& one : x.c) {
    one = kind == 0 ? random() & 0xffff : random() & 0xffffffff;
    if (kind == 1) one = 0x7fffffff - u64(random.below(5000));
    if (kind == 3) one = 0x80000000 + u64(random.below(1000));
  }
}

// Where element (row, k) of A, (k, column) of B and (row, column) of C and D lie, as PTX lays them
// out: the lane, and the place in its registers counted in elements.
struct Place {
  int lane, element;
};
Place of_a(const Operation& op, int row, int k) {
  const int each = op.a.bits == 64 ? 1 : 32 / op.a.bits;
  const int high = row / 8, rows = op.shape.m / 8;
  const int part = k / (4 * each), within = k % (4 * each);
  return {(row % 8) * 4 + within / each, (part * rows + high) * each + within % each};
}
Place of_b(const Operation& op, int k, int column) {
  const int each = op.b.bits == 64 ? 1 : 32 / op.b.bits;
  const int part = k / (4 * each), within = k % (4 * each);
  return {column * 4 + within / each, part * each + within % each};
}
Place of_c(int row, int column) {
  return {(row % 8) * 4 + column / 2, (row / 8) * 2 + column % 2};
}

void put(std::vector<unsigned char>& to, int per_lane, int bits, Place at, u64 value) {
  const int bit = at.element * bits;
  unsigned char* p = &to[static_cast<std::size_t>(at.lane * per_lane + bit / 8)];
  if (bits >= 8)
    std::memcpy(p, &value, static_cast<std::size_t>(bits / 8));
  else
    *p = static_cast<unsigned char>(*p | value << bit % 8);
}
u64 get(const unsigned char* from, int per_lane, int bits, Place at) {
  u64 value = 0;
  std::memcpy(&value, from + at.lane * per_lane + at.element * bits / 8,
              static_cast<std::size_t>(bits / 8));
  return value;
}

#define LOAD4(x) "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
#define LOAD2(x) "r"(x[0]), "r"(x[1])
#define LOAD1(x) "r"(x[0])
#define DLOAD8(x) \
  "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(x[4]), "d"(x[5]), "d"(x[6]), "d"(x[7])
#define DLOAD4(x) "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3])
#define DLOAD2(x) "d"(x[0]), "d"(x[1])
#define DLOAD1(x) "d"(x[0])
#define STORE4(x) "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
#define STORE2(x) "=r"(x[0]), "=r"(x[1])
#define DSTORE4(x) "=d"(x[0]), "=d"(x[1]), "=d"(x[2]), "=d"(x[3])
#define DSTORE2(x) "=d"(x[0]), "=d"(x[1])

#define KERNEL(NAME, T, NA, NB, NC, TEXT, OUT, A, B, C)                                        \
  __global__ void NAME(const void* from_a, const void* from_b, const void* from_c, void* to) { \
    const int at = blockIdx.x * 32 + threadIdx.x;                                              \
    T a[NA], b[NB], c[NC], d[NC];                                                              \
    for (int i = 0; i < NA; ++i) a[i] = static_cast<const T*>(from_a)[at * NA + i];            \
    for (int i = 0; i < NB; ++i) b[i] = static_cast<const T*>(from_b)[at * NB + i];            \
    for (int i = 0; i < NC; ++i) c[i] = static_cast<const T*>(from_c)[at * NC + i];            \
    asm volatile(TEXT : OUT(d) : A(a), B(b), C(c));                                            \
    for (int i = 0; i < NC; ++i) static_cast<T*>(to)[at * NC + i] = d[i];                      \
  }

#define K424(NAME, TEXT)                                                                          \
  KERNEL(NAME, unsigned, 4, 2, 4, TEXT " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};", \
         STORE4, LOAD4, LOAD2, LOAD4)
#define K422(NAME, TEXT)                                                                         \
  KERNEL(NAME, unsigned, 4, 2, 2, TEXT " {%0,%1},{%2,%3,%4,%5},{%6,%7},{%8,%9};", STORE2, LOAD4, \
         LOAD2, LOAD2)
#define K214(NAME, TEXT)                                                                      \
  KERNEL(NAME, unsigned, 2, 1, 4, TEXT " {%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};", STORE4, \
         LOAD2, LOAD1, LOAD4)
#define K212(NAME, TEXT)                                                                       \
  KERNEL(NAME, unsigned, 2, 1, 2, TEXT " {%0,%1},{%2,%3},{%4},{%5,%6};", STORE2, LOAD2, LOAD1, \
         LOAD2)
#define K112(NAME, TEXT) \
  KERNEL(NAME, unsigned, 1, 1, 2, TEXT " {%0,%1},{%2},{%3},{%4,%5};", STORE2, LOAD1, LOAD1, LOAD2)

#define MMA(SHAPE, TYPES) "mma.sync.aligned." SHAPE ".row.col." TYPES
#define SAT(SHAPE, TYPES) "mma.sync.aligned." SHAPE ".row.col.satfinite." TYPES

K422(f16_k16_f16, MMA("m16n8k16", "f16.f16.f16.f16"))
K424(f16_k16_f32, MMA("m16n8k16", "f32.f16.f16.f32"))
K212(f16_k8_f16, MMA("m16n8k8", "f16.f16.f16.f16"))
K214(f16_k8_f32, MMA("m16n8k8", "f32.f16.f16.f32"))
K424(bf16_k16_f32, MMA("m16n8k16", "f32.bf16.bf16.f32"))
K214(bf16_k8_f32, MMA("m16n8k8", "f32.bf16.bf16.f32"))
K424(tf32_k8_f32, MMA("m16n8k8", "f32.tf32.tf32.f32"))
K214(tf32_k4_f32, MMA("m16n8k4", "f32.tf32.tf32.f32"))
K424(e4m3_k32_f32, MMA("m16n8k32", "f32.e4m3.e4m3.f32"))
K424(e5m2_k32_f32, MMA("m16n8k32", "f32.e5m2.e5m2.f32"))
K424(e4m3_e5m2_k32_f32, MMA("m16n8k32", "f32.e4m3.e5m2.f32"))
K422(e4m3_k32_f16, MMA("m16n8k32", "f16.e4m3.e4m3.f16"))
K422(e5m2_k32_f16, MMA("m16n8k32", "f16.e5m2.e5m2.f16"))
K214(e4m3_k16_f32, MMA("m16n8k16", "f32.e4m3.e4m3.f32"))
K424(s8_k32, MMA("m16n8k32", "s32.s8.s8.s32"))
K424(s8_k32_sat, SAT("m16n8k32", "s32.s8.s8.s32"))
K424(u8_k32, MMA("m16n8k32", "s32.u8.u8.s32"))
K424(u8_s8_k32, MMA("m16n8k32", "s32.u8.s8.s32"))
K424(u8_k32_sat, SAT("m16n8k32", "s32.u8.u8.s32"))
K214(s8_k16, MMA("m16n8k16", "s32.s8.s8.s32"))
K214(s8_k16_sat, SAT("m16n8k16", "s32.s8.s8.s32"))
K112(s8_m8_k16, MMA("m8n8k16", "s32.s8.s8.s32"))
K112(u8_m8_k16_sat, SAT("m8n8k16", "s32.u8.u8.s32"))
K214(s4_k32, MMA("m16n8k32", "s32.s4.s4.s32"))
K214(u4_k32_sat, SAT("m16n8k32", "s32.u4.u4.s32"))
K424(s4_k64, MMA("m16n8k64", "s32.s4.s4.s32"))
K424(u4_s4_k64_sat, SAT("m16n8k64", "s32.u4.s4.s32"))
K112(s4_m8_k32, MMA("m8n8k32", "s32.s4.s4.s32"))
K112(b1_m8_k128_xor, MMA("m8n8k128", "s32.b1.b1.s32.xor.popc"))
K214(b1_k128_and, MMA("m16n8k128", "s32.b1.b1.s32.and.popc"))
K424(b1_k256_xor, MMA("m16n8k256", "s32.b1.b1.s32.xor.popc"))
K424(b1_k256_and, MMA("m16n8k256", "s32.b1.b1.s32.and.popc"))
KERNEL(f64_m8_k4, double, 1, 1, 2, MMA("m8n8k4", "f64.f64.f64.f64") " {%0,%1},{%2},{%3},{%4,%5};",
       DSTORE2, DLOAD1, DLOAD1, DLOAD2)
KERNEL(f64_k4, double, 2, 1, 4,
       MMA("m16n8k4", "f64.f64.f64.f64") " {%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};", DSTORE4,
       DLOAD2, DLOAD1, DLOAD4)
KERNEL(f64_k8, double, 4, 2, 4,
       MMA("m16n8k8", "f64.f64.f64.f64") " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};",
       DSTORE4, DLOAD4, DLOAD2, DLOAD4)
KERNEL(f64_k16, double, 8, 4, 4, MMA("m16n8k16", "f64.f64.f64.f64") " {%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},{%12,%13,%14,%15},{%16,%17,%18,%19};", DSTORE4, DLOAD8, DLOAD4, DLOAD4)
KERNEL(f64_k8_rz, double, 4, 2, 4,
       "mma.sync.aligned.m16n8k8.row.col.rz.f64.f64.f64.f64 "
       "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};",
       DSTORE4, DLOAD4, DLOAD2, DLOAD4)

constexpr Shape k16x8(int k) {
  return {16, 8, k};
}
constexpr Shape k8x8(int k) {
  return {8, 8, k};
}
const Operation kOperations[] = {
    {"f16_k16_f16", k16x8(16), kF16, kF16, kF16, kF16, f16_k16_f16},
    {"f16_k16_f32", k16x8(16), kF16, kF16, kF32, kF32, f16_k16_f32},
    {"f16_k8_f16", k16x8(8), kF16, kF16, kF16, kF16, f16_k8_f16},
    {"f16_k8_f32", k16x8(8), kF16, kF16, kF32, kF32, f16_k8_f32},
    {"bf16_k16_f32", k16x8(16), kBf16, kBf16, kF32, kF32, bf16_k16_f32},
    {"bf16_k8_f32", k16x8(8), kBf16, kBf16, kF32, kF32, bf16_k8_f32},
    {"tf32_k8_f32", k16x8(8), kTf32, kTf32, kF32, kF32, tf32_k8_f32},
    {"tf32_k4_f32", k16x8(4), kTf32, kTf32, kF32, kF32, tf32_k4_f32},
    {"e4m3_k32_f32", k16x8(32), kE4m3, kE4m3, kF32, kF32, e4m3_k32_f32},
    {"e5m2_k32_f32", k16x8(32), kE5m2, kE5m2, kF32, kF32, e5m2_k32_f32},
    {"e4m3_e5m2_k32_f32", k16x8(32), kE4m3, kE5m2, kF32, kF32, e4m3_e5m2_k32_f32},
    {"e4m3_k32_f16", k16x8(32), kE4m3, kE4m3, kF16, kF16, e4m3_k32_f16},
    {"e5m2_k32_f16", k16x8(32), kE5m2, kE5m2, kF16, kF16, e5m2_k32_f16},
    {"e4m3_k16_f32", k16x8(16), kE4m3, kE4m3, kF32, kF32, e4m3_k16_f32},
    {"f64_m8_k4", k8x8(4), kF64, kF64, kF64, kF64, f64_m8_k4},
    {"f64_k4", k16x8(4), kF64, kF64, kF64, kF64, f64_k4},
    {"f64_k8", k16x8(8), kF64, kF64, kF64, kF64, f64_k8},
    {"f64_k16", k16x8(16), kF64, kF64, kF64, kF64, f64_k16},
    {"f64_k8_rz", k16x8(8), kF64, kF64, kF64, kF64, f64_k8_rz},
    {"s8_k32", k16x8(32), kS8, kS8, kS32, kS32, s8_k32},
    {"s8_k32_sat", k16x8(32), kS8, kS8, kS32, kS32, s8_k32_sat},
    {"u8_k32", k16x8(32), kU8, kU8, kS32, kS32, u8_k32},
    {"u8_s8_k32", k16x8(32), kU8, kS8, kS32, kS32, u8_s8_k32},
    {"u8_k32_sat", k16x8(32), kU8, kU8, kS32, kS32, u8_k32_sat},
    {"s8_k16", k16x8(16), kS8, kS8, kS32, kS32, s8_k16},
    {"s8_k16_sat", k16x8(16), kS8, kS8, kS32, kS32, s8_k16_sat},
    {"s8_m8_k16", k8x8(16), kS8, kS8, kS32, kS32, s8_m8_k16},
    {"u8_m8_k16_sat", k8x8(16), kU8, kU8, kS32, kS32, u8_m8_k16_sat},
    {"s4_k32", k16x8(32), kS4, kS4, kS32, kS32, s4_k32},
    {"u4_k32_sat", k16x8(32), kU4, kU4, kS32, kS32, u4_k32_sat},
    {"s4_k64", k16x8(64), kS4, kS4, kS32, kS32, s4_k64},
    {"u4_s4_k64_sat", k16x8(64), kU4, kS4, kS32, kS32, u4_s4_k64_sat},
    {"s4_m8_k32", k8x8(32), kS4, kS4, kS32, kS32, s4_m8_k32},
    {"b1_m8_k128_xor", k8x8(128), kB1, kB1, kS32, kS32, b1_m8_k128_xor},
    {"b1_k128_and", k16x8(128), kB1, kB1, kS32, kS32, b1_k128_and},
    {"b1_k256_xor", k16x8(256), kB1, kB1, kS32, kS32, b1_k256_xor},
    {"b1_k256_and", k16x8(256), kB1, kB1, kS32, kS32, b1_k256_and},
};

const char* class_name(const Operation& op, int kind) {
  constexpr const char* kIntegers[] = {"small", "top", "few", "bottom"};
  return op.a.exponent ? kClasses[kind] : kIntegers[kind];
}

int shown = 0;

// The results of one class: a hash of all, and the diagonal of the first.
void print_class(const Operation& op, int kind, const std::vector<std::vector<u64>>& results,
                 int whole) {
  std::vector<unsigned char> packed;
  for (const auto& d : results) {
    for (const u64 one : d) {
      for (int i = 0; i < op.d.bits / 8; ++i)
        packed.push_back(static_cast<unsigned char>(one >> 8 * i));
    }
  }
  const auto print = [&](u64 one) {
    std::printf(" %0*llx", op.d.bits / 4, static_cast<unsigned long long>(one));
  };
  std::printf("%s %s %016llx", op.name, class_name(op, kind),
              static_cast<unsigned long long>(hash(packed.data(), packed.size())));
  for (int i = 0; i < op.shape.m && i < op.shape.n; ++i) {
    print(results[0][static_cast<std::size_t>(i * op.shape.n + i)]);
  }
  std::printf("\n");
  for (int number = 0; number < whole && number < static_cast<int>(results.size()); ++number) {
    std::printf("= %d", number);
    for (const u64 one : results[static_cast<std::size_t>(number)]) print(one);
    std::printf("\n");
  }
}

Matrices make(const Operation& op, int kind, int number) {
  const int m = op.shape.m, n = op.shape.n, k = op.shape.k;
  Random random{hash(op.name, std::strlen(op.name)) + static_cast<u64>(kind * 1000 + number)};
  Matrices x;
  x.a.resize(static_cast<std::size_t>(m * k));
  x.b.resize(static_cast<std::size_t>(k * n));
  x.c.resize(static_cast<std::size_t>(m * n));
  op.a.exponent ? fill_floats(op, kind, random, x) : fill_integers(op, kind, random, x);
  return x;
}

void multiply(const Operation& op) {
  const int m = op.shape.m, n = op.shape.n, k = op.shape.k;
  const int kinds = op.a.exponent ? kClassCount : 4;
  constexpr int kEach = 24;
  const int bytes_a = m * k * op.a.bits / 8 / 32, bytes_b = k * n * op.b.bits / 8 / 32;
  const int bytes_c = m * n * op.c.bits / 8 / 32;
  const auto sized = [&](int bytes) {
    return std::vector<unsigned char>(static_cast<std::size_t>(bytes * 32));
  };
  void *a, *b, *c, *d;
  const std::size_t count = static_cast<std::size_t>(kinds * kEach);
  cudaMalloc(&a, count * bytes_a * 32), cudaMalloc(&b, count * bytes_b * 32);
  cudaMalloc(&c, count * bytes_c * 32), cudaMalloc(&d, count * bytes_c * 32);
  std::vector<unsigned char> all_a, all_b, all_c;
  for (int kind = 0; kind < kinds; ++kind) {
    for (int number = 0; number < kEach; ++number) {
      const Matrices x = make(op, kind, number);
      auto pa = sized(bytes_a), pb = sized(bytes_b), pc = sized(bytes_c);
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < k; ++j) put(pa, bytes_a, op.a.bits, of_a(op, i, j), x.a[i * k + j]);
      }
      for (int i = 0; i < k; ++i) {
        for (int j = 0; j < n; ++j) put(pb, bytes_b, op.b.bits, of_b(op, i, j), x.b[i * n + j]);
      }
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) put(pc, bytes_c, op.c.bits, of_c(i, j), x.c[i * n + j]);
      }
      all_a.insert(all_a.end(), pa.begin(), pa.end());
      all_b.insert(all_b.end(), pb.begin(), pb.end());
      all_c.insert(all_c.end(), pc.begin(), pc.end());
    }
  }
  cudaMemcpy(a, all_a.data(), all_a.size(), cudaMemcpyDefault);
  cudaMemcpy(b, all_b.data(), all_b.size(), cudaMemcpyDefault);
  cudaMemcpy(c, all_c.data(), all_c.size(), cudaMemcpyDefault);
  cudaMemset(d, 0xee, all_c.size());
  op.kernel<<<static_cast<unsigned>(count), 32>>>(a, b, c, d);
  const cudaError_t status = cudaDeviceSynchronize();
  std::vector<unsigned char> got(all_c.size());
  cudaMemcpy(got.data(), d, got.size(), cudaMemcpyDefault);
  cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(d);
  if (status != cudaSuccess) {
    std::printf("%s: %s\n", op.name, cudaGetErrorName(status));
    return;
  }
  for (int kind = 0; kind < kinds; ++kind) {
    std::vector<std::vector<u64>> results;
    for (int number = 0; number < kEach; ++number) {
      std::vector<u64>& rows = results.emplace_back();
      const unsigned char* from =
          &got[static_cast<std::size_t>((kind * kEach + number) * bytes_c * 32)];
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) rows.push_back(get(from, bytes_c, op.d.bits, of_c(i, j)));
      }
    }
    print_class(op, kind, results, shown);
  }
}

// ---- wmma: the C++ fragments, each with its elements' places, and products ----

template <class T>
__device__ u64 bits_of(T x) {
  u64 bits = 0;
  memcpy(&bits, &x, sizeof x);
  return bits;
}

// Fragment elements of a matrix whose elements are numbered; x[i] of each lane.
template <class Use, int M, int N, int K, class T, class Layout, class Stored>
__global__ void places(const Stored* from, u64* to, int* count, unsigned stride) {
  nvcuda::wmma::fragment<Use, M, N, K, T, Layout> f;
  nvcuda::wmma::load_matrix_sync(f, from, stride);
  for (int i = 0; i < f.num_elements; ++i) to[threadIdx.x * 64 + i] = bits_of(f.x[i]);
  if (threadIdx.x == 0) *count = f.num_elements;
}
template <int M, int N, int K, class T>
__global__ void sum_places(const T* from, u64* to, int* count, T* stored, unsigned stride,
                           nvcuda::wmma::layout_t layout) {
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, M, N, K, T> f;
  nvcuda::wmma::load_matrix_sync(f, from, stride, layout);
  for (int i = 0; i < f.num_elements; ++i) to[threadIdx.x * 64 + i] = bits_of(f.x[i]);
  if (threadIdx.x == 0) *count = f.num_elements;
  nvcuda::wmma::store_matrix_sync(stored, f, stride, layout);
}

template <class T>
T numbered(int i) {
  u64 bits = static_cast<u64>(i + 1);
  if (sizeof(T) == 8) bits = static_cast<u64>(i + 1) << 32;  // no subnormal doubles
  if (sizeof(T) == 1) bits = static_cast<u64>(i % 251);
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

template <class T>
void print_places(const char* what, T* from_host, int size, u64* to, int* count) {
  cudaDeviceSynchronize();
  static u64 places[32 * 64];
  int n = 0;
  cudaMemcpy(places, to, sizeof places, cudaMemcpyDefault);
  cudaMemcpy(&n, count, sizeof n, cudaMemcpyDefault);
  std::printf("places %s %d %s", what, n, cudaGetErrorName(cudaGetLastError()));
  for (int lane = 0; lane < 32; ++lane) {
    std::printf(" ");
    for (int i = 0; i < n; ++i) {
      u64 bits = places[lane * 64 + i];
      if (sizeof(T) == 8) bits >>= 32;
      std::printf("%s%llx", i ? "," : "", static_cast<unsigned long long>(bits));
    }
  }
  std::printf("\n");
  (void)from_host, (void)size;
}

template <class Use, int M, int N, int K, class T, class Layout, class Stored>
void load(const char* what, int stride, int size) {
  std::vector<Stored> host;
  for (int i = 0; i < size; ++i) host.push_back(numbered<Stored>(i));
  Stored* from;
  u64* to;
  int* count;
  cudaMalloc(&from, host.size() * sizeof(Stored)), cudaMalloc(&to, 32 * 64 * 8),
      cudaMalloc(&count, 4);
  cudaMemcpy(from, host.data(), host.size() * sizeof(Stored), cudaMemcpyDefault);
  places<Use, M, N, K, T, Layout><<<1, 32>>>(from, to, count, static_cast<unsigned>(stride));
  print_places(what, host.data(), size, to, count);
  cudaFree(from), cudaFree(to), cudaFree(count);
}

template <int M, int N, int K, class T>
void load_sum(const char* what, nvcuda::wmma::layout_t layout) {
  const int row = layout == nvcuda::wmma::mem_row_major;
  const int stride = (row ? N : M) + 16, size = stride * (row ? M : N);
  std::vector<T> host, back(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) host.push_back(numbered<T>(i));
  T *from, *stored;
  u64* to;
  int* count;
  cudaMalloc(&from, host.size() * sizeof(T)), cudaMalloc(&stored, host.size() * sizeof(T));
  cudaMalloc(&to, 32 * 64 * 8), cudaMalloc(&count, 4);
  cudaMemcpy(from, host.data(), host.size() * sizeof(T), cudaMemcpyDefault);
  cudaMemset(stored, 0, host.size() * sizeof(T));
  sum_places<M, N, K><<<1, 32>>>(from, to, count, stored, static_cast<unsigned>(stride), layout);
  print_places(what, host.data(), size, to, count);
  cudaMemcpy(back.data(), stored, host.size() * sizeof(T), cudaMemcpyDefault);
  std::printf("stored %s %016llx\n", what,
              static_cast<unsigned long long>(hash(back.data(), back.size() * sizeof(T))));
  cudaFree(from), cudaFree(stored), cudaFree(to), cudaFree(count);
}

template <int M, int N, int K, class T, class Stored, class S>
void loads(const char* type, const char* sum) {
  using namespace nvcuda::wmma;
  char what[100];
  const auto name = [&](const char* use, const char* layout) {
    std::snprintf(what, sizeof what, "m%dn%dk%d.%s.%s.%s", M, N, K, use, layout, type);
    return what;
  };
  load<matrix_a, M, N, K, T, row_major, Stored>(name("a", "row"), K + 16, (K + 16) * M);
  load<matrix_a, M, N, K, T, col_major, Stored>(name("a", "col"), M + 16, (M + 16) * K);
  load<matrix_b, M, N, K, T, row_major, Stored>(name("b", "row"), N + 16, (N + 16) * K);
  load<matrix_b, M, N, K, T, col_major, Stored>(name("b", "col"), K + 16, (K + 16) * N);
  std::snprintf(what, sizeof what, "m%dn%dk%d.c.row.%s", M, N, K, sum);
  load_sum<M, N, K, S>(what, mem_row_major);
  std::snprintf(what, sizeof what, "m%dn%dk%d.c.col.%s", M, N, K, sum);
  load_sum<M, N, K, S>(what, mem_col_major);
}

template <int M, int N, int K, class T, class Stored, class S, class LA, class LB, bool Sat>
__global__ void product(const void* a, const void* b, const void* c, void* d) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, M, N, K, T, LA> fa;
  fragment<matrix_b, M, N, K, T, LB> fb;
  fragment<accumulator, M, N, K, S> fc, fd;
  const bool row_a = std::is_same<LA, row_major>::value, row_b = std::is_same<LB, row_major>::value;
  load_matrix_sync(fa, static_cast<const Stored*>(a) + blockIdx.x * M * K, row_a ? K : M);
  load_matrix_sync(fb, static_cast<const Stored*>(b) + blockIdx.x * K * N, row_b ? N : K);
  load_matrix_sync(fc, static_cast<const S*>(c) + blockIdx.x * M * N, N, mem_row_major);
  if constexpr (Sat)
    mma_sync(fd, fa, fb, fc, true);
  else
    mma_sync(fd, fa, fb, fc);
  store_matrix_sync(static_cast<S*>(d) + blockIdx.x * M * N, fd, N, mem_row_major);
}

// A and B lie as rows in memory or as columns: the same bytes, read as what the layout says.
void multiply_whole(const Operation& op) {
  const int m = op.shape.m, n = op.shape.n;
  const int kinds = op.a.exponent ? kClassCount : 4;
  constexpr int kEach = 6;
  const std::size_t count = static_cast<std::size_t>(kinds * kEach);
  std::vector<unsigned char> all[3];
  for (int kind = 0; kind < kinds; ++kind) {
    for (int number = 0; number < kEach; ++number) {
      const Matrices x = make(op, kind, number);
      const auto append = [](std::vector<unsigned char>& to, const std::vector<u64>& from,
                             int bits) {
        for (const u64 one : from) {
          for (int i = 0; i < bits / 8; ++i) to.push_back(static_cast<unsigned char>(one >> 8 * i));
        }
      };
      append(all[0], x.a, op.a.bits), append(all[1], x.b, op.b.bits),
          append(all[2], x.c, op.c.bits);
    }
  }
  void *at[3], *d;
  for (int i = 0; i < 3; ++i) {
    cudaMalloc(&at[i], all[i].size());
    cudaMemcpy(at[i], all[i].data(), all[i].size(), cudaMemcpyDefault);
  }
  cudaMalloc(&d, all[2].size());
  op.kernel<<<static_cast<unsigned>(count), 32>>>(at[0], at[1], at[2], d);
  const cudaError_t status = cudaDeviceSynchronize();
  std::vector<unsigned char> got(all[2].size());
  cudaMemcpy(got.data(), d, got.size(), cudaMemcpyDefault);
  for (void* one : at) cudaFree(one);
  cudaFree(d);
  if (status != cudaSuccess) std::printf("%s: %s\n", op.name, cudaGetErrorName(status));
  const int bytes = op.d.bits / 8;
  for (int kind = 0; kind < kinds; ++kind) {
    std::vector<std::vector<u64>> results;
    for (int i = 0; i < kEach; ++i) {
      std::vector<u64>& rows = results.emplace_back();
      for (int j = 0; j < m * n; ++j) {
        const int at = ((kind * kEach + i) * m * n + j) * bytes;
        u64 one = 0;
        std::memcpy(&one, &got[static_cast<std::size_t>(at)], static_cast<std::size_t>(bytes));
        rows.push_back(one);
      }
    }
    print_class(op, kind, results, shown > 0 ? 1 : 0);
  }
}

template <int M, int N, int K, class T, class Stored, class S, bool Sat = false>
void products(const char* type, const Format& f, const Format& s) {
  using namespace nvcuda::wmma;
  char name[100];
  const auto one = [&](const char* layout, auto kernel) {
    std::snprintf(name, sizeof name, "wmma_m%dn%dk%d_%s_%s_%s%s", M, N, K, layout, type, s.name,
                  Sat ? "_sat" : "");
    multiply_whole({name, {M, N, K}, f, f, s, s, kernel});
  };
  one("row_col", product<M, N, K, T, Stored, S, row_major, col_major, Sat>);
  one("col_row", product<M, N, K, T, Stored, S, col_major, row_major, Sat>);
  one("row_row", product<M, N, K, T, Stored, S, row_major, row_major, Sat>);
}

template <int M, int N, int K>
void narrow() {
  using signed8 = signed char;
  using unsigned8 = unsigned char;
  loads<M, N, K, __half, __half, __half>("f16", "f16");
  loads<M, N, K, __nv_bfloat16, __nv_bfloat16, float>("bf16", "f32");
  loads<M, N, K, signed8, signed8, int>("s8", "s32");
  loads<M, N, K, unsigned8, unsigned8, int>("u8", "s32");
  products<M, N, K, __half, __half, __half>("f16", kF16, kF16);
  products<M, N, K, __half, __half, float>("f16", kF16, kF32);
  products<M, N, K, __nv_bfloat16, __nv_bfloat16, float>("bf16", kBf16, kF32);
  products<M, N, K, signed8, signed8, int>("s8", kS8, kS32);
  products<M, N, K, unsigned8, unsigned8, int, true>("u8", kU8, kS32);
}

// ---- ldmatrix, stmatrix, movmatrix ----

#define LDMATRIX(NAME, N, TEXT, OUT)                                                               \
  __global__ void NAME(unsigned* to, const unsigned short* rows) {                                 \
    __shared__ alignas(16) unsigned short tile[64 * 8];                                            \
    for (int i = threadIdx.x; i < 64 * 8; i += 32) tile[i] = static_cast<unsigned short>(i);       \
    __syncthreads();                                                                               \
    unsigned d[N];                                                                                 \
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile + rows[threadIdx.x] * 8)); \
    asm volatile(TEXT : OUT(d) : "r"(at) : "memory");                                              \
    for (int i = 0; i < N; ++i) to[threadIdx.x * N + i] = d[i];                                    \
  }
#define STORE1(x) "=r"(x[0])
LDMATRIX(ld1, 1, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0},[%1];", STORE1)
LDMATRIX(ld2, 2, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1},[%2];", STORE2)
LDMATRIX(ld4, 4, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];", STORE4)
LDMATRIX(ld1t, 1, "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0},[%1];", STORE1)
LDMATRIX(ld2t, 2, "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2];", STORE2)
LDMATRIX(ld4t, 4, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];", STORE4)

#define STMATRIX(NAME, N, TEXT, IN)                                                                \
  __global__ void NAME(unsigned* to, const unsigned short* rows) {                                 \
    __shared__ alignas(16) unsigned short tile[64 * 8];                                            \
    for (int i = threadIdx.x; i < 64 * 8; i += 32) tile[i] = 0xeeee;                               \
    __syncthreads();                                                                               \
    unsigned d[N];                                                                                 \
    for (int i = 0; i < N; ++i) {                                                                  \
      const unsigned v = (threadIdx.x * N + i) * 2;                                                \
      d[i] = v | (v + 1) << 16;                                                                    \
    }                                                                                              \
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile + rows[threadIdx.x] * 8)); \
    asm volatile(TEXT : : "r"(at), IN(d) : "memory");                                              \
    __syncthreads();                                                                               \
    for (int i = threadIdx.x; i < 64 * 4; i += 32) to[i] = reinterpret_cast<unsigned*>(tile)[i];   \
  }
STMATRIX(st1, 1, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0],{%1};", LOAD1)
STMATRIX(st2, 2, "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0],{%1,%2};", LOAD2)
STMATRIX(st4, 4, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0],{%1,%2,%3,%4};", LOAD4)
STMATRIX(st1t, 1, "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0],{%1};", LOAD1)
STMATRIX(st2t, 2, "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0],{%1,%2};", LOAD2)
STMATRIX(st4t, 4, "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0],{%1,%2,%3,%4};", LOAD4)

__global__ void move(unsigned* to, const unsigned short*) {
  const unsigned v = threadIdx.x * 2 | (threadIdx.x * 2 + 1) << 16;
  unsigned d;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(v));
  to[threadIdx.x] = d;
}

void shuffle(const char* name, void (*kernel)(unsigned*, const unsigned short*), int words) {
  unsigned* to;
  unsigned short* rows;
  cudaMalloc(&to, 1024), cudaMalloc(&rows, 64);
  for (int round = 0; round < 3; ++round) {
    Random random{hash(name, std::strlen(name)) + static_cast<u64>(round)};
    unsigned short host[32];
    unsigned got[256];
    for (int i = 0; i < 32; ++i) {
      // In order; then all rows of 64 shuffled, each once, by a step that shares no factor with 64.
      host[i] = static_cast<unsigned short>(
          round == 0 ? i : (i * (2 * round + 9) + random.below(1) + 5) % 64);
    }
    cudaMemcpy(rows, host, sizeof host, cudaMemcpyDefault);
    kernel<<<1, 32>>>(to, rows);
    const cudaError_t status = cudaMemcpy(got, to, sizeof got, cudaMemcpyDefault);
    std::printf("%s %d %s", name, round, cudaGetErrorName(status));
    for (int i = 0; i < words; ++i) std::printf(" %x", got[i]);
    std::printf("\n");
    if (name[0] == 'm') break;
  }
  cudaFree(to), cudaFree(rows);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) shown = std::atoi(argv[1]);
  shuffle("ldmatrix.x1", ld1, 32), shuffle("ldmatrix.x2", ld2, 64),
      shuffle("ldmatrix.x4", ld4, 128);
  shuffle("ldmatrix.x1.trans", ld1t, 32), shuffle("ldmatrix.x2.trans", ld2t, 64);
  shuffle("ldmatrix.x4.trans", ld4t, 128);
  shuffle("stmatrix.x1", st1, 256), shuffle("stmatrix.x2", st2, 256),
      shuffle("stmatrix.x4", st4, 256);
  shuffle("stmatrix.x1.trans", st1t, 256), shuffle("stmatrix.x2.trans", st2t, 256);
  shuffle("stmatrix.x4.trans", st4t, 256);
  shuffle("movmatrix", move, 32);
  for (const Operation& op : kOperations) multiply(op);
  narrow<16, 16, 16>();
  narrow<32, 8, 16>();
  narrow<8, 32, 16>();
  loads<16, 16, 8, nvcuda::wmma::precision::tf32, float, float>("tf32", "f32");
  products<16, 16, 8, nvcuda::wmma::precision::tf32, float, float>("tf32", kTf32, kF32);
  loads<8, 8, 4, double, double, double>("f64", "f64");
  products<8, 8, 4, double, double, double>("f64", kF64, kF64);
}
