// Loads, stores and atomics in every space, and what they refuse.
#include "interp_support.hpp"

namespace emu::test {
namespace {

using Values = std::vector<std::uint32_t>;

TEST(Memory, WidthsAndExtensionThroughEverySpace) {
  // A value goes through memory as a narrow element and comes back in 32 bits.
  const struct {
    const char* type;
    std::uint32_t want;
  } kTypes[] = {{"u8", 0xf6},        {"s8", 0xfffffff6},  {"u16", 0x85f6},
                {"s16", 0xffff85f6}, {"u32", 0x123485f6}, {"b32", 0x123485f6}};
  const struct {
    const char* space;
    const char* setup;
  } kSpaces[] = {
      {".shared", "mov.u64 %rd1, tile;"},
      {".local", "mov.u64 %rd1, mine;"},
      {"", "mov.u64 %rd1, tile; cvta.shared.u64 %rd1, %rd1;"},
      {"", "mov.u64 %rd1, mine; cvta.local.u64 %rd1, %rd1;"},
      {".global", "ld.param.u64 %rd1, [out];"},
      {"", "ld.param.u64 %rd1, [out];"},
      {".volatile.global", "ld.param.u64 %rd1, [out];"},
  };
  for (const auto& s : kSpaces) {
    for (const auto& t : kTypes) {
      const std::string body = std::string(".local .align 8 .b8 mine[64];\n") + s.setup +
                               " mov.u32 %r2, 0x123485f6; st" + s.space + "." + t.type +
                               " [%rd1+8], %r2; ld" + s.space + "." + t.type + " %r1, [%rd1+8];";
      EXPECT_EQ(run_body(body, 5)[3], t.want) << s.space << " " << s.setup << " " << t.type;
    }
  }
}

TEST(Memory, Vectors) {
  const std::string setup = "mov.u32 %r9, tile; shl.b32 %r8, %r0, 4; add.u32 %r9, %r9, %r8;";
  EXPECT_EQ(
      run_body(setup +
                   "st.shared.v4.u32 [%r9], {%r0, %r9, 5, 6}; ld.shared.v2.u64 {%rd1, %rd2}, [%r9];"
                   "shr.u64 %rd2, %rd2, 32; cvt.u32.u64 %r1, %rd2;",
               32)[20],
      6u);
  EXPECT_EQ(run_body(setup + "st.shared.v2.u64 [%r9], {5, 6}; ld.shared.v4.u32 {%r1, _, %r2, _}, "
                             "[%r9]; add.u32 %r1, %r1, %r2;",
                     32)[20],
            11u);
  EXPECT_EQ(
      run_body(setup + "st.shared.v4.u8 [%r9], {1, 2, 3, 4}; ld.shared.u32 %r1, [%r9];", 32)[20],
      0x04030201u);
  EXPECT_EQ(run_body("mov.b64 %rd1, {%r0, 77}; mov.b64 {%r2, %r1}, %rd1;", 32)[9], 77u);
  EXPECT_EQ(
      run_body("mov.u32 %r2, 0x00020001; mov.b32 {%rs1, %rs2}, %r2; mov.b32 %r1, {%rs2, %rs1};",
               32)[9],
      0x00010002u);
}

TEST(Memory, ConstantAndGlobalVariables) {
  Device device(module_text(R"(
.const .align 4 .u32 table[4] = {10, 20, 30, 40};
.global .align 4 .u32 counter = 5;
.global .align 8 .u64 pointer = table;
.global .align 8 .u64 further = generic(table)+8;
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 3; mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd2, table; add.u64 %rd1, %rd1, %rd2;
  ld.const.u32 %r2, [%rd1]; ld.const.u32 %r3, [table+4]; ld.global.u32 %r4, [counter];
  ld.global.u64 %rd3, [pointer]; ld.u32 %r5, [%rd3+12]; ld.global.u64 %rd3, [further]; ld.u32 %r6, [%rd3];
  add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5; add.u32 %r2, %r2, %r6;
  ld.param.u64 %rd1, [out]; mad.wide.u32 %rd1, %r0, 4, %rd1; st.global.u32 [%rd1], %r2; ret;
})"));
  const Address out = device.buffer(Values(8, 0));
  device.argument(out);
  const LaunchResult r = device.run({1, 1, 1}, {8, 1, 1});
  ASSERT_FALSE(r.fault) << r.fault->message;
  const auto v = device.read<std::uint32_t>(out, 8);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(v[i], 10 * (i % 4 + 1) + 20 + 5 + 40 + 30);
}

TEST(Memory, DynamicSharedLiesAfterStatic) {
  EXPECT_EQ(run_body("mov.u32 %r1, dynamic;", 4, nullptr, 1, 64)[0], 4096u);
  LaunchResult r;
  run_body("mov.u32 %r2, dynamic; st.shared.u32 [%r2+64], %r0;", 4, &r, 1, 64);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, Fault::Kind::kIllegalAddress);
}

TEST(Memory, AddressesThatAreRefusedAreNamed) {
  LaunchResult r;
  run_body(
      "ld.param.u64 %rd1, [out]; mad.wide.u32 %rd1, %r0, 4, %rd1; st.global.u32 [%rd1+4], %r0;", 40,
      &r);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, Fault::Kind::kIllegalAddress);
  EXPECT_NE(r.fault->message.find("thread (39, 0, 0)"), std::string::npos) << r.fault->message;
  EXPECT_NE(r.fault->message.find("160 bytes"), std::string::npos) << r.fault->message;
  EXPECT_NE(r.fault->message.find("PTX line"), std::string::npos) << r.fault->message;
  run_body("ld.param.u64 %rd1, [out]; st.global.u32 [%rd1+2], %r0;", 4, &r);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, Fault::Kind::kMisalignedAddress);
  run_body("mov.u64 %rd1, 0; ld.u32 %r1, [%rd1];", 4, &r);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, Fault::Kind::kIllegalAddress);
  run_body("mov.u32 %r2, 100000000; ld.shared.u32 %r1, [%r2];", 4, &r);
  ASSERT_TRUE(r.fault);
  run_body(".local .b8 mine[4]; mov.u64 %rd1, mine; ld.local.u32 %r1, [%rd1+64];", 4, &r);
  ASSERT_TRUE(r.fault);
}

