// The list of instructions says what the device does.
#include "isa/instructions.hpp"

#include "interp_support.hpp"

namespace emu::test {
namespace {

TEST(Instructions, WhatIsRefusedIsRefused) {
  EXPECT_GT(supported_opcodes().size(), 80u);
  for (const Refusal& r : refused_opcodes()) {
    const std::string text = ".entry k() { " + std::string(r.opcode) + "; ret; }";
    const auto module = parse_ptx(module_text(text), "test");
    EXPECT_NE(module->kernels.at("k").unsupported, "") << r.opcode;
    const auto known = supported_opcodes();
    EXPECT_EQ(std::count(known.begin(), known.end(), r.opcode), 0) << r.opcode;
  }
}

TEST(Instructions, TheDriversSharedMemoryLiesApart) {
  const auto out = run_body(
      "mov.u32 %r2, %reserved_smem_offset_1; st.shared.u32 [tile+4], 5; st.shared.u32 [%r2], 7;"
      " st.shared.u32 [%r2+1020], 8; ld.shared.u32 %r1, [tile+4];",
      1);
  EXPECT_EQ(out[0], 5u);
}

}  // namespace
}  // namespace emu::test
