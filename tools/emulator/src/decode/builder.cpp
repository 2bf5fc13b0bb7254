#include "decode/builder.hpp"

#include <algorithm>
#include <bit>

#include "decode/decoder.hpp"
#include "decode/scopes.hpp"

namespace emu {

Builder::Builder(Decoder& decoder, Frame& frame, const Instruction& in)
    : decoder_(decoder), frame_(frame), in_(in), left_(in.modifiers) {}

void Builder::unsupported(const std::string& why) const {
  decoder_.refuse(
      "'" + std::string(in_.text) + "' isn't supported" + (why.empty() ? "" : ": " + why),
      in_.line);
}

bool Builder::take(std::string_view modifier) {
  const auto it = std::ranges::find(left_, modifier);
  if (it == left_.end()) return false;
  left_.erase(it);
  return true;
}

std::optional<Type> Builder::take_type_if_any() {
  for (auto it = left_.begin(); it != left_.end(); ++it) {
    if (const auto type = type_named(*it)) {
      left_.erase(it);
      if (kFollowsSums && !floating_) floating_ = is_float(*type);
      return type;
    }
  }
  return std::nullopt;
}

Type Builder::take_type() {
  const auto type = take_type_if_any();
  if (!type) unsupported("no type that is known");
  return *type;
}

void Builder::finish() {
  if (!left_.empty()) unsupported("." + std::string(left_.front()));
}

const Operand& Builder::operand(std::size_t i) const {
  if (i >= in_.operands.size()) unsupported("too few operands");
  return in_.operands[i];
}

void Builder::expect_operands(std::size_t least, std::size_t most) const {
  if (operands() < least || operands() > most) unsupported("so many operands");
}

Slot Builder::constant(unsigned width, std::uint64_t bits) {
  return decoder_.registers().constant(width, bits);
}

Slot Builder::trash(unsigned width) {
  return decoder_.new_register(width);
}

Slot Builder::carry(bool in, bool out) {
  if (!frame_.carry) frame_.carry = decoder_.new_register(1);
  if (in) reads_.push_back({*frame_.carry, 1});
  if (out) writes_.push_back({*frame_.carry, 1});
  return *frame_.carry;
}

unsigned Builder::register_width(const Operand& o, unsigned otherwise) const {
  if (o.kind != Operand::Kind::kName) return otherwise;
  const auto found = find_register(*frame_.function, in_.scope, o.name);
  return found ? std::max(16u, width(found->type)) : otherwise;
}

Slot Builder::predicate_named(std::string_view name) {
  const Slot slot = name == "_" ? trash(1) : guard(name);
  writes_.push_back({slot, 1});
  return slot;
}

Slot Builder::guard(std::string_view name) {
  const auto found = decoder_.register_named(frame_, in_.scope, name);
  if (!found || found->second != 1) unsupported("no predicate " + std::string(name));
  return found->first;
}

Slot Builder::result(const Operand& o, unsigned width) {
  if (o.kind != Operand::Kind::kName) unsupported("a result that is not a register");
  Slot slot = 0;
  if (o.name == "_") {
    slot = trash(width);
  } else {
    const auto found = decoder_.register_named(frame_, in_.scope, o.name);
    if (!found) unsupported("no register " + std::string(o.name));
    if (found->second != width) {
      unsupported("register " + std::string(o.name) + " has another size");
    }
    slot = found->first;
  }
  writes_.push_back({slot, width});
  return slot;
}

Code::Flow Builder::flow(const Traits& traits) const {
  using Kind = Code::Flow::Kind;
  Code::Flow flow{.kind = traits.flow, .reads = reads_.size(), .slots = reads_};
  flow.sum = sum_.value_or(traits.sum);
  if constexpr (kFollowsSums) {
    flow.floating = floating_.value_or(false);
    flow.low = low_;
  }
  flow.slots.insert(flow.slots.end(), writes_.begin(), writes_.end());
  if (!in_.operands.empty()) flow.negated = in_.operands.back().negated;
  const bool acts = addresses_ || frame_.ops.back().control != Control::kStraight;
  if (acts && flow.kind != Kind::kLoads && flow.kind != Kind::kHands) flow.kind = Kind::kUses;
  return flow;
}

Slot Builder::place(const Operand& o, unsigned width, bool is_float) {
  switch (o.kind) {
    case Operand::Kind::kInteger:
      if (is_float) unsupported("a whole number for a float");
      return width == 1 ? constant(1, o.bits != 0) : constant(width, o.bits);
    case Operand::Kind::kFloat32:
      if (width == 64) {
        return constant(64, std::bit_cast<std::uint64_t>(
                                double{std::bit_cast<float>(static_cast<std::uint32_t>(o.bits))}));
      }
      if (width != 32) unsupported("a float here");
      return constant(32, o.bits);
    case Operand::Kind::kFloat64:
      if (width == 32) {
        return constant(
            32, std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))));
      }
      if (width != 64) unsupported("a float here");
      return constant(64, o.bits);
    case Operand::Kind::kName: break;
    default: unsupported("this form of operand");
  }
  if (const auto found = decoder_.register_named(frame_, in_.scope, o.name)) {
    if (found->second != width)
      unsupported("register " + std::string(o.name) + " has another size");
    if (o.offset != 0) unsupported("a sum as an operand");
    return found->first;
  }
  if (const SpecialName* s = find_special(o.name)) {
    if (s->width == 0) return constant(width, kLanes);
    if ((s->width == 1) != (width == 1) ||
        (width != 32 && width != 64 && width != 16 && width != 1))
      unsupported("this size of " + std::string(o.name));
    return decoder_.registers().special(s->which, width);
  }
  if (o.name == "%reserved_smem_offset_1" && width == 32) {
    return constant(32, decoder_.reserved_shared(in_.line));
  }
  if (o.name.starts_with('%')) unsupported(std::string(o.name));
  if (const Declaration* d = decoder_.variable(frame_, in_.scope, o.name)) {
    return place_of(*d, o.offset, width);
  }
  const Names& names = decoder_.names();
  if (const auto f = names.addresses.find(o.name); f != names.addresses.end()) {
    if (width != 64) unsupported("an address of this size");
    return constant(64, f->second);
  }
  if (const Function* f = names.function(o.name)) {
    unsupported(f->is_kernel ? "a kernel that launches kernels (dynamic parallelism)"
                             : "the address of such a function");
  }
  throw PtxError(in_.line, "no register, variable or function " + std::string(o.name));
}

