// Copies that go on while a thread does other things, and the barriers in shared memory that tell
// of their end: cp.async, cp.async.bulk, mbarrier.
#include <cstring>

#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "machine/access.hpp"
#include "machine/async.hpp"
#include "machine/block.hpp"
#include "machine/cluster.hpp"
#include "machine/counting.hpp"

namespace emu {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

void nothing(Warp&, const Op&, Mask) {}

U32 thread_of(const Warp& warp, unsigned lane) {
  return warp.number() * kLanes + lane;
}

std::byte* place_of(const Located& found, unsigned lane, unsigned bytes) {
  return found.run ? found.run + std::size_t{lane} * bytes : found.at[lane];
}

/// Tells of copies that threads have waited for.
void tell_landed(Warp& warp) {
  if (!warp.block().watched()) return;
  for (const AsyncCopies::Landed& landed : warp.block().async().take_landed()) {
    warp.block().tell([&](BlockObserver& o) { o.copy_landed(landed.copy); });
  }
}

Address in_shared(Warp& warp, const std::byte* place) {
  return static_cast<Address>(place - warp.block().shared());
}
/// Whether it is the shared memory of the warp's own block.
bool is_own(Warp& warp, const std::byte* place) {
  return in_shared(warp, place) < warp.block().shared_bytes();
}

// --- cp.async -------------------------------------------------------------------------------
// Two operations: one reads global memory into registers that no program sees, as a load, the
// other hands the bytes on to the block with the place in shared memory where they will lie.

/// c: of the first, how many bytes to read; the rest is zeros.
struct AsyncCopy {
  using Head = MemoryOperand;
  MemoryOperand at = {};
  U32 list = 0;  ///< four registers
  U32 bytes = 0;
};

void read_async(Warp& warp, const Op& op, Mask mask) {
  const auto& piece = op.as<AsyncCopy>();
  const unsigned bytes = piece.bytes;
  const U32* wanted = warp.lanes<U32>(op.c);
  const U32* slots = warp.code().lists.data() + piece.list;
  std::array<std::array<std::byte, 16>, kLanes> data{};
  Mask whole = 0, part = 0;
  for_each_lane(mask, [&](unsigned i) {
    if (wanted[i] >= bytes) {
      if (wanted[i] > bytes) {
        warp.fault(Fault::Kind::kIllegalInstruction, op, i,
                   "cp.async: src-size " + std::to_string(wanted[i]) + " is larger than cp-size");
      }
      whole |= kBit[i];
    } else if (wanted[i] > 0) {
      part |= kBit[i];
    }
  });
  Counters& counters = warp.block().counters;
  const Counters before = counters;
  if (whole) {
    Located found;
    locate(warp, op, whole, Space::kGlobal, Direction::kLoad, bytes, found);
    for_each_lane(
        whole, [&](unsigned i) { std::memcpy(data[i].data(), place_of(found, i, bytes), bytes); });
  }
  if (part) {
    // Only the bytes that are read must be there. A piece of 16 aligned bytes lies in one sector,
    // so that it counts as if it were read whole, in one request with the others.
    std::array<U64, kLanes> address{};
    for_each_lane(whole | part, [&](unsigned i) { address[i] = address_of(warp, op, i); });
    for_each_lane(part, [&](unsigned i) {
      if (address[i] % bytes) {
        warp.fault(Fault::Kind::kMisalignedAddress, op, i,
                   "cp.async from an address that is not a multiple of " + std::to_string(bytes));
      }
      for (unsigned k = 0; k < wanted[i]; ++k) {
        const GlobalMemory* memory = warp.block().launch().config.memory;
        const Allocation* a = memory ? memory->find(address[i], wanted[i]) : nullptr;
        if (!a) {
          Located found;
          locate(warp, op, kBit[i], Space::kGlobal, Direction::kLoad, bytes, found);  // says why
          break;
        }
        data[i][k] = a->host[address[i] - a->base + k];
      }
      if (warp.block().watched()) {
        const Access access{.warp = warp,
                            .op = op,
                            .lanes = kBit[i],
                            .space = Space::kGlobal,
                            .direction = Direction::kLoad,
                            .order = Order::kWeak,
                            .bytes = wanted[i],
                            .address = address.data(),
                            .values = nullptr};
        warp.block().tell([&](BlockObserver& o) { o.access(access); });
      }
    });
    counters.global_load_requests = before.global_load_requests + 1;
    counters.global_load_sectors =
        before.global_load_sectors + count_sectors(address.data(), whole | part);
  }
  for_each_lane(mask, [&](unsigned i) {
    for (unsigned k = 0; k < 4; ++k) std::memcpy(&warp.lanes<U32>(slots[k])[i], &data[i][4 * k], 4);
  });
}

void write_async(Warp& warp, const Op& op, Mask mask) {
  Located found;
  const auto& piece = op.as<AsyncCopy>();
  locate(warp, op, mask, Space::kShared, Direction::kCopy, piece.bytes, found);
  const U32* slots = warp.code().lists.data() + piece.list;
  for_each_lane(mask, [&](unsigned i) {
    std::array<std::byte, 16> data;
    for (unsigned k = 0; k < 4; ++k) std::memcpy(&data[4 * k], &warp.lanes<U32>(slots[k])[i], 4);
    std::byte* const to = place_of(found, i, piece.bytes);
    const U64 number = warp.block().async().copy(thread_of(warp, i), to, data.data(), piece.bytes);
    if (!warp.block().watched()) return;
    const Copy copy{.warp = warp,
                    .op = op,
                    .lane = i,
                    .number = number,
                    .to_space = Space::kShared,
                    .to = in_shared(warp, to),
                    .from_space = Space::kGeneric,
                    .from = 0,
                    .bytes = piece.bytes};
    warp.block().tell([&](BlockObserver& o) { o.copy_began(copy); });
  });
  tell_landed(warp);  // where there are too many to keep back
}

struct GroupWait {
  U32 allowed = 0;  ///< how many groups may go on
};
void wait_group(Warp& warp, const Op& op, Mask mask) {
  for_each_lane(mask, [&](unsigned i) {
    warp.block().async().wait(thread_of(warp, i), op.as<GroupWait>().allowed);
  });
  tell_landed(warp);
}
void wait_all(Warp& warp, const Op&, Mask mask) {
  for_each_lane(mask, [&](unsigned i) { warp.block().async().wait_all(thread_of(warp, i)); });
  tell_landed(warp);
}
void commit_group(Warp& warp, const Op&, Mask mask) {
  for_each_lane(mask, [&](unsigned i) { warp.block().async().commit(thread_of(warp, i)); });
}
void bulk_commit_group(Warp& warp, const Op&, Mask mask) {
  for_each_lane(mask, [&](unsigned i) { warp.block().async().bulk_commit(thread_of(warp, i)); });
}
void bulk_wait_group(Warp& warp, const Op& op, Mask mask) {
  for_each_lane(mask, [&](unsigned i) {
    warp.block().async().bulk_wait(thread_of(warp, i), op.as<GroupWait>().allowed);
  });
  tell_landed(warp);
}

void emit_alone(Builder& b, Handler handler) {
  b.finish();
  b.expect_operands(0, 0);
  b.emit(handler);
}
void emit_wait(Builder& b, Handler handler) {
  b.finish();
  b.expect_operands(1, 1);
  if (b.operand(0).kind != Operand::Kind::kInteger)
    b.unsupported("a number that isn't written out");
  const auto allowed = static_cast<U32>(b.operand(0).bits & 0x7fff'ffff);
  b.emit(handler).put(GroupWait{allowed});
}

/// a, b: bytes to read where the predicate c is false and where it is true.
struct IgnoredSource {
  Mask flip = 0;  ///< of the predicate
};
void choose_size(Warp& warp, const Op& op, Mask mask) {
  const Mask p = warp.predicate(op.c) ^ op.as<IgnoredSource>().flip;
  for_each_lane(mask, [&](unsigned i) {
    warp.lanes<U32>(op.d)[i] = warp.lanes<U32>(p & kBit[i] ? op.b : op.a)[i];
  });
}

void take_cache_hints(Builder& b) {
  b.take_any("L2::64B", "L2::128B", "L2::256B");
}

void build_copy(Builder& b) {
  const bool ca = b.take("ca"), cg = b.take("cg");
  if (ca == cg) b.unsupported("this form");
  if (!b.take_any("shared", "shared::cta") || !b.take("global")) b.unsupported("these spaces");
  take_cache_hints(b);
  const bool policy = b.take("L2::cache_hint");
  b.finish();
  const std::size_t last = b.operands() - (policy ? 1 : 0);
  b.expect_operands(3, 5);
  if (last < 3 || last > 4 || b.operand(2).kind != Operand::Kind::kInteger) {
    b.unsupported("these operands");
  }
  const U64 bytes = b.operand(2).bits;
  if (bytes != 16 && (cg || (bytes != 4 && bytes != 8))) b.unsupported("this size");
  Slot wanted = b.constant(32, bytes);
  if (last == 4) {
    if (b.register_width(b.operand(3), 32) == 16) {  // a predicate: ignore-src
      const Slot ignore = b.predicate(3);
      const bool negated = b.operand(3).negated;
      const Slot size = b.trash(32), full = wanted, none = b.constant(32, 0);
      Op& op = b.emit(&choose_size);
      op.counted = false;
      op.d = size;
      op.a = full;
      op.b = none;
      op.c = ignore;
      op.put(IgnoredSource{negated ? kAllLanes : 0});
      wanted = size;
    } else {
      wanted = b.source(3, 32);
    }
  }
  const U32 list = b.list({b.trash(32), b.trash(32), b.trash(32), b.trash(32)});
  const AddressOperand from = b.address(1), to = b.address(0);
  const MemoryOperand first = b.access(from), second = b.access(to);
  Op& read = b.emit(&read_async);
  read.a = from.base;
  read.c = wanted;
  read.put(AsyncCopy{first, list, static_cast<U32>(bytes)});
  Op& write = b.emit(&write_async);
  write.counted = false;
  write.a = to.base;
  write.put(AsyncCopy{second, list, static_cast<U32>(bytes)});
}

// --- mbarrier -------------------------------------------------------------------------------

struct At {
  std::byte* place;
  Mbarrier barrier;
  void store() const {
    const U64 bits = barrier.pack();
    std::memcpy(place, &bits, sizeof bits);
  }
};

/// Tells who looks at another block of the cluster that its shared memory changes. `told`: who
/// looks at this one is told how.
void tell_reached(Warp& warp, const std::byte* place, U64 bytes, bool told) {
  Cluster& cluster = warp.block().cluster();
  for (unsigned rank = 0; rank < cluster.size(); ++rank) {
    Block& block = cluster.block(rank);
    const auto at = static_cast<Address>(place - block.shared());
    if (at >= block.shared_bytes()) continue;
    block.tell([&](BlockObserver& o) { o.reached(at, bytes, told); });
  }
}

void tell_arrived(Warp& warp, unsigned lane, const At& at, bool releases, bool completes) {
  if (!warp.block().watched()) return;
  if (!is_own(warp, at.place)) return tell_reached(warp, at.place, sizeof(U64), false);
  const Address where = in_shared(warp, at.place);
  warp.block().tell([&](BlockObserver& o) {
    o.mbarrier_arrived(warp, lane, where, releases);
    if (completes) o.mbarrier_completed(where);
  });
}

/// Tells of copies that who waits for this barrier waits for.
void tell_landed_at(Warp& warp, const std::byte* barrier) {
  if (!warp.block().watched()) return;
  const Address where = in_shared(warp, barrier);
  for (const AsyncCopies::Landed& landed : warp.block().async().take_landed()) {
    warp.block().tell([&](BlockObserver& o) {
      o.copy_landed_at(landed.copy, where);
      if (landed.completes) o.mbarrier_completed(where);
    });
  }
}

/// An mbarrier lies in shared memory, also where its address is a generic one: elsewhere PTX leaves
/// it undefined what happens.
void locate_barriers(Warp& warp, const Op& op, Mask mask, Space space, Direction direction,
                     Located& found) {
  if (space == Space::kGeneric) {
    for_each_lane(mask, [&](unsigned i) {
      if (address_of(warp, op, i) - kSharedWindow >= kWindowBytes) {
        warp.fault(Fault::Kind::kIllegalAddress, op, i,
                   "an mbarrier that doesn't lie in shared memory");
      }
    });
  }
  locate(warp, op, mask, space, direction, 8, found);
}

/// Calls f(lane, At&) for each lane, one after another, on barriers that are initialised.
template <class F>
void for_each_barrier(Warp& warp, const Op& op, Mask mask, Space space, F f) {
  if (op.control != Control::kSuspend) warp.block().update();
  Located found;
  locate_barriers(warp, op, mask, space, Direction::kAtomic, found);
  for_each_lane(mask, [&](unsigned i) {
    At at{place_of(found, i, 8), {}};
    U64 bits = 0;
    std::memcpy(&bits, at.place, sizeof bits);
    at.barrier = Mbarrier::unpack(bits);
    if (at.barrier.expected == 0 && at.barrier.pending == 0) {
      warp.fault(Fault::Kind::kIllegalInstruction, op, i,
                 "an mbarrier that was never initialised, or is no longer valid");
    }
    f(i, at);
  });
  tell_accessed(warp);  // or the next block of a cluster waits for this access to be over
}

template <Space S>
void init(Warp& warp, const Op& op, Mask mask) {
  Located found;
  locate_barriers(warp, op, mask, S, Direction::kBarrier, found);
  for_each_lane(mask, [&](unsigned i) {
    const U32 count = warp.lanes<U32>(op.b)[i];
    if (count == 0 || count > Mbarrier::kMost) {
      warp.fault(Fault::Kind::kIllegalInstruction, op, i,
                 "mbarrier.init with a count of " + std::to_string(count) + ": it is 1 to 1048575");
    }
    At{place_of(found, i, 8), {count, count, 0, 0}}.store();
  });
}
template <Space S>
void inval(Warp& warp, const Op& op, Mask mask) {
  for_each_barrier(warp, op, mask, S, [&](unsigned, At& at) {
    at.barrier = {};
    at.store();
  });
}

void add_bytes(Warp& warp, const Op& op, unsigned lane, Mbarrier& m, std::int64_t bytes) {
  const std::int64_t sum = m.bytes + bytes;
  if (sum > Mbarrier::kMost || sum < -std::int64_t{Mbarrier::kMost}) {
    warp.fault(Fault::Kind::kIllegalInstruction, op, lane,
               "an mbarrier's tx-count of " + std::to_string(sum) + ": its range is ±1048575");
  }
  m.bytes = static_cast<std::int32_t>(sum);
}

/// b: how many arrive, or the bytes to expect; d: the state that was.
struct Arrive {
  using Head = MemoryOperand;
  MemoryOperand at = {};
  bool drop = false;         ///< no longer expected in the phases to come
  bool expects = false;      ///< bytes, and one arrives
  bool no_complete = false;  ///< it may not end the phase
  bool tells = false;        ///< there is a result
  bool relaxed = false;      ///< it orders nothing
};
template <Space S>
void arrive(Warp& warp, const Op& op, Mask mask) {
  const auto& how = op.as<Arrive>();
  for_each_barrier(warp, op, mask, S, [&](unsigned i, At& at) {
    Mbarrier& m = at.barrier;
    if (how.tells) warp.lanes<U64>(op.d)[i] = m.pack();
    const U32 count = how.expects ? 1 : warp.lanes<U32>(op.b)[i];
    if (how.expects) add_bytes(warp, op, i, m, warp.lanes<U32>(op.b)[i]);
    if (count > m.pending) {
      warp.fault(Fault::Kind::kIllegalInstruction, op, i,
                 "more arrive at an mbarrier (" + std::to_string(count) +
                     ") than its phase waits for (" + std::to_string(m.pending) + ")");
    }
    if (how.no_complete && count == m.pending) {
      warp.fault(Fault::Kind::kIllegalInstruction, op, i,
                 "mbarrier arrive with .noComplete would complete the phase");
    }
    if (how.drop) m.expected -= count;
    m.pending -= count;
    tell_arrived(warp, i, at, !how.relaxed, m.complete_if_done());
    at.store();
  });
}

/// expect_tx, or else complete_tx.
struct BytesChange {
  using Head = MemoryOperand;
  MemoryOperand at = {};
  bool expects = false;
};
template <Space S>
void change_bytes(Warp& warp, const Op& op, Mask mask) {
  const bool expects = op.as<BytesChange>().expects;
  for_each_barrier(warp, op, mask, S, [&](unsigned i, At& at) {
    const std::int64_t bytes = warp.lanes<U32>(op.b)[i];
    add_bytes(warp, op, i, at.barrier, expects ? bytes : -bytes);
    if (!expects) tell_arrived(warp, i, at, false, at.barrier.complete_if_done());
    at.store();
  });
}

struct PhaseWait {
  using Head = MemoryOperand;
  MemoryOperand at = {};
  bool parity = false;   ///< b is one, and else a state
  bool relaxed = false;  ///< it orders nothing
};
template <Space S>
void test_wait(Warp& warp, const Op& op, Mask mask) {
  const auto& wait = op.as<PhaseWait>();
  warp.poll();
  warp.block().stir();  // copies may land
  Mask& d = warp.predicate(op.d);
  for_each_barrier(warp, op, mask, S, [&](unsigned i, At& at) {
    warp.block().async().look_at(at.place);
    tell_landed_at(warp, at.place);
    U64 bits = 0;
    std::memcpy(&bits, at.place, sizeof bits);
    const U32 phase = Mbarrier::unpack(bits).phase;
    const bool over = wait.parity ? (phase & 1) != (warp.lanes<U32>(op.b)[i] & 1)
                                  : phase != Mbarrier::unpack(warp.lanes<U64>(op.b)[i]).phase;
    d = over ? d | kBit[i] : d & ~kBit[i];
    if (over && !wait.relaxed && warp.block().watched()) {
      const Address where = in_shared(warp, at.place);
      warp.block().tell([&](BlockObserver& o) { o.mbarrier_waited(warp, i, where); });
    }
  });
}

/// cp.async.mbarrier.arrive: the thread's copies land, and count as one that arrives.
struct CopiesArrive {
  using Head = MemoryOperand;
  MemoryOperand at = {};
  bool counted = false;  ///< .noinc; else what it adds to the pending count it takes away at once
};
template <Space S>
void arrive_of_copies(Warp& warp, const Op& op, Mask mask) {
  for_each_barrier(warp, op, mask, S, [&](unsigned i, At& at) {
    warp.block().async().wait_all(thread_of(warp, i));
    tell_landed_at(warp, at.place);
    if (!op.as<CopiesArrive>().counted) return;
    if (at.barrier.pending == 0) {
      warp.fault(Fault::Kind::kIllegalInstruction, op, i,
                 "more arrive at an mbarrier than its phase waits for");
    }
    --at.barrier.pending;
    // Of what the thread did itself nothing is promised.
    tell_arrived(warp, i, at, false, at.barrier.complete_if_done());
    at.store();
  });
}

void pending_count(Warp& warp, const Op& op, Mask mask) {
  for_each_lane(mask, [&](unsigned i) {
    warp.lanes<U32>(op.d)[i] = Mbarrier::unpack(warp.lanes<U64>(op.a)[i]).pending;
  });
}

/// A block that is in no cluster is a cluster of its own: its shared memory is the cluster's.
bool take_shared(Builder& b) {
  return b.take_any("shared", "shared::cta", "shared::cluster");
}
/// Whether it orders nothing.
bool take_order(Builder& b) {
  const bool relaxed = b.take("relaxed");
  b.take_any("release", "acquire");
  b.take_any("cta", "cluster");
  return relaxed;
}

#define EMU_BY_SPACE(handler) (shared ? &handler<Space::kShared> : &handler<Space::kGeneric>)

/// `Payload` begins with the access to the mbarrier.
template <class Payload>
Op& emit_at(Builder& b, std::size_t place, Handler handler, Payload payload) {
  const AddressOperand address = b.address(place);
  payload.at = b.access(address, {.barrier = true});
  Op& op = b.emit(handler);
  op.a = address.base;
  op.put(payload);
  return op;
}

void build_arrive(Builder& b, bool drop) {
  Arrive how{.drop = drop};
  how.expects = b.take("expect_tx");
  how.no_complete = b.take("noComplete");
  how.relaxed = take_order(b);
  const bool shared = take_shared(b);
  if (b.take_type() != Type::kB64) b.unsupported("this type");
  b.finish();
  std::size_t place = 0;
  Slot state = 0;
  if (b.operand(0).kind != Operand::Kind::kAddress) {
    place = 1;
    how.tells = b.operand(0).name != "_";
    if (how.tells) state = b.result(0, 64);
  }
  b.expect_operands(place + 1, place + 2);
  const bool counted = b.operands() == place + 2;
  if (!counted && (how.expects || how.no_complete)) b.unsupported("no count");
  const Slot count = counted ? b.source(place + 1, 32) : b.constant(32, 1);
  Op& op = emit_at(b, place, EMU_BY_SPACE(arrive), how);
  op.d = state;
  op.b = count;
}

void build_wait(Builder& b, bool suspends) {
  PhaseWait wait;
  wait.parity = b.take("parity");
  wait.relaxed = take_order(b);
  const bool shared = take_shared(b);
  if (b.take_type() != Type::kB64) b.unsupported("this type");
  b.finish();
  b.expect_operands(3, suspends ? 4 : 3);
  const Slot d = b.predicate_named(b.operand(0).name);
  const Slot what = b.source(2, wait.parity ? 32 : 64);
  if (b.operands() == 4) b.source(3, 32);  // how long: no time here
  Op& op = emit_at(b, 1, EMU_BY_SPACE(test_wait), wait);
  op.d = d;
  op.b = what;
  if (suspends) op.control = Control::kSuspend;
}

void build_mbarrier(Builder& b) {
  if (b.take("arrive")) return build_arrive(b, false);
  if (b.take("arrive_drop")) return build_arrive(b, true);
  if (b.take("test_wait")) return build_wait(b, false);
  if (b.take("try_wait")) return build_wait(b, true);
  const bool expect = b.take("expect_tx"), complete = b.take("complete_tx");
  if (b.take("pending_count")) {
    if (b.take_type() != Type::kB64) b.unsupported("this type");
    emit_plain(b, &pending_count, 32, {Type::kB64});
    return;
  }
  const bool starts = b.take("init"), ends = b.take("inval");
  if (expect || complete) take_order(b);
  const bool shared = take_shared(b);
  if (b.take_type() != Type::kB64) b.unsupported("this type");
  b.finish();
  if (ends) {
    b.expect_operands(1, 1);
    emit_at(b, 0, EMU_BY_SPACE(inval), BytesChange{});
    return;
  }
  if (!starts && !expect && !complete) b.unsupported("this form");
  b.expect_operands(2, 2);
  const Slot count = b.source(1, 32);
  const Handler handler = starts ? EMU_BY_SPACE(init) : EMU_BY_SPACE(change_bytes);
  emit_at(b, 0, handler, BytesChange{.expects = expect}).b = count;
}

void build_arrive_of_copies(Builder& b) {
  if (!b.take("arrive")) b.unsupported("this form");
  const bool noinc = b.take("noinc");
  const bool shared = b.take_any("shared", "shared::cta");
  if (b.take_type() != Type::kB64) b.unsupported("this type");
  b.finish();
  b.expect_operands(1, 1);
  emit_at(b, 0, EMU_BY_SPACE(arrive_of_copies), CopiesArrive{.counted = noinc});
}

// --- cp.async.bulk --------------------------------------------------------------------------

struct BulkEnds {
  std::byte* shared;
  std::byte* global;
  U32 bytes;
  Address shared_at, global_at;
  Block* block;  ///< whose shared memory it is
};

/// The place that a shared address names, of a block that may be another of the cluster.
struct SharedPlace {
  std::byte* bytes;
  Address at;  ///< in that block's shared memory
  Block* block;
};
SharedPlace shared_place(Warp& warp, const Op& op, unsigned lane, Address address, U64 bytes,
                         const char* what) {
  Block& own = warp.block();
  Block* const block = own.cluster().block_at(address, own.rank());
  const Address at = address % kClusterStep;
  if (!block || at > block->shared_bytes() || bytes > block->shared_bytes() - at) {
    warp.fault(Fault::Kind::kIllegalAddress, op, lane,
               std::string(what) + ": past the end of shared memory");
  }
  if (own.cluster().over(block->rank())) {
    warp.fault(Fault::Kind::kIllegalInstruction, op, lane,
               std::string(what) + " to the shared memory of block " + block->place() +
                   " of its cluster, which has exited");
  }
  return {block->shared() + at, at, block};
}

std::uint64_t slot_value(Warp& warp, Slot slot, bool narrow, unsigned lane) {
  return narrow ? warp.lanes<U32>(slot)[lane] : warp.lanes<U64>(slot)[lane];
}

/// a: the global address; b: bytes.
struct BulkCopy {
  std::int64_t displacement = 0;  ///< of the global address
  /// Of the shared address and of the barrier's: the register and a constant, the displacement.
  U32 list = 0;
  bool narrow = false, shared_narrow = false, barrier_narrow = false;
};

BulkEnds ends_of(Warp& warp, const Op& op, unsigned i) {
  const auto& copy = op.as<BulkCopy>();
  const U32* list = warp.code().lists.data() + copy.list;
  const U32 bytes = warp.lanes<U32>(op.b)[i];
  const auto displaced = [&](unsigned k) { return warp.lanes<U64>(list[k])[i]; };
  const auto fail = [&](Fault::Kind kind, const std::string& what) {
    warp.fault(kind, op, i, "cp.async.bulk of " + std::to_string(bytes) + " bytes: " + what);
  };
  const Address global =
      slot_value(warp, op.a, copy.narrow, i) + static_cast<U64>(copy.displacement);
  U64 shared = slot_value(warp, list[0], copy.shared_narrow, i) + displaced(1);
  if (!copy.shared_narrow && shared - kSharedWindow < kWindowBytes) shared -= kSharedWindow;
  if (bytes % 16 || global % 16 || shared % 16) {
    fail(Fault::Kind::kMisalignedAddress, "size and addresses must be multiples of 16");
  }
  const SharedPlace place = shared_place(warp, op, i, shared, bytes, "cp.async.bulk");
  const GlobalMemory* memory = warp.block().launch().config.memory;
  const Allocation* a = memory ? memory->find(global, bytes) : nullptr;
  if (!a) {
    const Allocation* near = memory ? memory->nearest(global) : nullptr;
    fail(Fault::Kind::kIllegalAddress, "not inside an allocation of global memory" +
                                           (near ? "; the nearest is " + near->what + " of " +
                                                       std::to_string(near->size) + " bytes"
                                                 : std::string()));
  }
  return {place.bytes, a->host + (global - a->base), bytes, place.at, global, place.block};
}

void tell_bulk(Warp& warp, const Op& op, unsigned lane, const BulkEnds& ends, U64 number,
               bool to_shared) {
  if (!warp.block().watched() || ends.block != &warp.block()) return;
  const Copy copy{.warp = warp,
                  .op = op,
                  .lane = lane,
                  .number = number,
                  .to_space = to_shared ? Space::kShared : Space::kGlobal,
                  .to = to_shared ? ends.shared_at : ends.global_at,
                  .from_space = to_shared ? Space::kGlobal : Space::kShared,
                  .from = to_shared ? ends.global_at : ends.shared_at,
                  .bytes = ends.bytes};
  warp.block().tell([&](BlockObserver& o) { o.copy_began(copy); });
}

/// Copies land where the block whose mbarrier counts them looks at it.
void begin_bulk(Warp& warp, const Op& op, unsigned lane, const BulkEnds& ends, Address barrier) {
  if (barrier % 8) {
    warp.fault(Fault::Kind::kIllegalAddress, op, lane, "cp.async.bulk: no mbarrier there");
  }
  const SharedPlace at = shared_place(warp, op, lane, barrier, 8, "cp.async.bulk: the mbarrier");
  if (at.block != &warp.block()) warp.block().update();
  const U64 number = at.block->async().bulk(ends.shared, ends.global, ends.bytes, at.bytes);
  if (at.block == &warp.block() && ends.block == at.block) {
    tell_bulk(warp, op, lane, ends, number, true);
  } else {
    tell_reached(warp, ends.shared, ends.bytes, false);
  }
}

Address barrier_of(Warp& warp, const Op& op, unsigned lane) {
  const auto& copy = op.as<BulkCopy>();
  const U32* list = warp.code().lists.data() + copy.list;
  const U64 at =
      slot_value(warp, list[2], copy.barrier_narrow, lane) + warp.lanes<U64>(list[3])[lane];
  return !copy.barrier_narrow && at - kSharedWindow < kWindowBytes ? at - kSharedWindow : at;
}

void bulk_load(Warp& warp, const Op& op, Mask mask) {
  for_each_lane(mask, [&](unsigned i) {
    begin_bulk(warp, op, i, ends_of(warp, op, i), barrier_of(warp, op, i));
  });
  tell_landed(warp);
}

/// c: the ranks that get a copy each, at the same place in their shared memory, with its mbarrier.
void bulk_multicast(Warp& warp, const Op& op, Mask mask) {
  for_each_lane(mask, [&](unsigned i) {
    const BulkEnds ends = ends_of(warp, op, i);
    const Address barrier = barrier_of(warp, op, i) % kClusterStep;
    for (unsigned rank = 0; rank < 16; ++rank) {
      if (!(warp.lanes<std::uint16_t>(op.c)[i] >> rank & 1)) continue;
      if (rank >= warp.block().cluster().size()) {
        warp.fault(Fault::Kind::kIllegalInstruction, op, i,
                   "cp.async.bulk to rank " + std::to_string(rank) + " in a cluster of " +
                       std::to_string(warp.block().cluster().size()));
      }
      const Address number = rank == warp.block().rank() ? 0 : (rank + Address{1}) * kClusterStep;
      BulkEnds there = ends;
      const SharedPlace to =
          shared_place(warp, op, i, number + ends.shared_at, ends.bytes, "cp.async.bulk");
      there.shared = to.bytes;
      there.block = to.block;
      begin_bulk(warp, op, i, there, number + barrier);
    }
  });
  tell_landed(warp);
}

/// From one block's shared memory to another's. d: of the source, a register like the others.
struct SharedCopy {
  U32 list = 0;  ///< to, from and the mbarrier: of each the register and a constant
  bool narrow[3] = {};
};
void bulk_across(Warp& warp, const Op& op, Mask mask) {
  const auto& copy = op.as<SharedCopy>();
  const U32* list = warp.code().lists.data() + copy.list;
  for_each_lane(mask, [&](unsigned i) {
    std::array<SharedPlace, 3> at{};
    const U32 bytes = warp.lanes<U32>(op.b)[i];
    for (unsigned k = 0; k < 3; ++k) {
      Address address =
          slot_value(warp, list[2 * k], copy.narrow[k], i) + warp.lanes<U64>(list[2 * k + 1])[i];
      if (!copy.narrow[k] && address - kSharedWindow < kWindowBytes) address -= kSharedWindow;
      if (address % (k == 2 ? 8 : 16) || bytes % 16) {
        warp.fault(Fault::Kind::kMisalignedAddress, op, i,
                   "cp.async.bulk: size and addresses must be multiples of 16");
      }
      at[k] = shared_place(warp, op, i, address, k == 2 ? 8 : bytes, "cp.async.bulk");
    }
    warp.block().update();
    tell_reached(warp, at[0].bytes, bytes, false);
    at[2].block->async().bulk(at[0].bytes, at[1].bytes, bytes, at[2].bytes);
  });
}

void bulk_store(Warp& warp, const Op& op, Mask mask) {
  for_each_lane(mask, [&](unsigned i) {
    const BulkEnds ends = ends_of(warp, op, i);
    const U64 number =
        warp.block().async().bulk_store(thread_of(warp, i), ends.global, ends.shared, ends.bytes);
    tell_bulk(warp, op, i, ends, number, false);
  });
  tell_landed(warp);
}

void build_bulk_across(Builder& b) {
  b.finish();
  b.expect_operands(4, 4);
  SharedCopy copy;
  std::vector<U32> slots;
  const Slot bytes = b.source(2, 32);
  for (const auto& [k, operand] : {std::pair{0u, 0u}, std::pair{1u, 1u}, std::pair{2u, 3u}}) {
    const AddressOperand at = b.address(operand);
    slots.push_back(at.base);
    slots.push_back(b.constant(64, static_cast<U64>(at.displacement)));
    copy.narrow[k] = at.narrow;
  }
  copy.list = b.list(slots);
  Op& op = b.emit(&bulk_across);
  op.b = bytes;
  op.put(copy);
}

void build_bulk(Builder& b) {
  if (b.take("commit_group")) return emit_alone(b, &bulk_commit_group);
  if (b.take("wait_group")) {
    b.take("read");
    return emit_wait(b, &bulk_wait_group);
  }
  if (b.take("prefetch")) {
    if (!b.take("L2") || !b.take("global")) b.unsupported("this form");
    const bool policy = b.take("L2::cache_hint");
    b.finish();
    b.expect_operands(policy ? 3 : 2, policy ? 3 : 2);
    b.address(0);
    b.source(1, 32);
    b.emit(&nothing);
    return;
  }
  // The first space named is where to.
  const auto& modifiers = b.in().modifiers;
  bool to_global = false;
  for (const std::string_view m : modifiers) {
    if (m == "global" || m.starts_with("shared")) {
      to_global = m == "global";
      break;
    }
  }
  const bool across = !b.take("global");
  const bool far = b.take("shared::cluster");
  if (across ? !far || !b.take("shared::cta") : !far && !b.take("shared::cta")) {
    b.unsupported("these spaces");
  }
  if (!b.take(to_global ? "bulk_group" : "mbarrier::complete_tx::bytes")) {
    b.unsupported("this form");
  }
  if (across) return build_bulk_across(b);
  const bool multicast = b.take("multicast::cluster");
  if (multicast && to_global) b.unsupported(".multicast::cluster");
  const bool policy = b.take("L2::cache_hint");
  b.finish();
  const std::size_t n = (to_global ? 3 : 4) + (policy ? 1 : 0) + (multicast ? 1 : 0);
  b.expect_operands(n, n);
  const Slot ranks = multicast ? b.source(4, 16) : 0;
  const AddressOperand to = b.address(0), from = b.address(1);
  const Slot bytes = b.source(2, 32);
  const AddressOperand barrier = to_global ? AddressOperand{} : b.address(3);
  const AddressOperand& shared = to_global ? from : to;
  const AddressOperand& global = to_global ? to : from;
  const auto displacement = [&](const AddressOperand& o) {
    return b.constant(64, static_cast<U64>(o.displacement));
  };
  const U32 list = b.list({shared.base, displacement(shared), barrier.base, displacement(barrier)});
  Op& op = b.emit(to_global ? &bulk_store : multicast ? &bulk_multicast : &bulk_load);
  op.a = global.base;
  op.b = bytes;
  op.c = ranks;
  op.put(BulkCopy{.displacement = global.displacement,
                  .list = list,
                  .narrow = global.narrow,
                  .shared_narrow = shared.narrow,
                  .barrier_narrow = barrier.narrow});
}

void build_cp(Builder& b) {
  if (!b.take("async")) b.unsupported("this form");
  if (b.take("bulk")) return build_bulk(b);
  if (b.take("commit_group")) return emit_alone(b, &commit_group);
  if (b.take("wait_group")) return emit_wait(b, &wait_group);
  if (b.take("wait_all")) return emit_alone(b, &wait_all);
  if (b.take("mbarrier")) return build_arrive_of_copies(b);
  build_copy(b);
}

// --- st.async -------------------------------------------------------------------------------

/// a, c: the addresses' registers, of 32 or 64 bits.
struct AsyncStore {
  U32 list = 0;  ///< the values' registers
  std::int32_t displacement = 0, barrier_displacement = 0;
  std::uint8_t elements = 1, bytes = 4;  ///< of each
  bool narrow = false, barrier_narrow = false;
};
void store_async(Warp& warp, const Op& op, Mask mask) {
  const auto& how = op.as<AsyncStore>();
  const U32* slots = warp.code().lists.data() + how.list;
  const U32 size = U32{how.elements} * how.bytes;
  for_each_lane(mask, [&](unsigned i) {
    std::array<std::byte, 16> data{};
    for (unsigned k = 0; k < how.elements; ++k) {
      std::memcpy(&data[std::size_t{k} * how.bytes],
                  how.bytes == 8 ? static_cast<const void*>(&warp.lanes<U64>(slots[k])[i])
                                 : &warp.lanes<U32>(slots[k])[i],
                  how.bytes);
    }
    const auto place = [&](Slot slot, bool narrow, std::int32_t displacement, U32 bytes) {
      Address at = slot_value(warp, slot, narrow, i) + static_cast<U64>(std::int64_t{displacement});
      if (!narrow && at - kSharedWindow < kWindowBytes) at -= kSharedWindow;
      if (at % bytes) {
        warp.fault(Fault::Kind::kMisalignedAddress, op, i,
                   "st.async at an address that is not a multiple of " + std::to_string(bytes));
      }
      return shared_place(warp, op, i, at, bytes, "st.async");
    };
    const SharedPlace to = place(op.a, how.narrow, how.displacement, size);
    const SharedPlace barrier = place(op.c, how.barrier_narrow, how.barrier_displacement, 8);
    if (to.block != barrier.block) {
      warp.fault(Fault::Kind::kIllegalInstruction, op, i,
                 "st.async to one block with an mbarrier of another");
    }
    warp.block().update();
    tell_reached(warp, to.bytes, size, true);
    const U64 number = barrier.block->async().store(to.bytes, data, size, barrier.bytes);
    warp.block().tell(
        [&](BlockObserver& o) { o.sent(warp, op, i, *to.block, number, to.at, size); });
  });
}

}  // namespace

void build_store_async(Builder& b) {
  b.take("weak");
  if (!b.take("shared::cluster") || !b.take("mbarrier::complete_tx::bytes")) {
    b.unsupported("this form");
  }
  AsyncStore how;
  how.elements = b.take("v2") ? 2 : b.take("v4") ? 4 : 1;
  const Type t = b.take_type();
  b.finish();
  b.expect_operands(3, 3);
  if (width(t) != 32 && width(t) != 64) b.unsupported("this type");
  how.bytes = static_cast<std::uint8_t>(width(t) / 8);
  if (how.bytes * how.elements > 16) b.unsupported("this size");
  const AddressOperand to = b.address(0), barrier = b.address(2);
  const Operand& value = b.operand(1);
  std::vector<U32> slots;
  if (value.kind == Operand::Kind::kList) {
    for (const Operand& e : value.elements) slots.push_back(b.source(e, width(t)));
  } else {
    slots.push_back(b.source(value, width(t)));
  }
  if (slots.size() != how.elements) b.unsupported("so many elements");
  how.list = b.list(slots);
  how.displacement = static_cast<std::int32_t>(to.displacement);
  how.barrier_displacement = static_cast<std::int32_t>(barrier.displacement);
  how.narrow = to.narrow;
  how.barrier_narrow = barrier.narrow;
  Op& op = b.emit(&store_async);
  op.a = to.base;
  op.c = barrier.base;
  op.put(how);
}

namespace {

constexpr Row kRows[] = {{"cp", build_cp}, {"mbarrier", build_mbarrier}};

}  // namespace

std::span<const Row> async_rows() {
  return kRows;
}

}  // namespace emu
