// libFuzzer target: parse_ptx on any bytes whatever. A kernel that was read is also run for a few
// thousand instructions: whatever the decoder lets through must not harm the interpreter.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "emu/launch.hpp"
#include "emu/module.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto module = emu::parse_ptx({reinterpret_cast<const char*>(data), size}, "fuzz");
    emu::GlobalMemory memory(1 << 20);
    const auto buffer = memory.allocate(4096, "buffer");
    for (auto& [name, variable] : module->variables) {
      variable.address = memory.allocate(variable.size, name).value_or(*buffer);
    }
    emu::link_module(*module);
    for (const auto& [name, kernel] : module->kernels) {
      if (!kernel.code || kernel.static_shared_bytes > 49152 || kernel.local_bytes > 4096) continue;
      std::vector<std::byte> parameters(kernel.parameter_bytes);
      emu::LaunchConfig config;
      config.module = module.get();
      config.kernel = &kernel;
      config.block = {40, 1, 1};
      config.parameters = parameters;
      config.memory = &memory;
      // The first parameters point to memory, as a program's would.
      for (std::size_t at = 0; at + 8 <= std::min<std::size_t>(parameters.size(), 24); at += 8) {
        std::memcpy(parameters.data() + at, &*buffer, 8);
      }
      config.max_warp_instructions = 20000;
      emu::launch(config);
    }
  } catch (const emu::PtxError&) {  // NOLINT(bugprone-empty-catch): a refusal is right, too
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

/// A place in text.
struct Piece {
  std::size_t at, size;
};

/// Lines, or words: opcodes, modifiers with their dot, registers, numbers.
std::vector<Piece> pieces(std::string_view text, bool lines) {
  const auto inside = [lines](char c) {
    return lines ? c != '\n' : std::isalnum(static_cast<unsigned char>(c)) || strchr("_%$:", c);
  };
  std::vector<Piece> all;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (inside(text[at]) || text[at] == '.') {
      while (end < text.size() && inside(text[end])) ++end;
      all.push_back({at, end - at});
    }
    at = end;
  }
  return all;
}

}  // namespace

/// Bytes that are changed one by one are seldom PTX any more: so half of the time whole words or
/// lines change places, are doubled or go.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (unsigned times = 1 + random() % 3; times > 0; --times) {
    const auto all = pieces(text, random() % 3 == 0);
    if (all.empty()) break;
    const Piece to = all[random() % all.size()];
    const Piece from = all[random() % all.size()];
    const std::string put = text.substr(from.at, from.size);
    switch (random() % 4) {
      case 0: text.erase(to.at, to.size); break;
      case 1: text.insert(to.at, put + (put[0] == '.' || put[0] == '%' ? "" : "\n")); break;
      default: text.replace(to.at, to.size, put);
    }
  }
  size = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), size);
  return size;
}
