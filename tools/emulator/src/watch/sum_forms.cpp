#include "watch/sum_forms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace emu {
namespace {

constexpr std::size_t kMostNodes = 36'000'000;  // about a gigabyte

}  // namespace

SumForms::SumForms() {
  entries_.emplace_back();
  entries_.push_back({.kind = Kind::kNoMore, .from = ~kOfNothing});
  entries_.push_back({.kind = Kind::kLost});
}

SumForms::Node SumForms::make(Kind kind, std::uint32_t a, std::uint32_t b, unsigned size,
                              std::uint32_t from, std::uint32_t chain, unsigned zeros) {
  if (entries_.size() >= kMostNodes) {
    full_ = true;
    return 1;
  }
  entries_.push_back({.kind = kind,
                      .size = static_cast<std::uint8_t>(size),
                      .floating = maker.floating,
                      .zeros = static_cast<std::uint8_t>(std::min(zeros, 63u)),
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
    case Kind::kFlip:
    case Kind::kPiece: return {e.a, kPlain};
    default: return {kPlain, kPlain};
  }
}

SumForms::Node SumForms::input(std::uint32_t allocation, std::uint32_t offset, unsigned bytes) {
  return make(Kind::kInput, allocation, offset, bytes, bit_of(allocation), 0);
}

/// The one that has entered, alone, with whatever numbers; 0 where it isn't one.
SumForms::Node SumForms::element_in(Node n) const {
  constexpr std::size_t kMost = 16;
  std::vector<Node> nodes{n};
  Node found = kPlain;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Entry& e = entries_[nodes[i]];
    Node element = nodes[i];
    if (e.kind == Kind::kTerm) element = e.b ? kPlain : e.a;
    if (e.kind == Kind::kTerm || e.kind == Kind::kInput) {
      const Entry &x = entries_[element], &y = entries_[found];
      if (!element || (found && (x.a != y.a || x.b != y.b || x.size != y.size))) return kPlain;
      found = element;
      continue;
    }
    if (e.kind == Kind::kUndefined || e.kind == Kind::kNoMore || nodes.size() > kMost) {
      return kPlain;
    }
    for (const Node part : {parts(nodes[i]).first, parts(nodes[i]).second}) {
      if (part) nodes.push_back(part);
    }
  }
  return found;
}

SumForms::Node SumForms::term(Node of_a) {
  const Node a = element_in(of_a);
  return a ? make(Kind::kTerm, a, kPlain, 0, entries_[a].from, 0) : kPlain;
}

SumForms::Node SumForms::product(Node of_a, Node of_b) {
  Node a = element_in(of_a), b = element_in(of_b);
  if (!a || !b) return kPlain;
  const Entry x = entries_[a], y = entries_[b];
  if (x.a == y.a) return x.b == y.b && x.size == y.size ? term(of_a) : kPlain;
  return make(Kind::kTerm, a, b, 0, x.from | y.from, 0);
}

SumForms::Node SumForms::undefined(Undefined why, std::uint32_t a, std::uint32_t b) {
  return make(Kind::kUndefined, a, b, static_cast<unsigned>(why), kOfNothing, 0);
}

SumForms::Node SumForms::add(Node a, Node b) {
  if (!a || !b) return a | b;
  const Entry &x = entries_[a], &y = entries_[b];
  return make(Kind::kAdd, a, b, 0, x.from | y.from, std::max(x.chain, y.chain) + 1,
              std::min(x.zeros, y.zeros));
}

SumForms::Node SumForms::plus(Node a, double constant) {
  if (!a || constant == 0) return a;
  if (!std::isfinite(constant)) return lost(a, kPlain, Why::kNotFinite);
  const Entry& e = entries_[a];
  return make(Kind::kPlus, a, number(constant), 0, e.from, e.chain, e.zeros);
}

SumForms::Node SumForms::scale(Node a, double factor) {
  // Zero times infinity, or what isn't a number, isn't zero.
  if (factor == 0 && maker.floating && entries_[a].from & kOfNothing) return lost(a);
  if (!a || factor == 0) return kPlain;
  if (factor == 1) return a;
  int exponent = 0;
  const bool power = std::frexp(std::abs(factor), &exponent) == 0.5;  // 2 to the exponent - 1
  if (!power && !(std::abs(factor) < 0x1p53)) return lost(a);
  const Entry e = entries_[a];
  if (e.kind == Kind::kScale) return scale(e.a, constants_[e.b] * factor);
  int zeros = e.zeros;
  if (power) {
    zeros += exponent - 1;
  } else if (const auto whole = static_cast<std::uint64_t>(std::abs(factor));
             whole != 0 && static_cast<double>(whole) == std::abs(factor)) {
    zeros += std::countr_zero(whole);
  }
  return make(Kind::kScale, a, number(factor), 0, e.from, e.chain,
              static_cast<unsigned>(std::max(zeros, 0)));
}

SumForms::Node SumForms::widen(Node a) {
  const Entry e = entries_[a];
  if (!a || e.kind == Kind::kInput || e.kind == Kind::kWiden || e.kind == Kind::kUndefined)
    return a;
  return make(Kind::kWiden, a, 0, 0, e.from, e.chain, e.zeros);
}

SumForms::Node SumForms::flip(Node a, std::uint64_t bits) {
  if (!a || bits == 0) return a;
  const Entry e = entries_[a];
  if (e.kind == Kind::kFlip) return flip(e.a, flips_[e.b] ^ bits);
  flips_.push_back(bits);
  return make(Kind::kFlip, a, static_cast<std::uint32_t>(flips_.size() - 1), 0, e.from, e.chain);
}

