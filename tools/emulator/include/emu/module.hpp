/// \file
/// PTX text, read once into what the interpreter runs.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "emu/memory.hpp"

namespace emu {

/// PTX that can't be read or isn't supported; the message names kernel, PTX line and what was
/// there.
class PtxError : public std::runtime_error {
 public:
  PtxError(int line, const std::string& message)
      : std::runtime_error("PTX line " + std::to_string(line) + ": " + message), line_(line) {}
  int line() const { return line_; }

 private:
  int line_;
};

/// One kernel parameter: where it lies in the parameter block.
struct Parameter {
  std::string name;
  std::uint64_t offset = 0, size = 0, align = 0;
};

/// A module-scope variable in global or constant memory.
struct Variable {
  enum class Space { kGlobal, kConstant };
  std::string name;
  Space space = Space::kGlobal;
  std::uint64_t size = 0, align = 0;
  std::vector<std::byte> initial;  ///< empty for zeros, else `size` bytes
  Address address = 0;             ///< given by the runtime when the module is loaded
  /// Bytes of `initial` that hold the address of another variable or kernel, by name.
  struct Pointer {
    std::uint64_t offset;
    std::string target;
    std::int64_t addend;
  };
  std::vector<Pointer> pointers;
};

struct Code;  ///< decoded instructions; the interpreter's own (src/decode/code.hpp)

struct Kernel {
  std::string name;  ///< mangled
  std::vector<Parameter> parameters;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t static_shared_bytes = 0;
  std::uint64_t local_bytes = 0;         ///< a thread, without its stack
  unsigned registers = 0;                ///< virtual 32-bit registers; no count of the assembler's
  unsigned max_threads = 1024;           ///< .maxntid, else 1024
  std::array<unsigned, 3> cluster = {};  ///< .reqnctapercluster; 0 in front: not said
  int line = 0;                          ///< in the PTX text
  std::shared_ptr<const Code> code;      ///< null for a kernel that can't run at all
  std::string unsupported;  ///< the first thing in it that the device hasn't got, and where
};

struct Module {
  std::string origin;  ///< for messages
  int target = 0;      ///< 90 for sm_90
  std::map<std::string, Kernel, std::less<>> kernels;
  std::map<std::string, Variable, std::less<>> variables;
  std::map<std::string, Address, std::less<>> functions;  ///< what a pointer to each of them holds
};

/// Reads a PTX module. Throws PtxError for text that isn't PTX; a kernel that merely has an
/// unsupported instruction is kept, with `unsupported` set, and stops where it comes to that.
/// Any bytes whatever may come in: no crash, no hang, memory bounded by a multiple of the length.
/// `keep_text`: keep what each instruction says, for a trace.
std::shared_ptr<Module> parse_ptx(std::string_view text, std::string origin,
                                  bool keep_text = false);
/// The same of texts that were compiled apart and belong together: one module, whose parts see each
/// other's names as far as these are visible.
std::shared_ptr<Module> parse_ptx(const std::vector<std::string>& texts, std::string origin,
                                  bool keep_text = false);

/// Called once the runtime has given every variable its address: resolves names in code and in
/// initial values. Throws PtxError for a name that is nowhere.
void link_module(Module& module);

}  // namespace emu
