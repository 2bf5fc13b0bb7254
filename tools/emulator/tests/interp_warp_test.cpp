// Lanes and warps: divergence, shuffles, votes, barriers, and what can't end.
#include "interp_support.hpp"

namespace emu::test {
namespace {

using Values = std::vector<std::uint32_t>;
using testing::Test;

TEST(Divergence, BranchesMeetAgain) {
  LaunchResult r;
  const Values v = run_body(R"(
    and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0;
    @%p0 bra EVEN;
    mov.u32 %r1, 100; bra MEET;
  EVEN: mov.u32 %r1, 200;
  MEET: activemask.b32 %r3; add.u32 %r1, %r1, %r0; setp.ne.u32 %p1, %r3, -1; @%p1 mov.u32 %r1, 0;
  )",
                            32, &r);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(v[i], (i % 2 ? 100 : 200) + i);
  EXPECT_EQ(r.counters.diverging_branches, 1u);
}

TEST(Divergence, LoopsOfDifferentLengths) {
  LaunchResult r;
  const Values v = run_body(R"(
    mov.u32 %r2, 0;
  LOOP: add.u32 %r1, %r1, 3; add.u32 %r2, %r2, 1; setp.le.u32 %p0, %r2, %r0; @%p0 bra LOOP;
    activemask.b32 %r3; setp.ne.u32 %p1, %r3, -1; @%p1 mov.u32 %r1, 7777;
  )",
                            64, &r);
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(v[i], 3 * (i + 1));
}

TEST(Divergence, NestedAndUnstructured) {
  const Values v = run_body(R"(
    setp.lt.u32 %p0, %r0, 16; setp.lt.u32 %p1, %r0, 8; setp.lt.u32 %p2, %r0, 24;
    @!%p0 bra HIGH;
    @%p1 bra LOW;
    add.u32 %r1, %r1, 10; bra JOIN1;
  LOW: add.u32 %r1, %r1, 20;
  JOIN1: activemask.b32 %r2; popc.b32 %r3, %r2; add.u32 %r1, %r1, %r3; bra OUT;
  HIGH: @%p2 bra JOIN1B;
    add.u32 %r1, %r1, 40; bra OUT;
  JOIN1B: add.u32 %r1, %r1, 80;
  OUT: activemask.b32 %r4; setp.eq.u32 %p3, %r4, -1; @%p3 add.u32 %r1, %r1, 1000;
  )",
                            32);
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(v[i], 1000u + (i < 8 ? 36 : i < 16 ? 26 : i < 24 ? 80 : 40)) << i;
  }
}

TEST(Divergence, ExitedLanesAreNotWaitedFor) {
  const Values v = run_body(R"(
    setp.lt.u32 %p0, %r0, 5; @%p0 bra REST; exit;
  REST: activemask.b32 %r1;
  )",
                            32);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(v[i], i < 5 ? 31u : 0xdeadu);
}

TEST(Divergence, LanesThatExitWhileOthersWaitForThem) {
  const Values v = run_body(R"(
    setp.ge.u32 %p0, %r0, 5; setp.ge.u32 %p1, %r0, 9; @%p0 bra LEAVE;
    bra MEET;
  LEAVE: @%p1 exit;
    add.u32 %r1, %r1, 0; exit;
  MEET: activemask.b32 %r1;
  )",
                            32);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(v[i], i < 5 ? 31u : 0xdeadu);
  const Values w = run_body(R"(
    setp.ge.u32 %p0, %r0, 5; setp.ge.u32 %p1, %r0, 9; @%p0 bra LEAVE;
    bra MEET;
  LEAVE: @!%p1 bra MEET;
    exit;
  MEET: activemask.b32 %r1;
  )",
                            32);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(w[i], i < 9 ? 511u : 0xdeadu);
}

TEST(Divergence, TableOfLabels) {
  const Values v = run_body(R"(
    and.b32 %r2, %r0, 3;
    T: .branchtargets A, B, C, A;
    brx.idx %r2, T;
  A: add.u32 %r1, %r1, 1; bra END;
  B: add.u32 %r1, %r1, 2; bra END;
  C: add.u32 %r1, %r1, 3;
  END: activemask.b32 %r3; setp.eq.u32 %p1, %r3, -1; @%p1 add.u32 %r1, %r1, 10;
  )",
                            32);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(v[i], 10 + (i % 4 == 1 ? 2u : i % 4 == 2 ? 3u : 1u));
}

