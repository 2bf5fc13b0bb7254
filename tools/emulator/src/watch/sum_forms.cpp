#include "watch/sum_forms.hpp"

#include <algorithm>
#include <cmath>

namespace emu {
namespace {

constexpr std::size_t kMostNodes = 36'000'000;  // about a gigabyte

}  // namespace

SumForms::SumForms() {
  entries_.emplace_back();
  entries_.push_back({.kind = Kind::kNoMore, .from = ~std::uint32_t{0}});
  entries_.push_back({.kind = Kind::kLost});
}

SumForms::Node SumForms::make(Kind kind, std::uint32_t a, std::uint32_t b, unsigned bytes,
                              std::uint32_t from, std::uint32_t chain) {
  if (entries_.size() >= kMostNodes) {
    full_ = true;
    return 1;
  }
  entries_.push_back({.kind = kind,
                      .bytes = static_cast<std::uint8_t>(bytes),
                      .floating = maker.floating,
                      .a = a,
                      .b = b,
                      .from = from,
                      .site = maker.site,
                      .block = maker.block,
                      .chain = chain});
  return static_cast<Node>(entries_.size() - 1);
}

std::uint32_t SumForms::number(double constant) {
  const auto [at, fresh] =
      numbers_.try_emplace(constant, static_cast<std::uint32_t>(constants_.size()));
  if (fresh) constants_.push_back(constant);
  return at->second;
}

std::pair<SumForms::Node, SumForms::Node> SumForms::parts(Node n) const {
  const Entry& e = entries_[n];
  switch (e.kind) {
    case Kind::kAdd:
    case Kind::kJoin:
    case Kind::kLost: return {e.a, e.b};
    case Kind::kScale:
    case Kind::kPlus:
    case Kind::kWiden:
    case Kind::kPiece: return {e.a, kPlain};
    default: return {kPlain, kPlain};
  }
}

SumForms::Node SumForms::input(std::uint32_t allocation, std::uint32_t offset, unsigned bytes) {
  return make(Kind::kInput, allocation, offset, bytes, bit_of(allocation), 0);
}

SumForms::Node SumForms::add(Node a, Node b) {
  if (!a || !b) return a | b;
  const Entry &x = entries_[a], &y = entries_[b];
  return make(Kind::kAdd, a, b, 0, x.from | y.from, std::max(x.chain, y.chain) + 1);
}

SumForms::Node SumForms::plus(Node a, double constant) {
  if (!a || constant == 0) return a;
  if (std::isnan(constant)) return lost(a);
  return make(Kind::kPlus, a, number(constant), 0, entries_[a].from, entries_[a].chain);
}

SumForms::Node SumForms::scale(Node a, double factor) {
  if (!a || factor == 0) return kPlain;
  if (factor == 1) return a;
  if (!(std::abs(factor) < 0x1p53)) return lost(a);
  return make(Kind::kScale, a, number(factor), 0, entries_[a].from, entries_[a].chain);
}

SumForms::Node SumForms::widen(Node a) {
  const Kind kind = entries_[a].kind;
  if (!a || kind == Kind::kInput || kind == Kind::kWiden) return a;
  return make(Kind::kWiden, a, 0, 0, entries_[a].from, entries_[a].chain);
}

SumForms::Node SumForms::piece(Node a, unsigned offset, unsigned bytes) {
  if (!a || bytes == 0) return kPlain;
  const Entry e = entries_[a];
  switch (e.kind) {
    case Kind::kInput:
      if (offset == 0 && bytes >= e.bytes) return a;
      if (offset >= e.bytes) return kPlain;  // what extends it
      return make(Kind::kInput, e.a, e.b + offset, std::min(bytes, e.bytes - offset), e.from, 0);
    case Kind::kJoin: {
      if (offset >= e.bytes) return piece(e.b, offset - e.bytes, bytes);
      if (offset + bytes <= e.bytes) return piece(e.a, offset, bytes);
      const unsigned first = e.bytes - offset;
      return join(piece(e.a, offset, first), piece(e.b, 0, bytes - first), first);
    }
    case Kind::kPiece:
      if (offset == 0 && bytes >= e.bytes) return a;
      if (offset >= e.bytes) return kPlain;
      return make(Kind::kPiece, e.a, e.b + offset, std::min(bytes, e.bytes - offset), e.from,
                  e.chain);
    case Kind::kNoMore: return a;
    default: return make(Kind::kPiece, a, offset, bytes, e.from, e.chain);
  }
}

SumForms::Node SumForms::join(Node a, Node b, unsigned bytes_of_a) {
  if (!a && !b) return kPlain;
  const Entry x = entries_[a], y = entries_[b];
  if (a && b && x.kind == y.kind && x.a == y.a && x.bytes == bytes_of_a && x.b + x.bytes == y.b) {
    const unsigned bytes = x.bytes + y.bytes;
    if (x.kind == Kind::kInput) return make(Kind::kInput, x.a, x.b, bytes, x.from, 0);
    if (x.kind == Kind::kPiece) {  // the whole, as far as anyone wants to know
      return x.b == 0 && bytes == 8 ? x.a : make(Kind::kPiece, x.a, x.b, bytes, x.from, x.chain);
    }
  }
  if (!b && x.kind == Kind::kInput && x.bytes <= bytes_of_a) return a;
  return make(Kind::kJoin, a, b, bytes_of_a, x.from | y.from, std::max(x.chain, y.chain));
}

SumForms::Node SumForms::lost(Node a, Node b) {
  if (!a && !b) return kPlain;
  if (!a) std::swap(a, b);
  const Entry &x = entries_[a], &y = entries_[b];
  return make(Kind::kLost, a, b, 0, x.from | y.from, 0);
}

SumForms::Node SumForms::insert(Node into, Node part, unsigned offset, unsigned bytes,
                                unsigned whole) {
  if (offset == 0 && bytes >= whole) return part;
  const Node low = piece(into, 0, offset);
  const unsigned end = offset + bytes;
  const Node high = piece(into, end, whole - end);
  const Node tail = end < whole ? join(part, high, bytes) : part;
  return offset ? join(low, tail, offset) : tail;
}

}  // namespace emu
