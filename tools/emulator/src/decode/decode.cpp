#include "decode/decode.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "decode/handlers.hpp"
#include "decode/merge.hpp"

namespace emu {
namespace {

constexpr Slot kConstantBit = 0x8000'0000u;    // until it is known where constants begin
constexpr std::size_t kStackBytes = 64 << 10;  // a thread
constexpr std::uint64_t kMaxShared = 1 << 20, kMaxLocal = 512 << 10;

struct SpecialName {
  std::string_view name;
  Special which;
  unsigned width;
};
constexpr std::array kSpecials = std::to_array<SpecialName>({
    {"%tid.x", Special::kTidX, 32},
    {"%tid.y", Special::kTidY, 32},
    {"%tid.z", Special::kTidZ, 32},
    {"%ntid.x", Special::kNtidX, 32},
    {"%ntid.y", Special::kNtidY, 32},
    {"%ntid.z", Special::kNtidZ, 32},
    {"%ctaid.x", Special::kCtaidX, 32},
    {"%ctaid.y", Special::kCtaidY, 32},
    {"%ctaid.z", Special::kCtaidZ, 32},
    {"%nctaid.x", Special::kNctaidX, 32},
    {"%nctaid.y", Special::kNctaidY, 32},
    {"%nctaid.z", Special::kNctaidZ, 32},
    {"%laneid", Special::kLaneId, 32},
    {"%warpid", Special::kWarpId, 32},
    {"%nwarpid", Special::kNwarpId, 32},
    {"%smid", Special::kSmId, 32},
    {"%nsmid", Special::kNsmId, 32},
    {"%gridid", Special::kGridId, 64},
    {"%lanemask_eq", Special::kLanemaskEq, 32},
    {"%lanemask_le", Special::kLanemaskLe, 32},
    {"%lanemask_lt", Special::kLanemaskLt, 32},
    {"%lanemask_ge", Special::kLanemaskGe, 32},
    {"%lanemask_gt", Special::kLanemaskGt, 32},
    {"%dynamic_smem_size", Special::kDynamicSmemSize, 32},
    {"%total_smem_size", Special::kTotalSmemSize, 32},
    // The driver's own, of which cooperative groups read these two.
    {"%envreg1", Special::kGridWorkspaceHigh, 32},
    {"%envreg2", Special::kGridWorkspaceLow, 32},
    // A block that is in no cluster is a cluster of one.
    {"%cluster_ctarank", Special::kZero, 32},
    {"%cluster_nctarank", Special::kOne, 32},
    {"%cluster_ctaid.x", Special::kZero, 32},
    {"%cluster_ctaid.y", Special::kZero, 32},
    {"%cluster_ctaid.z", Special::kZero, 32},
    {"%cluster_nctaid.x", Special::kOne, 32},
    {"%cluster_nctaid.y", Special::kOne, 32},
    {"%cluster_nctaid.z", Special::kOne, 32},
    {"WARP_SZ", Special::kZero, 0},
});

std::uint64_t round_up(std::uint64_t n, std::uint64_t align) {
  return align ? (n + align - 1) / align * align : n;
}

}  // namespace

constexpr const char* kDriverShared = "the driver's shared memory";
constexpr std::uint64_t kDriverSharedBytes = 1024;

/// A function's names and places while it is decoded.
struct Frame {
  const Function* function = nullptr;
  bool is_kernel = false;
  std::map<std::pair<int, std::string_view>, std::pair<Slot, unsigned>> registers;
  std::map<const Declaration*, std::uint64_t> places;  ///< of variables, in their own space
  std::optional<Slot> carry;
  /// A function that may be active several times over in one thread, or that is called through a
  /// pointer: its variables lie on the thread's stack, `base` holds where, and its arguments come
  /// in the mailbox that all such functions share.
  bool framed = false;
  Slot base = 0;
  std::uint64_t align = 16;  ///< of the frame
  std::uint64_t bytes = 0;   ///< of the frame
  std::vector<std::pair<Slot, unsigned>> registers_used;
  std::vector<std::size_t> pointer_calls;
  std::uint32_t entry = 0;
  std::vector<Op> ops;
  std::vector<Code::Place> op_places;
  std::vector<std::uint32_t> starts;  ///< first op of each instruction
  struct Jump {
    std::size_t op;
    std::string_view label;
    int scope;
    int line;
    bool in_list;  ///< `op` is an index in Code::lists
  };
  std::vector<Jump> jumps;
  std::vector<std::size_t> to_end;  ///< branches to the function's return
  std::vector<std::pair<std::size_t, const Function*>> calls;
  std::vector<std::uint32_t> lists;  ///< targets of brx.idx, as op indices
};

class Decoder {
 public:
  Decoder(const Names& names, const Function& kernel, std::size_t& budget)
      : names_(names), kernel_(kernel), budget_(budget), code_(std::make_shared<Code>()) {
    always_ = constant(1, 1);
  }

