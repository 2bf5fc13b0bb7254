// libFuzzer target: parse_ptx on any bytes whatever. Build with clang:
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -Isrc …
// A kernel that was read is also run for a few hundred instructions: whatever the decoder lets
// through must not harm the interpreter.
#include <cstddef>
#include <cstdint>
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
      config.threads = 1;
      config.max_warp_instructions = 20000;
      emu::launch(config);
    }
  } catch (const emu::PtxError&) {
  }
  return 0;
}
