/// \file
/// PTX modules that were compiled apart (nvcc -rdc=true), made one.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "ptx/syntax.hpp"

namespace emu {

/// One module of several. A name that its module keeps to itself gets another where a second module
/// has it too; `names` holds the new ones and must live as long as the result.
Syntax join_modules(std::vector<Syntax> modules, std::deque<std::string>& names);

}  // namespace emu
