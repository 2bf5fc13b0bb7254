// Prints a line for each opcode, "supported ld" or "refused tex: textures".
#include <iostream>

#include "isa/instructions.hpp"

int main() {
  for (const auto opcode : emu::supported_opcodes()) std::cout << "supported " << opcode << '\n';
  for (const auto& r : emu::refused_opcodes()) {
    std::cout << "refused " << r.opcode << ": " << r.why << '\n';
  }
}
