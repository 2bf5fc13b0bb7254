// mma and wmma. A lane holds the same elements of a matrix in both: those of PTX's mma, which wmma
// leaves open, are also where an H200 has wmma's.
#include <array>
#include <cstring>

#include "isa/matrix.hpp"
#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "isa/tensor_core.hpp"
#include "machine/access.hpp"
#include "machine/block.hpp"

namespace emu {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

enum class Use : std::uint8_t { kA, kB, kSum };

/// One matrix, as the lanes of a warp hold it.
struct Fragment {
  Use use = Use::kA;
  bool transposed = false;  ///< of a product of 8 × 32, which is made as one of 32 × 8
  std::uint8_t bits = 16;   ///< of an element
  std::uint8_t registers = 0;
  std::uint8_t m = 0, n = 0;
  std::uint16_t k = 0;

  unsigned columns() const { return use == Use::kA ? k : n; }
  unsigned rows() const { return use == Use::kB ? k : m; }
  unsigned each() const { return bits >= 32 ? 1 : 32u / bits; }  ///< elements of a register
  unsigned elements() const { return rows() * columns() / kLanes; }
  unsigned needed() const { return elements() / each(); }  ///< registers; beyond, they repeat
};

struct Place {
  unsigned row, column;
};

Place place_in_a(unsigned m, unsigned k, unsigned each, unsigned lane, unsigned element) {
  const unsigned eights = std::min(m, 16u) / 8, parts = k / (4 * each);
  const unsigned reg = element / each, in = reg % (eights * parts);
  return {reg / (eights * parts) * 16 + in % eights * 8 + lane / 4,
          (in / eights * 4 + lane % 4) * each + element % each};
}
Place place_in_b(unsigned k, unsigned each, unsigned lane, unsigned element) {
  const unsigned parts = k / (4 * each), reg = element / each;
  return {(reg % parts * 4 + lane % 4) * each + element % each, reg / parts * 8 + lane / 4};
}
Place place_in_sum(unsigned m, unsigned n, unsigned lane, unsigned element) {
  const unsigned size = std::min(m, 16u) / 4, block = element / size, in = element % size;
  return {block / (n / 8) * 16 + in / 2 * 8 + lane / 4,
          block % (n / 8) * 8 + lane % 4 * 2 + in % 2};
}

Place place_of(const Fragment& f, unsigned lane, unsigned element) {
  const auto flipped = [](Place p) { return Place{p.column, p.row}; };
  if (f.use == Use::kSum) {
    return f.transposed ? flipped(place_in_sum(f.n, f.m, lane, element))
                        : place_in_sum(f.m, f.n, lane, element);
  }
  const unsigned each = f.each();
  if ((f.use == Use::kA) != f.transposed) {
    const Place p = place_in_a(f.transposed ? f.n : f.m, f.k, each, lane, element);
    return f.transposed ? flipped(p) : p;
  }
  const Place p = place_in_b(f.k, each, lane, element);
  return f.transposed ? flipped(p) : p;
}

// --- products -------------------------------------------------------------------------------

/// The registers of D, A, B and C are in Code::lists.
struct Multiplication {
  using Head = Together;
  Together together = {};
  U32 list = 0;
  Product product = {};
};
static_assert(sizeof(Multiplication) <= 24);

Fragment fragment_of(const Product& p, Use use, bool repeats) {
  Fragment f;
  f.use = use;
  f.m = p.m;
  f.n = p.n;
  f.k = p.k;
  f.transposed = p.m == 8 && p.n == 32;
  f.bits = static_cast<std::uint8_t>(bits_of(use == Use::kSum ? p.sum
                                             : use == Use::kA ? p.a
                                                              : p.b));
  // wmma's A and B of halves have 8 registers, whatever they need.
  f.registers = static_cast<std::uint8_t>(repeats ? 8 : f.needed());
  return f;
}

U64 element_of(Warp& warp, const U32* slots, const Fragment& f, unsigned lane, unsigned element) {
  const Slot slot = slots[element / f.each()];
  if (f.bits == 64) return warp.lanes<U64>(slot)[lane];
  const U32 word = warp.lanes<U32>(slot)[lane];
  if (f.bits == 32) return word;
  return word >> element % f.each() * f.bits & ((1u << f.bits) - 1);
}

void put_element(Warp& warp, const U32* slots, const Fragment& f, unsigned lane, unsigned element,
                 U64 value) {
  const Slot slot = slots[element / f.each()];
  if (f.bits == 64) {
    warp.lanes<U64>(slot)[lane] = value;
    return;
  }
  U32& word = warp.lanes<U32>(slot)[lane];
  const unsigned shift = element % f.each() * f.bits;
  const U32 mask = (f.bits == 32 ? ~U32{0} : (1u << f.bits) - 1) << shift;
  word = (word & ~mask) | (static_cast<U32>(value) << shift & mask);
}

/// f(lane, element, place by rows)
template <class F>
void for_each_element(const Fragment& f, F visit) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned e = 0; e < f.elements(); ++e) {
      const Place p = place_of(f, lane, e);
      visit(lane, e, p.row * f.columns() + p.column);
    }
  }
}

