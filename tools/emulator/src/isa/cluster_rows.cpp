// Addresses in the shared memory of a cluster's blocks. That of the thread's own block is at its
// plain addresses.
#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "machine/block.hpp"
#include "machine/cluster.hpp"

namespace emu {
namespace {

/// a: the address, 0 in `window` where it is of shared memory itself; b: the rank.
struct ClusterAddress {
  Address window = 0;
  bool narrow = false;  ///< the address has 32 bits
};

Address value_at(Warp& warp, const Op& op, unsigned lane) {
  return op.as<ClusterAddress>().narrow ? warp.lanes<std::uint32_t>(op.a)[lane]
                                        : warp.lanes<std::uint64_t>(op.a)[lane];
}

/// The place in its block's shared memory stays, the block changes.
void map_address(Warp& warp, const Op& op, Mask mask) {
  const auto& how = op.as<ClusterAddress>();
  for_each_lane(mask, [&](unsigned i) {
    const Address at = value_at(warp, op, i) - how.window;
    const std::uint32_t rank = warp.lanes<std::uint32_t>(op.b)[i];
    if (rank >= warp.block().cluster().size()) {
      warp.warn(op, kBit[i],
                "mapa names rank " + std::to_string(rank) + " in a cluster of " +
                    std::to_string(warp.block().cluster().size()));
    }
    const Address number = rank == warp.block().rank() ? 0 : (rank + Address{1}) % 256;
    const Address there = how.window + number * kClusterStep + at % kClusterStep;
    if (how.narrow) {
      warp.lanes<std::uint32_t>(op.d)[i] = static_cast<std::uint32_t>(there);
    } else {
      warp.lanes<std::uint64_t>(op.d)[i] = there;
    }
  });
}

void rank_of(Warp& warp, const Op& op, Mask mask) {
  for_each_lane(mask, [&](unsigned i) {
    const Address number = (value_at(warp, op, i) - op.as<ClusterAddress>().window) / kClusterStep;
    warp.lanes<std::uint32_t>(op.d)[i] =
        number == 0 ? warp.block().rank() : static_cast<std::uint32_t>(number - 1);
  });
}

void build(Builder& b, bool maps) {
  const bool shared = b.take("shared::cluster");
  const Type t = b.take_type();
  b.finish();
  if (t != Type::kU32 && t != Type::kU64) b.unsupported("this type");
  b.expect_operands(maps ? 3 : 2, maps ? 3 : 2);
  const unsigned bits = maps ? width(t) : b.register_width(b.operand(1), shared ? 32 : 64);
  const Slot a = b.source(1, bits), rank = maps ? b.source(2, 32) : a;
  const Slot d = b.result(0, maps ? bits : 32);
  Op& op = b.emit(maps ? &map_address : &rank_of);
  op.d = d;
  op.a = a;
  op.b = rank;
  op.put(ClusterAddress{shared ? 0 : kSharedWindow, bits == 32});
}

constexpr Row kRows[] = {{"mapa", [](Builder& b) { build(b, true); }},
                         {"getctarank", [](Builder& b) { build(b, false); }}};

}  // namespace

std::span<const Row> cluster_rows() {
  return kRows;
}

}  // namespace emu
