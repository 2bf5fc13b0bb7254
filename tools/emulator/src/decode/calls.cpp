// Calls: arguments go to where the callee has its parameters, or to a mailbox where it has a frame
// on the stack.
#include <algorithm>

#include "decode/decoder.hpp"
#include "decode/scopes.hpp"

namespace emu {

/// What is called, and with what.
struct Builder::Callee {
  const Function* function;  ///< null: a pointer leads to it
  const std::vector<Declaration>* results;
  const std::vector<Declaration>* parameters;
};

/// `prototype`: the last operand of a call through a pointer; null where there is none.
Builder::Callee Builder::callee_of(const Operand& name, const Operand* prototype) const {
  const Names& names = decoder_.names();
  if (const Function* f = names.function(name.name)) return {f, &f->results, &f->parameters};
  if (!prototype) unsupported("a call through a pointer without a prototype");
  Callee callee{};
  for_each_scope(*frame_.function, in_.scope, [&](const Scope& s, int) {
    if (const auto p = s.prototypes.find(prototype->name); p != s.prototypes.end()) {
      callee = {nullptr, &p->second.results, &p->second.parameters};
    } else if (const auto t = s.call_targets.find(prototype->name); t != s.call_targets.end()) {
      const Function* first = names.function(t->second);
      if (!first) throw PtxError(in_.line, "no function " + std::string(t->second));
      callee = {nullptr, &first->results, &first->parameters};
    }
    return callee.parameters != nullptr;
  });
  if (!callee.parameters) unsupported("no prototype " + std::string(prototype->name));
  return callee;
}

void Builder::call() {
  take("uni");
  finish();
  // [(results),] name [, (arguments)] [, prototype]
  std::size_t at = 0;
  const Operand* results = nullptr;
  const Operand* arguments = nullptr;
  if (operand(at).kind == Operand::Kind::kList) results = &operand(at++);
  const Operand& name = operand(at++);
  if (at < operands() && operand(at).kind == Operand::Kind::kList) arguments = &operand(at++);
  const bool one_left = at + 1 == operands();
  const Callee callee = callee_of(name, one_left ? &operand(at) : nullptr);
  if (at < operands() && callee.function) unsupported("a call with a prototype");
  const std::size_t n_arguments = arguments ? arguments->elements.size() : 0;
  const std::size_t n_results = results ? results->elements.size() : 0;
  if (n_arguments != callee.parameters->size() || n_results != callee.results->size()) {
    unsupported("arguments that don't fit " + std::string(name.name));
  }
  if (callee.function && !callee.function->has_body) {
    const auto& builtins = decoder_.names().instructions->builtins;
    const auto builtin = std::ranges::find(builtins, name.name, &Builtin::name);
    if (builtin == builtins.end()) {
      // Of CUDA's library for kernels: cudaGetParameterBuffer…, cudaLaunchDevice…, and others.
      if (name.name.starts_with("cuda") || name.name.starts_with("__cudaCDP2")) {
        unsupported("a kernel that launches kernels (dynamic parallelism): " +
                    std::string(name.name));
      }
      unsupported("a function without a body: " + std::string(name.name));
    }
    return call_builtin(*builtin, results, arguments);
  }
  const bool by_mailbox = !callee.function || decoder_.frame_of(callee.function).framed;
  const auto layout = mailbox_layout(*callee.results, *callee.parameters);
  const auto inside = [&](const Declaration& formal, std::size_t i) {
    return by_mailbox ? decoder_.mailbox() + layout[i]
                      : decoder_.frame_of(callee.function).places.at(&formal);
  };

  std::optional<std::size_t> skip;
  if (!in_.guard.empty()) {  // a guarded call: those it isn't for go round it
    Op& op = emit(nullptr);
    op.control = Control::kBranch;
    op.guard_flip = ~op.guard_flip;
    op.counted = false;
    op.put(Branch{});
    skip = frame_.ops.size() - 1;
  }
  const Slot pointer = callee.function ? 0 : source(name, 64);
  for (std::size_t i = 0; i < n_arguments; ++i) {
    const Declaration& formal = (*callee.parameters)[i];
    copy(arguments->elements[i], formal, inside(formal, n_results + i), true);
  }
  Op& op = emit(nullptr);
  op.guard = decoder_.registers().always();
  op.guard_flip = 0;
  op.guarded = false;
  if (callee.function) {
    op.control = Control::kCall;
    op.put(Call{static_cast<std::uint32_t>(frame_.called.size())});
    frame_.called.push_back(callee.function);
  } else {
    op.control = Control::kCallPointer;
    op.a = pointer;
    op.put(PointerCall{.form = decoder_.form(*callee.results, *callee.parameters)});
  }
  for (std::size_t i = 0; i < n_results; ++i) {
    const Declaration& formal = (*callee.results)[i];
    copy(results->elements[i], formal, inside(formal, i), false);
  }
  if (skip) frame_.ops[*skip].as<Branch>().target = static_cast<std::uint32_t>(frame_.ops.size());
}

/// An argument to its place `inside` the callee, or a result back.
void Builder::copy(const Operand& actual, const Declaration& formal, std::uint64_t inside,
                   bool in) {
  const InstructionSet& instructions = *decoder_.names().instructions;
  if (actual.kind == Operand::Kind::kName &&
      !find_register(*frame_.function, in_.scope, actual.name)) {
    if (const Declaration* d = decoder_.variable(frame_, in_.scope, actual.name)) {
      if (d->bytes < formal.bytes || d->space != ".param")
        unsupported("an argument of another size");
      const Slot outside = place_of(*d, 0, 64);
      const Slot there = constant(64, inside);
      Op& op = emit(instructions.copy_local);
      op.a = in ? there : outside;
      op.b = in ? outside : there;
      op.counted = false;
      op.put(CopyLocal{formal.bytes});
      return;
    }
  }
  const auto bits = static_cast<unsigned>(formal.bytes * 8);
  if (bits != 16 && bits != 32 && bits != 64) unsupported("an argument of this size");
  const Slot slot = in ? source(actual, bits) : result(actual, bits);
  Op& op = emit(in ? instructions.put_argument : instructions.get_result);
  op.a = slot;
  op.counted = false;
  op.put(Argument{static_cast<std::uint32_t>(inside), bits / 8});
}

/// A function that the driver has.
void Builder::call_builtin(const Builtin& builtin, const Operand* results,
                           const Operand* arguments) {
  std::vector<std::uint32_t> slots;  // of the places of the arguments, then of the result
  for (const auto& [list, n] :
       {std::pair{arguments, builtin.arguments}, std::pair{results, builtin.results}}) {
    if ((list ? list->elements.size() : 0) < n) unsupported();
    for (std::size_t i = 0; i < n; ++i) {
      const Declaration* d = decoder_.variable(frame_, in_.scope, list->elements[i].name);
      if (!d || d->space != ".param") unsupported();
      slots.push_back(place_of(*d, 0, 64));
    }
  }
  if (builtin.uses_heap) decoder_.code().uses_heap = true;
  const std::uint32_t first = list(slots);
  emit(builtin.handler).put(BuiltinCall{first});
}

std::uint32_t Decoder::form(const std::vector<Declaration>& results,
                            const std::vector<Declaration>& parameters) {
  std::vector<std::uint64_t> sizes;
  for (const Declaration& d : results) sizes.push_back(d.bytes << 16 | d.align);
  sizes.push_back(0);
  for (const Declaration& d : parameters) sizes.push_back(d.bytes << 16 | d.align);
  return forms_.try_emplace(sizes, static_cast<std::uint32_t>(forms_.size())).first->second;
}

// --- frames ---------------------------------------------------------------------------------

/// What begins or ends a function with a frame: it moves `moved` between mailbox and frame, of
/// which the first is number `first` in the mailbox. Returns the operation's index.
std::size_t Decoder::change_frame(Frame& frame, Handler handler,
                                  const std::vector<Declaration>& moved, std::size_t first) {
  const Function& f = *frame.function;
  const std::vector<std::uint64_t> at = mailbox_layout(f.results, f.parameters);
  FrameChange change{.list = static_cast<std::uint32_t>(code_->lists.size()),
                     .moved = static_cast<std::uint32_t>(moved.size())};
  for (std::size_t i = 0; i < moved.size(); ++i) {
    code_->lists.push_back(static_cast<std::uint32_t>(mailbox_ + at[first + i]));
    code_->lists.push_back(static_cast<std::uint32_t>(place(frame, moved[i])));
    code_->lists.push_back(static_cast<std::uint32_t>(moved[i].bytes));
  }
  Op op;
  op.run = handler;
  op.guard = registers_.always();
  op.counted = false;
  op.a = *stack_;
  op.b = frame.base;
  op.put(change);
  frame.ops.push_back(op);
  frame.op_places.push_back({f.line, 0, 0});
  return frame.ops.size() - 1;
}

std::size_t Decoder::begin_frame(Frame& frame) {
  stack();
  frame.base = new_register(64);
  const Function& f = *frame.function;
  return change_frame(frame, names_.instructions->enter, f.parameters, f.results.size());
}

/// Now that it is known what lies in the frame, and which registers the function has.
void Decoder::end_frame(Frame& frame, std::size_t begin) {
  const std::size_t end =
      change_frame(frame, names_.instructions->leave, frame.function->results, 0);
  code_->frames.push_back(frame.registers_used);
  for (const std::size_t op : {begin, end}) {
    auto& change = frame.ops[op].as<FrameChange>();
    change.registers = static_cast<std::uint32_t>(code_->frames.size() - 1);
    change.bytes = static_cast<std::uint32_t>(round_up(frame.bytes, 16));
    change.align = static_cast<std::uint32_t>(frame.align);
  }
}

}  // namespace emu