/// Repeats: A and B of wmma with halves have more registers than they need.
template <bool Repeats>
void run_product(Warp& warp, const Op& op, Mask mask) {
  whole_warp(warp, op, mask);
  const auto& how = op.as<Multiplication>();
  const Product& p = how.product;
  const Fragment a = fragment_of(p, Use::kA, Repeats), b = fragment_of(p, Use::kB, Repeats),
                 sum = fragment_of(p, Use::kSum, false);
  const U32* const d_slots = warp.code().lists.data() + how.list;
  const U32* const a_slots = d_slots + sum.registers;
  const U32* const b_slots = a_slots + a.registers;
  const U32* const c_slots = b_slots + b.registers;
  std::array<U64, 1024> ma, mb;
  std::array<U64, 256> mc, md;
  const auto gather = [&](const Fragment& f, const U32* slots, U64* to) {
    for_each_element(f, [&](unsigned lane, unsigned e, unsigned at) {
      to[at] = element_of(warp, slots, f, lane, e);
    });
  };
  gather(a, a_slots, ma.data());
  gather(b, b_slots, mb.data());
  gather(sum, c_slots, mc.data());
  multiply(p, ma.data(), mb.data(), mc.data(), md.data());
  for_each_element(sum, [&](unsigned lane, unsigned e, unsigned at) {
    put_element(warp, d_slots, sum, lane, e, md[at]);
  });
}

struct Shape {
  const char* name;
  std::uint8_t m, n;
  std::uint16_t k;
};
constexpr Shape kShapes[] = {
    {"m16n8k4", 16, 8, 4},     {"m16n8k8", 16, 8, 8},   {"m16n8k16", 16, 8, 16},
    {"m16n8k32", 16, 8, 32},   {"m16n8k64", 16, 8, 64}, {"m16n8k128", 16, 8, 128},
    {"m16n8k256", 16, 8, 256}, {"m8n8k4", 8, 8, 4},     {"m8n8k16", 8, 8, 16},
    {"m8n8k32", 8, 8, 32},     {"m8n8k128", 8, 8, 128}, {"m16n16k16", 16, 16, 16},
    {"m32n8k16", 32, 8, 16},   {"m8n32k16", 8, 32, 16}, {"m16n16k8", 16, 16, 8}};

void take_shape(Builder& b, Product& p) {
  for (const Shape& s : kShapes) {
    if (!b.take(s.name)) continue;
    p.m = s.m;
    p.n = s.n;
    p.k = s.k;
    return;
  }
  b.unsupported("this shape");
}

/// The types that are named, in their order.
std::vector<Number> take_numbers(Builder& b) {
  std::vector<Number> numbers;
  for (const std::string_view m : b.in().modifiers) {
    if (const auto number = number_named(m); number && b.take(m)) numbers.push_back(*number);
  }
  return numbers;
}

