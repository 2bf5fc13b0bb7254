// What is read, what is refused, and how it is said.
#include <gmock/gmock.h>

#include <random>

#include "interp_support.hpp"
#include "ptx/lexer.hpp"

namespace emu::test {
namespace {

std::string kernel(const std::string& body) {
  return module_text(
      ".visible .entry k(.param .u64 out) {\n.reg .pred %p<4>; .reg .b32 %r<9>; .reg "
      ".b64 %rd<9>; .reg .f32 %f<9>;\n" +
      body + "\nret;\n}\n");
}

std::string refusal(const std::string& body) {
  return parse_ptx(kernel(body), "test")->kernels.at("k").unsupported;
}

TEST(Parse, WhatIsUnsupportedIsNamedWithItsLine) {
  const std::string why =
      refusal("mov.u32 %r1, %tid.x;\ntex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];");
  EXPECT_TRUE(why.starts_with("PTX line 7: ")) << why;  // whose kernel, the caller says
  EXPECT_NE(why.find("tex.1d.v4.f32.s32"), std::string::npos) << why;
}

TEST(Parse, ALongWordIsCut) {
  const std::string cut = std::string(63, 'x') + "\u2026'";
  const std::string word(100'000, 'x');
  EXPECT_NE(refusal(word + ".u32 %r1;").find("'" + cut + " isn't supported"), std::string::npos);
  try {
    parse_ptx(word, "test");
    FAIL() << "that is no PTX";
  } catch (const PtxError& error) {
    EXPECT_TRUE(std::string(error.what()).ends_with("found '" + cut)) << error.what();
  }
  EXPECT_EQ(with_short_words("  " + std::string(64, 'x') + "  y "),
            "  " + std::string(64, 'x') + "  y ");
}

TEST(Parse, NothingIsOverlooked) {
  // A modifier, type or operand that isn't known is never passed over.
  for (const char* text :
       {"add.u32.wrapping %r1, %r2, %r3;",
        "add.u33 %r1, %r2, %r3;",
        "add.u32 %r1, %r2;",
        "add.u32 %r1, %r2, %r3, %r3;",
        "add.u64 %r1, %r2, %r3;",
        "add.sat.u32 %r1, %r2, %r3;",
        "add.ftz.f64 %rd1, %rd1, %rd1;",
        "mul.u32 %r1, %r2, %r3;",
        "setp.lt.b32 %p1, %r1, %r2;",
        "shl.s32 %r1, %r2, %r3;",
        "div.f32 %f1, %f2, %f3;",
        "sin.f32 %f1, %f2;",
        "and.s32 %r1, %r2, %r3;",
        "cvt.u32.f32 %r1, %f1;",
        "shfl.bfly.b32 %r1, %r2, 1, 31;",
        "bar.red.xor.pred %p1, 0, %p2;",
        "ld.surface.u32 %r1, [%rd1];",
        "ld.global.v3.u32 {%r1, %r2, %r3}, [%rd1];",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};",
        "atom.global.add.b32 %r1, [%rd1], %r2;",
        "mov.u32 %r1, %envreg3;",
        "atom.global.cas.b32 %r1, [%rd1], %r2;",
        "wgmma.fence.sync.aligned;",
        "add.u32 %r1, %r2, 0f3f800000, 1;",
        "barrier.cluster.sync;",
        "fence.proxy.tensormap::generic.release.gpu;",
        "cp.async.bulk.tensor.1d.shared::cluster.global [%rd1], [%rd2];",
        "fma.rn.oob.f16 %rs1, %rs2, %rs3, %rs4;",
        "mul.rz.bf16 %rs1, %rs2, %rs3;",
        "setmaxnreg.inc.sync.aligned.u32 64;",
        "mapa.shared::cta.u64 %rd1, %rd2, %r1;",
        "lop3.b32 %r1, %r2, %r3, %r4, %r5;",
        "call (%r1), %rd1, (%r2), proto;",
        "min.relu.u32 %r1, %r2, %r3;",
        "st.param.u32 [out], %r1;"}) {
    EXPECT_NE(refusal(text), "") << text;
  }
}

TEST(Parse, OtherKernelsStillRun) {
  const auto m = parse_ptx(
      module_text(".entry bad() { tcgen05.fence; ret; }\n.entry good() { ret; }"), "test");
  EXPECT_NE(m->kernels.at("bad").unsupported, "");
  EXPECT_EQ(m->kernels.at("good").unsupported, "");
  EXPECT_TRUE(m->kernels.at("good").code);
}

TEST(Parse, WhatIsMissingIsRefusedWhenItIsReached) {
  const std::string text = module_text(R"(
.func helper() { .reg .pred %q; setmaxnreg.inc.sync.aligned.u32 64; ret; }
.visible .entry k(.param .u32 way) {
  .reg .pred %p<4>; .reg .b32 %r<4>;
  ld.param.u32 %r1, [way];
  setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 2; setp.eq.u32 %p3, %r1, 3;
  @%p1 tcgen05.fence;
  @!%p2 bra ON;
  wgmma.fence.sync.aligned;
ON:
  @!%p3 bra END;
  call helper;
END: ret;
})");
  const char* reached[] = {"", "tcgen05.fence", "wgmma.fence.sync.aligned", "setmaxnreg"};
  for (unsigned way = 0; way < 4; ++way) {
    Device device(text);
    EXPECT_THAT(device.kernel().unsupported, testing::HasSubstr("tcgen05.fence"));
    device.may_be_unsupported = true;
    const LaunchResult r = device.argument(way).run({1, 1, 1}, {32, 1, 1});
    ASSERT_EQ(r.fault.has_value(), way > 0);
    if (way == 0) continue;
    EXPECT_EQ(r.fault->kind, Fault::Kind::kUnsupported);
    EXPECT_THAT(r.fault->message, testing::HasSubstr(reached[way]));
  }
}

TEST(Parse, ParametersAndLimits) {
  const auto m = parse_ptx(module_text(R"(
.visible .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .f32 d)
.maxntid 128, 2, 1
.minnctapersm 2
{ .shared .align 8 .b8 s[100]; .local .align 4 .b8 l[12]; ret; })"),
                           "test");
  const Kernel& k = m->kernels.at("k");
  ASSERT_EQ(k.parameters.size(), 4u);
  EXPECT_EQ(k.parameters[1].offset, 8u);
  EXPECT_EQ(k.parameters[2].offset, 16u);
  EXPECT_EQ(k.parameters[3].offset, 36u);
  EXPECT_EQ(k.parameter_bytes, 40u);
  EXPECT_EQ(k.max_threads, 256u);
  EXPECT_EQ(k.static_shared_bytes, 100u);
  EXPECT_EQ(k.local_bytes, 16u);
  EXPECT_EQ(m->target, 90);
}

TEST(Parse, TextThatIsNoPtx) {
  for (const char* text :
       {"hello", ".version", ".entry k( {", "\x01\x02", ".entry k() { add.u32 %r1, ",
        ".entry k() { bra NOWHERE; }", ".global .u32 x = {1, 2, 3};",
        ".entry k() { .reg .b32 %r<99999999999999999999>; }",
        ".entry k(.param .u32 x[4611686018427387904][4]) {}", ".global .align 3 .b8 x;"}) {
    EXPECT_THROW(parse_ptx(text, "test"), PtxError) << text;
  }
}

TEST(Parse, HostileSizes) {
  // Registers by the million and arrays past all memory cost nothing until they are used.
  EXPECT_NO_THROW(parse_ptx(module_text(".entry k() { .reg .b32 %r<1000000000>; ret; }"), "t"));
  EXPECT_NE(parse_ptx(module_text(".entry k() { .shared .b8 s[1000000000000]; ret; }"), "t")
                ->kernels.at("k")
                .unsupported,
            "");
  EXPECT_NE(parse_ptx(module_text(".entry k() { .local .b8 s[1000000000000]; ret; }"), "t")
                ->kernels.at("k")
                .unsupported,
            "");
  std::string deep(100000, '{');
  EXPECT_THROW(parse_ptx(".entry k() " + deep, "t"), PtxError);
  EXPECT_THROW(parse_ptx(".global .u32 x[] = " + deep, "t"), PtxError);
  // Each function calls the next twice: two to the n calls if they were written out.
  std::string chain = ".func f0() { ret; }\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "f" + std::to_string(i - 1);
    chain +=
        ".func f" + std::to_string(i) + "() { call " + before + "; call " + before + "; ret; }\n";
  }
  EXPECT_NO_THROW(parse_ptx(module_text(chain + ".entry k() { call f59; ret; }"), "t"));
}

TEST(Parse, DamagedTextNeverCrashes) {
  const std::string good = kernel(R"(
    .shared .align 4 .b8 tile[64]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 4; @%p1 bra L;
    ld.param.u64 %rd1, [out]; st.global.v2.u32 [%rd1+-8], {%r1, %r2}; { .reg .b64 %x; cvta.shared.u64 %x, %rd1; }
    T: .branchtargets L, L; brx.idx %r1, T;
    L: shfl.sync.bfly.b32 %r2|%p2, %r1, 1, 31, -1; bar.sync 0; add.f32 %f1, %f2, 0f3f800000;
    .loc 1 2 3, function_name $x, inlined_at 1 2 3)");
  EXPECT_NO_THROW(parse_ptx(good, "t"));
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    for (unsigned n = random() % 4 + 1; n > 0; --n) {
      if (text.empty()) break;
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, random() % 20 + 1); break;
        case 2: text.insert(at, good.substr(random() % good.size(), random() % 20)); break;
        default: text.resize(at + 1); break;
      }
    }
    try {
      parse_ptx(text, "t");
    } catch (const PtxError&) {
    }
  }
}

}  // namespace
}  // namespace emu::test
