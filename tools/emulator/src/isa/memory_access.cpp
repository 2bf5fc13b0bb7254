// ld and st of every space, width and vector form.
#include <cstring>

#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "isa/whole.hpp"
#include "machine/access.hpp"
#include "machine/block.hpp"
#include "machine/host.hpp"

namespace emu {
namespace {

template <class Mem, class Reg>
Reg element_at(const std::byte* from) {
  Mem value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<Reg>(value);
}

/// The element that begins `offset` bytes after where a lane's access does, for each lane.
template <class Mem, class Reg>
void take_elements(const Located& found, Mask mask, unsigned bytes, unsigned offset, Reg* d) {
  if (found.run && mask == kAllLanes && sizeof(Mem) == sizeof(Reg) && bytes == sizeof(Mem)) {
    std::memcpy(d, found.run, kLanes * sizeof(Mem));
  } else if (found.one) {
    const Reg value = element_at<Mem, Reg>(found.one + offset);
    EMU_FOR_LANES d[i] = mask & kBit[i] ? value : d[i];
  } else if (found.first) {
    // Elements are aligned, on the host too: the compiler may gather them.
    const std::byte* const from = found.first + offset;
    EMU_FOR_LANES {
      const auto value = static_cast<Reg>(*reinterpret_cast<const Mem*>(from + found.distance[i]));
      d[i] = mask & kBit[i] ? value : d[i];
    }
  } else {
    for_each_lane(mask, [&](unsigned i) {
      const std::byte* at = found.run ? found.run + std::size_t{i} * bytes : found.at[i];
      d[i] = element_at<Mem, Reg>(at + offset);
    });
  }
}

/// Mem: how an element lies in memory; Reg: how a register holds it. A wider register gets the
/// element extended by its sign or by zeros.
template <class Mem, class Reg, Space S>
void load(Warp& warp, const Op& op, Mask mask) {
  Located found;
  const auto& access = op.as<LoadStore>();
  const unsigned count = access.elements;
  const unsigned bytes = static_cast<unsigned>(sizeof(Mem)) * count;
  locate(warp, op, mask, S, Direction::kLoad, bytes, found);
  if (count == 1) {
    take_elements<Mem>(found, mask, sizeof(Mem), 0, warp.lanes<Reg>(op.d));
    return;
  }
  const std::uint32_t* slots = warp.code().lists.data() + access.list;
  if (!access.at.whole) {
    for (unsigned k = 0; k < count; ++k) {
      take_elements<Mem>(found, mask, bytes, k * static_cast<unsigned>(sizeof(Mem)),
                         warp.lanes<Reg>(slots[k]));
    }
    return;
  }
  for_each_lane(mask, [&](unsigned i) {
    const std::byte* from = found.run ? found.run + std::size_t{i} * bytes : found.at[i];
    alignas(16) std::array<std::byte, kMostBytes> all;
    move_whole(all.data(), from, from, bytes);
    for (unsigned k = 0; k < count; ++k) {
      warp.lanes<Reg>(slots[k])[i] = element_at<Mem, Reg>(all.data() + k * sizeof(Mem));
    }
  });
}

template <class Mem, class Reg>
void gather(Warp& warp, const Op& op, Mask mask, std::byte* out) {
  const auto& access = op.as<LoadStore>();
  const unsigned count = access.elements;
  for (unsigned k = 0; k < count; ++k) {
    const Reg* d = warp.lanes<Reg>(count == 1 ? op.d : warp.code().lists[access.list + k]);
    for_each_lane(mask, [&](unsigned i) {
      const auto value = static_cast<Mem>(d[i]);
      std::memcpy(out + (std::size_t{i} * count + k) * sizeof(Mem), &value, sizeof value);
    });
  }
}

template <class Mem, class Reg, Space S>
void store(Warp& warp, const Op& op, Mask mask) {
  Located found;
  const auto& access = op.as<LoadStore>();
  const unsigned count = access.elements;
  const unsigned bytes = static_cast<unsigned>(sizeof(Mem)) * count;
  locate(warp, op, mask, S, Direction::kStore, bytes, found, &gather<Mem, Reg>);
  if (count == 1) {
    const Reg* d = warp.lanes<Reg>(op.d);
    if (found.run && sizeof(Mem) == sizeof(Reg) && mask == kAllLanes) {
      std::memcpy(found.run, d, kLanes * sizeof(Mem));
      return;
    }
    if (mask == kAllLanes && !found.run) {
      for (unsigned i = 0; i < kLanes; ++i) {
        const auto value = static_cast<Mem>(d[i]);
        std::memcpy(found.at[i], &value, sizeof value);
      }
      return;
    }
    for_each_lane(mask, [&](unsigned i) {
      const auto value = static_cast<Mem>(d[i]);
      std::memcpy(found.run ? found.run + i * sizeof(Mem) : found.at[i], &value, sizeof value);
    });
    return;
  }
  const std::uint32_t* slots = warp.code().lists.data() + access.list;
  for_each_lane(mask, [&](unsigned i) {
    std::byte* to = found.run ? found.run + std::size_t{i} * bytes : found.at[i];
    alignas(16) std::array<std::byte, kMostBytes> all;
    std::byte* const parts = access.at.whole ? all.data() : to;
    for (unsigned k = 0; k < count; ++k) {
      const auto value = static_cast<Mem>(warp.lanes<Reg>(slots[k])[i]);
      std::memcpy(parts + k * sizeof(Mem), &value, sizeof value);
    }
    if (access.at.whole) move_whole(to, all.data(), to, bytes);
  });
}

/// A parameter of the kernel: the same for all lanes.
struct ParameterLoad {
  std::uint64_t offset = 0;  ///< in the parameter block
  std::uint32_t list = 0;
  std::uint32_t elements = 1;
};
template <class Mem, class Reg>
void load_parameter(Warp& warp, const Op& op, Mask mask) {
  const auto& load = op.as<ParameterLoad>();
  for (unsigned k = 0; k < load.elements; ++k) {
    Mem value;
    std::memcpy(&value, warp.block().parameters() + load.offset + k * sizeof(Mem), sizeof value);
    const auto reg = static_cast<Reg>(value);
    Reg* d = warp.lanes<Reg>(load.elements == 1 ? op.d : warp.code().lists[load.list + k]);
    EMU_FOR_LANES d[i] = mask & kBit[i] ? reg : d[i];
  }
}

template <class Mem, class Reg>
constexpr Forms kLoadParameter{&load_parameter<Mem, Reg>, &load_parameter<Mem, Reg>,
                               &load_parameter<Mem, Reg>};
template <class T>
constexpr Forms kLoadParameter<T, T> = kForms<&load_parameter<T, T>>;

/// The same as a handler for each kind of host, of the usual sizes and spaces.
template <class Mem, class Reg, Space S>
constexpr bool kUsual = sizeof(Mem) == sizeof(Reg) && sizeof(Mem) >= 4 &&
                        (S == Space::kGlobal || S == Space::kShared);
template <class Mem, class Reg, Space S>
constexpr Forms kLoad{&load<Mem, Reg, S>, &load<Mem, Reg, S>, &load<Mem, Reg, S>};
template <class Mem, class Reg, Space S>
requires kUsual<Mem, Reg, S>
constexpr Forms kLoad<Mem, Reg, S> = kForms<&load<Mem, Reg, S>>;
template <class Mem, class Reg, Space S>
constexpr Forms kStore{&store<Mem, Reg, S>, &store<Mem, Reg, S>, &store<Mem, Reg, S>};
template <class Mem, class Reg, Space S>
requires kUsual<Mem, Reg, S>
constexpr Forms kStore<Mem, Reg, S> = kForms<&store<Mem, Reg, S>>;

template <class Mem, class Reg>
Handler pick_space(Space space, bool is_load, bool known_parameter) {
  if (known_parameter) return kLoadParameter<Mem, Reg>;
  switch (space) {
    case Space::kGeneric:
      return is_load ? kLoad<Mem, Reg, Space::kGeneric> : kStore<Mem, Reg, Space::kGeneric>;
    case Space::kGlobal:
      return is_load ? kLoad<Mem, Reg, Space::kGlobal> : kStore<Mem, Reg, Space::kGlobal>;
    case Space::kShared:
      return is_load ? kLoad<Mem, Reg, Space::kShared> : kStore<Mem, Reg, Space::kShared>;
    case Space::kLocal:
      return is_load ? kLoad<Mem, Reg, Space::kLocal> : kStore<Mem, Reg, Space::kLocal>;
    case Space::kConstant: return is_load ? Handler{kLoad<Mem, Reg, Space::kConstant>} : nullptr;
    case Space::kParameter: return is_load ? Handler{kLoad<Mem, Reg, Space::kParameter>} : nullptr;
  }
  return nullptr;
}

/// By the sizes of element and register; a register is never smaller.
Handler pick_access(Type t, unsigned reg, Space space, bool is_load, bool known) {
  const bool s = is_signed(t);
  const auto all = [&]<class M, class R>(M, R) { return pick_space<M, R>(space, is_load, known); };
  using U8 = std::uint8_t;
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  using S8 = std::int8_t;
  using S16 = std::int16_t;
  using S32 = std::int32_t;
  switch (width(t)) {
    case 8:
      if (reg == 16) return s ? all(S8{}, U16{}) : all(U8{}, U16{});
      if (reg == 32) return s ? all(S8{}, U32{}) : all(U8{}, U32{});
      if (reg == 64) return s ? all(S8{}, U64{}) : all(U8{}, U64{});
      return nullptr;
    case 16:
      if (reg == 16) return all(U16{}, U16{});
      if (reg == 32) return s ? all(S16{}, U32{}) : all(U16{}, U32{});
      if (reg == 64) return s ? all(S16{}, U64{}) : all(U16{}, U64{});
      return nullptr;
    case 32:
      if (reg == 32) return all(U32{}, U32{});
      if (reg == 64) return s ? all(S32{}, U64{}) : all(U32{}, U64{});
      return nullptr;
    case 64: return reg == 64 ? all(U64{}, U64{}) : nullptr;
    default: return nullptr;
  }
}

/// Modifiers that say how caches treat an access, or who may see it when. Blocks run one after
/// another or on threads of one coherent host: none of these changes what a program may rely on.
/// But an access by which one thread may wait for another is told by what is returned.
Ordering take_hints(Builder& b) {
  Ordering ordering;
  if (b.take("cta")) ordering.scope = SyncScope::kBlock;
  if (b.take("cluster")) ordering.scope = SyncScope::kCluster;
  if (b.take("gpu")) ordering.scope = SyncScope::kDevice;
  ordering.read_only = b.take("nc");
  for (const char* hint :
       {"weak", "sys", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_normal",
        "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::64B",
        "L2::128B", "L2::256B"}) {
    b.take(hint);
  }
  if (b.take("volatile")) ordering.order = Order::kVolatile;
  if (b.take("acquire")) ordering.order = Order::kAcquire;
  if (b.take("release")) ordering.order = Order::kRelease;
  if (b.take_any("relaxed", "mmio")) ordering.order = Order::kRelaxed;
  return ordering;
}

/// Follows an access with an order.
void told(Warp& warp, const Op&, Mask) {
  tell_accessed(warp);
}

Space take_space(Builder& b) {
  if (b.take("global")) return Space::kGlobal;
  if (b.take_any("shared", "shared::cta", "shared::cluster")) return Space::kShared;
  if (b.take("local")) return Space::kLocal;
  if (b.take("const")) return Space::kConstant;
  if (b.take_any("param", "param::entry", "param::func")) return Space::kParameter;
  return Space::kGeneric;
}

void access(Builder& b, bool is_load) {
  if (!is_load && b.take("async")) return build_store_async(b);
  Space space = take_space(b);
  Ordering ordering = take_hints(b);
  const Order order = ordering.order;
  const unsigned count = b.take("v2") ? 2 : b.take("v4") ? 4 : b.take("v8") ? 8 : 1;
  const Type t = b.take_type();
  b.finish();
  b.expect_operands(2, 2);
  if (t == Type::kPred || width(t) > 64 || width(t) / 8 * count > 16) b.unsupported("this size");
  const std::size_t value = is_load ? 0 : 1, place = is_load ? 1 : 0;

  const auto& target = b.operand(value);
  std::vector<const Operand*> elements{&target};
  if (target.kind == Operand::Kind::kList) {
    elements.clear();
    for (const Operand& e : target.elements) elements.push_back(&e);
  }
  if (elements.size() != count) b.unsupported("so many elements");
  // All elements are held alike; "_" leaves one out.
  unsigned reg = std::max(16u, width(t));
  for (const Operand* e : elements) reg = std::max(reg, b.register_width(*e, 0));
  std::vector<std::uint32_t> slots;
  for (const Operand* e : elements) {
    slots.push_back(is_load ? b.result(*e, reg) : b.source(*e, reg, is_float(t)));
  }
  const AddressOperand address = b.address(place);

  bool known = false;
  std::uint64_t offset = 0;
  if (space == Space::kParameter) {
    const bool by_name = !b.variable_space(b.operand(place)).empty();
    if (by_name && b.parameter_of_kernel(b.operand(place))) {
      known = true;
      offset = static_cast<std::uint64_t>(address.displacement) +
               b.parameter_offset(b.operand(place), count * width(t) / 8);
    } else if (by_name) {
      space = Space::kLocal;  // of a call
    }
  }
  const Handler handler = pick_access(t, reg, space, is_load, known);
  if (!handler || (known && !is_load)) b.unsupported("this form");
  const std::uint32_t list = count > 1 ? b.list(slots) : 0;
  if (count > 1) ordering.element = static_cast<std::uint8_t>(width(t) / 8);
  MemoryOperand at = b.access(address, ordering);
  at.polls = order != Order::kWeak && order != Order::kRelease;
  at.whole = count > 1 && order != Order::kWeak;
  Op& op = b.emit(handler);
  op.d = slots[0];
  op.a = address.base;
  if (known) {
    op.put(ParameterLoad{offset, list, count});
  } else {
    op.put(LoadStore{.at = at, .list = list, .elements = static_cast<std::uint8_t>(count)});
  }
  if (order != Order::kWeak && !known) b.emit(&told).counted = false;
}

constexpr Row kRows[] = {
    {"ld", [](Builder& b) { access(b, true); }, {.merges = true, .flow = Code::Flow::Kind::kLoads}},
    {"ldu", [](Builder& b) { access(b, true); }, {.flow = Code::Flow::Kind::kLoads}},
    {"st",
     [](Builder& b) { access(b, false); },
     {.parts = Traits::Parts::kIfShared, .sum = Code::Flow::Sum::kMoves}},
};

}  // namespace

std::span<const Row> memory_rows() {
  return kRows;
}

}  // namespace emu