/// Whether a product was compared with hardware, and how much of k it adds at once there.
bool known(Product& p, bool is_wmma) {
  const bool tall = p.m == 16 && p.n == 8, square = p.m == 8 && p.n == 8;
  const bool wide = is_wmma && !tall && !square && p.k == 16;
  p.step = static_cast<std::uint8_t>(std::min<unsigned>(p.k, 255));
  const bool same = p.a == p.b;
  switch (p.a) {
    case Number::kF16:
      return same && (wide || (!is_wmma && tall && (p.k == 8 || p.k == 16))) &&
             (p.sum == Number::kF16 || p.sum == Number::kF32);
    case Number::kBf16:
      return same && (wide || (!is_wmma && tall && (p.k == 8 || p.k == 16))) &&
             p.sum == Number::kF32;
    case Number::kTf32:
      if (is_wmma) p.step = 4;
      return same && p.sum == Number::kF32 &&
             (is_wmma ? p.m == 16 && p.n == 16 && p.k == 8 : tall && (p.k == 4 || p.k == 8));
    case Number::kE4m3:
    case Number::kE5m2:
      if (is_wmma || !tall || (p.b != Number::kE4m3 && p.b != Number::kE5m2)) return false;
      if (p.sum == Number::kF32) return p.k == 32 || (p.k == 16 && same && p.a == Number::kE4m3);
      return p.sum == Number::kF16 && p.k == 32 && same;
    case Number::kF64:
      if (!same || p.sum != Number::kF64) return false;
      if (p.rounding == Rounding::kZero) return !is_wmma && tall && p.k == 8;
      return p.rounding == Rounding::kNearest &&
             ((square && p.k == 4) || (!is_wmma && tall && p.k <= 16));
    case Number::kS8:
    case Number::kU8: {
      const bool bytes = p.b == Number::kS8 || p.b == Number::kU8;
      if (is_wmma) return same && wide && p.sum == Number::kS32;
      return bytes && p.sum == Number::kS32 &&
             ((tall && (p.k == 16 || p.k == 32)) || (square && p.k == 16));
    }
    case Number::kS4:
    case Number::kU4:
      return !is_wmma && (p.b == Number::kS4 || p.b == Number::kU4) && p.sum == Number::kS32 &&
             ((tall && (p.k == 32 || p.k == 64)) || (square && p.k == 32));
    case Number::kB1:
      if (is_wmma || !same || p.sum != Number::kS32 || p.saturates) return false;
      if ((!tall || p.k < 128) && (!square || p.k != 128)) return false;
      p.k /= 32;
      return true;
    default: return false;
  }
}

