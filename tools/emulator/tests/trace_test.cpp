// A trace of one block: every instruction of every schedule is in it, with what it was counted as.
#include "watch/trace.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "interp_support.hpp"

namespace emu::test {
namespace {

const char* const kKernel = R"(
.func (.param .b32 result) twice(.param .b32 value) {
  .reg .b32 %v; ld.param.u32 %v, [value]; add.u32 %v, %v, %v; st.param.u32 [result], %v; ret; }
.visible .entry k(.param .u64 out) {
  .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<4>;
  .shared .align 16 .b8 tile[4096];
  .local .align 16 .b8 own[16];
  mov.u32 %r0, %tid.x; mov.u32 %r9, %ctaid.x;
  ld.param.u64 %rd0, [out]; mad.wide.u32 %rd1, %r0, 4, %rd0;
  shl.b32 %r10, %r0, 3; mov.u32 %r11, tile; add.u32 %r11, %r11, %r10;
  st.shared.u32 [%r11], %r0; bar.sync 0;
  setp.lt.u32 %p0, %r0, 5; @%p0 bra LOW;
  ld.shared.u32 %r2, [%r11]; bra MEET;
LOW: ld.global.u32 %r2, [%rd1+128]; { .param .b32 in; .param .b32 back; st.param.u32 [in], %r2;
  call (back), twice, (in); ld.param.u32 %r2, [back]; }
MEET: st.local.u32 [own], %r2; ld.local.u32 %r3, [own];
  @%p0 st.global.u32 [%rd1], %r3;
  shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;
  cvta.shared.u64 %rd2, tile; selp.b64 %rd3, %rd1, %rd2, %p0; ld.u32 %r5, [%rd3];
  atom.shared.add.u32 %r6, [tile], 1; red.global.add.u32 [%rd0+4], 1;
  mul.wide.u32 %rd4, %r0, 132; add.u64 %rd4, %rd0, %rd4;
  ld.global.u32   %r7,
    [%rd4];   st.shared.v2.u32 [%r11], {%r7, %r6};
  ret;
})";

struct Outcome {
  std::vector<std::string> lines;
  LaunchResult result;
};

Outcome trace(const std::string& text, std::optional<std::uint64_t> seed = {}, Dim3 grid = {},
              Dim3 block = {0, 0, 0}, std::uint64_t limit = 10000) {
  Device device(parse_ptx(module_text(text), "test", true), "k");
  device.argument(device.buffer(std::vector<std::uint32_t>(4096)));
  device.apart(seed);
  Outcome out;
  const auto write = [&out](std::string_view line) {
    ASSERT_TRUE(line.ends_with('\n'));
    out.lines.emplace_back(line.substr(0, line.size() - 1));
  };
  Trace trace(write, block, limit);
  const std::array<Observer*, 1> observers{&trace};
  LaunchConfig config;
  config.grid = grid;
  config.block = {64, 1, 1};
  config.apart = seed;
  config.observers = observers;
  config.max_warp_instructions = 100'000;
  config.kernel = &device.kernel();
  trace.head(config, 3, "k(\"x\")", seed ? "apart" : "together");
  out.result = device.run(config);
  trace.foot(out.result);
  return out;
}

/// The sum of a number over all lines that have it.
std::uint64_t sum(const std::vector<std::string>& lines, const std::string& name) {
  std::uint64_t all = 0;
  for (const std::string& line : lines) {
    const std::size_t at = line.find("\"" + name + "\":");
    if (at != line.npos) all += std::stoull(line.substr(at + name.size() + 3));
  }
  return all;
}

/// What the first warp did by an instruction.
std::string with(const Outcome& out, const std::string& part) {
  for (const std::string& line : out.lines) {
    if (line.find(part) != line.npos && line.find(R"("warp":0)") != line.npos) return line;
  }
  return "";
}

TEST(Trace, SumsAreTheCounters) {
  for (const auto& seed : std::vector<std::optional<std::uint64_t>>{{}, 1, 2}) {
    const Outcome out = trace(kKernel, seed);
    ASSERT_FALSE(out.result.fault) << out.result.fault->message;
    const Counters& c = out.result.counters;
    EXPECT_EQ(out.lines.size(), c.warp_instructions + 2);
    std::uint64_t lanes = 0;
    for (const std::string& line : out.lines) {
      const std::size_t at = line.find("\"active\":[");
      if (at == line.npos || line[at + 10] == ']') continue;
      lanes += 1 + static_cast<std::uint64_t>(std::count(
                       line.begin() + static_cast<std::ptrdiff_t>(at),
                       line.begin() + static_cast<std::ptrdiff_t>(line.find(']', at)), ','));
    }
    EXPECT_EQ(lanes, c.thread_instructions);
    EXPECT_EQ(sum(out.lines, "global_load_requests"), c.global_load_requests);
    EXPECT_EQ(sum(out.lines, "global_load_sectors"), c.global_load_sectors);
    EXPECT_EQ(sum(out.lines, "global_store_requests"), c.global_store_requests);
    EXPECT_EQ(sum(out.lines, "global_store_sectors"), c.global_store_sectors);
    EXPECT_EQ(sum(out.lines, "shared_load_wavefronts"), c.shared_load_wavefronts);
    EXPECT_EQ(sum(out.lines, "shared_load_conflicts"), c.shared_load_conflicts);
    EXPECT_EQ(sum(out.lines, "shared_store_wavefronts"), c.shared_store_wavefronts);
    EXPECT_EQ(sum(out.lines, "shared_store_conflicts"), c.shared_store_conflicts);
    EXPECT_EQ(sum(out.lines, "branches"), c.branches);
    EXPECT_EQ(sum(out.lines, "diverging_branches"), c.diverging_branches);
    EXPECT_GT(c.shared_store_conflicts * c.global_load_sectors * c.branches, 0u);
  }
}

TEST(Trace, ALaunchThatIsTracedRunsAsOneThatIsNot) {
  for (const auto& seed : std::vector<std::optional<std::uint64_t>>{{}, 1, 2}) {
    Device device(parse_ptx(module_text(kKernel), "test"), "k");
    device.argument(device.buffer(std::vector<std::uint32_t>(4096)));
    device.apart(seed);
    EXPECT_EQ(trace(kKernel, seed).result.counters, device.run({1, 1, 1}, {64, 1, 1}).counters);
  }
}

TEST(Trace, SaysWhatAnInstructionDid) {
  const Outcome out = trace(kKernel, {}, {3, 2, 1}, {2, 1, 0});
  const std::string first = R"({"n":0,"warp":0,"ptx_line":11,"op":"mov.u32 %r0, %tid.x",)";
  EXPECT_EQ(out.lines[1].substr(0, first.size()), first);
  const std::string stored =
      R"("active":[0,1,2,3,4],"access":[{"space":"global","direction":"store","bytes":4,)"
      R"("in":"buffer","base":36283883716608,"size":16384,"lanes":[0,1,2,3,4],"address":)"
      R"([36283883716608,36283883716612,36283883716616,36283883716620,36283883716624],)"
      R"("offset":[0,4,8,12,16]}],"global_store_requests":1,"global_store_sectors":1})";
  EXPECT_TRUE(with(out, "@%p0 st.global").ends_with(stored)) << with(out, "@%p0 st.global");
  // Of an instruction over several lines the text is one; lanes in two spaces are two accesses.
  EXPECT_NE(with(out, "ld.global.u32 %r7, [%rd4]"), "");
  const std::string generic = with(out, "ld.u32 %r5, [%rd3]");
  EXPECT_NE(generic.find(R"("space":"global")"), generic.npos);
  EXPECT_NE(generic.find(R"("space":"shared")"), generic.npos);
  EXPECT_NE(generic.find(R"("bank":[0,)"), generic.npos);
  EXPECT_NE(with(out, "st.shared.v2").find(R"("bytes":8)"), std::string::npos);
  EXPECT_NE(with(out, "atom.shared").find(R"("direction":"atomic")"), std::string::npos);
  EXPECT_NE(with(out, "add.u32 %v"), "");
  EXPECT_EQ(out.lines.back(),
            R"({"end":"complete","instructions":)" + std::to_string(out.lines.size() - 2) + "}");
}

TEST(Trace, EndsWithALineThatSaysHow) {
  Outcome out = trace(kKernel, {}, {}, {0, 0, 0}, 10);
  EXPECT_EQ(out.lines.size(), 12u);
  EXPECT_EQ(out.lines.back(), R"({"end":"cut","limit":10,"instructions":10})");
  EXPECT_FALSE(out.result.fault);

  out = trace(kKernel, {}, {}, {7, 0, 0});
  EXPECT_EQ(out.lines.size(), 2u);
  EXPECT_EQ(out.lines.back(),
            R"({"end":"stopped","why":"the block did not begin","instructions":0})");

  out = trace(
      ".visible .entry k(.param .u64 out) {.reg .b64 %rd<2>; .reg .b32 %r<2>;"
      "mov.u64 %rd1, 64; st.global.u32 [%rd1], %r1; ret; }");
  ASSERT_TRUE(out.result.fault);
  EXPECT_EQ(out.lines.size(), 4u);
  EXPECT_NE(out.lines[2].find("st.global.u32 [%rd1], %r1"), std::string::npos);
  EXPECT_EQ(out.lines.back().find(R"({"end":"stopped","why":"kernel k, block (0, 0, 0), thread)"),
            0u)
      << out.lines.back();
}

TEST(Trace, IsTheSameEachTime) {
  for (const auto& seed : std::vector<std::optional<std::uint64_t>>{{}, 5}) {
    EXPECT_EQ(trace(kKernel, seed, {4, 1, 1}, {3, 0, 0}).lines,
              trace(kKernel, seed, {4, 1, 1}, {3, 0, 0}).lines);
  }
  EXPECT_NE(trace(kKernel, 5).lines, trace(kKernel, 6).lines);
}

TEST(Trace, WithoutItNoTextIsKept) {
  const auto module = parse_ptx(module_text(kKernel), "test");
  EXPECT_TRUE(module->kernels.at("k").code->texts.empty());
}

}  // namespace
}  // namespace emu::test
