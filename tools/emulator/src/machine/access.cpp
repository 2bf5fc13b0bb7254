#include "machine/access.hpp"

#include <bit>

#include "machine/block.hpp"
#include "machine/cluster.hpp"
#include "machine/counting.hpp"
#include "machine/distances.hpp"
#include "machine/host.hpp"
#include "machine/lanes.hpp"
#include "machine/observer.hpp"
#include "machine/text.hpp"

namespace emu {
namespace {

constexpr std::uint64_t kMostInCluster = 16;
using Addresses = std::array<std::uint64_t, kLanes>;

const char* verb(Direction direction) {
  return direction == Direction::kLoad     ? "reads"
         : direction == Direction::kAtomic ? "updates"
                                           : "writes";
}

/// Whether an address can only be a pointer of the host's own: not near null, and not where the
/// device's memory lies, or the host's that both see.
bool of_host_alone(Address address) {
  constexpr Address kNearNull = 1 << 16, kSharedEnd = 0x0000'4000'0000'0000;
  return address >= kNearNull && (address < kSharedWindow || address >= kSharedEnd);
}

std::string illegal_text(Warp& warp, Direction direction, unsigned bytes, const char* space,
                         Address address) {
  std::string text = std::string(verb(direction)) + " " + std::to_string(bytes) + " bytes of " +
                     space + " memory at " + hexadecimal(address);
  if (*space == 'g') {
    const GlobalMemory* memory = warp.block().launch().config.memory;
    if (const Allocation* a = memory ? memory->freed(address) : nullptr) {
      text += ", byte " + std::to_string(address - a->base) +
              " of memory that was freed: " + hexadecimal(a->base) + ", " +
              std::to_string(a->size) + " bytes (" + a->what + ")";
    } else if (memory && memory->host_name && of_host_alone(address)) {
      text += ", " + memory->host_name(address);
    } else if (a = memory ? memory->nearest(address) : nullptr; a && !memory->reaches(*a)) {
      text += ", near or in " + a->what + " memory of device " + std::to_string(a->device) +
              ", to which no access is enabled (cudaDeviceEnablePeerAccess)";
    } else if (a) {
      text += ", outside every allocation; the nearest is " + hexadecimal(a->base) + ", " +
              std::to_string(a->size) + " bytes (" + a->what + ")";
      if (address >= a->base + a->size) {
        text += ", " + std::to_string(address - (a->base + a->size)) + " bytes past its end";
      }
    } else {
      text += "; nothing is allocated";
    }
  } else {
    text += ", past its end";
    if (*space == 's' && warp.block().shared_bytes() == 0) {
      text += "; the launch gave 0 bytes of dynamic shared memory";
    }
  }
  return text;
}

[[noreturn, gnu::noinline]] void illegal(Warp& warp, const Op& op, unsigned lane,
                                         Direction direction, unsigned bytes, const char* space,
                                         Address address) {
  warp.fault(Fault::Kind::kIllegalAddress, op, lane,
             illegal_text(warp, direction, bytes, space, address));
}

/// Hardware maps memory by pages of 2 MiB, and sees nothing wrong within one.
bool hardware_may_pass(const GlobalMemory* memory, Address address) {
  constexpr std::uint64_t kPage = 2u << 20;
  if (!memory) return false;
  if (memory->freed(address)) return true;
  const Allocation* a = memory->nearest(address);
  return a && memory->reaches(*a) && address + kPage > a->base &&
         address < a->base + a->size + kPage;
}

[[noreturn, gnu::noinline]] void misaligned(Warp& warp, const Op& op, unsigned lane,
                                            Direction direction, unsigned bytes, Address address) {
  warp.fault(Fault::Kind::kMisalignedAddress, op, lane,
             std::string(verb(direction)) + " " + std::to_string(bytes) + " bytes at " +
                 hexadecimal(address) + ", which is not a multiple of " + std::to_string(bytes));
}

void check_alignment(Warp& warp, const Op& op, Mask mask, Direction direction, unsigned bytes,
                     const Addresses& address) {
  for_each_lane(mask, [&](unsigned i) {
    if (address[i] % bytes) misaligned(warp, op, i, direction, bytes, address[i]);
  });
}

/// Whether lane i's address is `origin + i * bytes` for all active lanes.
bool in_a_row(const Addresses& address, Mask mask, unsigned bytes, Address& origin) {
  if (mask == 0) return false;
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  origin = address[first] - std::uint64_t{first} * bytes;
  std::uint64_t off = 0;
  if (mask == kAllLanes) {
    for (unsigned i = 0; i < kLanes; ++i) off |= address[i] ^ (origin + std::uint64_t{i} * bytes);
  } else {
    for (Mask m = mask; m; m &= m - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(m));
      off |= address[i] ^ (origin + std::uint64_t{i} * bytes);
    }
  }
  return off == 0;
}

bool is_run_of_lanes(Mask mask) {
  const Mask shifted = mask >> std::countr_zero(mask);
  return (shifted & (shifted + 1)) == 0;
}

struct Ends {
  Address first, past;
};
Ends ends(Address origin, Mask mask, unsigned bytes) {
  return {origin + static_cast<unsigned>(std::countr_zero(mask)) * std::uint64_t{bytes},
          origin + (kLanes - static_cast<unsigned>(std::countl_zero(mask))) * std::uint64_t{bytes}};
}

void count_global(Warp& warp, Mask mask, Direction direction, unsigned bytes,
                  const Addresses& address, bool row, Address origin) {
  if (direction == Direction::kAtomic) return;
  std::uint64_t sectors = 0;
  if (row && is_run_of_lanes(mask)) {
    const Ends e = ends(origin, mask, bytes);
    sectors = (e.past - 1) / 32 - e.first / 32 + 1;
  } else {
    sectors = count_sectors(address.data(), mask);
  }
  Counters& c = warp.block().counters;
  if (direction == Direction::kLoad) {
    ++c.global_load_requests;
    c.global_load_sectors += sectors;
  } else {
    ++c.global_store_requests;
    c.global_store_sectors += sectors;
  }
}

/// A load that the assembler puts together with its neighbours.
void count_merged(Warp& warp, const LoadStore& load, Mask mask, const Addresses& address) {
  if (load.merged_bytes == 0) return;  // with another
  Addresses begin;
  EMU_FOR_LANES begin[i] = address[i] - load.ahead;
  const Wavefronts w = count_wavefronts(begin.data(), mask, load.merged_bytes, true);
  Counters& c = warp.block().counters;
  c.shared_load_wavefronts += w.wavefronts;
  c.shared_load_conflicts += w.conflicts;
  if (load.likely) ++c.mergeable_shared_loads;
}

[[gnu::noinline]] void count_shared(Warp& warp, const Op& op, Mask mask, Direction direction,
                                    unsigned bytes, const Addresses& address, bool row) {
  if (direction != Direction::kLoad && direction != Direction::kStore) return;
  if (op.merged) return count_merged(warp, op.as<LoadStore>(), mask, address);
  Wavefronts w{1, 0};
  // Neighbouring words lie in different banks: no need to look at each.
  if (!row || bytes > 4) {
    w = count_wavefronts(address.data(), mask, bytes, direction == Direction::kLoad);
  }
  Counters& c = warp.block().counters;
  if (direction == Direction::kLoad) {
    c.shared_load_wavefronts += w.wavefronts;
    c.shared_load_conflicts += w.conflicts;
  } else {
    c.shared_store_wavefronts += w.wavefronts;
    c.shared_store_conflicts += w.conflicts;
  }
}

/// The allocation that an access lies in, to be looked at first next time.
[[gnu::noinline]] const Segment* find_allocation(Warp& warp, Segment& segment, Address address,
                                                 std::uint64_t bytes) {
  const GlobalMemory* memory = warp.block().launch().config.memory;
  const Allocation* a = memory ? memory->find(address, bytes) : nullptr;
  if (!a) return nullptr;
  segment = {a->base, a->size, a->host};
  return &segment;
}

const Segment* find_segment(Warp& warp, const Op& op, Address address, std::uint64_t bytes) {
  Segment& segment = warp.block().segment(op.as<MemoryOperand>().number);
  if (address - segment.base < segment.size && bytes <= segment.size - (address - segment.base)) {
    return &segment;
  }
  return find_allocation(warp, segment, address, bytes);
}

void locate_global(Warp& warp, const Op& op, Mask mask, bool counted, Direction direction,
                   unsigned bytes, const Addresses& address, Located& out) {
  Address origin = 0;
  const bool row = in_a_row(address, mask, bytes, origin);
  if (counted) count_global(warp, mask, direction, bytes, address, row, origin);
  if (row) {
    const Ends e = ends(origin, mask, bytes);
    if (e.first % bytes == 0) {
      if (const Segment* s = find_segment(warp, op, e.first, e.past - e.first)) {
        out.run = s->host + static_cast<std::ptrdiff_t>(origin - s->base);
        return;
      }
    }
  }
  check_alignment(warp, op, mask, direction, bytes, address);
  for_each_lane(mask, [&](unsigned i) {
    const Segment* s = find_segment(warp, op, address[i], bytes);
    if (!s) {
      const LaunchConfig& config = warp.block().launch().config;
      if (!config.goes_on || !hardware_may_pass(config.memory, address[i])) {
        illegal(warp, op, i, direction, bytes, "global", address[i]);
      }
      const std::string text = illegal_text(warp, direction, bytes, "global", address[i]);
      warp.block().tell([&](BlockObserver& o) { o.illegal(warp, op, i, text); });
      out.left_out |= kBit[i];
      out.at[i] = warp.block().nowhere(i);
      return;
    }
    out.at[i] = s->host + (address[i] - s->base);
  });
}

void locate_in_cluster(Warp& warp, const Op& op, Mask mask, Direction direction, unsigned bytes,
                       Addresses& address, Located& out);

void locate_shared(Warp& warp, const Op& op, Mask mask, Direction direction, unsigned bytes,
                   Addresses& address, Located& out) {
  std::byte* const base = warp.block().shared();
  const std::uint64_t size = warp.block().shared_bytes();
  Address origin = 0;
  const bool row = in_a_row(address, mask, bytes, origin);
  if (row) {
    const Ends e = ends(origin, mask, bytes);
    if (e.first % bytes == 0 && e.first < e.past && e.past <= size) {
      count_shared(warp, op, mask, direction, bytes, address, true);
      out.run = base + static_cast<std::ptrdiff_t>(origin);
      return;
    }
  }
  check_alignment(warp, op, mask, direction, bytes, address);
  Mask far = 0;
  for_each_lane(mask, [&](unsigned i) { far |= address[i] >= kClusterStep ? kBit[i] : 0; });
  if (far) return locate_in_cluster(warp, op, mask, direction, bytes, address, out);
  for_each_lane(mask, [&](unsigned i) {
    if (address[i] > size || bytes > size - address[i]) {
      illegal(warp, op, i, direction, bytes, "shared", address[i]);
    }
    out.at[i] = base + address[i];
  });
  count_shared(warp, op, mask, direction, bytes, address, row);
}

/// Of addresses that name a block of the cluster. Accesses to another one's shared memory are not
/// counted: no counter of shared memory is known to see them.
void locate_in_cluster(Warp& warp, const Op& op, Mask mask, Direction direction, unsigned bytes,
                       Addresses& address, Located& out) {
  Cluster& cluster = warp.block().cluster();
  Mask own = 0;
  for_each_lane(mask, [&](unsigned i) {
    const std::uint64_t number = address[i] / kClusterStep;  // 0: the thread's own block
    if (number == 0 || (number == warp.block().rank() + 1 && cluster.size() > 1)) {
      address[i] %= kClusterStep;
      own |= kBit[i];
      return;
    }
    if (cluster.size() == 1 || number > kMostInCluster) {
      illegal(warp, op, i, direction, bytes, "shared", address[i]);
    }
    if (number > cluster.size()) {
      warp.fault(Fault::Kind::kIllegalInstruction, op, i,
                 std::string(verb(direction)) + " " + std::to_string(bytes) +
                     " bytes of shared memory of rank " + std::to_string(number - 1) +
                     " in a cluster of " + std::to_string(cluster.size()));
    }
    const auto rank = static_cast<unsigned>(number - 1);
    Block& block = cluster.block(rank);
    const Address at = address[i] % kClusterStep;
    if (at > block.shared_bytes() || bytes > block.shared_bytes() - at) {
      illegal(warp, op, i, direction, bytes, "shared", address[i]);
    }
    if (cluster.over(rank)) {
      warp.fault(Fault::Kind::kIllegalInstruction, op, i,
                 std::string(verb(direction)) + " " + std::to_string(bytes) +
                     " bytes of the shared memory of block " + block.place() +
                     " of its cluster, which has exited");
    }
    out.at[i] = block.shared() + at;
  });
  out.apart = mask & ~own;
  if (direction != Direction::kLoad) warp.block().update();
  if (own == 0) return;
  Located part;
  locate_shared(warp, op, own, direction, bytes, address, part);
  for_each_lane(own, [&](unsigned i) {
    out.at[i] = part.run ? part.run + std::size_t{i} * bytes : part.at[i];
  });
}

void locate_local(Warp& warp, const Op& op, Mask mask, Direction direction, unsigned bytes,
                  const Addresses& address, Located& out) {
  const std::uint64_t size = warp.code().local_bytes + warp.code().stack_bytes;
  check_alignment(warp, op, mask, direction, bytes, address);
  for_each_lane(mask, [&](unsigned i) {
    if (address[i] > size || bytes > size - address[i]) {
      illegal(warp, op, i, direction, bytes, "local", address[i]);
    }
    out.at[i] = warp.local(i) + address[i];
  });
}

void locate_parameter(Warp& warp, const Op& op, Mask mask, Direction direction, unsigned bytes,
                      const Addresses& address, Located& out) {
  const std::uint64_t size = warp.block().launch().config.parameters.size();
  check_alignment(warp, op, mask, direction, bytes, address);
  for_each_lane(mask, [&](unsigned i) {
    if (direction != Direction::kLoad || address[i] > size || bytes > size - address[i]) {
      illegal(warp, op, i, direction, bytes, "parameter", address[i]);
    }
    // Never written through: only loads get here.
    out.at[i] = const_cast<std::byte*>(warp.block().parameters()) + address[i];
  });
}

/// `home`: whose shared memory it is, of another block.
void tell(Warp& warp, const Op& op, Mask mask, Space space, Direction direction, unsigned bytes,
          const Addresses& address, Gather gather, Block* home = nullptr) {
  std::array<std::byte, kLanes * kMostBytes> values;
  if (gather) gather(warp, op, mask, values.data());
  const Ordering& ordering = warp.code().orders[op.as<MemoryOperand>().number];
  const Access access{.warp = warp,
                      .op = op,
                      .lanes = mask,
                      .space = space,
                      .direction = direction,
                      .order = ordering.order,
                      .bytes = bytes,
                      .address = address.data(),
                      .values = gather ? values.data() : nullptr,
                      .scope = ordering.scope,
                      .element = ordering.element,
                      .read_only = ordering.read_only,
                      .silent = ordering.silent,
                      .barrier = ordering.barrier,
                      .home = home};
  warp.block().tell([&](BlockObserver& o) { o.access(access); });
}

/// Tells of lanes that access other blocks' shared memory: each block's on their own.
void tell_apart(Warp& warp, const Op& op, Mask mask, Direction direction, unsigned bytes,
                const Addresses& address, Gather gather) {
  for (Mask left = mask; left;) {
    const Address number = address[static_cast<unsigned>(std::countr_zero(left))] / kClusterStep;
    Addresses there{};
    Mask same = 0;
    for_each_lane(left, [&](unsigned i) {
      if (address[i] / kClusterStep != number) return;
      there[i] = address[i] % kClusterStep;
      same |= kBit[i];
    });
    left &= ~same;
    tell(warp, op, same, Space::kShared, direction, bytes, there, gather,
         &warp.block().cluster().block(static_cast<unsigned>(number - 1)));
  }
}

/// Not told apart at run time: a call that ends in another is half as dear as one that comes back.
template <bool Watched>
void locate_in(Space space, Warp& warp, const Op& op, Mask mask, Direction direction,
               unsigned bytes, Addresses& address, Located& out, Gather gather) {
  if constexpr (Watched) {
    locate_in<false>(space, warp, op, mask, direction, bytes, address, out, gather);
    if (const Mask there = mask & ~(out.left_out | out.apart)) {
      tell(warp, op, there, space, direction, bytes, address, gather);
    }
    if (out.apart) [[unlikely]] {
      tell_apart(warp, op, out.apart, direction, bytes, address, gather);
    }
  } else {
    switch (space) {
      case Space::kGlobal:
        return locate_global(warp, op, mask, true, direction, bytes, address, out);
      case Space::kConstant:
        return locate_global(warp, op, mask, false, direction, bytes, address, out);
      case Space::kShared: return locate_shared(warp, op, mask, direction, bytes, address, out);
      case Space::kLocal: return locate_local(warp, op, mask, direction, bytes, address, out);
      case Space::kParameter:
        return locate_parameter(warp, op, mask, direction, bytes, address, out);
      case Space::kGeneric: return;  // none of its own
    }
  }
}

bool in_window(Address address, Address window) {
  return address - window < kWindowBytes;
}

template <bool Watched>
void locate_generic(Warp& warp, const Op& op, Mask mask, Direction direction, unsigned bytes,
                    Addresses& address, Located& out, Gather gather) {
  Mask shared = 0, local = 0, parameter = 0;
  for_each_lane(mask, [&](unsigned i) {
    if (in_window(address[i], kSharedWindow)) shared |= kBit[i];
    if (in_window(address[i], kLocalWindow)) local |= kBit[i];
    if (in_window(address[i], kParameterWindow)) parameter |= kBit[i];
  });
  const Mask global = mask & ~(shared | local | parameter);
  for (auto [lanes, window] : {std::pair{shared, kSharedWindow}, std::pair{local, kLocalWindow},
                               std::pair{parameter, kParameterWindow}}) {
    const Address base = window;
    for_each_lane(lanes, [&](unsigned i) { address[i] -= base; });
  }
  const std::array parts{std::pair{Space::kGlobal, global}, std::pair{Space::kShared, shared},
                         std::pair{Space::kLocal, local}, std::pair{Space::kParameter, parameter}};
  for (const auto& [space, lanes] : parts) {
    if (lanes == mask) {
      return locate_in<Watched>(space, warp, op, mask, direction, bytes, address, out, gather);
    }
  }
  // A warp whose lanes reach into several spaces: each on its own.
  for (const auto& [space, lanes] : parts) {
    if (!lanes) continue;
    Located part;
    locate_in<Watched>(space, warp, op, lanes, direction, bytes, address, part, gather);
    out.left_out |= part.left_out;
    out.apart |= part.apart;
    for_each_lane(lanes, [&](unsigned i) {
      out.at[i] = part.run ? part.run + std::size_t{i} * bytes : part.at[i];
    });
  }
}

}  // namespace

