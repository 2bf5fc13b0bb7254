// Branches and returns: labels become places in the code.
#include "decode/decoder.hpp"
#include "decode/scopes.hpp"

namespace emu {

void Builder::branch() {
  take("uni");
  finish();
  expect_operands(1, 1);
  Op& op = emit(nullptr);
  op.control = Control::kBranch;
  op.put(Branch{});
  frame_.jumps.push_back({frame_.ops.size() - 1, operand(0).name, in_.scope, in_.line, false});
}

void Builder::branch_indexed() {
  if (!take("idx")) unsupported("this form");
  take("uni");
  finish();
  expect_operands(2, 2);
  const std::vector<std::string_view>* labels = nullptr;
  for_each_scope(*frame_.function, in_.scope, [&](const Scope& s, int) {
    const auto it = s.targets.find(operand(1).name);
    if (it != s.targets.end()) labels = &it->second;
    return labels != nullptr;
  });
  if (!labels || labels->empty())
    throw PtxError(in_.line, "no .branchtargets " + std::string(operand(1).name));
  if (labels->size() > 0xffff) unsupported("so many labels");
  const Slot index = source(0, 32);
  Op& op = emit(nullptr);
  op.control = Control::kSwitch;
  op.a = index;
  op.put(Switch{.first = static_cast<std::uint32_t>(frame_.lists.size()),
                .count = static_cast<std::uint32_t>(labels->size())});
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
    op.put(Exit{.returns = true});
  } else {
    op.control = Control::kBranch;
    op.put(Branch{});
    frame_.to_end.push_back(frame_.ops.size() - 1);
  }
}

/// Where each jump of a function leads, now that all of it is there but its last operation.
void Decoder::resolve_jumps(Frame& frame) {
  for (const std::size_t op : frame.to_end) {
    frame.ops[op].as<Branch>().target = frame.starts.back();
  }
  for (const Frame::Jump& jump : frame.jumps) {
    const auto at = find_label(*frame.function, jump.scope, jump.label);
    if (!at) throw PtxError(jump.line, "no label " + std::string(jump.label));
    const std::uint32_t to = frame.starts[*at];
    (jump.in_list ? frame.lists[jump.op] : frame.ops[jump.op].as<Branch>().target) = to;
  }
}

}  // namespace emu
