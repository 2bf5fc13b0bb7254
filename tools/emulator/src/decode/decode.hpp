/// \file
/// From syntax to code: names become places, instructions become operations.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "decode/builder.hpp"
#include "decode/code.hpp"
#include "decode/instruction_set.hpp"
#include "ptx/syntax.hpp"

namespace emu {

/// Where the module's names lead, shared by the decoding of all its kernels.
struct Names {
  const InstructionSet* instructions = nullptr;
  const Syntax* syntax = nullptr;
  std::map<std::string_view, const Function*> functions;  ///< the one with a body if there is one
  std::map<std::string_view, const Declaration*> variables;
  bool keep_text = false;                         ///< Code::texts is wanted
  std::map<std::string_view, Address> addresses;  ///< of functions
  std::vector<const Function*> pointed_at;        ///< functions whose address is taken somewhere

  const Function* function(std::string_view name) const;  ///< null if there is none
};

struct Decoded {
  std::shared_ptr<Code> code;
  std::uint64_t shared_bytes = 0;
  unsigned registers = 0;
};

/// Decodes a kernel with all that it calls. Throws Unsupported, or PtxError for names that are
/// nowhere. `budget` is how many operations may still be made for the module.
Decoded decode(const Names& names, const Function& kernel, std::size_t& budget);

/// PTX modules that belong together to one, whose parts see each other's names as far as these are
/// visible: parse_ptx of emu/module.hpp for a given instruction set.
std::shared_ptr<Module> read_module(const std::vector<std::string_view>& texts, std::string origin,
                                    bool keep_text, const InstructionSet& instructions);

}  // namespace emu