std::uint64_t address_of(Warp& warp, const Op& op, unsigned lane) {
  const auto& at = op.as<MemoryOperand>();
  const auto displacement = static_cast<std::uint64_t>(at.displacement);
  if (at.narrow) {
    return static_cast<std::uint32_t>(warp.lanes<std::uint32_t>(op.a)[lane] + displacement);
  }
  return warp.lanes<std::uint64_t>(op.a)[lane] + displacement;
}

void tell_accessed(Warp& warp) {
  warp.block().tell([&](BlockObserver& o) { o.accessed(warp); });
}

namespace {

/// Any access: each lane's address by itself.
[[gnu::noinline]] void locate_slowly(Warp& warp, const Op& op, Mask mask, Space space,
                                     Direction direction, unsigned bytes, Located& out,
                                     Gather values) {
  const auto& at = op.as<MemoryOperand>();
  Addresses address;
  const auto displacement = static_cast<std::uint64_t>(at.displacement);
  if (at.narrow) {
    const auto* base = warp.lanes<std::uint32_t>(op.a);
    EMU_FOR_LANES address[i] = static_cast<std::uint32_t>(base[i] + displacement);
  } else {
    const auto* base = warp.lanes<std::uint64_t>(op.a);
    EMU_FOR_LANES address[i] = base[i] + displacement;
  }
  const auto of_space = [&]<bool Watched> {
    if (space == Space::kGeneric) {
      locate_generic<Watched>(warp, op, mask, direction, bytes, address, out, values);
    } else {
      locate_in<Watched>(space, warp, op, mask, direction, bytes, address, out, values);
    }
  };
  if (warp.block().watched()) {
    of_space.template operator()<true>();
  } else {
    of_space.template operator()<false>();
  }
}

void place_lanes(const Distances& d, unsigned bytes, std::byte* first, Located& out) {
  out.first = first;
  if (d.row) {
    out.run = first - std::countr_zero(d.mask) * bytes;
    return;
  }
  if (d.same) out.one = first;
  EMU_FOR_LANES out.at[i] = first + d.of[i];
}

bool find_global(Warp& warp, const Op& op, Direction direction, unsigned bytes, bool counted,
                 const Distances& d, Located& out) {
  const Segment* s = find_segment(warp, op, d.begin(), d.span(bytes));
  if (!s) return false;
  std::byte* const first = s->host + (d.first - s->base);
  place_lanes(d, bytes, first, out);
  if (!counted || direction == Direction::kAtomic) return true;
  std::uint64_t sectors = 1;
  if (d.row && is_run_of_lanes(d.mask)) {
    sectors = (d.begin() + d.span(bytes) - 1) / 32 - d.begin() / 32 + 1;
  } else if (!d.same) {
    sectors = count_sectors(d);
  }
  Counters& c = warp.block().counters;
  if (direction == Direction::kLoad) {
    ++c.global_load_requests;
    c.global_load_sectors += sectors;
  } else {
    ++c.global_store_requests;
    c.global_store_sectors += sectors;
  }
  return true;
}

bool find_shared(Warp& warp, const Op& op, Direction direction, unsigned bytes, Distances& d,
                 Located& out) {
  const std::uint64_t size = warp.block().shared_bytes();
  if (d.begin() > size || d.span(bytes) > size - d.begin()) return false;
  Wavefronts w;
  if (direction == Direction::kLoad || direction == Direction::kStore) {
    const LoadStore* merged = op.merged ? &op.as<LoadStore>() : nullptr;
    if (merged) d.first -= merged->ahead;
    const bool known = (merged && merged->merged_bytes == 0) ||
                       count_wavefronts(d, merged ? merged->merged_bytes : bytes,
                                        direction == Direction::kLoad, w);
    if (merged) d.first += merged->ahead;
    if (!known) {
      Addresses address;
      EMU_FOR_LANES address[i] = d.first + static_cast<std::uint64_t>(std::int64_t{d.of[i]});
      count_shared(warp, op, d.mask, direction, bytes, address, d.row);
    } else if (direction == Direction::kStore) {
      warp.block().counters.shared_store_wavefronts += w.wavefronts;
      warp.block().counters.shared_store_conflicts += w.conflicts;
    } else {
      Counters& c = warp.block().counters;
      c.shared_load_wavefronts += w.wavefronts;
      c.shared_load_conflicts += w.conflicts;
      if (merged && merged->merged_bytes != 0 && merged->likely) ++c.mergeable_shared_loads;
    }
  }
  std::byte* const first = warp.block().shared() + d.first;
  place_lanes(d, bytes, first, out);
  return true;
}

/// In a window of generic addresses, or in none of them?
bool all_in(const Distances& d, unsigned bytes, Address window) {
  return in_window(d.begin(), window) && in_window(d.begin() + d.span(bytes) - 1, window);
}
bool all_global(const Distances& d, unsigned bytes) {
  for (const Address window : {kSharedWindow, kLocalWindow, kParameterWindow}) {
    if (in_window(d.begin(), window) || in_window(d.begin() + d.span(bytes) - 1, window)) {
      return false;
    }
  }
  return true;
}

template <Space S>
bool locate_quickly(Warp& warp, const Op& op, Direction direction, unsigned bytes, Distances& d,
                    Located& out) {
  if (!d.aligned) return false;
  if constexpr (S == Space::kGlobal) {
    return find_global(warp, op, direction, bytes, true, d, out);
  } else if constexpr (S == Space::kConstant) {
    return find_global(warp, op, direction, bytes, false, d, out);
  } else if constexpr (S == Space::kShared) {
    return find_shared(warp, op, direction, bytes, d, out);
  } else if constexpr (S == Space::kGeneric) {
    if (all_in(d, bytes, kSharedWindow)) {
      d.first -= kSharedWindow;
      return find_shared(warp, op, direction, bytes, d, out);
    }
    return all_global(d, bytes) && find_global(warp, op, direction, bytes, true, d, out);
  }
  return false;
}

template <Space S>
void locate_at(Warp& warp, const Op& op, Mask mask, Direction direction, unsigned bytes,
               Located& out, Gather values) {
  const auto& at = op.as<MemoryOperand>();
  if (at.polls) warp.poll();
  if (at.polls || direction == Direction::kAtomic) {
    const Address window = S == Space::kShared ? kSharedWindow : 0;
    warp.looked(op, window + address_of(warp, op, static_cast<unsigned>(std::countr_zero(mask))));
  }
  constexpr bool kQuick = S != Space::kLocal && S != Space::kParameter;
  if (kQuick && !warp.block().watched()) [[likely]] {
    Distances d;
    d.of = out.distance.data();
    const auto displacement = static_cast<std::uint64_t>(at.displacement);
    bool fits = false;
    if (at.narrow) {
      const auto* base = warp.lanes<std::uint32_t>(op.a);
      fits = measure(mask, bytes, d, [&](unsigned i) -> std::uint64_t {
        return static_cast<std::uint32_t>(base[i] + displacement);
      });
    } else {
      const auto* base = warp.lanes<std::uint64_t>(op.a);
      fits = measure(mask, bytes, d, [&](unsigned i) { return base[i] + displacement; });
    }
    if (fits && locate_quickly<S>(warp, op, direction, bytes, d, out)) return;
  }
  locate_slowly(warp, op, mask, S, direction, bytes, out, values);
}

#ifdef EMU_AVX2
template <Space S>
EMU_AVX2 void locate_avx2(Warp& warp, const Op& op, Mask mask, Direction direction, unsigned bytes,
                          Located& out, Gather values) {
  locate_at<S>(warp, op, mask, direction, bytes, out, values);
}
template <Space S>
EMU_AVX512 void locate_avx512(Warp& warp, const Op& op, Mask mask, Direction direction,
                              unsigned bytes, Located& out, Gather values) {
  locate_at<S>(warp, op, mask, direction, bytes, out, values);
}
#endif

}  // namespace

const Locate* locate_by_space() {
  static constexpr Locate kPlain[] = {&locate_at<Space::kGeneric>,  &locate_at<Space::kGlobal>,
                                      &locate_at<Space::kConstant>, &locate_at<Space::kShared>,
                                      &locate_at<Space::kLocal>,    &locate_at<Space::kParameter>};
#ifdef EMU_AVX2
  static constexpr Locate kAvx2[] = {&locate_avx2<Space::kGeneric>, &locate_avx2<Space::kGlobal>,
                                     &locate_at<Space::kConstant>,  &locate_avx2<Space::kShared>,
                                     &locate_at<Space::kLocal>,     &locate_at<Space::kParameter>};
  static constexpr Locate kAvx512[] = {
      &locate_avx512<Space::kGeneric>, &locate_avx512<Space::kGlobal>,
      &locate_at<Space::kConstant>,    &locate_avx512<Space::kShared>,
      &locate_at<Space::kLocal>,       &locate_at<Space::kParameter>};
  if (host() == Host::kAvx512) return kAvx512;
  if (host() == Host::kAvx2) return kAvx2;
#endif
  return kPlain;
}

}  // namespace emu
