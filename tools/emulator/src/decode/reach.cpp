#include "decode/reach.hpp"

#include <algorithm>
#include <map>

#include "decode/register_file.hpp"

namespace emu {
namespace {

using Functions = std::vector<const Function*>;

/// The functions with a body that a function calls; those a pointer may lead to where it calls one.
Functions callees_of(const Names& names, const Function& f, bool& points) {
  Functions callees;
  for (const Instruction& in : f.body) {
    if (in.opcode != "call") continue;
    const auto name = std::ranges::find(in.operands, Operand::Kind::kName, &Operand::kind);
    if (name == in.operands.end()) continue;
    const Function* callee = names.function(name->name);
    if (callee && callee->has_body) callees.push_back(callee);
    if (!callee) {  // a pointer: it may lead to any function that one is made to
      points = true;
      callees.insert(callees.end(), names.pointed_at.begin(), names.pointed_at.end());
    }
  }
  return callees;
}

bool reaches_itself(std::map<const Function*, Functions>& callees, const Function* f) {
  std::set<const Function*> seen;
  Functions open = callees[f];
  while (!open.empty()) {
    const Function* g = open.back();
    open.pop_back();
    if (seen.insert(g).second) open.insert(open.end(), callees[g].begin(), callees[g].end());
  }
  return seen.contains(f);
}

}  // namespace

std::vector<std::uint64_t> mailbox_layout(const std::vector<Declaration>& results,
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

Reach reach_of(const Names& names, const Function& kernel) {
  Reach reach;
  std::map<const Function*, Functions> callees;
  std::set<const Function*> known{&kernel};
  reach.functions.push_back(&kernel);
  for (std::size_t i = 0; i < reach.functions.size(); ++i) {
    const Function* f = reach.functions[i];
    callees[f] = callees_of(names, *f, reach.points);
    for (const Function* g : callees[f]) {
      if (known.insert(g).second) reach.functions.push_back(g);
    }
  }

  const auto needs = [&](const std::vector<Declaration>& results,
                         const std::vector<Declaration>& parameters) {
    reach.mailbox_bytes = std::max(reach.mailbox_bytes, mailbox_layout(results, parameters).back());
  };
  for (const Function* f : reach.functions) {
    if (f != &kernel && (reaches_itself(callees, f) ||
                         (reach.points && std::ranges::count(names.pointed_at, f) != 0) ||
                         std::ranges::count(f->body, "alloca", &Instruction::opcode) != 0)) {
      reach.framed.insert(f);
      needs(f->results, f->parameters);
    }
    for (const Scope& s : f->scopes) {
      for (const auto& [name, p] : s.prototypes) needs(p.results, p.parameters);
    }
  }
  return reach;
}

}  // namespace emu
