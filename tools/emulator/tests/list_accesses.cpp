// Prints how each shared load of a PTX file is counted: for the test that compares with machine
// code. One line per instruction with operations: kernel, PTX line, and "-" for one counted as it
// stands, or the bytes of the wide access of which it is counted as a part (0: with another load),
// with "?" where that is only likely.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "decode/code.hpp"
#include "emu/module.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1]);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto module = emu::parse_ptx(text, argv[1]);
  for (const auto& [name, kernel] : module->kernels) {
    if (!kernel.unsupported.empty()) {
      std::printf("%s unsupported\n", name.c_str());
      continue;
    }
    int last = 0;
    for (std::size_t i = 0; i < kernel.code->ops.size(); ++i) {
      const emu::Op& op = kernel.code->ops[i];
      const int line = kernel.code->places[i].ptx_line;
      if (!op.counted || (line == last && !op.merged)) continue;
      last = line;
      const emu::LoadStore load = op.merged ? op.as<emu::LoadStore>() : emu::LoadStore{};
      const std::string as = op.merged ? std::to_string(load.merged_bytes) : "-";
      const bool likely = load.likely;
      std::printf("%s %d %s%s\n", name.c_str(), line, as.c_str(), likely ? "?" : "");
    }
  }
  return 0;
}
