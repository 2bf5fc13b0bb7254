// Modules that were compiled apart, run as one.
#include <gmock/gmock.h>

#include "interp_support.hpp"

namespace emu::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kFirst = module_text(R"(
.file 1 "first.cu"
.extern .global .align 4 .u32 theirs;
.visible .const .align 4 .u32 ours = 3;
.global .align 4 .u32 hidden = 10;
.global .align 8 .u64 pointer[1] = {hidden};
.extern .func (.param .b32 r) twice(.param .b32 x);
.func (.param .b32 r) help(.param .b32 x) {
  .reg .b32 %r<3>; ld.param.u32 %r1, [x]; ld.global.u32 %r2, [hidden]; add.u32 %r1, %r1, %r2;
  st.param.b32 [r], %r1; ret; }
.weak .func (.param .b32 r) both(.param .b32 x) {
  .reg .b32 %r<3>; ld.param.u32 %r1, [x]; add.u32 %r1, %r1, 1000; st.param.b32 [r], %r1; ret; }
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %rd<5>;
  .param .b32 a; .param .b32 b;
  ld.global.u32 %r1, [theirs];
  st.param.b32 [a], %r1; call (b), twice, (a); ld.param.b32 %r1, [b];
  st.param.b32 [a], %r1; call (b), help, (a); ld.param.b32 %r1, [b];
  st.param.b32 [a], %r1; call (b), both, (a); ld.param.b32 %r1, [b];
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r1;
  ld.global.u64 %rd2, [pointer];
  ld.global.u32 %r2, [%rd2];
  st.global.u32 [%rd1+4], %r2;
  ret;
})");
const std::string kSecond = module_text(R"(
.file 1 "second.cu"
.visible .global .align 4 .u32 theirs = 50;
.extern .const .align 4 .u32 ours;
.global .align 4 .u32 hidden = 7;
.func (.param .b32 r) help(.param .b32 x) {
  .reg .b32 %r<3>; ld.param.u32 %r1, [x]; ld.global.u32 %r2, [hidden]; sub.u32 %r1, %r1, %r2;
  st.param.b32 [r], %r1; ret; }
.weak .func (.param .b32 r) both(.param .b32 x) {
  .reg .b32 %r<3>; ld.param.u32 %r1, [x]; add.u32 %r1, %r1, 1000; st.param.b32 [r], %r1; ret; }
.visible .func (.param .b32 r) twice(.param .b32 x) {
  .reg .b32 %r<4>; .param .b32 a; .param .b32 b;
  .loc 1 42 3
  ld.param.u32 %r1, [x]; add.u32 %r1, %r1, %r1; ld.const.u32 %r2, [ours]; add.u32 %r1, %r1, %r2;
  st.param.b32 [a], %r1; call (b), help, (a); ld.param.b32 %r1, [b];
  st.param.b32 [r], %r1; ret; }
.visible .entry wild() {
  .reg .b64 %rd<3>;
  .loc 1 77 3
  mov.u64 %rd1, 0; st.global.u64 [%rd1], %rd1; ret; }
)");

// ((2 * 50 + 3) - 7) + 10 + 1000: each module's own `help` and `hidden`, and the other's `twice`.
TEST(Join, NamesAreSharedAsFarAsTheyAreVisible) {
  for (const auto& texts : {std::vector{kFirst, kSecond}, std::vector{kSecond, kFirst}}) {
    Device device(parse_ptx(texts, "test"), "k");
    const Address out = device.buffer(std::vector<std::uint32_t>(2, 0));
    device.argument(out);
    const LaunchResult r = device.run({1, 1, 1}, {1, 1, 1});
    ASSERT_FALSE(r.fault) << r.fault->message;
    EXPECT_THAT(device.read<std::uint32_t>(out, 2), ElementsAre(1106, 10));
  }
}

TEST(Join, EachModuleNumbersItsFiles) {
  Device device(parse_ptx(std::vector{kFirst, kSecond}, "test"), "wild");
  const LaunchResult r = device.run({1, 1, 1}, {1, 1, 1});
  ASSERT_TRUE(r.fault);
  EXPECT_THAT(r.fault->message, HasSubstr("second.cu:77"));
}

TEST(Join, WhatNoModuleHasIsRefusedByName) {
  const auto module = parse_ptx(std::vector{kFirst}, "test");
  EXPECT_THAT(module->kernels.at("k").unsupported, HasSubstr("twice"));
  EXPECT_THROW(parse_ptx(std::vector{kFirst, std::string("nonsense")}, "test"), PtxError);
}

}  // namespace
}  // namespace emu::test
