#include "ptx/join.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace emu {
namespace {

using NewNames = std::map<std::string_view, std::string_view>;

/// Whether a scope of the function has a name of its own that hides the module's.
bool hidden(const Function& f, std::string_view name) {
  return std::ranges::any_of(f.scopes, [&](const Scope& s) {
    return s.variables.contains(name) || s.registers.contains(name) || s.labels.contains(name);
  });
}

void rename(Operand& operand, const NewNames& names, const Function* within) {
  if (const auto at = names.find(operand.name);
      at != names.end() && (within == nullptr || !hidden(*within, operand.name))) {
    operand.name = at->second;
  }
  for (Operand& element : operand.elements) rename(element, names, within);
}

template <class Named>
void rename(Named& named, const NewNames& names) {
  if (const auto at = names.find(named.name); at != names.end()) named.name = at->second;
}

void rename_all(Syntax& module, const NewNames& names) {
  const auto values = [&](Declaration& d) {
    for (Operand& value : d.values) rename(value, names, nullptr);
  };
  for (Declaration& d : module.variables) {
    rename(d, names);
    values(d);
  }
  for (Function& f : module.functions) {
    rename(f, names);
    for (Declaration& d : f.variables) values(d);
    for (Instruction& in : f.body) {
      for (Operand& operand : in.operands) rename(operand, names, &f);
    }
  }
}

}  // namespace

Syntax join_modules(std::vector<Syntax> modules, std::deque<std::string>& names) {
  std::map<std::string_view, std::size_t> users;  // in how many modules a name is
  for (const Syntax& module : modules) {
    std::map<std::string_view, bool> here;
    for (const Declaration& d : module.variables) here[d.name] = true;
    for (const Function& f : module.functions) here[f.name] = true;
    for (const auto& [name, there] : here) ++users[name];
  }

  Syntax all;
  int files = 0;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    Syntax& module = modules[i];
    NewNames own;
    const auto look = [&](std::string_view name, bool shared) {
      if (shared || users.at(name) < 2 || own.contains(name)) return;
      own[name] = names.emplace_back(std::string(name) + "@" + std::to_string(i));
    };
    for (const Declaration& d : module.variables) look(d.name, d.shared);
    for (const Function& f : module.functions) look(f.name, f.shared);
    if (!own.empty()) rename_all(module, own);

    int last = -1;  // modules number their files each for itself
    for (const auto& [number, name] : module.files) {
      if (number < 0 || number > 4096) continue;
      all.files[files + number] = name;
      last = std::max(last, number);
    }
    for (Function& f : module.functions) {
      for (Instruction& in : f.body) in.file += files;
    }
    files += last + 1;
    all.target = std::max(all.target, module.target);
    all.debug |= module.debug;
    std::ranges::move(module.functions, std::back_inserter(all.functions));
    std::ranges::move(module.variables, std::back_inserter(all.variables));
  }
  return all;
}

}  // namespace emu
