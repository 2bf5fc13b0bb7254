// ldmatrix, stmatrix and movmatrix: matrices of 8 × 8 elements of 16 bits, of which each lane holds
// two neighbours of a row.
#include <array>
#include <cstring>

#include "isa/matrix.hpp"
#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "machine/access.hpp"
#include "machine/block.hpp"

namespace emu {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
constexpr unsigned kSide = 8, kRowBytes = 2 * kSide;
using Square = std::array<std::array<U16, kSide>, kSide>;

/// The lanes of a matrix: 8 hold the addresses of its rows.
Mask lanes_of(unsigned matrix) {
  return Mask{0xff} << matrix * kSide;
}

void put_square(Warp& warp, Slot slot, const Square& square, bool transposed) {
  auto* d = warp.lanes<U32>(slot);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned r = lane / 4, c = lane % 4 * 2;
    const U16 low = transposed ? square[c][r] : square[r][c];
    const U16 high = transposed ? square[c + 1][r] : square[r][c + 1];
    d[lane] = low | U32{high} << 16;
  }
}

Square square_of(Warp& warp, Slot slot, bool transposed) {
  Square square;
  const auto* from = warp.lanes<U32>(slot);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned r = lane / 4, c = lane % 4 * 2;
    (transposed ? square[c][r] : square[r][c]) = static_cast<U16>(from[lane]);
    (transposed ? square[c + 1][r] : square[r][c + 1]) = static_cast<U16>(from[lane] >> 16);
  }
  return square;
}

/// The addresses are in the operation that follows, which does nothing.
struct Matrices {
  using Head = Together;
  Together together = {};
  U32 list = 0;  ///< a register for each
  std::uint8_t count = 1;
  bool transposed = false;
  bool shared = false;  ///< not a generic address
};
struct RowAddress {
  using Head = MemoryOperand;
  MemoryOperand at = {};
};
const Op& rows_of(const Op& op) {
  return *(&op + 1);
}
Space space_of(const Matrices& all) {
  return all.shared ? Space::kShared : Space::kGeneric;
}
void nothing(Warp&, const Op&, Mask) {}

void load(Warp& warp, const Op& op, Mask mask) {
  whole_warp(warp, op, mask);
  const auto& all = op.as<Matrices>();
  std::array<Square, 4> squares;
  for (unsigned k = 0; k < all.count; ++k) {
    Located found;
    locate(warp, rows_of(op), lanes_of(k), space_of(all), Direction::kLoad, kRowBytes, found);
    for (unsigned r = 0; r < kSide; ++r) {
      const unsigned lane = k * kSide + r;
      std::memcpy(squares[k][r].data(),
                  found.run ? found.run + std::size_t{lane} * kRowBytes : found.at[lane],
                  kRowBytes);
    }
  }
  // An address may lie in a register that gets a result.
  const U32* slots = warp.code().lists.data() + all.list;
  for (unsigned k = 0; k < all.count; ++k) {
    put_square(warp, slots[k], squares[k], all.transposed);
  }
}

void gather(Warp& warp, const Op& rows, Mask mask, std::byte* out) {
  const Op& op = *(&rows - 1);
  const auto& all = op.as<Matrices>();
  for (unsigned k = 0; k < all.count; ++k) {
    if (!(mask & lanes_of(k))) continue;
    const Square square = square_of(warp, warp.code().lists[all.list + k], all.transposed);
    std::memcpy(out + std::size_t{k} * kSide * kRowBytes, square.data(), sizeof square);
  }
}

void store(Warp& warp, const Op& op, Mask mask) {
  whole_warp(warp, op, mask);
  const auto& all = op.as<Matrices>();
  for (unsigned k = 0; k < all.count; ++k) {
    Located found;
    locate(warp, rows_of(op), lanes_of(k), space_of(all), Direction::kStore, kRowBytes, found,
           &gather);
    const Square square = square_of(warp, warp.code().lists[all.list + k], all.transposed);
    for (unsigned r = 0; r < kSide; ++r) {
      const unsigned lane = k * kSide + r;
      std::memcpy(found.run ? found.run + std::size_t{lane} * kRowBytes : found.at[lane],
                  square[r].data(), kRowBytes);
    }
  }
}

void build_access(Builder& b, bool loads) {
  if (!b.take("sync") || !b.take("aligned") || !b.take("m8n8")) b.unsupported("this shape");
  Matrices all;
  all.count = b.take("x1") ? 1 : b.take("x2") ? 2 : b.take("x4") ? 4 : 0;
  if (all.count == 0) b.unsupported("this number of matrices");
  all.transposed = b.take("trans");
  all.shared = b.take_any("shared", "shared::cta");
  if (b.take_type() != Type::kB16) b.unsupported("this type");
  b.finish();
  b.expect_operands(2, 2);
  all.together.member = b.constant(32, kAllLanes);
  all.list = b.list(registers_of(b, loads ? 0 : 1, 32, all.count, loads));
  const AddressOperand address = b.address(loads ? 1 : 0);
  const MemoryOperand at = b.access(address);
  Op& op = b.emit(loads ? &load : &store);
  op.control = Control::kTogether;
  op.put(all);
  Op& rows = b.emit(&nothing);
  rows.counted = false;
  rows.a = address.base;
  rows.put(RowAddress{at});
}

void transpose(Warp& warp, const Op& op, Mask mask) {
  whole_warp(warp, op, mask);
  put_square(warp, op.d, square_of(warp, op.a, false), true);
}
void build_move(Builder& b) {
  if (!b.take("sync") || !b.take("aligned") || !b.take("m8n8") || !b.take("trans") ||
      b.take_type() != Type::kB16) {
    b.unsupported("this form");
  }
  b.finish();
  b.expect_operands(2, 2);
  const Slot d = b.result(0, 32), a = b.source(1, 32);
  Op& op = b.emit(&transpose);
  op.control = Control::kTogether;
  op.d = d;
  op.a = a;
  op.put(Together{.member = b.constant(32, kAllLanes)});
}

constexpr Traits kParts{.parts = Traits::Parts::kSharedLoads};
constexpr Row kRows[] = {
    {"ldmatrix",
     [](Builder& b) { build_access(b, true); },
     {.parts = Traits::Parts::kSharedLoads, .flow = Code::Flow::Kind::kLoads}},
    {"stmatrix", [](Builder& b) { build_access(b, false); }, kParts},
    {"movmatrix", build_move, kParts},
};

}  // namespace

std::span<const Row> matrix_memory_rows() {
  return kRows;
}

}  // namespace emu