/// A register or constant with a variable's address, or its place in its own space.
Slot Builder::place_of(const Declaration& d, std::int64_t offset, unsigned width) {
  if (width != 32 && width != 64) unsupported("an address of this size");
  if (d.space == ".global" || d.space == ".const") {
    if (width != 64) unsupported("an address of 32 bits");
    return decoder_.registers().symbol(d.name, offset, width);
  }
  const std::uint64_t at = decoder_.place(frame_, d);
  if (at == Decoder::kDynamicShared) return decoder_.registers().dynamic_shared(offset, width);
  const std::uint64_t place = at + static_cast<std::uint64_t>(offset);
  if (d.space == ".shared") return decoder_.registers().shared(d.name, place, width);
  if (!frame_.framed) return constant(width, place);
  const Slot slot = trash(width);
  Op& op = emit(decoder_.names().instructions->place);
  op.counted = false;
  op.d = slot;
  op.a = frame_.base;
  op.put(FramePlace{static_cast<std::int64_t>(place), width == 64});
  return slot;
}

Slot Builder::stack() {
  return decoder_.stack();
}

std::string_view Builder::variable_space(const Operand& o) const {
  if (o.name.empty() || find_register(*frame_.function, in_.scope, o.name)) return {};
  const Declaration* d = decoder_.variable(frame_, in_.scope, o.name);
  return d ? d->space : std::string_view{};
}

bool Builder::parameter_of_kernel(const Operand& o) const {
  if (!frame_.is_kernel) return false;
  const Declaration* d = decoder_.variable(frame_, in_.scope, o.name);
  return std::ranges::any_of(frame_.function->parameters,
                             [d](const Declaration& p) { return d == &p; });
}

std::uint64_t Builder::parameter_offset(const Operand& o, std::size_t bytes) {
  const Declaration* d = decoder_.variable(frame_, in_.scope, o.name);
  if (o.offset < 0 || bytes > d->bytes || static_cast<std::uint64_t>(o.offset) > d->bytes - bytes) {
    unsupported("an access past the end of a parameter");
  }
  return decoder_.place(frame_, *d);
}

AddressOperand Builder::address(std::size_t i) {
  const Operand& o = operand(i);
  if (o.kind != Operand::Kind::kAddress || !o.elements.empty()) {
    unsupported("an address is needed");
  }
  addresses_ = true;
  if (o.name.empty()) return {constant(64, 0), o.offset, false};
  Operand base = o;
  base.kind = Operand::Kind::kName;
  base.offset = 0;
  const unsigned bits = register_width(base, 64);
  if (bits != 32 && bits != 64) unsupported("an address of this size");
  const Slot slot = source(base, bits);
  reads_.back().address = true;
  return {slot, o.offset, bits == 32};
}

MemoryOperand Builder::access(const AddressOperand& address, Ordering ordering) {
  auto& orders = decoder_.code().orders;
  orders.push_back(ordering);
  return {.displacement = address.displacement,
          .number = static_cast<std::uint32_t>(orders.size() - 1),
          .narrow = address.narrow};
}

std::uint32_t Builder::list(const std::vector<std::uint32_t>& slots) {
  auto& lists = decoder_.code().lists;
  const auto first = static_cast<std::uint32_t>(lists.size());
  lists.insert(lists.end(), slots.begin(), slots.end());
  return first;
}

Op& Builder::emit(Handler handler) {
  decoder_.spend(in_.line);
  Op op;
  op.run = handler;
  op.guard = decoder_.registers().always();
  if (!in_.guard.empty()) {
    op.guard = guard(in_.guard);
    op.guard_flip = in_.guard_negated ? kAllLanes : 0;
    op.guarded = true;
  }
  frame_.ops.push_back(op);
  frame_.op_places.push_back({in_.line, in_.file, in_.source_line, decoder_.keep_text(in_),
                              in_.outer_file, in_.outer_line});
  return frame_.ops.back();
}

}  // namespace emu