  Decoded run() {
    collect(kernel_);
    find_framed();
    for (const Function* f : order_) layout_interface(frames_[f], *f);
    for (const Function* f : order_) body(frames_[f]);
    link();
    return {code_, static_cast<std::size_t>(shared_), registers_};
  }

  // What builders use.
  /// Its place in Code::texts.
  std::uint32_t keep_text(const Instruction& in) {
    if (!names_.keep_text) return 0;
    if (code_->texts.empty()) code_->texts.emplace_back();  // 0: none
    std::string text;
    if (!in.guard.empty()) text = (in.guard_negated ? "@!" : "@") + std::string(in.guard) + " ";
    // It was read to its semicolon, so that is there.
    for (const char* c = in.text.data(); *c != ';'; ++c) {
      const bool space = *c == ' ' || (*c >= '\t' && *c <= '\r');
      if (!space) text += *c;
      if (space && !text.ends_with(' ')) text += ' ';
    }
    if (text.ends_with(' ')) text.pop_back();
    code_->texts.push_back(std::move(text));
    return static_cast<std::uint32_t>(code_->texts.size() - 1);
  }
  [[noreturn]] void refuse(const std::string& what, int line) const {
    throw Unsupported("kernel " + std::string(kernel_.name) + ", PTX line " + std::to_string(line) +
                      ": " + what);
  }

  Slot constant(unsigned width, std::uint64_t bits) {
    if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
    const auto [it, fresh] = constants_.try_emplace({width, bits}, 0);
    if (fresh) it->second = new_constant(width, bits);
    return it->second;
  }

  Slot new_constant(unsigned width, std::uint64_t bits) {
    const Slot slot = reserve(constant_bytes_, width);
    code_->constants.push_back({slot | kConstantBit, width, bits});
    return slot | kConstantBit;
  }

  /// A symbol's address as a constant, filled in when the module is linked.
  Slot symbol(std::string_view name, std::int64_t addend, unsigned width) {
    const auto [it, fresh] = symbols_.try_emplace({name, addend}, 0);
    if (fresh) {
      it->second = new_constant(width, 0);
      code_->relocations.push_back({code_->constants.size() - 1, std::string(name), addend});
    }
    return it->second;
  }

  Slot special(const SpecialName& name, unsigned width) {
    const auto [it, fresh] = specials_.try_emplace({name.which, width}, 0);
    if (fresh) {
      it->second = reserve(constant_bytes_, width) | kConstantBit;
      code_->specials.push_back({it->second, width, name.which});
    }
    return it->second;
  }

  Slot new_register(unsigned width) {
    registers_ += width == 64 ? 2 : 1;
    const Slot slot = reserve(register_bytes_, width);
    if (current_ && current_->framed) current_->registers_used.emplace_back(slot, width);
    return slot;
  }

  Slot stack() {
    if (!stack_) {
      Frame* const outer = std::exchange(current_, nullptr);  // no function's own
      stack_ = new_register(64);
      current_ = outer;
    }
    code_->stack_bytes = kStackBytes;
    return *stack_;
  }
  /// Where the driver's kilobyte of shared memory begins, which cooperative groups use for tiles
  /// wider than a warp. Here it is a part of the kernel's own.
  std::uint64_t reserved_shared(int line) {
    if (!reserved_shared_) {
      Declaration d;
      d.name = kDriverShared;
      d.bytes = kDriverSharedBytes;
      d.align = 128;
      d.line = line;
      reserved_shared_ = put(shared_, d, kMaxShared, "shared");
    }
    return *reserved_shared_;
  }
  std::uint64_t mailbox() const { return mailbox_; }
  /// The number of a form that functions and pointers to them have.
  std::uint32_t form(const std::vector<Declaration>& results,
                     const std::vector<Declaration>& parameters) {
    std::vector<std::uint64_t> sizes;
    for (const Declaration& d : results) sizes.push_back(d.bytes << 16 | d.align);
    sizes.push_back(0);
    for (const Declaration& d : parameters) sizes.push_back(d.bytes << 16 | d.align);
    return forms_.try_emplace(sizes, static_cast<std::uint32_t>(forms_.size())).first->second;
  }
  /// Where each result and parameter lies, from the mailbox's begin; and past the last.
  static std::vector<std::uint64_t> layout(const std::vector<Declaration>& results,
                                           const std::vector<Declaration>& parameters) {
    std::vector<std::uint64_t> out;
    std::uint64_t at = 0;
    for (const auto* list : {&results, &parameters}) {
      for (const Declaration& d : *list) {
        out.push_back(at = round_up(at, d.align));
        at += d.bytes;
      }
    }
    out.push_back(at);
    return out;
  }
  std::optional<Address> address_of(std::string_view function) const {
    const auto it = names_.addresses.find(function);
    if (it == names_.addresses.end()) return std::nullopt;
    return it->second;
  }