void build_product(Builder& b, bool is_wmma) {
  const auto layout = [&] { return b.take("row") ? 'r' : b.take("col") ? 'c' : ' '; };
  if (!b.take("sync") || !b.take("aligned")) b.unsupported("this form");
  Product p;
  take_shape(b, p);
  if (is_wmma) {
    // Either layout: the registers hold the same.
    if (layout() == ' ' || layout() == ' ') b.unsupported("this layout");
  } else if (!b.take("row") || !b.take("col")) {
    b.unsupported("this layout");
  }
  p.saturates = b.take("satfinite");
  if (b.take("rz")) p.rounding = Rounding::kZero;
  if (b.take("rm")) p.rounding = Rounding::kDown;
  if (b.take("rp")) p.rounding = Rounding::kUp;
  b.take("rn");
  const std::vector<Number> types = take_numbers(b);
  const bool halves = is_wmma && types.size() == 2;  // of D and C alone
  if (!halves && types.size() != 4) b.unsupported("these types");
  p.a = halves ? Number::kF16 : types[1];
  p.b = halves ? Number::kF16 : types[2];
  p.sum = types.front();
  if (types.front() != types.back()) b.unsupported("C and D of two types");
  if (p.saturates && !is_whole(p.a)) b.unsupported(".satfinite");
  if (p.a == Number::kB1) {
    p.exclusive = b.take("xor");
    if ((!p.exclusive && !b.take("and")) || !b.take("popc")) b.unsupported("this form");
  }
  b.finish();
  if (!known(p, is_wmma)) b.unsupported("these types in this shape");
  b.expect_operands(4, 4);
  const Fragment fa = fragment_of(p, Use::kA, halves), fb = fragment_of(p, Use::kB, halves),
                 sum = fragment_of(p, Use::kSum, false);
  const auto width_of = [](const Fragment& f) { return f.bits == 64 ? 64u : 32u; };
  const auto registers = [&](std::size_t i, const Fragment& f, bool results) {
    return registers_of(b, i, width_of(f), f.registers, results);
  };
  std::vector<U32> all = registers(0, sum, true);
  const auto append = [&](const std::vector<U32>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  append(registers(1, fa, false));
  append(registers(2, fb, false));
  append(registers(3, sum, false));
  const Slot member = b.constant(32, kAllLanes);
  const U32 list = b.list(all);
  Op& op = b.emit(halves ? &run_product<true> : &run_product<false>);
  op.control = Control::kTogether;
  op.put(Multiplication{.together = {.member = member}, .list = list, .product = p});
}

// --- wmma.load and wmma.store -----------------------------------------------------------------

/// The access is in the operation that follows, which does nothing: its register a gets each lane's
/// address. a: the matrix's address; b: elements from one row or column to the next.
struct Movement {
  using Head = Together;
  Together together = {};
  U32 list = 0;
  Fragment fragment = {};
  bool by_columns = false;
  std::uint8_t space = 0;
};
static_assert(sizeof(Movement) <= 24);
struct Element {
  using Head = MemoryOperand;
  MemoryOperand at = {};
  bool narrow = false;  ///< the matrix's address has 32 bits
};
void nothing(Warp&, const Op&, Mask) {}

/// How a warp reaches its elements, as an H200's machine code does: together where they are
/// neighbours in memory. Halves that are neighbours the other way round are moved as if transposed,
/// and change lanes.
struct Way {
  unsigned together = 1;  ///< elements in one access
  bool crosswise = false;
};

struct Reach {
  Warp& warp;
  const Op& op;
  const Movement& how;
  const Fragment& f;
  const Op& memory = *(&op + 1);
  U64 offset(unsigned lane, unsigned element) const {
    const Place p = place_of(f, lane, element);
    const U64 stride = warp.lanes<U32>(op.b)[lane];
    return (how.by_columns ? p.row + p.column * stride : p.row * stride + p.column) * (f.bits / 8u);
  }
  Way way() const {
    const unsigned side = f.use == Use::kSum ? 2 : f.each();  // how many are neighbours, if any are
    if (side == 1) return {};
    if (offset(0, 1) - offset(0, 0) == f.bits / 8u) return {side, false};
    return f.bits == 16 ? Way{2, true} : Way{};
  }
  /// Writes each lane's address of an element into the register of the access.
  void aim(unsigned element, bool crosswise) const {
    auto* to = warp.lanes<U64>(memory.a);
    const bool narrow = memory.as<Element>().narrow;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const U64 base = narrow ? warp.lanes<U32>(op.a)[lane] : warp.lanes<U64>(op.a)[lane];
      to[lane] = base + (crosswise ? offset(crossing(lane), element + lane / 4 % 2)
                                   : offset(lane, element));
    }
  }
  /// Lane 4g + t of a tile holds places (g, 2t) and (g, 2t + 1). Whose place is (2t, g)?
  static unsigned crossing(unsigned lane) { return lane % 4 * 8 + lane / 8; }
};

std::byte* found_at(const Located& found, unsigned lane, unsigned bytes) {
  return found.run ? found.run + std::size_t{lane} * bytes : found.at[lane];
}

template <bool Loads>
void move_fragment(Warp& warp, const Op& op, Mask mask) {
  whole_warp(warp, op, mask);
  const auto& how = op.as<Movement>();
  const Fragment f = how.fragment;
  const Reach reach{warp, op, how, f};
  const U32* const slots = warp.code().lists.data() + how.list;
  const Way way = reach.way();
  const unsigned bytes = f.bits / 8u, size = bytes * way.together;
  const auto space = static_cast<Space>(how.space);
  std::vector<U64> values(std::size_t{kLanes} * f.elements());
  const auto value = [&](unsigned lane, unsigned e) -> U64& {
    return values[lane * f.elements() + e];
  };
  if (!Loads) {
    for_each_element(f, [&](unsigned lane, unsigned e, unsigned) {
      value(lane, e) = element_of(warp, slots, f, lane, e);
    });
  }
  for (unsigned e = 0; e < f.elements(); e += way.together) {
    reach.aim(e, way.crosswise);
    // Whose element is the one that `lane` reaches as number i of its access?
    const auto element = [&](unsigned lane, unsigned i) -> U64& {
      if (!way.crosswise) return value(lane, e + i);
      return value(Reach::crossing(lane) + 4 * i, e + lane / 4 % 2);
    };
    Located found;
    locate(warp, reach.memory, mask, space, Loads ? Direction::kLoad : Direction::kStore, size,
           found);
    for_each_lane(mask, [&](unsigned lane) {
      std::byte* const at = found_at(found, lane, size);
      for (unsigned i = 0; i < way.together; ++i) {
        if (Loads) {
          std::memcpy(&element(lane, i), at + std::size_t{i} * bytes, bytes);
        } else {
          std::memcpy(at + std::size_t{i} * bytes, &element(lane, i), bytes);
        }
      }
    });
  }
  if (!Loads) return;
  for_each_element(f, [&](unsigned lane, unsigned e, unsigned) {
    for (unsigned first = 0; first < f.registers; first += f.needed()) {
      put_element(warp, slots + first, f, lane, e, value(lane, e));
    }
  });
}

