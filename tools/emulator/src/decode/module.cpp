#include "emu/module.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <set>

#include "decode/decode.hpp"
#include "ptx/join.hpp"
#include "ptx/syntax.hpp"

namespace emu {
namespace {

Variable make_variable(const Declaration& d, std::size_t text_bytes) {
  Variable v;
  v.name = std::string(d.name);
  v.space = d.space == ".const" ? Variable::Space::kConstant : Variable::Space::kGlobal;
  v.size = d.bytes;
  v.align = d.align;
  if (d.values.empty()) return v;
  const std::size_t each = std::max(1u, width(d.type) / 8);
  if (d.values.size() * each > d.bytes) throw PtxError(d.line, "more values than fit " + v.name);
  if (d.bytes > 64 * std::uint64_t{text_bytes} + 65536) {
    throw PtxError(d.line, "an initialised variable that is too large: " + v.name);
  }
  v.initial.resize(static_cast<std::size_t>(d.bytes));
  for (std::size_t i = 0; i < d.values.size(); ++i) {
    const Operand& value = d.values[i];
    std::uint64_t bits = value.bits;
    if (value.kind == Operand::Kind::kName) {
      if (each != 8 || value.second == "mask") {
        throw PtxError(d.line, "part of an address as a value of " + v.name);
      }
      v.pointers.push_back({i * each, std::string(value.name), value.offset});
      continue;
    }
    if (d.type == Type::kF32 && value.kind == Operand::Kind::kFloat64) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    } else if (d.type == Type::kF64 && value.kind == Operand::Kind::kFloat32) {
      bits = std::bit_cast<std::uint64_t>(
          double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))});
    }
    std::memcpy(v.initial.data() + i * each, &bits, std::min<std::size_t>(each, 8));
  }
  return v;
}

Kernel make_kernel(const Names& names, const Function& f, std::size_t& budget) {
  Kernel k;
  k.name = std::string(f.name);
  k.line = f.line;
  k.cluster = f.cluster;
  for (unsigned& blocks : k.cluster) {
    if (f.cluster[0] && blocks == 0) blocks = 1;
  }
  if (f.max_threads) k.max_threads = static_cast<unsigned>(f.max_threads);
  for (const Declaration& d : f.parameters) {
    const std::uint64_t at = (k.parameter_bytes + d.align - 1) / d.align * d.align;
    k.parameters.push_back({std::string(d.name), at, d.bytes, d.align});
    k.parameter_bytes = at + d.bytes;
    if (k.parameter_bytes > 32764) throw PtxError(f.line, "more than 32764 bytes of parameters");
  }
  try {
    Decoded decoded = decode(names, f, budget);
    k.local_bytes = decoded.code->local_bytes;
    k.static_shared_bytes = decoded.shared_bytes;
    k.registers = decoded.registers;
    if (!decoded.code->refusals.empty()) k.unsupported = decoded.code->refusals.front();
    k.code = std::move(decoded.code);
  } catch (const Unsupported& reason) {
    k.unsupported = reason.what();
  }
  return k;
}

std::shared_ptr<Module> make_module(const Syntax& syntax, std::size_t text_bytes,
                                    std::string origin, bool keep_text,
                                    const InstructionSet& instructions) {
  auto module = std::make_shared<Module>();
  module->origin = std::move(origin);
  module->target = syntax.target;

  Names names;
  names.instructions = &instructions;
  names.syntax = &syntax;
  names.keep_text = keep_text;
  for (const Function& f : syntax.functions) {
    const Function*& known = names.functions[f.name];
    if (!known || f.has_body) known = &f;
  }
  const auto add_variable = [&](const Declaration& d) {
    const Declaration*& known = names.variables[d.name];
    if (!known || known->external) known = &d;
    if (d.external || known != &d || (d.space != ".global" && d.space != ".const")) return;
    module->variables[std::string(d.name)] = make_variable(d, text_bytes);
  };
  for (const Declaration& d : syntax.variables) add_variable(d);
  for (const Function& f : syntax.functions) {
    for (const Declaration& d : f.variables) {
      if (d.space == ".global" || d.space == ".const") add_variable(d);
    }
  }

  // Pointers to functions differ from module to module: one may not be called from another.
  static std::atomic<Address> next_module{0};
  Address next = kCodeBase + (next_module.fetch_add(1) << 20);
  for (const auto& [name, f] : names.functions) {
    if (f->is_kernel || !f->has_body) continue;
    names.addresses[name] = module->functions[std::string(name)] = next;
    next += 16;
  }
  std::set<std::string_view> pointed;
  const auto note = [&](const Operand& o) {
    if (o.kind == Operand::Kind::kName && names.addresses.contains(o.name)) pointed.insert(o.name);
  };
  for (const Declaration& d : syntax.variables) std::ranges::for_each(d.values, note);
  for (const Function& f : syntax.functions) {
    for (const Declaration& d : f.variables) std::ranges::for_each(d.values, note);
    for (const Instruction& in : f.body) {
      if (in.opcode == "mov") std::ranges::for_each(in.operands, note);
    }
  }
  for (const std::string_view name : pointed) {
    names.pointed_at.push_back(names.functions.at(name));
  }

  // Every kernel holds the functions it calls: bounded, so that a hostile text can't grow.
  std::size_t budget = 200'000 + 4 * text_bytes;
  for (const Function& f : syntax.functions) {
    // A template's instance may be in several of the modules that were joined.
    if (f.is_kernel && f.has_body && names.functions[f.name] == &f) {
      module->kernels[std::string(f.name)] = make_kernel(names, f, budget);
    }
  }
  return module;
}

}  // namespace

std::shared_ptr<Module> read_module(const std::vector<std::string_view>& texts, std::string origin,
                                    bool keep_text, const InstructionSet& instructions) {
  std::vector<Syntax> modules;
  std::size_t bytes = 0;
  for (const std::string_view text : texts) {
    modules.push_back(parse_syntax(text));
    bytes += text.size();
  }
  std::deque<std::string> names;
  const Syntax whole =
      modules.size() == 1 ? std::move(modules.front()) : join_modules(std::move(modules), names);
  return make_module(whole, bytes, std::move(origin), keep_text, instructions);
}

void link_module(Module& module) {
  const auto address_of = [&](const std::string& name) {
    const auto it = module.variables.find(name);
    const auto function = module.functions.find(name);
    if (function != module.functions.end()) return function->second;
    if (it == module.variables.end()) {
      throw PtxError(0, "no variable " + name + " in " + module.origin);
    }
    return it->second.address;
  };
  for (auto& [name, kernel] : module.kernels) {
    if (!kernel.code) continue;
    // The code is this module's own; it becomes constant once its addresses are in it.
    Code& code = const_cast<Code&>(*kernel.code);
    for (const Code::Relocation& r : code.relocations) {
      code.constants[r.constant].bits = address_of(r.symbol) + static_cast<std::uint64_t>(r.addend);
    }
  }
  for (auto& [name, variable] : module.variables) {
    for (const Variable::Pointer& p : variable.pointers) {
      const Address address = address_of(p.target) + static_cast<std::uint64_t>(p.addend);
      std::memcpy(variable.initial.data() + p.offset, &address, sizeof address);
    }
  }
}

}  // namespace emu