  std::optional<Type> declared(const Frame& frame, int scope, std::string_view name,
                               int* owner = nullptr) const {
    const std::size_t digits = name.size() - trailing_digits(name);
    while (scope >= 0) {
      const Scope& s = frame.function->scopes[static_cast<std::size_t>(scope)];
      if (owner) *owner = scope;
      if (const auto it = s.registers.find(name); it != s.registers.end()) return it->second;
      if (digits < name.size() && name.size() - digits < 10) {
        const auto it = s.ranges.find(name.substr(0, digits));
        if (it != s.ranges.end()) {
          std::uint64_t number = 0;
          for (const char c : name.substr(digits))
            number = number * 10 + static_cast<unsigned>(c - '0');
          if (number < it->second.count) return it->second.type;
        }
      }
      scope = s.parent;
    }
    return std::nullopt;
  }

  /// A register's slot and width in bits.
  std::optional<std::pair<Slot, unsigned>> find_register(Frame& frame, int scope,
                                                         std::string_view name) {
    int owner = scope;
    const auto type = declared(frame, scope, name, &owner);
    if (!type) return std::nullopt;
    const auto [it, fresh] = frame.registers.try_emplace({owner, name});
    if (fresh) {
      const unsigned bits = std::max(16u, width(*type));
      const bool predicate = *type == Type::kPred;
      it->second = {new_register(predicate ? 1 : bits), predicate ? 1 : bits};
    }
    return it->second;
  }

  const Declaration* find_variable(const Frame& frame, int scope, std::string_view name) const {
    while (scope >= 0) {
      const Scope& s = frame.function->scopes[static_cast<std::size_t>(scope)];
      if (const auto it = s.variables.find(name); it != s.variables.end()) {
        return &frame.function->variables[it->second];
      }
      scope = s.parent;
    }
    for (const auto* list : {&frame.function->parameters, &frame.function->results}) {
      for (const Declaration& d : *list) {
        if (d.name == name) return &d;
      }
    }
    const auto it = names_.variables.find(name);
    return it == names_.variables.end() ? nullptr : it->second;
  }

  /// The place of a variable in its space (an offset); laid out at first use.
  std::uint64_t place(Frame& frame, const Declaration& d) {
    if (const auto it = frame.places.find(&d); it != frame.places.end()) return it->second;
    if (d.space == ".shared") {
      const auto [it, fresh] = shared_places_.try_emplace(&d, 0);
      if (fresh) it->second = d.unsized ? kDynamicShared : put(shared_, d, kMaxShared, "shared");
      if (it->second == kDynamicShared) dynamic_align_ = std::max(dynamic_align_, d.align);
      return it->second;
    }
    // local, and .param of calls
    frame.align = std::max(frame.align, d.align);
    if (frame.framed) return frame.places[&d] = put(frame.bytes, d, kMaxLocal, "local");
    return frame.places[&d] = put(local_, d, kMaxLocal, "local");
  }

  std::uint64_t put(std::uint64_t& end, const Declaration& d, std::uint64_t limit,
                    const char* what) {
    const std::uint64_t at = round_up(end, d.align);
    if (d.bytes > limit || at + d.bytes > limit) {
      refuse(std::string(d.name) + " is more " + what + " memory than there is", d.line);
    }
    end = at + d.bytes;
    return at;
  }

  /// Constants that hold addresses of dynamic shared memory, known when all static is laid out.
  Slot dynamic_shared(std::int64_t offset, unsigned width, bool generic) {
    const Slot slot =
        new_constant(width, static_cast<std::uint64_t>(offset) + (generic ? kSharedWindow : 0));
    dynamic_.push_back(code_->constants.size() - 1);
    return slot;
  }
  static constexpr std::uint64_t kDynamicShared = ~std::uint64_t{0};

  const Function* find_function(std::string_view name) const {
    const auto it = names_.functions.find(name);
    return it == names_.functions.end() ? nullptr : it->second;
  }
  Frame& frame_of(const Function* f) { return frames_.at(f); }
  Code& code() { return *code_; }
  Slot always() const { return always_; }
  const Function& kernel() const { return kernel_; }
  void spend(int line) {
    if (budget_ == 0) refuse("its calls make it too large to decode", line);
    --budget_;
  }

 private:
  static std::size_t trailing_digits(std::string_view name) {
    std::size_t n = 0;
    while (n < name.size() && name[name.size() - 1 - n] >= '0' && name[name.size() - 1 - n] <= '9')
      ++n;
    return n;
  }

  static Slot reserve(std::uint64_t& end, unsigned width) {
    const std::uint64_t bytes = width == 1 ? 4 : width / 8 * kLanes;
    end = round_up(end, std::min<std::uint64_t>(bytes, 64));
    const std::uint64_t at = end;
    end += bytes;
    if (end >= (1u << 28)) throw Unsupported("a kernel with more registers than can be held");
    return static_cast<Slot>(at);
  }

