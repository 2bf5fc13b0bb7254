// What lanes of a warp do together. The warp's loop has seen to it that the lanes of the mask are
// all those that name each other and haven't exited.
#include <bit>
#include <cstring>

#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "machine/block.hpp"

namespace emu {
namespace {

template <class Payload>
Op& emit_together(Builder& b, Handler handler, const Payload& payload) {
  Op& op = b.emit(handler);
  op.control = Control::kTogether;
  op.put(payload);
  return op;
}

/// A predicate that is told something beside the result.
struct Told {
  using Head = Together;
  Together together = {};
  bool told = false;
  Slot predicate = 0;
};

// Lanes may come to one operation by several instructions, in parts of the text where they run
// apart: then each lane has the registers that its own instruction names.

template <class T>
using Values = std::array<T, kLanes>;

/// The lanes' values of a source: mostly one register; `room` is for those of several.
template <class T>
const T* gather(Warp& warp, const Op& op, Mask mask, Slot Op::*which, Values<T>& room) {
  if (warp.met_at_one_place()) [[likely]]
    return warp.lanes<T>(op.*which);
  room.fill(0);
  for_each_lane(mask, [&](unsigned i) { room[i] = warp.lanes<T>(warp.op_of(op, i).*which)[i]; });
  return room.data();
}

/// The predicate a, all of it flipped for `!p`.
struct Voting {
  using Head = Together;
  Together together = {};
  Mask flip = 0;
};

/// Which lanes of the mask vote yes.
Mask gather_predicate(Warp& warp, const Op& op, Mask mask) {
  if (warp.met_at_one_place()) [[likely]] {
    return (warp.predicate(op.a) ^ op.as<Voting>().flip) & mask;
  }
  Mask yes = 0;
  for_each_lane(mask, [&](unsigned i) {
    const Op& own = warp.op_of(op, i);
    yes |= (warp.predicate(own.a) ^ own.as<Voting>().flip) & kBit[i];
  });
  return yes;
}

/// f(the instruction, its lanes) for each instruction by which lanes of the mask came.
template <class F>
void for_each_place(Warp& warp, const Op& op, Mask mask, F f) {
  if (warp.met_at_one_place()) [[likely]]
    return f(op, mask);
  for_each_lane(mask, [&](unsigned i) { f(warp.op_of(op, i), kBit[i]); });
}

/// Gives lanes their results in op.d.
template <class F>
void give(Warp& warp, const Op& op, Mask mask, F value) {
  for_each_place(warp, op, mask, [&](const Op& own, Mask lanes) {
    auto* d = warp.lanes<std::uint32_t>(own.d);
    for_each_lane(lanes, [&](unsigned i) { d[i] = value(i); });
  });
}

void give_predicate(Warp& warp, Slot slot, Mask lanes, Mask yes) {
  Mask& p = warp.predicate(slot);
  p = (p & ~lanes) | (yes & lanes);
}

// --- shfl.sync ------------------------------------------------------------------------------

enum class Shuffle { kUp, kDown, kButterfly, kIndex };

constexpr std::uint32_t kOutOfRange = 32;

/// Where a lane reads; its own number and kOutOfRange where that is out of its range.
template <Shuffle Mode>
std::uint32_t source_of(std::uint32_t lane, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t segment = c >> 8 & 31, clamp = c & 31, by = b & 31;
  const std::uint32_t first = lane & segment, last = first | (clamp & ~segment & 31);
  const std::uint32_t from = Mode == Shuffle::kUp          ? lane - by
                             : Mode == Shuffle::kDown      ? lane + by
                             : Mode == Shuffle::kButterfly ? lane ^ by
                                                           : first | (by & ~segment);
  const auto place = static_cast<std::int32_t>(from), end = static_cast<std::int32_t>(last);
  return (Mode == Shuffle::kUp ? place >= end : place <= end) ? from : lane | kOutOfRange;
}

/// Lane i gets lane from[i]'s value.
void permute(const std::uint32_t* a, const Values<std::uint32_t>& from,
             Values<std::uint32_t>& out) {
#if defined(__GNUC__) && !defined(__clang__)  // one instruction for each half, where a host has it
  using Half [[gnu::vector_size(64)]] = std::uint32_t;
  Half lower, upper, index;
  std::memcpy(&lower, a, sizeof lower);
  std::memcpy(&upper, a + kLanes / 2, sizeof upper);
  for (unsigned half = 0; half < kLanes; half += kLanes / 2) {
    std::memcpy(&index, from.data() + half, sizeof index);
    const Half values = __builtin_shuffle(lower, upper, index);
    std::memcpy(out.data() + half, &values, sizeof values);
  }
#else
  for (unsigned i = 0; i < kLanes; ++i) out[i] = a[from[i] % kLanes];
#endif
}

/// Lanes that came by one instruction and read only each other: the usual case. Else false.
template <Shuffle Mode>
bool shuffle_quickly(Warp& warp, const Op& op, Mask mask) {
  const auto* a = warp.lanes<std::uint32_t>(op.a);
  const auto* b = warp.lanes<std::uint32_t>(op.b);
  const auto* c = warp.lanes<std::uint32_t>(op.c);
  alignas(64) Values<std::uint32_t> from, result;
  Mask in_range = 0, read = 0;
  EMU_FOR_LANES {
    const std::uint32_t source = source_of<Mode>(i, b[i], c[i]);
    from[i] = source & 31;
    in_range |= source & kOutOfRange ? 0 : kBit[i];
    read |= mask & kBit[i] ? Mask{1} << (source & 31) : 0;
  }
  if (read & ~mask) return false;
  permute(a, from, result);
  auto* d = warp.lanes<std::uint32_t>(op.d);
  EMU_FOR_LANES d[i] = mask & kBit[i] ? result[i] : d[i];
  const auto& p = op.as<Told>();
  if (p.told) give_predicate(warp, p.predicate, mask, in_range);
  return true;
}

template <Shuffle Mode>
void shfl(Warp& warp, const Op& op, Mask mask) {
  const bool followed = warp.block().stepped();
  if (!followed && warp.met_at_one_place() && shuffle_quickly<Mode>(warp, op, mask)) return;
  Values<std::uint32_t> room_a, room_b, room_c, result, from{};
  const auto* a = gather(warp, op, mask, &Op::a, room_a);
  const auto* b = gather(warp, op, mask, &Op::b, room_b);
  const auto* c = gather(warp, op, mask, &Op::c, room_c);
  Mask in_range = 0;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint32_t source = source_of<Mode>(lane, b[lane], c[lane]);
    const std::uint32_t j = source & 31;
    if (j == source) in_range |= kBit[lane];
    if (!(mask >> j & 1)) warp.mention(warp.op_of(op, lane), lane, shuffled_from_nowhere(j));
    from[lane] = j;
    result[lane] = a[j];
  });
  warp.block().tell([&](BlockObserver& o) { o.handed(warp, op, mask, from.data()); });
  give(warp, op, mask, [&](unsigned i) { return result[i]; });
  for_each_place(warp, op, mask, [&](const Op& own, Mask lanes) {
    const auto& p = own.as<Told>();
    if (p.told) give_predicate(warp, p.predicate, lanes, in_range);
  });
}
template <Shuffle Mode>
constexpr Forms kShuffle = kForms<&shfl<Mode>>;

