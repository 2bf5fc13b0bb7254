/// \file
/// What of a run's counts hardware would count too, and which of the instructions in its kernels
/// were compared with an H200: a line for the end of the run.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "emu/launch.hpp"

namespace emu {

/// An instruction's form is its opcode with all that is said behind points: `ld.global.v4.u32`.
/// Whether it is in a kernel that ran on an H200 with the results or the counts that it has here.
bool compared_with_hardware(std::string_view form);

class Fidelity {
 public:
  void launched(const Kernel& kernel, const Counters& counters);
  /// Empty where nothing was launched.
  std::string line() const;

 private:
  struct Of {
    bool merges = false;  ///< the assembler may put shared loads together
  };
  std::map<std::string, Of> kernels_;
  std::set<std::string> forms_;
  bool shared_atomics_ = false;
  bool images_ = false;  ///< textures or surfaces
};

}  // namespace emu