TEST(Memory, GenericAddressesOfAllSpacesInOneWarp) {
  const Values v = run_body(R"(
    .local .align 4 .b8 mine[4];
    mov.u64 %rd1, mine; cvta.local.u64 %rd1, %rd1; mov.u64 %rd2, tile; cvta.shared.u64 %rd2, %rd2;
    ld.param.u64 %rd3, [out]; and.b32 %r2, %r0, 3; setp.eq.u32 %p0, %r2, 0; setp.eq.u32 %p1, %r2, 1;
    selp.b64 %rd4, %rd2, %rd3, %p1; selp.b64 %rd4, %rd1, %rd4, %p0;
    st.local.u32 [mine], 1; st.shared.u32 [tile], 2; st.global.u32 [%rd3], 3;
    ld.u32 %r1, [%rd4]; isspacep.shared %p2, %rd4; @%p2 add.u32 %r1, %r1, 100;
    isspacep.global %p2, %rd4; @%p2 add.u32 %r1, %r1, 200; isspacep.local %p2, %rd4; @%p2 add.u32 %r1, %r1, 400;
  )",
                            32);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(v[i], i % 4 == 0 ? 401u : i % 4 == 1 ? 102u : 203u) << i;
}

TEST(Atomic, VectorsOfFloats) {
  // What was there comes back, also into the registers of what is added, in another order. Lanes
  // take their turns, so that the last of 4 finds what the others have added.
  const std::string begin =
      "mov.u64 %rd1, room;"
      "mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000;"
      "mov.f32 %f3, 0f40400000; mov.f32 %f4, 0f40800000; bar.sync 0;";
  const auto old = run_body(begin +
                                "atom.global.add.v4.f32 {%f4, %f3, %f2, %f1}, [%rd1],"
                                " {%f1, %f2, %f3, %f4}; add.f32 %f5, %f4, %f3;"
                                "mul.f32 %f1, %f1, 0f42c80000; add.f32 %f5, %f5, %f1;"
                                "cvt.rni.u32.f32 %r1, %f5;",
                            32);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(old[i], i * (1 + 2 + 400)) << i;
  const auto sums = run_body(begin +
                                 "red.relaxed.gpu.global.add.v2.f32 [%rd1], {%f1, %f2};"
                                 "bar.sync 0; ld.global.v2.f32 {%f5, %f6}, [%rd1];"
                                 "fma.rn.f32 %f5, %f6, 0f447a0000, %f5;"
                                 "cvt.rni.u32.f32 %r1, %f5;",
                             32);
  EXPECT_EQ(sums[0], 64032u);

  LaunchResult off;
  run_body(
      "ld.param.u64 %rd1, [out]; mov.f32 %f1, 0f3f800000;"
      "red.global.add.v2.f32 [%rd1+4], {%f1, %f1};",
      1, &off);
  ASSERT_TRUE(off.fault);
  EXPECT_EQ(off.fault->kind, Fault::Kind::kMisalignedAddress);
  for (const char* body :
       {"red.shared.add.v2.f32 [tile], {%f1, %f1};", "red.global.min.v2.f32 [room], {%f1, %f1};",
        "red.global.add.v8.f32 [room], {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1};",
        "red.global.add.v2.f32 [room], {%f1, %f1, %f1};",
        "red.global.add.v2.f64 [room], {%fd1, %fd1};"}) {
    const auto module = parse_ptx(
        module_text(
            std::string(".global .align 16 .b8 room[64];\n.visible .entry k() {"
                        ".shared .align 16 .b8 tile[64]; .reg .f32 %f<4>; .reg .f64 %fd<4>;") +
            body + "ret; }"),
        "test");
    EXPECT_NE(module->kernels.at("k").unsupported, "") << body;
  }
}