TEST(Divergence, ALockBetweenLanesOfAWarp) {
  // Each lane takes the lock in turn. The others spin; who holds it must go on, though it would
  // meet them only after the loop.
  LaunchResult r;
  const Values v = run_body(R"(
    mov.u32 %r5, tile;
  SPIN: atom.shared.cas.b32 %r2, [%r5], 0, 1; setp.ne.u32 %p0, %r2, 0; @%p0 bra SPIN;
    ld.volatile.shared.u32 %r3, [%r5+4]; add.u32 %r3, %r3, 1; st.volatile.shared.u32 [%r5+4], %r3;
    mov.u32 %r1, %r3;
    atom.shared.exch.b32 %r4, [%r5], 0;
  )",
                            32, &r);
  ASSERT_FALSE(r.fault) << r.fault->message;
  std::uint64_t sum = 0;
  for (const auto x : v) sum += x;
  EXPECT_EQ(sum, 33u * 16);
}

// --- shuffles -------------------------------------------------------------------------------

TEST(Shuffle, EveryModeWidthAndDistance) {
  // As the ISA writes it.
  const auto source = [](const std::string& mode, int lane, int b, int c, bool& p) {
    const int segment = c >> 8 & 31, cval = c & 31, bval = b & 31;
    const int max_lane = (lane & segment) | (cval & ~segment), min_lane = lane & segment;
    int j = 0;
    if (mode == "up") {
      j = lane - bval;
      p = j >= max_lane;
    }
    if (mode == "down") {
      j = lane + bval;
      p = j <= max_lane;
    }
    if (mode == "bfly") {
      j = lane ^ bval;
      p = j <= max_lane;
    }
    if (mode == "idx") {
      j = min_lane | (bval & ~segment);
      p = j <= max_lane;
    }
    return p ? j : lane;
  };
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const int width : {2, 4, 8, 16, 32}) {
      for (const int by : {0, 1, 2, 5, 16, 31}) {
        const int c = (32 - width) << 8 | (mode == "up" ? 0 : 31);
        const Values v = run_body("mad.lo.u32 %r2, %r0, 7, 3; shfl.sync." + mode +
                                      ".b32 %r1|%p1, %r2, " + std::to_string(by) + ", " +
                                      std::to_string(c) + ", -1; @%p1 add.u32 %r1, %r1, 1000;",
                                  32);
        for (int i = 0; i < 32; ++i) {
          bool p = false;
          const int j = source(mode, i, by, c, p);
          EXPECT_EQ(v[static_cast<std::size_t>(i)],
                    static_cast<unsigned>(7 * j + 3 + (p ? 1000 : 0)))
              << mode << " width " << width << " by " << by << " lane " << i;
        }
      }
    }
  }
}

TEST(Shuffle, WaitsForLanesThatComeLater) {
  const Values v = run_body(R"(
    setp.lt.u32 %p0, %r0, 16; @%p0 bra LATE;
    bra GO;
  LATE: add.u32 %r2, %r0, 100;
  GO: add.u32 %r2, %r0, 1; shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;
  )",
                            32);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(v[i], (i ^ 16) + 1);
}

TEST(Shuffle, LanesWithDifferentMasks) {
  const Values v = run_body(R"(
    setp.lt.u32 %p0, %r0, 8; selp.b32 %r2, 0x000000ff, 0xffffff00, %p0;
    redux.sync.add.u32 %r1, %r0, %r2;
  )",
                            32);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(v[i], i < 8 ? 28u : 496u - 28u);
}

TEST(Shuffle, ReadingALaneOutsideTheMaskIsNoted) {
  LaunchResult r;
  run_body("setp.ge.u32 %p0, %r0, 4; @%p0 bra DONE; shfl.sync.idx.b32 %r1, %r0, 9, 31, 15;", 32,
           &r);
  ASSERT_FALSE(r.fault);
  ASSERT_FALSE(r.warnings.empty());
  EXPECT_NE(r.warnings[0].find("lane 9"), std::string::npos) << r.warnings[0];
}