void build_shfl(Builder& b) {
  if (!b.take("sync")) b.unsupported("only the .sync form is PTX since sm_70");
  const Handler handler = b.take("up")     ? Handler{kShuffle<Shuffle::kUp>}
                          : b.take("down") ? Handler{kShuffle<Shuffle::kDown>}
                          : b.take("bfly") ? Handler{kShuffle<Shuffle::kButterfly>}
                          : b.take("idx")  ? Handler{kShuffle<Shuffle::kIndex>}
                                           : nullptr;
  if (!handler || b.take_type() != Type::kB32) b.unsupported("this form");
  b.finish();
  b.expect_operands(5, 5);
  const Operand& result = b.operand(0);
  const bool tells = !result.second.empty();
  const Slot p = tells ? b.predicate_named(result.second) : 0;
  const Slot d = b.result(0, 32), x = b.source(1, 32), y = b.source(2, 32), z = b.source(3, 32);
  const Slot member = b.source(4, 32);
  Op& op = emit_together(b, handler, Told{{member}, tells, p});
  op.d = d;
  op.a = x;
  op.b = y;
  op.c = z;
}

// --- vote.sync ------------------------------------------------------------------------------

enum class Vote { kAll, kAny, kUni, kBallot };

template <Vote Kind>
void vote(Warp& warp, const Op& op, Mask mask) {
  const Mask yes = gather_predicate(warp, op, mask);
  if constexpr (Kind == Vote::kBallot) {
    give(warp, op, mask, [&](unsigned) { return yes; });
  } else {
    const bool result = Kind == Vote::kAll   ? yes == mask
                        : Kind == Vote::kAny ? yes != 0
                                             : yes == mask || yes == 0;
    for_each_place(warp, op, mask, [&](const Op& own, Mask lanes) {
      give_predicate(warp, own.d, lanes, result ? lanes : 0);
    });
  }
}