TEST(Atomic, EveryOperation) {
  const struct {
    const char* op;
    std::uint32_t start, operand, want;
  } kOps[] = {{"add.u32", 5, 7, 12},
              {"min.s32", static_cast<std::uint32_t>(-3), 7, static_cast<std::uint32_t>(-3)},
              {"min.u32", static_cast<std::uint32_t>(-3), 7, 7},
              {"max.s32", static_cast<std::uint32_t>(-3), 7, 7},
              {"max.u32", static_cast<std::uint32_t>(-3), 7, static_cast<std::uint32_t>(-3)},
              {"and.b32", 12, 10, 8},
              {"or.b32", 12, 10, 14},
              {"xor.b32", 12, 10, 6},
              {"exch.b32", 12, 10, 10},
              {"inc.u32", 7, 7, 0},
              {"inc.u32", 6, 7, 7},
              {"dec.u32", 0, 7, 7},
              {"dec.u32", 9, 7, 7},
              {"dec.u32", 3, 7, 2}};
  for (const auto& o : kOps) {
    for (const std::string place : {"shared", "global"}) {
      const std::string address =
          place == "shared" ? "mov.u64 %rd1, tile;" : "ld.param.u64 %rd1, [out];";
      const std::string body = "setp.ne.u32 %p0, %r0, 3; @%p0 bra DONE; " + address + " st." +
                               place + ".u32 [%rd1], " + std::to_string(o.start) + "; atom." +
                               place + "." + o.op + " %r2, [%rd1], " + std::to_string(o.operand) +
                               "; ld." + place + ".u32 %r1, [%rd1]; setp.ne.u32 %p1, %r2, " +
                               std::to_string(o.start) + "; @%p1 mov.u32 %r1, 999;";
      EXPECT_EQ(run_body(body, 4)[3], o.want) << place << " " << o.op;
    }
  }
  EXPECT_EQ(run_body("mov.u32 %r5, tile; atom.shared.cas.b32 %r1, [%r5], 0, %r0; bar.sync 0; "
                     "ld.shared.u32 %r1, [%r5];",
                     4)[3],
            1u);
  EXPECT_EQ(
      run_body("mov.u32 %r5, tile; red.shared.add.u64 [%r5], 3; ld.shared.u32 %r1, [%r5];", 64)[0],
      96u);
  EXPECT_EQ(run_body("mov.u32 %r5, tile; red.shared.add.f32 [%r5], 0f3f800000; bar.sync 0; "
                     "ld.shared.u32 %r1, [%r5];",
                     100)[0],
            std::bit_cast<std::uint32_t>(100.0f));
  EXPECT_EQ(run_body("mov.u32 %r5, tile; red.shared.add.f64 [%r5], 0d3ff0000000000000; bar.sync 0; "
                     "ld.shared.f64 %fd1, [%r5]; cvt.rzi.u32.f64 %r1, %fd1;",
                     100)[0],
            100u);
}

