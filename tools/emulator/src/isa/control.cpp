// Branches, calls, barriers, fences, and what ends a thread.
#include <atomic>
#include <cstring>

#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "machine/access.hpp"
#include "machine/block.hpp"

namespace emu {
namespace {

void nothing(Warp&, const Op&, Mask) {}

void build_exit(Builder& b) {
  b.finish();
  b.expect_operands(0, 0);
  Op& op = b.emit(nullptr);
  op.control = Control::kExit;
  op.put(Exit{});
}

void trap(Warp& warp, const Op& op, Mask mask) {
  warp.fault(Fault::Kind::kIllegalInstruction, op, static_cast<unsigned>(__builtin_ctz(mask)),
             "trap");
}
void build_trap(Builder& b) {
  b.finish();
  b.expect_operands(0, 0);
  b.emit(&trap);
}

void build_cluster_barrier(Builder& b) {
  ClusterBarrier how;
  how.arrives = b.take("arrive");
  if (!how.arrives && !b.take("wait")) b.unsupported("this form");
  if (how.arrives) {
    how.releases = !b.take("relaxed");
    b.take("release");
  } else {
    b.take("acquire");
  }
  b.take("aligned");
  b.finish();
  b.expect_operands(0, 0);
  Op& op = b.emit(nullptr);
  op.control = Control::kCluster;
  op.put(how);
}

void build_barrier(Builder& b) {
  if (b.take("warp")) {
    if (!b.take("sync")) b.unsupported("this form");
    b.finish();
    b.expect_operands(1, 1);
    const Slot member = b.source(0, 32);
    Op& op = b.emit(&nothing);
    op.control = Control::kTogether;
    op.put(Together{.member = member, .orders_memory = true});
    return;
  }
  if (b.take("cluster")) return build_cluster_barrier(b);
  b.take("cta");
  const bool aligned = b.take("aligned") || b.in().opcode == "bar";
  const bool sync = b.take("sync"), arrive = b.take("arrive"), red = b.take("red");
  if (sync + arrive + red != 1) b.unsupported("this form");
  using Kind = BarrierKind;
  Kind kind = Kind::kSync;
  unsigned result_width = 0;
  if (red) {
    kind = b.take("popc") ? Kind::kPopc : b.take("and") ? Kind::kAnd : Kind::kOr;
    if (kind == Kind::kOr && !b.take("or")) b.unsupported("this form");
    const Type t = b.take_type();
    if (t != (kind == Kind::kPopc ? Type::kU32 : Type::kPred)) b.unsupported("this type");
    result_width = kind == Kind::kPopc ? 32 : 1;
  }
  b.finish();
  const std::size_t first = red ? 1 : 0, extra = red ? 1 : 0;
  const bool counted = b.operands() == first + 2 + extra;
  b.expect_operands(first + 1 + extra, first + 2 + extra);
  if (arrive && !counted) b.unsupported("no number of threads");
  const Slot d = red ? b.result(0, result_width) : 0;
  const Slot number = b.source(first, 32);
  const Slot threads = counted ? b.source(first + 1, 32) : number;
  const std::size_t last = b.operands() - 1;
  const Slot p = red ? b.predicate(last) : 0;
  const bool negated = red && b.operand(last).negated;
  Op& op = b.emit(nullptr);
  op.control = Control::kBarrier;
  op.d = d;
  op.a = number;
  op.b = threads;
  op.c = p;
  op.put(Barrier{
      .kind = kind, .counted = counted, .waits = !arrive, .negated = negated, .aligned = aligned});
}

/// Fences of a proxy: every way to memory is one here.
void alias_fence(Warp&, const Op&, Mask) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void proxy_fence(Warp& warp, const Op& op, Mask mask) {
  warp.block().tell([&](BlockObserver& o) { o.proxy_fence(warp, op, mask); });
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void fence(Warp& warp, const Op& op, Mask mask) {
  warp.block().tell([&](BlockObserver& o) { o.fence(warp, op, mask); });
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void build_fence(Builder& b) {
  if (b.take("proxy")) {
    const bool alias = b.take("alias");
    if (!alias && !b.take("async")) b.unsupported("this proxy");
    ProxyFence how;
    if (!alias && b.take("global")) {
      how.shared = false;
    } else if (!alias && b.take_any("shared::cta", "shared::cluster")) {
      how.global = false;
    }
    b.finish();
    b.expect_operands(0, 0);
    b.emit(alias ? &alias_fence : &proxy_fence).put(how);
    return;
  }
  Fence how;
  b.take("mbarrier_init");
  b.take_any("sc", "acq_rel");
  if (b.take("acquire")) how.releases = false;
  if (b.take("release")) how.acquires = false;
  if (b.take("cta")) {
    how.scope = SyncScope::kBlock;
  } else if (b.take("cluster")) {
    how.scope = SyncScope::kCluster;
  } else if (b.take_any("gl", "gpu")) {
    how.scope = SyncScope::kDevice;
  } else if (!b.take("sys")) {
    b.unsupported("this scope");
  }
  b.finish();
  b.expect_operands(0, 0);
  b.emit(&fence).put(how);
}

/// What else is a hint, or tells tools something.
void build_nothing(Builder& b, std::size_t operands) {
  b.finish();
  b.expect_operands(operands, operands);
  b.emit(&nothing);
}

/// Programmatic dependent launch: here the grids before have ended when one begins.
void wait_for_grids(Warp& warp, const Op&, Mask) {
  warp.block().tell([](BlockObserver& o) { o.waited_for_grids(); });
}
void build_griddepcontrol(Builder& b) {
  if (b.take("wait")) {
    b.finish();
    b.expect_operands(0, 0);
    b.emit(&wait_for_grids);
    return;
  }
  if (!b.take("launch_dependents")) b.unsupported("this form");
  build_nothing(b, 0);
}
void build_pmevent(Builder& b) {
  b.take("mask");
  build_nothing(b, 1);
}

/// Cache policies: any value does, since nothing heeds it.
void make_policy(Warp& warp, const Op& op, Mask mask) {
  for_each_lane(mask, [&](unsigned i) { warp.lanes<std::uint64_t>(op.d)[i] = 0; });
}
void build_createpolicy(Builder& b) {
  const bool range = b.take("range");
  if (!range && !b.take_any("fractional", "cvt")) b.unsupported("this form");
  b.take("L2");
  b.take("global");
  for (const char* priority :
       {"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"}) {
    b.take(priority);
    b.take(priority);
  }
  if (b.take_type() != Type::kB64) b.unsupported("this type");
  b.finish();
  b.expect_operands(1, 4);
  const Slot d = b.result(0, 64);
  b.emit(&make_policy).d = d;
}

/// discard and applypriority, of a piece of global memory: its values are undefined after the
/// first, so they may stay.
void build_line_hint(Builder& b) {
  b.take("global");
  if (!b.take_any("L2", "L2::evict_normal")) b.unsupported("this form");
  b.finish();
  b.expect_operands(2, 2);
  b.address(0);
  b.emit(&nothing);
}

void sleep(Warp& warp, const Op&, Mask) {
  warp.poll();
}
void build_nanosleep(Builder& b) {
  if (b.take_type() != Type::kU32) b.unsupported("this type");
  b.finish();
  b.expect_operands(1, 1);
  b.source(0, 32);
  b.emit(&sleep);
}

/// Hints to caches change nothing that a program could see.
void build_prefetch(Builder& b) {
  b.take_any("global", "local");
  if (!b.take_any("L1", "L2", "L2::evict_last", "L2::evict_normal")) b.unsupported("this form");
  b.finish();
  b.expect_operands(1, 1);
  b.address(0);
  b.emit(&nothing);
}

constexpr Traits kParts{.parts = Traits::Parts::kSharedLoads};

constexpr Row kRows[] = {
    {"bra", [](Builder& b) { b.branch(); }, kParts},
    {"brx", [](Builder& b) { b.branch_indexed(); }, kParts},
    {"call", [](Builder& b) { b.call(); }, kParts},
    {"ret", [](Builder& b) { b.leave(); }, kParts},
    {"exit", build_exit, kParts},
    {"trap", build_trap, kParts},
    {"brkpt", build_trap},
    {"bar", build_barrier, kParts},
    {"barrier", build_barrier, kParts},
    {"membar", build_fence, kParts},
    {"fence", build_fence, kParts},
    {"nanosleep", build_nanosleep},
    {"prefetch", build_prefetch},
    {"prefetchu", build_prefetch},
    {"griddepcontrol", build_griddepcontrol},
    {"pmevent", build_pmevent},
    {"createpolicy", build_createpolicy},
    {"discard", build_line_hint},
    {"applypriority", build_line_hint},
};

}  // namespace

std::span<const Row> control_rows() {
  return kRows;
}

}  // namespace emu