void build_vote(Builder& b) {
  if (!b.take("sync")) b.unsupported("only the .sync form is PTX since sm_70");
  const bool ballot = b.take("ballot");
  const Handler handler = ballot          ? &vote<Vote::kBallot>
                          : b.take("all") ? &vote<Vote::kAll>
                          : b.take("any") ? &vote<Vote::kAny>
                          : b.take("uni") ? &vote<Vote::kUni>
                                          : nullptr;
  if (!handler || b.take_type() != (ballot ? Type::kB32 : Type::kPred)) b.unsupported("this form");
  b.finish();
  b.expect_operands(3, 3);
  const Slot d = b.result(0, ballot ? 32 : 1), x = b.predicate(1), member = b.source(2, 32);
  Op& op = emit_together(b, handler, Voting{{member}, b.operand(1).negated ? kAllLanes : 0});
  op.d = d;
  op.a = x;
}

// --- match.sync -----------------------------------------------------------------------------

template <class T>
void match_any(Warp& warp, const Op& op, Mask mask) {
  Values<T> room;
  const T* a = gather(warp, op, mask, &Op::a, room);
  std::array<Mask, kLanes> out{};
  for_each_lane(mask, [&](unsigned i) {
    for_each_lane(mask, [&](unsigned j) { out[i] |= a[i] == a[j] ? kBit[j] : 0; });
  });
  give(warp, op, mask, [&](unsigned i) { return out[i]; });
}
template <class T>
void match_all(Warp& warp, const Op& op, Mask mask) {
  Values<T> room;
  const T* a = gather(warp, op, mask, &Op::a, room);
  const T first = a[std::countr_zero(mask)];
  bool same = true;
  for_each_lane(mask, [&](unsigned i) { same &= a[i] == first; });
  give(warp, op, mask, [&](unsigned) { return same ? mask : 0; });
  for_each_place(warp, op, mask, [&](const Op& own, Mask lanes) {
    const auto& p = own.as<Told>();
    if (p.told) give_predicate(warp, p.predicate, lanes, same ? lanes : 0);
  });
}

void build_match(Builder& b) {
  const bool any = b.take("any"), all = b.take("all");
  if (!b.take("sync") || any == all) b.unsupported("this form");
  const Type t = b.take_type();
  b.finish();
  b.expect_operands(3, 3);
  if (t != Type::kB32 && t != Type::kB64) b.unsupported("this type");
  const bool wide = t == Type::kB64;
  const bool tells = !b.operand(0).second.empty();
  if (tells && any) b.unsupported("a predicate");
  const Slot p = tells ? b.predicate_named(b.operand(0).second) : 0;
  const Slot d = b.result(0, 32), x = b.source(1, t), member = b.source(2, 32);
  Op& op = emit_together(b,
                         any ? (wide ? &match_any<std::uint64_t> : &match_any<std::uint32_t>)
                             : (wide ? &match_all<std::uint64_t> : &match_all<std::uint32_t>),
                         Told{{member}, tells, p});
  op.d = d;
  op.a = x;
}

// --- redux.sync -----------------------------------------------------------------------------

enum class Reduction { kAdd, kMin, kMax, kAnd, kOr, kXor };