  /// The functions a kernel reaches.
  void collect(const Function& kernel) {
    add(kernel);
    for (std::size_t i = 0; i < order_.size(); ++i) scan(*order_[i]);
  }
  void add(const Function& f) {
    if (frames_.contains(&f)) return;
    frames_[&f].function = &f;
    frames_[&f].is_kernel = &f == &kernel_;
    order_.push_back(&f);
  }
  void scan(const Function& f) {
    const auto reach = [&](const Function* callee) {
      add(*callee);
      callees_[&f].insert(callee);
    };
    for (const Instruction& in : f.body) {
      if (in.opcode != "call") continue;
      for (const Operand& o : in.operands) {
        if (o.kind != Operand::Kind::kName) continue;
        const Function* callee = find_function(o.name);
        if (callee && callee->has_body) reach(callee);
        if (!callee) {  // a pointer: it may lead to any function that one is made to
          points_ = true;
          for (const Function* target : names_.pointed_at) reach(target);
        }
        break;
      }
    }
  }

  void find_framed() {
    std::uint64_t most = 0;
    for (const Function* f : order_) {
      Frame& frame = frames_[f];
      if (frame.is_kernel) continue;
      // Does it reach itself?
      std::set<const Function*> seen;
      std::vector<const Function*> open(callees_[f].begin(), callees_[f].end());
      while (!open.empty()) {
        const Function* g = open.back();
        open.pop_back();
        if (seen.insert(g).second) open.insert(open.end(), callees_[g].begin(), callees_[g].end());
      }
      frame.framed = seen.contains(f) ||
                     (points_ && std::ranges::count(names_.pointed_at, f) != 0) ||
                     std::ranges::count(f->body, "alloca", &Instruction::opcode) != 0;
      if (frame.framed) most = std::max(most, layout(f->results, f->parameters).back());
    }
    for (const Function* f : order_) {
      for (const Scope& s : f->scopes) {
        for (const auto& [name, p] : s.prototypes) {
          most = std::max(most, layout(p.results, p.parameters).back());
        }
      }
    }
    if (most == 0) return;
    Declaration box;
    box.name = "the arguments of a call";
    box.bytes = most;
    box.align = 128;
    mailbox_ = put(local_, box, kMaxLocal, "local");
  }

  void layout_interface(Frame& frame, const Function& f) {
    std::uint64_t offset = 0;
    for (const auto* list : {&f.results, &f.parameters}) {
      for (const Declaration& d : *list) {
        if (frame.is_kernel) {
          frame.places[&d] = offset = round_up(offset, d.align);
          offset += d.bytes;
        } else {
          place(frame, d);
        }
      }
    }
  }

  void body(Frame& frame) {
    const Function& f = *frame.function;
    current_ = &frame;
    if (frame.framed) {
      stack();
      frame.base = new_register(64);
      emit_frame(frame, f, &handle_enter, f.parameters, f.results.size());
    }
    for (const Declaration& d : f.variables) {  // in the order they are declared in
      if (d.space == ".shared" || d.space == ".local") place(frame, d);
    }
    for (const Instruction& in : f.body) {
      frame.starts.push_back(static_cast<std::uint32_t>(frame.ops.size()));
      const Row* row = find_row(in);
      Builder builder(*this, frame, in);
      if (!row) builder.unsupported();
      row->build(builder);
    }
    frame.starts.push_back(static_cast<std::uint32_t>(frame.ops.size()));
    Op last;
    last.control = frame.is_kernel ? Control::kExit : Control::kReturn;
    last.flags = kBypass;  // `ret` is a branch to it
    last.guard = always_;
    const auto end = static_cast<std::uint32_t>(frame.ops.size());
    if (frame.framed) {
      emit_frame(frame, f, &handle_leave, f.results, 0);
      code_->frames.push_back(frame.registers_used);
      for (const std::size_t op : {std::size_t{0}, std::size_t{end}}) {
        frame.ops[op].imm = static_cast<std::int64_t>(code_->frames.size() - 1);
        frame.ops[op].target = static_cast<std::uint32_t>(round_up(frame.bytes, 16));
        frame.ops[op].c = static_cast<Slot>(frame.align);
      }
    }
    frame.ops.push_back(last);
    frame.op_places.push_back({f.body.empty() ? f.line : f.body.back().line, 0, 0});
    for (const std::size_t op : frame.to_end) frame.ops[op].target = end;
    for (const Frame::Jump& jump : frame.jumps) {
      const std::uint32_t to = label(frame, jump);
      (jump.in_list ? frame.lists[jump.op] : frame.ops[jump.op].target) = to;
    }
    current_ = nullptr;
    if (!names_.syntax->debug) merge_loads(frame);
    insert_joins(frame.ops, frame.op_places, frame.lists);
  }

  /// What begins or ends a function with a frame: op.list holds, of each thing to copy between
  /// mailbox and frame, its place in both and its size.
  void emit_frame(Frame& frame, const Function& f, Handler handler,
                  const std::vector<Declaration>& moved, std::size_t first) {
    const std::vector<std::uint64_t> at = layout(f.results, f.parameters);
    Op op;
    op.run = handler;
    op.guard = always_;
    op.flags = kBypass;
    op.a = *stack_;
    op.b = frame.base;
    op.list = static_cast<std::uint32_t>(code_->lists.size());
    op.count = static_cast<std::uint16_t>(moved.size());
    for (std::size_t i = 0; i < moved.size(); ++i) {
      code_->lists.push_back(static_cast<std::uint32_t>(mailbox_ + at[first + i]));
      code_->lists.push_back(static_cast<std::uint32_t>(place(frame, moved[i])));
      code_->lists.push_back(static_cast<std::uint32_t>(moved[i].bytes));
    }
    frame.ops.push_back(op);
    frame.op_places.push_back({f.line, 0, 0});
  }

