/// \file
/// What a name means at a place in a function's text.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

#include "ptx/syntax.hpp"

namespace emu {

/// The type of a register, and the scope that declares it.
struct DeclaredRegister {
  Type type;
  int scope;
};
std::optional<DeclaredRegister> find_register(const Function& function, int scope,
                                              std::string_view name);
/// A variable or parameter of the function's own; null if there is none.
const Declaration* find_variable(const Function& function, int scope, std::string_view name);
/// The instruction after a label.
std::optional<std::size_t> find_label(const Function& function, int scope, std::string_view name);

/// Calls f(scope) for a scope and those around it, inside out, until it returns true.
template <class F>
bool for_each_scope(const Function& function, int scope, F f) {
  while (scope >= 0) {
    const Scope& s = function.scopes[static_cast<std::size_t>(scope)];
    if (f(s, scope)) return true;
    scope = s.parent;
  }
  return false;
}

}  // namespace emu
