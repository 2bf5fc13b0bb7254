// How the blocks of a grid share the host's threads: those of a cooperative launch all begin before
// any ends, and blocks that wait for others let them begin.
#include <gmock/gmock.h>

#include "interp_support.hpp"

namespace emu::test {
namespace {

using testing::HasSubstr;

/// Each block stores its number, waits at a barrier of the whole grid that the kernel makes of a
/// counter at `barrier`, and reads what the next block stored.
std::string neighbours(const std::string& barrier) {
  return module_text(R"(
.global .align 4 .u32 counter = 0;
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
  st.volatile.global.u32 [%rd4], %r1;
  membar.gl;
  bar.sync 0;
)" + barrier + R"(
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra WAITED;
  atom.global.add.u32 %r4, [%rd5], 1;
WAIT:
  ld.volatile.global.u32 %r4, [%rd5];
  setp.lt.u32 %p2, %r4, %r2;
  @%p2 bra WAIT;
WAITED:
  bar.sync 0;
  add.u32 %r5, %r1, 1;
  rem.u32 %r5, %r5, %r2;
  mul.wide.u32 %rd6, %r5, 4;
  add.u64 %rd7, %rd1, %rd6;
  ld.volatile.global.u32 %r6, [%rd7];
  add.u64 %rd8, %rd2, %rd3;
  st.global.u32 [%rd8], %r6;
  ret;
})");
}

const std::string kLent = R"(
  mov.b32 %r7, %envreg1;
  mov.b32 %r8, %envreg2;
  mov.b64 %rd5, {%r8, %r7};
  setp.ne.u64 %p3, %rd5, 0;
  @%p3 bra GOOD;
  trap;
GOOD:
  add.u64 %rd5, %rd5, 4;)";
const std::string kOwn = "mov.u64 %rd5, counter;";

struct Ran {
  LaunchResult result;
  std::vector<std::uint32_t> out;
};
Ran run(const std::string& text, unsigned blocks, unsigned host_threads, LaunchConfig how) {
  Device device(text);
  const std::vector<std::uint32_t> nothing(blocks, 0xdead);
  const Address in = device.buffer(nothing), out = device.buffer(nothing);
  device.argument(in).argument(out);
  how.grid = {blocks, 1, 1};
  how.block = {40, 1, 1};
  emu::HostThreads pool(host_threads);
  how.pool = &pool;
  if (how.cooperative) how.grid_workspace = device.buffer(std::vector<std::uint32_t>{8, 0});
  Ran made{device.run(how), {}};
  made.out = device.read<std::uint32_t>(out, blocks);
  return made;
}

std::vector<std::uint32_t> next_block(unsigned blocks) {
  std::vector<std::uint32_t> all(blocks);
  for (unsigned i = 0; i < blocks; ++i) all[i] = (i + 1) % blocks;
  return all;
}

TEST(Launch, AllBlocksOfACooperativeLaunchAreThereAtOnce) {
  for (const unsigned blocks : {1u, 2u, 3u, 31u, 150u}) {
    for (const unsigned host_threads : {1u, 2u, 7u}) {
      const Ran r = run(neighbours(kLent), blocks, host_threads,
                        {.max_warp_instructions = 10'000'000, .cooperative = true});
      ASSERT_FALSE(r.result.fault) << r.result.fault->message;
      EXPECT_EQ(r.out, next_block(blocks)) << blocks << " on " << host_threads;
    }
  }
}

TEST(Launch, AnOrdinaryLaunchIsLentNoBarrier) {
  const Ran r = run(neighbours(kLent), 2, 1, {.max_warp_instructions = 10'000'000});
  ASSERT_TRUE(r.result.fault);
  EXPECT_THAT(r.result.fault->message, HasSubstr("trap"));
}

// What a device does with a barrier that a program makes itself: works where all blocks fit.
TEST(Launch, BlocksThatWaitLetOthersBeginAsFarAsTheyFit) {
  const unsigned blocks = kShorter > 1 ? 6 : 24;
  for (const unsigned host_threads : {1u, 2u}) {
    const Ran fits = run(neighbours(kOwn), blocks, host_threads,
                         {.max_warp_instructions = 100'000'000, .resident_blocks = blocks});
    ASSERT_FALSE(fits.result.fault) << fits.result.fault->message;
    EXPECT_EQ(fits.out, next_block(blocks));
    const Ran not_all = run(neighbours(kOwn), blocks, host_threads,
                            {.max_warp_instructions = 100'000'000, .resident_blocks = blocks - 2});
    ASSERT_TRUE(not_all.result.fault);
    EXPECT_EQ(not_all.result.fault->kind, Fault::Kind::kDeadlock);
    EXPECT_THAT(not_all.result.fault->message,
                HasSubstr("; " + std::to_string(blocks - 3) +
                          " more blocks wait too; 2 blocks can't begin until some end"));
  }
}

// It counts to 2^32, and stores or doesn't.
TEST(Launch, ALoopThatNobodySeesAnythingOfIsStopped) {
  const auto counts = [](const std::string& stores) {
    return run(module_text(".visible .entry k(.param .u64 in, .param .u64 out) {\n"
                           ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;\n"
                           "ld.param.u64 %rd1, [out]; mov.u32 %r1, 0;\n"
                           "L: add.u32 %r1, %r1, 1;\n" +
                           stores + "setp.ne.u32 %p0, %r1, 0; @%p0 bra L; ret; }"),
               3, 1, {.max_warp_instructions = 5'000'000, .max_idle_instructions = 1'000'000})
        .result;
  };
  const LaunchResult silent = counts(""), storing = counts("st.global.u32 [%rd1], %r1;\n");
  ASSERT_TRUE(silent.fault && storing.fault);
  EXPECT_EQ(silent.fault->kind, Fault::Kind::kTooLong);
  EXPECT_THAT(silent.fault->message, HasSubstr("as in a loop without end; warp 0, lanes "));
  EXPECT_THAT(storing.fault->message, HasSubstr("5000000 warp instructions, the limit that was"));
}