  void merge_loads(Frame& frame) {
    const auto fixed = [&](const Operand& o, int scope) -> std::optional<std::uint64_t> {
      if (declared(frame, scope, o.name)) return std::nullopt;
      const Declaration* d = find_variable(frame, scope, o.name);
      if (!d || d->space != ".shared" || d->unsized) return std::nullopt;
      return place(frame, *d) + static_cast<std::uint64_t>(o.offset);
    };
    for (const Merge& m : merge_shared_loads(*frame.function, fixed)) {
      Op& op = frame.ops[frame.starts[m.instruction]];
      op.flags |= kMerged;
      if (!m.certain && m.bytes) op.flags |= kMergeable;
      op.b = m.bytes;
      op.c = static_cast<Slot>(m.ahead);
    }
  }

  std::uint32_t label(const Frame& frame, const Frame::Jump& jump) const {
    for (int scope = jump.scope; scope >= 0;) {
      const Scope& s = frame.function->scopes[static_cast<std::size_t>(scope)];
      if (const auto it = s.labels.find(jump.label); it != s.labels.end()) {
        return frame.starts[it->second];
      }
      scope = s.parent;
    }
    // A label inside braces may be named from outside them.
    for (const Scope& s : frame.function->scopes) {
      if (const auto it = s.labels.find(jump.label); it != s.labels.end()) {
        return frame.starts[it->second];
      }
    }
    throw PtxError(jump.line, "no label " + std::string(jump.label));
  }

  /// All functions one after another; places of constants after the registers.
  void link() {
    Code& code = *code_;
    std::uint32_t base = 0;
    for (const Function* f : order_) {
      frames_[f].entry = base;
      base += static_cast<std::uint32_t>(frames_[f].ops.size());
    }
    for (const Function* f : order_) {
      Frame& frame = frames_[f];
      const auto first_list = static_cast<std::uint32_t>(code.lists.size());
      for (const std::uint32_t to : frame.lists) code.lists.push_back(to + frame.entry);
      for (Op& op : frame.ops) {
        if (op.control == Control::kBranch) {
          op.target += frame.entry;
          if (op.list != kNowhere) op.list += frame.entry;
        } else if (op.control == Control::kSwitch) {
          if (op.target != kNowhere) op.target += frame.entry;
          op.list += first_list;
        } else if (op.control == Control::kCall) {
          op.target = frames_[frame.calls[op.target].second].entry;
        }
        code.ops.push_back(op);
      }
      code.places.insert(code.places.end(), frame.op_places.begin(), frame.op_places.end());
    }
    const std::uint64_t head = round_up(register_bytes_, 64);
    const auto settle = [&](Slot& slot) {
      if (slot & kConstantBit) slot = static_cast<Slot>((slot & ~kConstantBit) + head);
    };
    for (Op& op : code.ops) {
      for (Slot* slot : {&op.d, &op.a, &op.b, &op.c, &op.guard, &op.member}) settle(*slot);
    }
    for (std::uint32_t& slot : code.lists) settle(slot);
    for (auto& c : code.constants) settle(c.slot);
    for (auto& s : code.specials) settle(s.slot);
    shared_ = round_up(shared_, dynamic_align_);
    for (const std::size_t i : dynamic_) code.constants[i].bits += shared_;
    for (const auto& [d, at] : shared_places_) {
      if (at != kDynamicShared) {
        code.shared_variables.push_back({std::string(d->name), at, d->bytes});
      }
    }
    if (reserved_shared_) {
      code.driver_shared = *reserved_shared_;
      code.driver_shared_bytes = kDriverSharedBytes;
      code.shared_variables.push_back({kDriverShared, *reserved_shared_, kDriverSharedBytes});
    }
    code.zeroed_bytes = head;
    code.file_bytes = head + round_up(constant_bytes_, 64);
    code.local_bytes = round_up(local_, stack_ ? 128 : 16);
    if (stack_) code.stack = *stack_;
    for (const Function* f : names_.pointed_at) {
      if (!points_ || !frames_.contains(f)) continue;
      code.callees.push_back(
          {names_.addresses.at(f->name), frames_[f].entry, form(f->results, f->parameters)});
    }
    for (const auto& [number, name] : names_.syntax->files) {
      if (number < 0 || number > 4096) continue;
      const auto n = static_cast<std::size_t>(number);
      if (code.files.size() <= n) code.files.resize(n + 1);
      code.files[n] = name;
    }
  }

