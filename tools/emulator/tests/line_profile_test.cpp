// Counts by source line: each count is its line's, and all of them are the launch's.
#include "watch/line_profile.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "interp_support.hpp"

namespace emu::test {
namespace {

const char* const kKernel = R"(
.file 1 "/somewhere/a.cu"
.file 2 "/elsewhere/inlined.cuh"
.func (.param .b32 result) twice(.param .b32 value) {
  .reg .b32 %v;
  .loc 2 5 0
  ld.param.u32 %v, [value]; add.u32 %v, %v, %v; st.param.u32 [result], %v; ret; }
.visible .entry k(.param .u64 out) {
  .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
  .shared .align 16 .b8 tile[8192];
  mov.u32 %r0, %tid.x; mov.u32 %r9, %ctaid.x;
  ld.param.u64 %rd0, [out]; mad.wide.u32 %rd1, %r0, 4, %rd0;
  mov.u32 %r11, tile;
  .loc 1 10 0
  shl.b32 %r10, %r0, 7; add.u32 %r12, %r11, %r10;
  .loc 1 11 0
  @%p0 bra NEVER;
NEVER:
  setp.lt.u32 %p1, %r0, 5;
  .loc 1 12 0
  @%p1 bra LOW;
  .loc 1 13 0
  mov.u32 %r2, 7; bra MEET;
LOW:
  .loc 1 14 0
  { .param .b32 in; .param .b32 back; st.param.u32 [in], %r0;
  call (back), twice, (in); ld.param.u32 %r2, [back]; }
MEET:
  .loc 1 15 0
  and.b32 %r10, %r10, 8191; add.u32 %r12, %r11, %r10; st.shared.u32 [%r12], %r2;
  .loc 1 16 0
  bar.sync 0;
  .loc 1 17 0
  mul.wide.u32 %rd4, %r0, 132; add.u64 %rd4, %rd0, %rd4; ld.global.u32 %r7, [%rd4];
  .loc 2 30 0, function_name $L__info, inlined_at 1 18 3
  shfl.sync.bfly.b32 %r4, %r7, 1, 31, -1;
  @%p1 st.global.u32 [%rd1], %r4;
  .loc 1 19 0
  atom.shared.add.u32 %r6, [tile], 1; bar.warp.sync -1;
  ret;
})";

struct Outcome {
  std::vector<LineCounts> lines;
  LaunchResult result;
};

Outcome profile(std::optional<std::uint64_t> seed, unsigned bytes = 1 << 16, Dim3 grid = {5, 1, 1},
                std::uint64_t limit = 100'000) {
  Outcome out;
  LineProfile lines;
  Device device(module_text(kKernel), "k", &lines);
  device.argument(device.buffer(std::vector<std::byte>(bytes)));
  device.apart(seed);
  out.result = device.run(grid, {80, 1, 1}, 0, limit);
  out.lines = lines.lines();
  return out;
}

Counters sum(const std::vector<LineCounts>& lines) {
  Counters all;
  for (const LineCounts& line : lines) all += line.counters;
  return all;
}

Counters of(const Outcome& out, const std::string& file, int line) {
  for (const LineCounts& one : out.lines) {
    if (one.file == file && one.line == line) return one.counters;
  }
  ADD_FAILURE() << "no line " << file << ":" << line;
  return {};
}

TEST(LineProfile, SumsAreTheCounters) {
  for (const auto& seed : std::vector<std::optional<std::uint64_t>>{{}, 1, 2}) {
    const Outcome out = profile(seed);
    ASSERT_FALSE(out.result.fault) << out.result.fault->message;
    EXPECT_EQ(sum(out.lines), out.result.counters);
    EXPECT_GT(out.result.counters.diverging_branches, 0u);
  }
}

TEST(LineProfile, SumsAreTheCountersOfALaunchThatStopped) {
  const Outcome fault = profile({}, 8192);  // the 65th thread reads past its end
  ASSERT_TRUE(fault.result.fault);
  EXPECT_GT(fault.result.counters.warp_instructions, 0u);
  EXPECT_EQ(sum(fault.lines), fault.result.counters);
  const Outcome limit = profile({}, 1 << 16, {500, 1, 1}, 100);
  ASSERT_TRUE(limit.result.fault);
  EXPECT_EQ(sum(limit.lines), limit.result.counters);
}

TEST(LineProfile, AddsUpSeveralLaunches) {
  LineProfile lines;
  Device device(module_text(kKernel), "k", &lines);
  const Address out = device.buffer(std::vector<std::byte>(1 << 16));
  Counters all;
  for (const unsigned blocks : {1u, 3u}) {
    device.argument(out);
    all += device.run({blocks, 1, 1}, {96, 1, 1}).counters;
  }
  EXPECT_EQ(sum(lines.lines()), all);
}

TEST(LineProfile, EachCountIsItsLines) {
  const Outcome out = profile({});
  const std::uint64_t warps = 5 * 3, threads = 5 * 80;
  EXPECT_EQ(of(out, "/somewhere/a.cu", 10).warp_instructions, 2 * warps);
  EXPECT_EQ(of(out, "/somewhere/a.cu", 10).thread_instructions, 2 * threads);
  EXPECT_EQ(of(out, "/somewhere/a.cu", 11).branches, warps);
  EXPECT_EQ(of(out, "/somewhere/a.cu", 11).diverging_branches, 0u);
  EXPECT_EQ(of(out, "/somewhere/a.cu", 12).branches, warps);
  EXPECT_EQ(of(out, "/somewhere/a.cu", 12).diverging_branches, 5u);
  EXPECT_EQ(of(out, "/elsewhere/inlined.cuh", 5).thread_instructions % 5, 0u);
  // 128 bytes from lane to lane: all in one bank.
  const Counters stores = of(out, "/somewhere/a.cu", 15);
  EXPECT_EQ(stores.shared_store_wavefronts, 5u * (32 + 32 + 16));
  EXPECT_EQ(stores.shared_store_conflicts, stores.shared_store_wavefronts - warps);
  EXPECT_EQ(of(out, "/somewhere/a.cu", 16).shared_store_wavefronts, 0u);
  const Counters loads = of(out, "/somewhere/a.cu", 17);
  EXPECT_EQ(loads.global_load_requests, warps);
  EXPECT_EQ(loads.global_load_sectors, threads);
  EXPECT_EQ(loads.global_store_requests, 0u);
}

TEST(LineProfile, KnowsWhereItWasInlined) {
  const Outcome out = profile({});
  int found = 0;
  for (const LineCounts& line : out.lines) {
    const bool inlined = line.file == "/elsewhere/inlined.cuh" && line.line == 30;
    found += inlined;
    EXPECT_EQ(line.outer_line, inlined ? 18 : 0);
    EXPECT_EQ(line.outer_file, inlined ? "/somewhere/a.cu" : "");
    if (inlined) {
      EXPECT_EQ(line.counters.global_store_requests, 5u);
    }
  }
  EXPECT_EQ(found, 1);
  EXPECT_GT(of(out, "", 0).warp_instructions, 0u);  // before the first .loc
}

}  // namespace
}  // namespace emu::test