TEST(Atomic, BlocksOnSeveralThreads) {
  Device device(module_text(R"(
.visible .entry k(.param .u64 sum) {
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [sum]; mov.u32 %r1, %tid.x; red.global.add.u32 [%rd1], %r1; ret;
})"));
  const Address sum = device.buffer(Values{0});
  device.argument(sum);
  ASSERT_FALSE(device.run({500, 1, 1}, {100, 1, 1}, 0, 0, 4).fault);
  EXPECT_EQ(device.read<std::uint32_t>(sum, 1)[0], 500u * 4950);
}

// A strong access of several elements is seen whole or not at all by threads of other blocks, which
// run on other threads of the host. One block writes pairs of one number, another reads them.
void check_whole(const std::string& access, const std::string& bits) {
  SCOPED_TRACE(access + "." + bits);
  const bool wide = bits == "u64", four = access.ends_with("v4");
  const std::string a = wide ? "%rd" : "%r";
  const std::string registers =
      four ? "{" + a + "4, " + a + "5, " + a + "6, " + a + "7}" : "{" + a + "4, " + a + "5}";
  std::string same = "setp.ne.b" + bits.substr(1) + " %p1, " + a + "4, " + a + "5;\n";
  std::string copies = "mov.b" + bits.substr(1) + " " + a + "5, " + a + "4;\n";
  if (four) {
    same +=
        "setp.ne.b32 %p2, %r6, %r7; or.pred %p1, %p1, %p2; setp.ne.b32 %p2, %r4, %r7;\n"
        "or.pred %p1, %p1, %p2;\n";
    copies += "mov.b32 %r6, %r4; mov.b32 %r7, %r4;\n";
  }
  Device device(module_text(R"(
.visible .entry k(.param .u64 pairs, .param .u64 torn) {
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, 0;
  ld.param.u64 %rd0, [pairs]; mad.wide.u32 %rd0, %r0, 16, %rd0; ld.param.u64 %rd1, [torn];
  setp.ne.u32 %p0, %r1, 0; @%p0 bra READ;
WRITE:
  cvt.u64.u32 %rd4, %r2; mov.u32 %r4, %r2;
)" + copies + "st" + access +
                            "." + bits + " [%rd0], " + registers + R"(;
  add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, )" +
                            rounds(200'000) +
                            R"(; @%p0 bra WRITE;
  ret;
READ:
  ld)" + access + "." + bits +
                            " " + registers + ", [%rd0];\n" + same + R"(
  @%p1 red.global.add.u32 [%rd1], 1;
  add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, )" +
                            rounds(200'000) +
                            R"(; @%p0 bra READ;
  ret;
})"));
  const Address pairs = device.buffer(std::vector<std::uint64_t>(64, 0));
  const Address torn = device.buffer(std::vector<std::uint32_t>{0});
  device.argument(pairs).argument(torn);
  const LaunchResult r = device.run({2, 1, 1}, {32, 1, 1}, 0, 100'000'000, 2);
  EXPECT_FALSE(r.fault) << r.fault->message;
  EXPECT_EQ(device.read<std::uint32_t>(torn, 1)[0], 0u);
}

TEST(Whole, StrongAccessesOfSeveralElementsAreNeverTorn) {
  check_whole(".relaxed.gpu.global.v2", "u64");
  check_whole(".relaxed.gpu.global.v4", "u32");
  check_whole(".relaxed.gpu.global.v2", "u32");
  check_whole(".volatile.v2", "u64");
}

}  // namespace
}  // namespace emu::test