void build_movement(Builder& b, bool loads) {
  Product p;
  Movement how;
  Use use = Use::kSum;
  if (loads) {
    use = b.take("a") ? Use::kA : b.take("b") ? Use::kB : Use::kSum;
    if (use == Use::kSum && !b.take("c")) b.unsupported("this matrix");
  } else if (!b.take("d")) {
    b.unsupported("this matrix");
  }
  if (!b.take("sync") || !b.take("aligned")) b.unsupported("this form");
  how.by_columns = b.take("col");
  if (!how.by_columns && !b.take("row")) b.unsupported("this layout");
  take_shape(b, p);
  const Space space = b.take("global")                      ? Space::kGlobal
                      : b.take_any("shared", "shared::cta") ? Space::kShared
                                                            : Space::kGeneric;
  how.space = static_cast<std::uint8_t>(space);
  const std::vector<Number> types = take_numbers(b);
  b.finish();
  if (types.size() != 1) b.unsupported("these types");
  const Number type = types.front();
  p.a = p.b = p.sum = type;
  // The shapes of the types whose products there are.
  Product whole = p;
  if (use == Use::kSum) {
    whole.a = whole.b = type == Number::kS32               ? Number::kS8
                        : type == Number::kF64             ? Number::kF64
                        : type == Number::kF32 && p.k == 8 ? Number::kTf32
                                                           : Number::kF16;
  } else {
    whole.sum = is_whole(type) ? Number::kS32 : type == Number::kF64 ? Number::kF64 : Number::kF32;
  }
  if (!known(whole, true)) b.unsupported("this type in this shape");
  how.fragment = fragment_of(p, use, use != Use::kSum && type == Number::kF16);
  const Fragment& f = how.fragment;
  b.expect_operands(2, 3);
  const std::size_t registers = loads ? 0 : 1, place = loads ? 1 : 0;
  how.list = b.list(registers_of(b, registers, f.bits == 64 ? 64 : 32, f.registers, loads));
  const AddressOperand address = b.address(place);
  const unsigned stride = how.by_columns ? f.rows() : f.columns();
  const Slot step = b.operands() == 3 ? b.source(2, 32) : b.constant(32, stride);
  how.together.member = b.constant(32, kAllLanes);
  const Slot aimed = b.trash(64);
  const MemoryOperand at = b.access({aimed, address.displacement, false});
  Op& op = b.emit(loads ? &move_fragment<true> : &move_fragment<false>);
  op.control = Control::kTogether;
  op.a = address.base;
  op.b = step;
  op.put(how);
  Op& access = b.emit(&nothing);
  access.counted = false;
  access.a = aimed;
  access.put(Element{at, address.narrow});
}

void build_wmma(Builder& b) {
  if (b.take("mma")) return build_product(b, true);
  if (b.take("load")) return build_movement(b, true);
  if (b.take("store")) return build_movement(b, false);
  b.unsupported("this form");
}

constexpr Row kRows[] = {
    {"mma", [](Builder& b) { build_product(b, false); }, {.parts = Traits::Parts::kSharedLoads}},
    {"wmma", build_wmma, {.parts = Traits::Parts::kSharedLoads}},
};

}  // namespace

std::span<const Row> matrix_rows() {
  return kRows;
}

}  // namespace emu