  const Names& names_;
  const Function& kernel_;
  std::size_t& budget_;
  std::shared_ptr<Code> code_;
  std::map<const Function*, Frame> frames_;
  std::vector<const Function*> order_;
  std::map<const Function*, std::set<const Function*>> callees_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> forms_;
  bool points_ = false;  ///< calls through pointers
  Frame* current_ = nullptr;
  std::optional<Slot> stack_;
  std::uint64_t mailbox_ = 0;
  std::optional<std::uint64_t> reserved_shared_;
  std::map<std::pair<unsigned, std::uint64_t>, Slot> constants_;
  std::map<std::pair<std::string_view, std::int64_t>, Slot> symbols_;
  std::map<std::pair<Special, unsigned>, Slot> specials_;
  std::map<const Declaration*, std::uint64_t> shared_places_;
  std::vector<std::size_t> dynamic_;
  std::uint64_t register_bytes_ = 0, constant_bytes_ = 0;
  std::uint64_t shared_ = 0, local_ = 0, dynamic_align_ = 1;
  unsigned registers_ = 0;
  Slot always_ = 0;
};

Decoded decode(const Names& names, const Function& kernel, std::size_t& budget) {
  return Decoder(names, kernel, budget).run();
}

// --- Builder -------------------------------------------------------------------------------

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
  return decoder_.constant(width, bits);
}

Slot Builder::trash(unsigned width) {
  return decoder_.new_register(width);
}

Slot Builder::carry() {
  if (!frame_.carry) frame_.carry = decoder_.new_register(1);
  return *frame_.carry;
}

unsigned Builder::register_width(const Operand& o, unsigned otherwise) const {
  if (o.kind != Operand::Kind::kName) return otherwise;
  const auto type = decoder_.declared(frame_, in_.scope, o.name);
  return type ? std::max(16u, width(*type)) : otherwise;
}

Slot Builder::predicate_named(std::string_view name) {
  if (name == "_") return trash(1);
  const auto found = decoder_.find_register(frame_, in_.scope, name);
  if (!found || found->second != 1) unsupported("no predicate " + std::string(name));
  return found->first;
}

Slot Builder::result(const Operand& o, unsigned width) {
  if (o.kind != Operand::Kind::kName) unsupported("a result that is no register");
  if (o.name == "_") return trash(width);
  const auto found = decoder_.find_register(frame_, in_.scope, o.name);
  if (!found) unsupported("no register " + std::string(o.name));
  if (found->second != width) unsupported("register " + std::string(o.name) + " has another size");
  return found->first;
}

Slot Builder::source(const Operand& o, unsigned width, bool is_float) {
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
  if (const auto found = decoder_.find_register(frame_, in_.scope, o.name)) {
    if (found->second != width)
      unsupported("register " + std::string(o.name) + " has another size");
    if (o.offset != 0) unsupported("a sum as an operand");
    return found->first;
  }
  for (const SpecialName& s : kSpecials) {
    if (s.name != o.name) continue;
    if (s.width == 0) return constant(width, kLanes);
    if (width != 32 && width != 64 && width != 16)
      unsupported("this size of " + std::string(o.name));
    return decoder_.special(s, width);
  }
  if (o.name == "%reserved_smem_offset_1" && width == 32) {
    return constant(32, decoder_.reserved_shared(in_.line));
  }
  if (o.name.starts_with('%')) unsupported(std::string(o.name));
  const Declaration* d = decoder_.find_variable(frame_, in_.scope, o.name);
  if (!d) {
    if (const auto address = decoder_.address_of(o.name)) {
      if (width != 64) unsupported("an address of this size");
      return constant(64, *address);
    }
    if (decoder_.find_function(o.name)) unsupported("the address of such a function");
    throw PtxError(in_.line, "no register, variable or function " + std::string(o.name));
  }
  if (width != 32 && width != 64) unsupported("an address of this size");
  if (d->space == ".global" || d->space == ".const") {
    if (width != 64) unsupported("an address of 32 bits");
    return decoder_.symbol(d->name, o.offset, width);
  }
  const std::uint64_t at = decoder_.place(frame_, *d);
  if (at == Decoder::kDynamicShared) return decoder_.dynamic_shared(o.offset, width, false);
  if (d->space != ".shared" && frame_.framed) {
    const Slot place = trash(width);
    Op& op = emit(&handle_place);
    op.flags |= kBypass;
    op.d = place;
    op.a = frame_.base;
    op.imm = static_cast<std::int64_t>(at) + o.offset;
    op.count = static_cast<std::uint16_t>(width);
    return place;
  }
  return constant(width, at + static_cast<std::uint64_t>(o.offset));
}

Slot Builder::stack() {
  return decoder_.stack();
}

/// A register or constant with a variable's place in local memory.
Slot Builder::place_of(const Declaration& d) {
  Operand o;
  o.name = d.name;
  return source(o, 64);
}

std::string_view Builder::variable_space(const Operand& o) const {
  if (o.name.empty() || decoder_.declared(frame_, in_.scope, o.name)) return {};
  const Declaration* d = decoder_.find_variable(frame_, in_.scope, o.name);
  if (!d) return {};
  return d->space;
}