double SumForms::plain_part(Node n) const {
  std::map<Node, double, std::greater<>> left{{n, 1.0}};
  double all = 0;
  while (!left.empty()) {
    const auto [node, factor] = *left.begin();
    left.erase(left.begin());
    const Entry& e = entries_[node];
    switch (e.kind) {
      case Kind::kInput: break;
      case Kind::kAdd:
        left[e.a] += factor;
        left[e.b] += factor;
        break;
      case Kind::kScale: left[e.a] += factor * constants_[e.b]; break;
      case Kind::kWiden: left[e.a] += factor; break;
      case Kind::kPlus:
        all += factor * constants_[e.b];
        left[e.a] += factor;
        break;
      case Kind::kPiece: break;  // as of an input: what it is isn't known, nor asked
      default: return std::nan("");
    }
  }
  return all;
}

/// What is above low bits that no element has entered.
SumForms::Node SumForms::without_low(Node a, unsigned bits) {
  const double low = plain_part(a), unit = std::ldexp(1.0, static_cast<int>(bits));
  if (!(std::abs(low) < 0x1p53)) return lost(a);
  const double rest = low - unit * std::floor(low / unit);
  // Added first, so that a factor can go against that of the value.
  const Entry e = entries_[a];
  if (low == 0 || e.kind != Kind::kPlus) return plus(scale(a, 1 / unit), -rest / unit);
  return plus(scale(e.a, 1 / unit), (constants_[e.b] - rest) / unit);
}

SumForms::Node SumForms::bits(Node a, unsigned offset, unsigned count, unsigned width) {
  if (!a || count == 0) return kPlain;
  const Entry e = entries_[a];
  if (e.kind == Kind::kNoMore || e.kind == Kind::kUndefined) return a;
  const bool whole = offset % 8 == 0 && count % 8 == 0;
  if (e.kind == Kind::kInput) {
    const unsigned size = 8u * e.size;
    if (offset == 0 && count >= size) return a;
    if (whole && offset < size) {
      return make(Kind::kInput, e.a, e.b + offset / 8, std::min(count, size - offset) / 8, e.from,
                  0);
    }
  }
  if (e.kind == Kind::kJoin && whole) {
    const unsigned size = 8u * e.size;
    if (offset >= size) return bits(e.b, offset - size, count);
    if (offset + count <= size) return bits(e.a, offset, count);
    const unsigned first = size - offset;
    return join(bits(e.a, offset, first), bits(e.b, 0, count - first), first / 8);
  }
  if (e.kind == Kind::kPiece) {
    if (offset == 0 && count >= e.size) return a;
    if (offset >= e.size) return kPlain;
    return make(Kind::kPiece, e.a, e.b + offset, std::min<unsigned>(count, e.size - offset), e.from,
                e.chain);
  }
  if (e.zeros > 0 && offset + count <= e.zeros) return kOfOrder;
  if (offset > 0 && e.zeros >= offset) {
    const Node above = without_low(a, offset);
    // Up to the top, what a shift has put out there is taken to have been nothing: as of a sum that
    // is made wider.
    return offset + count < width ? bits(above, 0, count) : widen(above);
  }
  return make(Kind::kPiece, a, offset, count, e.from, e.chain);
}

SumForms::Node SumForms::word(Node a, unsigned number) {
  const Entry e = entries_[a];
  if (e.zeros == 0) return piece(a, 4 * number, 4);
  return make(Kind::kPiece, a, 32 * number, 32, e.from, e.chain);
}

SumForms::Node SumForms::alone(Node word) {
  const Entry e = entries_[word];
  if (e.kind != Kind::kPiece || entries_[e.a].zeros == 0) return word;
  return bits(e.a, e.b, e.size);
}

SumForms::Node SumForms::join(Node a, Node b, unsigned bytes_of_a) {
  if (!a && !b) return kPlain;
  const Entry x = entries_[a], y = entries_[b];
  if (a && b && x.kind == Kind::kUndefined && y.kind == Kind::kUndefined) return a;
  const bool same = a && b && x.kind == y.kind && x.a == y.a;
  if (same && x.kind == Kind::kInput && x.size == bytes_of_a && x.b + x.size == y.b) {
    return make(Kind::kInput, x.a, x.b, x.size + y.size, x.from, 0);
  }
  if (same && x.kind == Kind::kPiece && x.size == 8 * bytes_of_a && x.b + x.size == y.b) {
    const unsigned count = x.size + y.size;
    return x.b == 0 && count == 64 ? x.a : make(Kind::kPiece, x.a, x.b, count, x.from, x.chain);
  }
  // Behind it lies nothing, or what extends it.
  const bool extended = !b || (y.kind == Kind::kPiece && y.a == a && y.b == 8 * bytes_of_a);
  if (x.kind == Kind::kInput && x.size <= bytes_of_a && extended) return a;
  return make(Kind::kJoin, a, b, bytes_of_a, x.from | y.from, std::max(x.chain, y.chain));
}

SumForms::Node SumForms::lost(Node a, Node b, Why why) {
  if (!a && !b) return kPlain;
  if (!a) std::swap(a, b);
  const Entry &x = entries_[a], &y = entries_[b];
  return make(Kind::kLost, a, b, static_cast<unsigned>(why), x.from | y.from, 0);
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
