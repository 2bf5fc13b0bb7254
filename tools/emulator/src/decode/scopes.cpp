#include "decode/scopes.hpp"

#include <cstdint>

namespace emu {
namespace {

std::size_t trailing_digits(std::string_view name) {
  std::size_t n = 0;
  while (n < name.size() && name[name.size() - 1 - n] >= '0' && name[name.size() - 1 - n] <= '9')
    ++n;
  return n;
}

/// "%r12" of `%r<13>`.
std::optional<Type> in_range(const Scope& s, std::string_view name, std::size_t digits) {
  if (digits >= name.size() || name.size() - digits >= 10) return std::nullopt;
  const auto it = s.ranges.find(name.substr(0, digits));
  if (it == s.ranges.end()) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : name.substr(digits)) number = number * 10 + static_cast<unsigned>(c - '0');
  if (number >= it->second.count) return std::nullopt;
  return it->second.type;
}

}  // namespace

std::optional<DeclaredRegister> find_register(const Function& function, int scope,
                                              std::string_view name) {
  const std::size_t digits = name.size() - trailing_digits(name);
  std::optional<DeclaredRegister> found;
  for_each_scope(function, scope, [&](const Scope& s, int number) {
    if (const auto it = s.registers.find(name); it != s.registers.end()) {
      found = {it->second, number};
    } else if (const auto type = in_range(s, name, digits)) {
      found = {*type, number};
    }
    return found.has_value();
  });
  return found;
}

const Declaration* find_variable(const Function& function, int scope, std::string_view name) {
  const Declaration* found = nullptr;
  for_each_scope(function, scope, [&](const Scope& s, int) {
    const auto it = s.variables.find(name);
    if (it != s.variables.end()) found = &function.variables[it->second];
    return found != nullptr;
  });
  if (found) return found;
  for (const auto* list : {&function.parameters, &function.results}) {
    for (const Declaration& d : *list) {
      if (d.name == name) return &d;
    }
  }
  return nullptr;
}

std::optional<std::size_t> find_label(const Function& function, int scope, std::string_view name) {
  std::optional<std::size_t> found;
  const auto look = [&](const Scope& s, int = 0) {
    const auto it = s.labels.find(name);
    if (it != s.labels.end()) found = it->second;
    return found.has_value();
  };
  if (for_each_scope(function, scope, look)) return found;
  // A label inside braces may be named from outside them.
  for (const Scope& s : function.scopes) {
    if (look(s)) break;
  }
  return found;
}

}  // namespace emu