TEST(Together, VoteMatchReduxElect) {
  EXPECT_EQ(run_body("setp.gt.u32 %p0, %r0, 3; vote.sync.ballot.b32 %r1, %p0, -1;", 32)[7],
            0xfffffff0u);
  EXPECT_EQ(run_body("setp.gt.u32 %p0, %r0, 3; vote.sync.ballot.b32 %r1, !%p0, -1;", 32)[7], 0xfu);
  for (const auto& [kind, want] :
       std::vector<std::pair<std::string, unsigned>>{{"all", 0}, {"any", 1}, {"uni", 0}}) {
    EXPECT_EQ(run_body("setp.gt.u32 %p0, %r0, 3; vote.sync." + kind +
                           ".pred %p1, %p0, -1; selp.b32 %r1, 1, 0, %p1;",
                       32)[0],
              want)
        << kind;
  }
  const Values any = run_body("and.b32 %r2, %r0, 3; match.any.sync.b32 %r1, %r2, -1;", 32);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(any[i], 0x11111111u << i % 4);
  EXPECT_EQ(run_body("mov.u64 %rd1, 5; match.all.sync.b64 %r1|%p0, %rd1, -1; @!%p0 mov.u32 %r1, 9;",
                     32)[3],
            ~0u);
  EXPECT_EQ(run_body("match.all.sync.b32 %r1|%p0, %r0, -1; @!%p0 add.u32 %r1, %r1, 9;", 32)[3], 9u);
  EXPECT_EQ(run_body("sub.u32 %r2, %r0, 5; redux.sync.min.s32 %r1, %r2, -1;", 32)[3],
            static_cast<unsigned>(-5));
  EXPECT_EQ(run_body("sub.u32 %r2, %r0, 5; redux.sync.min.u32 %r1, %r2, -1;", 32)[3], 0u);
  EXPECT_EQ(run_body("redux.sync.or.b32 %r1, %r0, -1;", 32)[3], 31u);
  EXPECT_EQ(run_body("redux.sync.xor.b32 %r1, %r0, -1;", 32)[3], 0u);
  const Values one = run_body("elect.sync %r2|%p0, -1; selp.b32 %r1, 1, 0, %p0;", 32);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(one[i], i == 0);
  // A warp that isn't whole: lanes that were never there aren't waited for.
  EXPECT_EQ(run_body("redux.sync.add.u32 %r1, %r0, -1;", 5)[2], 10u);
}

TEST(Together, AMaskThatCanNeverBeThere) {
  LaunchResult r;
  run_body(R"(
    setp.lt.u32 %p0, %r0, 16; @%p0 bra A;
    bar.sync 0; bra DONE;
  A: shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;
  )",
           32, &r);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, Fault::Kind::kDeadlock);
  EXPECT_NE(r.fault->message.find("PTX line"), std::string::npos);
  EXPECT_NE(r.fault->message.find("0x0000ffff"), std::string::npos) << r.fault->message;
}

TEST(Together, AWarpBarrierMayStandInSeveralPlaces) {
  const Values v = run_body(R"(
    mov.u32 %r5, tile; setp.lt.u32 %p0, %r0, 16; @%p0 bra A;
    st.shared.u32 [%r5], 42; bar.warp.sync -1; bra DONE;
  A: bar.warp.sync -1; ld.shared.u32 %r1, [%r5];
  )",
                            32);
  EXPECT_EQ(v[3], 42u);
}

// --- barriers -------------------------------------------------------------------------------

TEST(Barrier, DataPassesBetweenWarps) {
  for (const unsigned n : {1u, 31u, 32u, 33u, 100u, 256u, 1023u, 1024u}) {
    const Values v = run_body(R"(
      mov.u32 %r5, tile; shl.b32 %r2, %r0, 2; add.u32 %r3, %r5, %r2; st.shared.u32 [%r3], %r0;
      bar.sync 0;
      mov.u32 %r6, %ntid.x; sub.u32 %r6, %r6, 1; sub.u32 %r6, %r6, %r0; shl.b32 %r6, %r6, 2;
      add.u32 %r6, %r5, %r6; ld.shared.u32 %r1, [%r6];
    )",
                              n);
    for (unsigned i = 0; i < n; ++i) ASSERT_EQ(v[i], n - 1 - i) << n;
  }
}