template <Reduction Kind, class T>
void redux(Warp& warp, const Op& op, Mask mask) {
  Values<T> room;
  const T* a = gather(warp, op, mask, &Op::a, room);
  T out = a[std::countr_zero(mask)];
  for_each_lane(mask & (mask - 1), [&](unsigned i) {
    const T v = a[i];
    if constexpr (Kind == Reduction::kAdd) {
      out = static_cast<T>(static_cast<std::uint32_t>(out) + static_cast<std::uint32_t>(v));
    }
    if constexpr (Kind == Reduction::kMin) out = v < out ? v : out;
    if constexpr (Kind == Reduction::kMax) out = v > out ? v : out;
    if constexpr (Kind == Reduction::kAnd) out = out & v;
    if constexpr (Kind == Reduction::kOr) out = out | v;
    if constexpr (Kind == Reduction::kXor) out = out ^ v;
  });
  give(warp, op, mask, [&](unsigned) { return static_cast<std::uint32_t>(out); });
}

void build_redux(Builder& b) {
  if (!b.take("sync")) b.unsupported("this form");
  using U = std::uint32_t;
  using S = std::int32_t;
  const bool add = b.take("add"), min = b.take("min"), max = b.take("max");
  const bool conjunction = b.take("and"), disjunction = b.take("or"), parity = b.take("xor");
  const Type t = b.take_type();
  b.finish();
  b.expect_operands(3, 3);
  Handler handler = nullptr;
  if (add) b.sums(Code::Flow::Sum::kAddsLanes);
  if (t == Type::kU32 || t == Type::kS32) {
    const bool s = t == Type::kS32;
    if (add) handler = &redux<Reduction::kAdd, U>;
    if (min) handler = s ? &redux<Reduction::kMin, S> : &redux<Reduction::kMin, U>;
    if (max) handler = s ? &redux<Reduction::kMax, S> : &redux<Reduction::kMax, U>;
  } else if (t == Type::kB32) {
    if (conjunction) handler = &redux<Reduction::kAnd, U>;
    if (disjunction) handler = &redux<Reduction::kOr, U>;
    if (parity) handler = &redux<Reduction::kXor, U>;
  }
  if (!handler) b.unsupported("this form");
  const Slot d = b.result(0, 32), x = b.source(1, 32), member = b.source(2, 32);
  Op& op = emit_together(b, handler, Together{member});
  op.d = d;
  op.a = x;
}

// --- the rest -------------------------------------------------------------------------------

void activemask(Warp& warp, const Op& op, Mask mask) {
  warp.block().stir();
  for_each_lane(mask, [&](unsigned i) { warp.lanes<std::uint32_t>(op.d)[i] = mask; });
}
void build_activemask(Builder& b) {
  if (b.take_type() != Type::kB32) b.unsupported("this type");
  emit_plain(b, &activemask, 32, {});
}

void elect(Warp& warp, const Op& op, Mask mask) {
  const auto leader = static_cast<std::uint32_t>(std::countr_zero(mask));
  give(warp, op, mask, [&](unsigned) { return leader; });
  for_each_place(warp, op, mask, [&](const Op& own, Mask lanes) {
    give_predicate(warp, own.as<Told>().predicate, lanes, kBit[leader]);
  });
}
void build_elect(Builder& b) {
  if (!b.take("sync")) b.unsupported("this form");
  b.finish();
  b.expect_operands(2, 2);
  const Slot p = b.predicate_named(b.operand(0).second.empty() ? "_" : b.operand(0).second);
  const Slot d = b.result(0, 32), member = b.source(1, 32);
  emit_together(b, &elect, Told{{member}, true, p}).d = d;
}

constexpr Traits kParts{.parts = Traits::Parts::kSharedLoads};
constexpr Traits kHands{.parts = Traits::Parts::kSharedLoads,
                        .sum = Code::Flow::Sum::kHands,
                        .flow = Code::Flow::Kind::kHands};
constexpr Row kRows[] = {
    {"shfl", build_shfl, kHands},
    {"vote", build_vote, kParts},
    {"match", build_match, kParts},
    {"redux", build_redux, kParts},
    {"activemask", build_activemask, {.sum = Code::Flow::Sum::kAsTheyRun}},
    {"elect", build_elect, kParts},
};

}  // namespace

std::span<const Row> warp_rows() {
  return kRows;
}

}  // namespace emu