bool Builder::parameter_of_kernel(const Operand& o) const {
  if (!frame_.is_kernel) return false;
  const Declaration* d = decoder_.find_variable(frame_, in_.scope, o.name);
  return std::ranges::any_of(frame_.function->parameters,
                             [d](const Declaration& p) { return d == &p; });
}

std::uint64_t Builder::parameter_offset(const Operand& o, std::size_t bytes) {
  const Declaration* d = decoder_.find_variable(frame_, in_.scope, o.name);
  if (o.offset < 0 || bytes > d->bytes || static_cast<std::uint64_t>(o.offset) > d->bytes - bytes) {
    unsupported("an access past the end of a parameter");
  }
  return decoder_.place(frame_, *d);
}

std::uint32_t Builder::number_access(Order order) {
  auto& orders = decoder_.code().orders;
  orders.push_back(order);
  return static_cast<std::uint32_t>(orders.size() - 1);
}

void Builder::address(Op& op, std::size_t i) {
  const Operand& o = operand(i);
  if (o.kind != Operand::Kind::kAddress || !o.elements.empty()) {
    unsupported("an address is needed");
  }
  if (o.name.empty()) {
    op.a = constant(64, 0);
    op.imm = o.offset;
    return;
  }
  Operand base = o;
  base.kind = Operand::Kind::kName;
  base.offset = 0;
  unsigned bits = register_width(base, 64);
  if (bits != 32 && bits != 64) unsupported("an address of this size");
  op.a = source(base, bits);
  op.imm = o.offset;
  if (bits == 32) op.flags |= kNarrowAddress;
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
  op.guard = decoder_.always();
  if (!in_.guard.empty()) {
    op.guard = predicate_named(in_.guard);
    op.guard_flip = in_.guard_negated ? kAllLanes : 0;
    op.flags |= kGuarded;
  }
  frame_.ops.push_back(op);
  frame_.op_places.push_back({in_.line, in_.file, in_.source_line, decoder_.keep_text(in_),
                              in_.outer_file, in_.outer_line});
  return frame_.ops.back();
}

void Builder::branch(bool) {
  finish();
  expect_operands(1, 1);
  Op& op = emit(nullptr);
  op.control = Control::kBranch;
  frame_.jumps.push_back({frame_.ops.size() - 1, operand(0).name, in_.scope, in_.line, false});
}

void Builder::branch_indexed() {
  finish();
  expect_operands(2, 2);
  const std::vector<std::string_view>* labels = nullptr;
  for (int scope = in_.scope; scope >= 0 && !labels;) {
    const Scope& s = frame_.function->scopes[static_cast<std::size_t>(scope)];
    if (const auto it = s.targets.find(operand(1).name); it != s.targets.end())
      labels = &it->second;
    scope = s.parent;
  }
  if (!labels || labels->empty())
    throw PtxError(in_.line, "no .branchtargets " + std::string(operand(1).name));
  if (labels->size() > 0xffff) unsupported("so many labels");
  const Slot index = source(0, 32);
  Op& op = emit(nullptr);
  op.control = Control::kSwitch;
  op.a = index;
  op.list = static_cast<std::uint32_t>(frame_.lists.size());
  op.count = static_cast<std::uint16_t>(labels->size());
  for (const std::string_view label : *labels) {
    decoder_.spend(in_.line);
    frame_.jumps.push_back({frame_.lists.size(), label, in_.scope, in_.line, true});
    frame_.lists.push_back(0);
  }
}