TEST(Barrier, ExitedThreadsNoLongerCount) {
  const Values v = run_body("setp.lt.u32 %p0, %r0, 40; @%p0 exit; bar.sync 0; mov.u32 %r1, 5;", 96);
  EXPECT_EQ(v[50], 5u);
  EXPECT_EQ(v[3], 0xdeadu);
}

TEST(Barrier, ExitAfterOthersWait) {
  const Values v = run_body(R"(
    setp.ge.u32 %p0, %r0, 64; @%p0 bra LAST; bar.sync 0; mov.u32 %r1, 5; bra DONE;
  LAST: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 1000; @%p1 bra LAST; exit;
  )",
                            96);
  EXPECT_EQ(v[50], 5u);
}

TEST(Barrier, ReducesPredicates) {
  EXPECT_EQ(run_body("setp.lt.u32 %p0, %r0, 40; bar.red.popc.u32 %r1, 0, %p0;", 96)[70], 40u);
  EXPECT_EQ(run_body("setp.lt.u32 %p0, %r0, 40; bar.red.popc.u32 %r1, 0, !%p0;", 96)[70], 56u);
  EXPECT_EQ(
      run_body("setp.lt.u32 %p0, %r0, 40; bar.red.and.pred %p1, 0, %p0; selp.b32 %r1, 1, 2, %p1;",
               96)[70],
      2u);
  EXPECT_EQ(run_body("setp.lt.u32 %p0, %r0, 40; barrier.cta.red.or.aligned.pred %p1, 0, %p0; "
                     "selp.b32 %r1, 1, 2, %p1;",
                     96)[70],
            1u);
}

TEST(Barrier, ArriveAndSyncOfSomeThreads) {
  const Values v = run_body(R"(
    mov.u32 %r5, tile; setp.lt.u32 %p0, %r0, 32; @%p0 bra CONSUMER;
    st.shared.u32 [%r5], 9; bar.arrive 3, 64; bra DONE;
  CONSUMER: bar.sync 3, 64; ld.shared.u32 %r1, [%r5];
  )",
                            64);
  EXPECT_EQ(v[0], 9u);
}

TEST(Barrier, OneThatCannotComplete) {
  LaunchResult r;
  run_body("setp.lt.u32 %p0, %r0, 32; @%p0 bra A; bar.sync 1; bra DONE;\nA: bar.sync 0;", 64, &r);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, Fault::Kind::kDeadlock);
  EXPECT_NE(r.fault->message.find("barrier 0"), std::string::npos) << r.fault->message;
  EXPECT_NE(r.fault->message.find("barrier 1"), std::string::npos);
}

TEST(Barrier, WarpsThatSpinOnEachOther) {
  const Values v = run_body(R"(
    mov.u32 %r5, tile; setp.lt.u32 %p0, %r0, 32; @!%p0 bra WRITER;
  SPIN: ld.volatile.shared.u32 %r1, [%r5]; setp.eq.u32 %p1, %r1, 0; @%p1 bra SPIN; bra DONE;
  WRITER: st.volatile.shared.u32 [%r5], 11;
  )",
                            64);
  EXPECT_EQ(v[0], 11u);
}

TEST(Limits, AnEndlessLoopAroundABarrierStops) {
  LaunchResult r;
  run_body("L: bar.sync 0; bra L;", 64, &r);  // which can be seen not to end
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, Fault::Kind::kDeadlock);
  run_body("L: add.u32 %r2, %r2, 1; bar.sync 0; bra L;", 64, &r);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, Fault::Kind::kTooLong);
}

TEST(Limits, AnEndlessKernelStops) {
  LaunchResult r;
  run_body("L: add.u32 %r2, %r2, 1; bra L;", 32, &r);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, Fault::Kind::kTooLong);
  run_body("L: bra L;", 32, &r);  // which can be seen not to end
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, Fault::Kind::kDeadlock);
}

TEST(Limits, TrapSaysWhere) {
  LaunchResult r;
  run_body("setp.eq.u32 %p0, %r0, 37; @%p0 trap;", 64, &r);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, Fault::Kind::kIllegalInstruction);
  EXPECT_NE(r.fault->message.find("thread (37, 0, 0)"), std::string::npos) << r.fault->message;
}

// --- the launch -----------------------------------------------------------------------------