TEST(Launch, AFaultInOneBlockEndsThoseThatWaitForIt) {
  const Ran r = run(neighbours(kLent + "setp.eq.u32 %p3, %r1, 5; @%p3 st.global.u32 [0], %r1;"), 9,
                    2, {.max_warp_instructions = 0, .cooperative = true});
  ASSERT_TRUE(r.result.fault);
  EXPECT_EQ(r.result.fault->kind, Fault::Kind::kIllegalAddress);
  EXPECT_THAT(r.result.fault->message, HasSubstr("block (5, 0, 0)"));
}

// Half of the blocks never come to the grid's barrier.
TEST(Launch, AGridBarrierThatSomeBlocksNeverReachEndsAtOnce) {
  std::string some = neighbours(kLent);
  some.replace(some.find("  ld.param.u64 %rd2, [out];"), 0,
               "  mov.u32 %r9, %ctaid.x; setp.gt.u32 %p3, %r9, 3; @%p3 ret;\n");
  for (const unsigned threads : {1u, 2u}) {
    Device device(some);
    const Address in = device.buffer(std::vector<std::uint32_t>(8, 0));
    device.argument(in).argument(in);
    HostThreads pool(threads);
    LaunchConfig config;
    config.grid = {8, 1, 1};
    config.block = {64, 1, 1};
    config.pool = &pool;
    config.cooperative = true;
    const Address workspace = *device.memory().allocate(8, "the grid's barrier");
    config.grid_workspace = workspace;
    const LaunchResult r = device.run(config);
    ASSERT_TRUE(r.fault);
    EXPECT_EQ(r.fault->kind, Fault::Kind::kDeadlock);
    EXPECT_THAT(r.fault->message, HasSubstr("at a loop that looks at byte 4 of the grid's barrier "
                                            "(8 bytes), PTX line"));
    EXPECT_THAT(r.fault->message, HasSubstr("; 3 more blocks wait too; 4 of the grid's 8 blocks"
                                            " have ended"));
  }
}

// --- clocks ---------------------------------------------------------------------------------

TEST(Clocks, CountTheInstructionsBetweenTwoReads) {
  for (const char* clock : {"%clock", "%globaltimer_lo"}) {
    const std::string name = clock;
    EXPECT_THAT(run_body("mov.u32 %r2, " + name + "; add.u32 %r3, %r0, 1; add.u32 %r3, %r3, 1;\n" +
                             "mov.u32 %r4, " + name + "; sub.u32 %r1, %r4, %r2;",
                         32),
                testing::Each(3u));
  }
  EXPECT_THAT(run_body("mov.u64 %rd1, %clock64; mov.u64 %rd2, %clock64; sub.u64 %rd1, %rd2, %rd1;\n"
                       "cvt.u32.u64 %r1, %rd1;",
                       32),
              testing::Each(1u));
}

// Each thread reads the clock again and again, also over turns of other warps and around barriers;
// the global one is handed from block to block.
TEST(Clocks, NeverGoBack) {
  const std::string text = R"(
.global .align 8 .u64 latest = 0;
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd7, [out]; mov.u32 %r1, 0; mov.u64 %rd1, 0; mov.u64 %rd2, 0; mov.u32 %r3, 0;
LOOP:
  mov.u64 %rd3, %clock64; setp.le.u64 %p1, %rd3, %rd1; @%p1 add.u32 %r3, %r3, 1;
  mov.u64 %rd1, %rd3;
  ld.relaxed.gpu.global.u64 %rd5, [latest];
  mov.u64 %rd4, %globaltimer; setp.lt.u64 %p1, %rd4, %rd5; @%p1 add.u32 %r3, %r3, 1;
  setp.le.u64 %p1, %rd4, %rd2; @%p1 add.u32 %r3, %r3, 1;
  mov.u64 %rd2, %rd4; red.global.max.u64 [latest], %rd4;
  bar.sync 0;
  add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 5000; @%p1 bra LOOP;
  red.global.add.u32 [%rd7], %r3; red.global.max.u64 [%rd7+8], %rd1; ret;
})";
  Device device(module_text(text));
  HostThreads pool(2);
  const Address out = device.buffer(std::vector<std::uint64_t>{0, 0});
  LaunchConfig config;
  config.grid = {4, 1, 1};
  config.block = {64, 1, 1};
  config.pool = &pool;
  std::uint64_t last = 0;
  for (int launch = 0; launch < 2; ++launch) {
    device.argument(out);
    const LaunchResult r = device.run(config);
    ASSERT_FALSE(r.fault) << r.fault->message;
    const auto found = device.read<std::uint64_t>(out, 2);
    EXPECT_EQ(found[0], 0u);
    EXPECT_GT(found[1], last);
    last = found[1];
    config.clock_base += r.counters.warp_instructions;
    EXPECT_LE(last, config.clock_base);
  }
}

}  // namespace
}  // namespace emu::test