void Builder::leave() {
  take("uni");
  finish();
  Op& op = emit(nullptr);
  if (frame_.is_kernel) {
    op.control = Control::kExit;
  } else {
    op.control = Control::kBranch;
    frame_.to_end.push_back(frame_.ops.size() - 1);
  }
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
  const Function* callee = decoder_.find_function(name.name);
  const Scope* scope = nullptr;
  const std::vector<Declaration>* formal_results = callee ? &callee->results : nullptr;
  const std::vector<Declaration>* formals = callee ? &callee->parameters : nullptr;
  if (!callee) {
    if (at + 1 != operands()) unsupported("a call through a pointer without a prototype");
    const std::string_view form = operand(at++).name;
    for (int i = in_.scope; i >= 0 && !formals; i = scope->parent) {
      scope = &frame_.function->scopes[static_cast<std::size_t>(i)];
      if (const auto p = scope->prototypes.find(form); p != scope->prototypes.end()) {
        formal_results = &p->second.results;
        formals = &p->second.parameters;
      } else if (const auto t = scope->call_targets.find(form); t != scope->call_targets.end()) {
        const Function* first = decoder_.find_function(t->second);
        if (!first) throw PtxError(in_.line, "no function " + std::string(t->second));
        formal_results = &first->results;
        formals = &first->parameters;
      }
    }
    if (!formals) unsupported("no prototype " + std::string(form));
  }
  if (at < operands()) unsupported("a call with a prototype");
  const std::size_t n_arguments = arguments ? arguments->elements.size() : 0;
  const std::size_t n_results = results ? results->elements.size() : 0;
  if (n_arguments != formals->size() || n_results != formal_results->size()) {
    unsupported("arguments that don't fit " + std::string(name.name));
  }
  if (callee && !callee->has_body) {
    if (call_builtin(*callee, results, arguments)) return;
    unsupported("a function without a body: " + std::string(callee->name));
  }
  const bool by_mailbox = !callee || decoder_.frame_of(callee).framed;
  const std::vector<std::uint64_t> layout = Decoder::layout(*formal_results, *formals);
  const Slot zero = constant(64, 0);
  const auto copy = [&](const Operand& actual, const Declaration& formal, std::uint64_t inside,
                        bool in) {
    if (actual.kind == Operand::Kind::kName) {
      if (const Declaration* d = decoder_.find_variable(frame_, in_.scope, actual.name);
          d && !decoder_.declared(frame_, in_.scope, actual.name)) {
        if (d->bytes < formal.bytes || d->space != ".param")
          unsupported("an argument of another size");
        const Slot outside = place_of(*d);
        const Slot there = constant(64, inside);
        Op& op = emit(&handle_copy_local);
        op.imm = static_cast<std::int64_t>(formal.bytes);
        op.a = in ? there : outside;
        op.b = in ? outside : there;
        op.flags |= kBypass;
        return;
      }
    }
    const auto bits = static_cast<unsigned>(formal.bytes * 8);
    if (bits != 16 && bits != 32 && bits != 64) unsupported("an argument of this size");
    const Slot slot = in ? source(actual, bits) : result(actual, bits);
    Op& op = emit(in ? &handle_argument : &handle_result);
    op.imm = static_cast<std::int64_t>(formal.bytes);
    op.target = static_cast<std::uint32_t>(inside);
    op.a = slot;
    op.b = zero;
    op.flags |= kBypass;
  };
  const auto inside = [&](const Declaration& formal, std::size_t i) {
    return by_mailbox ? decoder_.mailbox() + layout[i]
                      : decoder_.frame_of(callee).places.at(&formal);
  };

  std::optional<std::size_t> skip;
  if (!in_.guard.empty()) {  // a guarded call: those it isn't for go round it
    Op& op = emit(nullptr);
    op.control = Control::kBranch;
    op.guard_flip = ~op.guard_flip;
    op.flags |= kBypass;
    skip = frame_.ops.size() - 1;
  }
  const Slot pointer = callee ? 0 : source(name, 64);
  for (std::size_t i = 0; i < n_arguments; ++i) {
    const Declaration& formal = (*formals)[i];
    copy(arguments->elements[i], formal, inside(formal, n_results + i), true);
  }
  Op& op = emit(nullptr);
  op.guard = decoder_.always();
  op.guard_flip = 0;
  op.flags &= static_cast<std::uint8_t>(~kGuarded);
  if (callee) {
    op.control = Control::kCall;
    op.target = static_cast<std::uint32_t>(frame_.calls.size());
    frame_.calls.emplace_back(frame_.ops.size() - 1, callee);
  } else {
    op.control = Control::kCallPointer;
    op.a = pointer;
    op.imm = decoder_.form(*formal_results, *formals);
  }
  for (std::size_t i = 0; i < n_results; ++i) {
    const Declaration& formal = (*formal_results)[i];
    copy(results->elements[i], formal, inside(formal, i), false);
  }
  if (skip) frame_.ops[*skip].target = static_cast<std::uint32_t>(frame_.ops.size());
}

/// Functions that the driver has. True when the callee is one of them, and the call is built.
bool Builder::call_builtin(const Function& callee, const Operand* results,
                           const Operand* arguments) {
  struct Builtin {
    std::string_view name;
    Handler handler;
    std::size_t arguments, results;
  };
  constexpr std::array kBuiltins = std::to_array<Builtin>({{"__assertfail", &handle_assert, 4, 0},
                                                           {"vprintf", &handle_print, 2, 1},
                                                           {"malloc", &handle_malloc, 1, 1},
                                                           {"free", &handle_free, 1, 0}});
  const auto builtin = std::ranges::find(kBuiltins, callee.name, &Builtin::name);
  if (builtin == kBuiltins.end()) return false;
  std::vector<std::uint32_t> slots;  // of the places of the arguments, then of the result
  for (const auto& [list, n] :
       {std::pair{arguments, builtin->arguments}, std::pair{results, builtin->results}}) {
    if ((list ? list->elements.size() : 0) < n) unsupported();
    for (std::size_t i = 0; i < n; ++i) {
      const Declaration* d = decoder_.find_variable(frame_, in_.scope, list->elements[i].name);
      if (!d || d->space != ".param") unsupported();
      slots.push_back(place_of(*d));
    }
  }
  if (callee.name == "malloc" || callee.name == "free") decoder_.code().uses_heap = true;
  const std::uint32_t first = list(slots);
  emit(builtin->handler).list = first;
  return true;
}

}  // namespace emu