TEST(Launch, SpecialRegistersInThreeDimensions) {
  Device device(module_text(R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<30>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
  mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ntid.z;
  mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y; mov.u32 %r9, %ctaid.z;
  mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y; mov.u32 %r20, %laneid;
  mad.lo.u32 %r12, %r3, %r5, %r2; mad.lo.u32 %r12, %r12, %r4, %r1;
  mad.lo.u32 %r13, %r9, %r11, %r8; mad.lo.u32 %r13, %r13, %r10, %r7;
  mul.lo.u32 %r14, %r4, %r5; mul.lo.u32 %r14, %r14, %r6; mad.lo.u32 %r15, %r13, %r14, %r12;
  ld.param.u64 %rd1, [out]; mad.wide.u32 %rd1, %r15, 4, %rd1;
  shl.b32 %r16, %r1, 24; shl.b32 %r17, %r2, 16; or.b32 %r16, %r16, %r17; shl.b32 %r17, %r3, 8; or.b32 %r16, %r16, %r17; or.b32 %r16, %r16, %r20;
  st.global.u32 [%rd1], %r16; ret;
})"));
  const unsigned n = 5 * 3 * 4;
  const Address out = device.buffer(std::vector<std::uint32_t>(n * 24, 0));
  device.argument(out);
  const LaunchResult r = device.run({2, 3, 4}, {5, 3, 4});
  ASSERT_FALSE(r.fault) << r.fault->message;
  const auto v = device.read<std::uint32_t>(out, n * 24);
  for (unsigned i = 0; i < n * 24; ++i) {
    const unsigned t = i % n;
    ASSERT_EQ(v[i], (t % 5) << 24 | (t / 5 % 3) << 16 | (t / 15) << 8 | t % 32);
  }
}

TEST(Launch, LaneMasksAndSizes) {
  const auto one = [](const std::string& name) {
    return run_body("mov.u32 %r1, " + name + ";", 32, nullptr, 1, 48)[5];
  };
  EXPECT_EQ(one("%lanemask_eq"), 32u);
  EXPECT_EQ(one("%lanemask_lt"), 31u);
  EXPECT_EQ(one("%lanemask_le"), 63u);
  EXPECT_EQ(one("%lanemask_gt"), 0xffffffc0u);
  EXPECT_EQ(one("%lanemask_ge"), 0xffffffe0u);
  EXPECT_EQ(one("%dynamic_smem_size"), 48u);
  EXPECT_EQ(one("%nsmid"), 132u);
  EXPECT_EQ(one("WARP_SZ"), 32u);
}

TEST(Launch, CallsPassArgumentsAndResults) {
  const std::string functions = R"(
.func (.param .b32 result) twice(.param .b32 x, .param .align 8 .b8 pair[8]) {
  .reg .b32 %r<9>; .reg .pred %p;
  ld.param.u32 %r1, [x]; ld.param.u32 %r2, [pair+4]; mad.lo.u32 %r3, %r1, 2, %r2;
  setp.gt.u32 %p, %r1, 16; @%p add.u32 %r3, %r3, 1000; @%p bra OUT; add.u32 %r3, %r3, 1;
  OUT: st.param.b32 [result], %r3; ret;
}
)";
  Device device(module_text(functions + R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p;
  mov.u32 %r0, %tid.x; setp.lt.u32 %p, %r0, 30;
  mov.u32 %r4, 7;
  { .param .b32 a; .param .align 8 .b8 b[8]; .param .b32 r;
    st.param.b32 [a], %r0; st.param.v2.b32 [b], {%r0, %r4};
    @%p call (r), twice, (a, b);
    @%p ld.param.b32 %r4, [r]; }
  ld.param.u64 %rd1, [out]; mad.wide.u32 %rd1, %r0, 4, %rd1; st.global.u32 [%rd1], %r4; ret;
})"));
  const Address out = device.buffer(std::vector<std::uint32_t>(32, 0));
  device.argument(out);
  ASSERT_FALSE(device.run({1, 1, 1}, {32, 1, 1}).fault);
  const auto v = device.read<std::uint32_t>(out, 32);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(v[i], i >= 30 ? 7 : 2 * i + 7 + (i > 16 ? 1000 : 1)) << i;
}

}  // namespace
}  // namespace emu::test
