#include "decode/decoder.hpp"

#include <algorithm>

#include "decode/joins.hpp"
#include "decode/merge.hpp"
#include "decode/scopes.hpp"
#include "ptx/lexer.hpp"

namespace emu {

namespace {
constexpr Row kRefused{"", nullptr, {.parts = Traits::Parts::kSharedLoads}};
}  // namespace

const Function* Names::function(std::string_view name) const {
  const auto it = functions.find(name);
  return it == functions.end() ? nullptr : it->second;
}

Decoded decode(const Names& names, const Function& kernel, std::size_t& budget) {
  return Decoder(names, kernel, budget).run();
}

Decoder::Decoder(const Names& names, const Function& kernel, std::size_t& budget)
    : names_(names),
      kernel_(kernel),
      budget_(budget),
      code_(std::make_shared<Code>()),
      registers_(*code_),
      reach_(reach_of(names, kernel)) {
  for (const Function* f : reach_.functions) {
    Frame& frame = frames_[f];
    frame.function = f;
    frame.is_kernel = f == &kernel_;
    frame.framed = reach_.framed.contains(f);
  }
}

Decoded Decoder::run() {
  lay_out_mailbox();
  for (const Function* f : reach_.functions) lay_out_interface(frames_[f]);
  for (const Function* f : reach_.functions) body(frames_[f]);
  link();
  finish_shared();
  registers_.settle(shared_);
  return {code_, shared_, registers_.registers()};
}

void Decoder::refuse(const std::string& what, int line) const {
  throw Unsupported("PTX line " + std::to_string(line) + ": " + with_short_words(what));
}

void Decoder::spend(int line) {
  if (budget_ == 0) refuse("its calls make it too large to decode", line);
  --budget_;
}

std::uint32_t Decoder::keep_text(const Instruction& in) {
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

Slot Decoder::new_register(unsigned width) {
  const Slot slot = registers_.add(width);
  if (current_ && current_->framed) current_->registers_used.emplace_back(slot, width);
  return slot;
}

std::optional<std::pair<Slot, unsigned>> Decoder::register_named(Frame& frame, int scope,
                                                                 std::string_view name) {
  const auto found = find_register(*frame.function, scope, name);
  if (!found) return std::nullopt;
  const auto [it, fresh] = frame.registers.try_emplace({found->scope, name});
  if (fresh) {
    const unsigned bits = found->type == Type::kPred ? 1 : std::max(16u, width(found->type));
    it->second = {new_register(bits), bits};
  }
  return it->second;
}

void Decoder::body(Frame& frame) {
  const Function& f = *frame.function;
  current_ = &frame;
  const std::size_t begin = frame.framed ? begin_frame(frame) : 0;
  for (const Declaration& d : f.variables) {  // in the order they are declared in
    if (d.space == ".shared" || d.space == ".local") place(frame, d);
  }
  for (const Instruction& in : f.body) {
    frame.starts.push_back(static_cast<std::uint32_t>(frame.ops.size()));
    const Row* row = names_.instructions->find(in);
    Builder builder(*this, frame, in);
    const std::size_t jumps = frame.jumps.size(), ends = frame.to_end.size();
    try {
      if (!row) builder.unsupported();
      row->build(builder);
    } catch (const Unsupported& reason) {
      if (budget_ == 0 || registers_.full()) throw;
      frame.ops.resize(frame.starts.back());
      frame.op_places.resize(frame.starts.back());
      frame.jumps.resize(jumps);
      frame.to_end.resize(ends);
      refuse_when_reached(frame, in, reason.what());
      frame.rows.push_back(&kRefused);
      continue;
    }
    frame.rows.push_back(row);
    if (!frame.framed) follow(frame, builder.flow(row->traits));
  }
  frame.starts.push_back(static_cast<std::uint32_t>(frame.ops.size()));
  if (frame.framed) end_frame(frame, begin);
  Op last;
  last.control = frame.is_kernel ? Control::kExit : Control::kReturn;
  if (frame.is_kernel) last.put(Exit{.returns = true});
  last.counted = false;  // `ret` is a branch to it
  last.guard = registers_.always();
  frame.ops.push_back(last);
  frame.op_places.push_back({f.body.empty() ? f.line : f.body.back().line, 0, 0});
  resolve_jumps(frame);
  current_ = nullptr;
  if (!names_.syntax->debug) merge_loads(frame);
  insert_joins(frame.ops, frame.op_places, frame.lists);
}

/// What can't be carried out ends the launch that comes to it; a kernel that never does runs.
void Decoder::refuse_when_reached(Frame& frame, const Instruction& in, const std::string& why) {
  for (std::size_t i = 0; i <= why.size() / sizeof(Op); ++i) spend(in.line);
  code_->refusals.push_back(why);
  Op op;
  op.run = [](Warp&, const Op&, Mask) {};
  op.control = Control::kRefused;
  op.guard = registers_.always();
  op.put(Missing{static_cast<std::uint32_t>(code_->refusals.size() - 1)});
  // Its own guard, where that can be read, decides whether it is reached.
  if (const auto guard = register_named(frame, in.scope, in.guard); guard && guard->second == 1) {
    op.guard = guard->first;
    op.guard_flip = in.guard_negated ? kAllLanes : 0;
    op.guarded = true;
  }
  frame.ops.push_back(op);
  frame.op_places.push_back(
      {in.line, in.file, in.source_line, keep_text(in), in.outer_file, in.outer_line});
}

/// The operations of the last instruction have this flow. (Registers of functions with frames are
/// put aside and come back: what they hold isn't followed.)
void Decoder::follow(Frame& frame, Code::Flow flow) {
  if (code_->flows.empty()) code_->flows.emplace_back();
  for (std::size_t i = frame.starts.back(); i < frame.op_places.size(); ++i) {
    frame.op_places[i].flow = static_cast<std::uint32_t>(code_->flows.size());
  }
  code_->flows.push_back(std::move(flow));
}

void Decoder::merge_loads(Frame& frame) {
  const Function& f = *frame.function;
  const auto fixed = [&](const Operand& o, int scope) -> std::optional<std::uint64_t> {
    if (find_register(f, scope, o.name)) return std::nullopt;
    const Declaration* d = variable(frame, scope, o.name);
    if (!d || d->space != ".shared" || d->unsized) return std::nullopt;
    return place(frame, *d) + static_cast<std::uint64_t>(o.offset);
  };
  for (const Merge& m : merge_shared_loads(f, frame.rows, fixed)) {
    Op& op =
        frame.ops[frame.starts[m.instruction + 1] - 1];  // the place of its address comes first
    auto& load = op.as<LoadStore>();
    op.merged = true;
    load.merged_bytes = static_cast<std::uint8_t>(m.bytes);
    load.ahead = static_cast<std::uint8_t>(m.ahead);
    load.likely = !m.certain && m.bytes;
  }
}

/// All functions one after another.
void Decoder::link() {
  Code& code = *code_;
  std::uint32_t base = 0;
  for (const Function* f : reach_.functions) {
    frames_[f].entry = base;
    base += static_cast<std::uint32_t>(frames_[f].ops.size());
  }
  for (const Function* f : reach_.functions) {
    Frame& frame = frames_[f];
    const auto moved = [&](std::uint32_t& pc) {
      if (pc != kNowhere) pc += frame.entry;
    };
    const auto first_list = static_cast<std::uint32_t>(code.lists.size());
    for (const std::uint32_t to : frame.lists) code.lists.push_back(to + frame.entry);
    for (Op& op : frame.ops) {
      if (op.control == Control::kBranch) {
        moved(op.as<Branch>().target);
        moved(op.as<Branch>().meet);
      } else if (op.control == Control::kSwitch) {
        moved(op.as<Switch>().meet);
        op.as<Switch>().first += first_list;
      } else if (op.control == Control::kCallPointer) {
        moved(op.as<PointerCall>().meet);
      } else if (op.control == Control::kCall) {
        auto& call = op.as<Call>();
        call.entry = frames_[frame.called[call.entry]].entry;
      }
      code.ops.push_back(op);
    }
    code.places.insert(code.places.end(), frame.op_places.begin(), frame.op_places.end());
  }
  for (const Function* f : names_.pointed_at) {
    if (!reach_.points || !frames_.contains(f)) continue;
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

}  // namespace emu
