// Lanes, warps and blocks that run apart by a seed: what meets where PTX says so is right in every
// schedule, what leans on lanes in step is not, and a seed is one schedule.
#include <numeric>
#include <set>

#include "interp_support.hpp"

namespace emu::test {
namespace {

// Another seed is another order of the same code, which sanitizers need not see as often.
#ifdef EMU_SANITIZED
constexpr unsigned kSeeds = 8, kSeedsOfLongRuns = 1;
#else
constexpr unsigned kSeeds = 40, kSeedsOfLongRuns = 5;
#endif

/// A kernel with registers, a tile of shared memory and `out`, and %r0 the thread's number.
std::string kernel(const std::string& body) {
  return module_text(R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<10>; .reg .b32 %r<20>; .reg .b64 %rd<10>;
  .shared .align 16 .b8 tile[4096];
  mov.u32 %r0, %tid.x; mov.u32 %r1, 0;
  ld.param.u64 %rd0, [out];
  mad.wide.u32 %rd1, %r0, 4, %rd0;
  shl.b32 %r10, %r0, 2; mov.u32 %r11, tile; add.u32 %r11, %r11, %r10;
)" + body + "\n}");
}

struct Outcome {
  std::vector<std::uint32_t> out;
  LaunchResult result;
};

Outcome run(const std::string& body, std::optional<std::uint64_t> seed, Dim3 grid = {1, 1, 1},
            unsigned threads = 32, unsigned host_threads = 2) {
  Device device(kernel(body));
  const std::size_t n = std::size_t{threads} * grid.x;
  const Address out = device.buffer(std::vector<std::uint32_t>(n, 0));
  device.argument(out);
  device.apart(seed);
  Outcome r;
  r.result = device.run(grid, {threads, 1, 1}, 0, 10'000'000, host_threads);
  EXPECT_FALSE(r.result.fault) << r.result.fault->message;
  r.out = device.read<std::uint32_t>(out, n);
  return r;
}

/// The last warp of a sum in shared memory: tile[t] += tile[t + 16] and so on, `between` steps.
std::string last_warp(const std::string& between) {
  std::string text = "add.u32 %r2, %r0, 1; st.volatile.shared.u32 [%r11], %r2; bar.sync 0;";
  for (int half = 16; half > 0; half /= 2) {
    text += "ld.volatile.shared.u32 %r3, [%r11]; ld.volatile.shared.u32 %r4, [%r11+" +
            std::to_string(4 * half) +
            "]; add.u32 %r3, %r3, %r4; st.volatile.shared.u32 [%r11], %r3;" + between;
  }
  return text + "ld.volatile.shared.u32 %r5, [tile]; st.global.u32 [%rd1], %r5; ret;";
}

TEST(Apart, TheClassicLastWarpIsRightTogetherAndWrongApart) {
  EXPECT_EQ(run(last_warp(""), {}).out[0], 528u);
  unsigned wrong = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) wrong += run(last_warp(""), seed).out[0] != 528;
  EXPECT_GT(wrong, kSeeds / 2);
  EXPECT_LT(wrong, kSeeds) << "now and then lanes do run in step";
}

TEST(Apart, WithASyncwarpItIsRightInEverySchedule) {
  // A barrier before a step's stores too: without it lane 17 may store before lane 1 has loaded.
  std::string text = last_warp("bar.warp.sync -1;");
  for (std::size_t at = 0; (at = text.find("add.u32 %r3,", at)) != text.npos; at += 40) {
    text.insert(at, "bar.warp.sync -1; ");
  }
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    EXPECT_EQ(run(text, seed).out[0], 528u) << "seed " << seed;
  }
}

TEST(Apart, ASeedIsOneSchedule) {
  std::set<std::vector<std::uint32_t>> different;
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Outcome first = run(last_warp(""), seed, {4, 1, 1}, 64, 1);
    for (const unsigned host_threads : {1u, 2u, 7u}) {
      const Outcome again = run(last_warp(""), seed, {4, 1, 1}, 64, host_threads);
      EXPECT_EQ(again.out, first.out);
      EXPECT_EQ(again.result.counters, first.result.counters);
    }
    different.insert(first.out);
  }
  EXPECT_GT(different.size(), 1u);
}

TEST(Apart, SeedZeroIsASeedToo) {
  const Outcome r = run("st.global.u32 [%rd1], %r0; ret;", 0, {1, 1, 1}, 1024);
  for (unsigned i = 0; i < 1024; ++i) EXPECT_EQ(r.out[i], i);
}

TEST(Apart, CountsAreOfLanesThatIssueApart) {
  const char* store = "st.global.u32 [%rd1], %r0; ret;";
  EXPECT_EQ(run(store, {}).result.counters.global_store_requests, 1u);
  std::uint64_t most = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Counters c = run(store, seed).result.counters;
    EXPECT_EQ(c.thread_instructions, run(store, {}).result.counters.thread_instructions);
    most = std::max(most, c.global_store_requests);
  }
  EXPECT_GT(most, 10u);
  EXPECT_LE(most, 32u);
}

TEST(Apart, LanesDoNotMeetWhereTheyNeedNot) {
  // After a branch lanes may stay apart: activemask need not be full, and in some schedule isn't.
  unsigned parted = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Outcome r = run(R"(
      setp.lt.u32 %p0, %r0, 16; @%p0 bra MEET; add.u32 %r1, %r1, 1;
    MEET: activemask.b32 %r2; st.global.u32 [%rd1], %r2; ret;)",
                          seed);
    for (unsigned i = 0; i < 32; ++i) {
      EXPECT_TRUE(r.out[i] >> i & 1);
      parted += r.out[i] != ~0u;
    }
  }
  EXPECT_GT(parted, 0u);
}

TEST(Apart, WhatMeetsIsRight) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Outcome r = run(R"(
      shfl.sync.bfly.b32 %r2, %r0, 5, 31, -1; setp.lt.u32 %p0, %r2, 9;
      vote.sync.ballot.b32 %r3, %p0, -1; and.b32 %r4, %r0, 3; match.any.sync.b32 %r5, %r4, -1;
      redux.sync.add.u32 %r6, %r0, -1; elect.sync _|%p1, -1; selp.b32 %r7, 1, 0, %p1;
      shfl.sync.idx.b32 %r7, %r7, 0, 31, -1;
      add.u32 %r1, %r2, %r3; add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6; add.u32 %r1, %r1, %r7;
      st.global.u32 [%rd1], %r1; ret;)",
                    seed, {2, 1, 1}, 96);
    std::uint32_t ballot = 0;
    for (unsigned i = 0; i < 32; ++i) ballot |= ((i ^ 5) < 9 ? 1u : 0u) << i;
    for (unsigned t = 0; t < 32; ++t) {
      EXPECT_EQ(r.out[t] - 1, (t ^ 5) + ballot + (0x11111111u << t % 4) + 496) << t;
    }
    // Masks of their own, lanes that have exited, a guard: each waits for its own.
    r = run(R"(
      setp.ge.u32 %p0, %r0, 28; @%p0 exit;
      setp.lt.u32 %p1, %r0, 8; selp.b32 %r2, 0x000000ff, 0xffffff00, %p1;
      redux.sync.add.u32 %r1, %r0, %r2;
      @%p1 shfl.sync.idx.b32 %r1, %r0, 7, 31, 0xff;
      st.global.u32 [%rd1], %r1; ret;)",
            seed);
    for (unsigned t = 0; t < 28; ++t) EXPECT_EQ(r.out[t], t < 8 ? 7u : 378u - 28u) << t;
    // bar.red, and a barrier of some threads only.
    r = run(R"(
      setp.lt.u32 %p0, %r0, 70; bar.red.popc.u32 %r1, 0, %p0;
      setp.ge.u32 %p1, %r0, 64; @%p1 bra REST;
      st.shared.u32 [%r11], %r1; bar.sync 1, 64; xor.b32 %r2, %r10, 252; mov.u32 %r3, tile;
      add.u32 %r3, %r3, %r2; ld.shared.u32 %r1, [%r3];
    REST: st.global.u32 [%rd1], %r1; ret;)",
            seed, {2, 1, 1}, 96);
    for (unsigned t = 0; t < 96; ++t) EXPECT_EQ(r.out[t], 70u) << t;
  }
}

TEST(Apart, AMissingBarrierBetweenWarpsIsSeen) {
  const auto text = [](const std::string& barrier) {
    return "st.shared.u32 [%r11], %r0; " + barrier +
           " xor.b32 %r2, %r10, 128; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2;"
           "ld.shared.u32 %r1, [%r3]; st.global.u32 [%rd1], %r1; ret;";
  };
  unsigned wrong = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Outcome good = run(text("bar.sync 0;"), seed, {1, 1, 1}, 64);
    for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(good.out[t], t ^ 32);
    const Outcome bad = run(text(""), seed, {1, 1, 1}, 64);
    for (unsigned t = 0; t < 64; ++t) wrong += bad.out[t] != (t ^ 32);
  }
  EXPECT_GT(wrong, 0u);
}

TEST(Apart, LocksAndBlocksThatWaitGoOn) {
  for (unsigned seed = 0; seed < 2 * kSeedsOfLongRuns; ++seed) {
    SCOPED_TRACE(seed);
    // A lock between all threads of a block, one after another.
    const Outcome lock = run(R"(
    SPIN: atom.shared.cas.b32 %r2, [tile], 0, 1; setp.ne.u32 %p0, %r2, 0; @%p0 bra SPIN;
      ld.volatile.shared.u32 %r3, [tile+4]; add.u32 %r3, %r3, 1;
      st.volatile.shared.u32 [tile+4], %r3;
      atom.shared.exch.b32 %r4, [tile], 0;
      st.global.u32 [%rd1], %r3; ret;)",
                             seed, {1, 1, 1}, 64);
    EXPECT_EQ(std::accumulate(lock.out.begin(), lock.out.end(), 0u), 65u * 32);
    EXPECT_EQ(std::set<std::uint32_t>(lock.out.begin(), lock.out.end()).size(), 64u);
    // Each block waits for the one before it: they have begun in order.
    const Outcome chain = run(R"(
      mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd0, %rd2;
      setp.eq.u32 %p0, %r2, 0; mov.u32 %r3, 1; @%p0 bra GO;
    WAIT: ld.volatile.global.u32 %r3, [%rd2+-4]; setp.eq.u32 %p1, %r3, 0; @%p1 bra WAIT;
      add.u32 %r3, %r3, 1;
    GO: st.volatile.global.u32 [%rd2], %r3; ret;)",
                              seed, {50, 1, 1}, 1);
    for (unsigned b = 0; b < 50; ++b) EXPECT_EQ(chain.out[b], b + 1);
  }
}

/// The second warp writes and arrives at an mbarrier; the first tries to wait for it, and reads.
std::string hands_on(const std::string& then) {
  return R"(
    .shared .align 8 .b64 bar; mov.u32 %r12, bar; setp.ne.u32 %p0, %r0, 0; @%p0 bra READY;
    mbarrier.init.shared.b64 [%r12], 32;
    READY: bar.sync 0; setp.lt.u32 %p0, %r0, 32; @%p0 bra WAIT;
    add.u32 %r2, %r0, 1000; st.shared.u32 [%r11], %r2;
    mbarrier.arrive.shared.b64 _, [%r12]; bra DONE;
    WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [%r12], 0;)" +
         then + R"(
    ld.shared.u32 %r2, [%r11+128];
    DONE: st.global.u32 [%rd1], %r2; ret;)";
}

TEST(Apart, WhoTriesToWaitOnlyOnceMayReadTooEarly) {
  const auto reads_right = [](const std::string& body, std::optional<std::uint64_t> seed) {
    const std::vector<std::uint32_t> out = run(body, seed, {1, 1, 1}, 64).out;
    EXPECT_EQ(out, run(body, seed, {1, 1, 1}, 64).out);
    for (unsigned i = 0; i < 32; ++i) {
      if (out[i] != 1032 + i) return false;
    }
    return true;
  };
  const std::string loops = hands_on("@!%p1 bra WAIT;"), once = hands_on("");
  EXPECT_TRUE(reads_right(loops, std::nullopt));
  EXPECT_TRUE(reads_right(once, std::nullopt));  // nobody else has anything to do meanwhile
  unsigned too_early = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    EXPECT_TRUE(reads_right(loops, seed)) << seed;
    too_early += !reads_right(once, seed);
  }
  EXPECT_GT(too_early, 0u);
}

TEST(Apart, ADeadlockIsStillOne) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    Device device(kernel(R"(
      setp.lt.u32 %p0, %r0, 9; @%p0 bra ONE; bar.warp.sync -1; ret;
    ONE: bar.sync 0; ret;)"));
    device.argument(device.buffer(std::vector<std::uint32_t>(32)));
    device.apart(seed);
    const LaunchResult r = device.run({1, 1, 1}, {32, 1, 1});
    ASSERT_TRUE(r.fault);
    EXPECT_EQ(r.fault->kind, Fault::Kind::kDeadlock) << r.fault->message;
  }
}

/// A launch apart, stopped after so many instructions.
LaunchResult apart(const std::string& body, unsigned seed, Dim3 grid, unsigned threads) {
  Device device(kernel(body));
  device.argument(device.buffer(std::vector<std::uint32_t>(64)));
  device.apart(seed);
  return device.run(grid, {threads, 1, 1}, 0, 20'000'000);
}

TEST(Apart, WhoWaitsForWhatNobodyWillDoIsFound) {
  // Thread 0 looks at a flag that thread 32 sets behind a barrier that thread 0 would come to.
  const std::string flag =
      "setp.ne.u32 %p0, %r0, 0; @%p0 bra MEET;\nWAIT: ld.volatile.global.u32 %r3, [%rd0];"
      "setp.eq.u32 %p0, %r3, 0; @%p0 bra WAIT;\nMEET: bar.sync 0;"
      "setp.eq.u32 %p0, %r0, 32; @%p0 st.volatile.global.u32 [%rd0], 1; ret;";
  // A lock that the lane before has and doesn't give back; and blocks that wait for each other.
  const std::string lock =
      "WAIT: atom.global.cas.b32 %r3, [%rd0], 0, 1; setp.ne.u32 %p0, %r3, 0; @%p0 bra WAIT; ret;";
  const std::string blocks =
      "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd0, %rd2;\n"
      "WAIT: ld.volatile.global.u32 %r3, [%rd2]; setp.eq.u32 %p0, %r3, 0; @%p0 bra WAIT; ret;";
  for (unsigned seed = 0; seed < kSeedsOfLongRuns; ++seed) {
    for (const auto& [body, grid, threads] :
         {std::tuple{flag, 1u, 64u}, {lock, 1u, 32u}, {blocks, 20u, 33u}}) {
      const LaunchResult r = apart(body, seed, {grid, 1, 1}, threads);
      ASSERT_TRUE(r.fault) << body;
      EXPECT_EQ(r.fault->kind, Fault::Kind::kDeadlock) << r.fault->message;
      EXPECT_THAT(r.fault->message, ::testing::HasSubstr("nothing changes any more"));
      EXPECT_THAT(r.fault->message, ::testing::HasSubstr("a loop that looks at byte "));
    }
  }
}

TEST(Apart, ALoopThatEndsSomeTimeIsLetRun) {
  const std::string bit = std::to_string(0x400000 / std::bit_floor(kShorter));
  const std::string body[] = {
      // It counts; in a register, and in memory of its own.
      "mov.u32 %r3, 0;\nL: add.u32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, " + rounds(100'000) +
          "; @%p0 bra L; ret;",
      // A block that writes after long work what another waits for.
      "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p0, %r2, 1; @%p0 bra WORK;\n"
      "WAIT: ld.volatile.global.u32 %r3, [%rd0]; setp.eq.u32 %p0, %r3, 0; @%p0 bra WAIT; ret;\n"
      "WORK: mov.u32 %r3, 0;\nL: add.u32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, " +
          rounds(300'000) +
          "; @%p0 bra L;\n"
          "st.volatile.global.u32 [%rd0], 1; ret;",
      // It reads the time, of which it keeps a bit: its state comes again before it ends.
      "L: mov.u32 %r3, %clock; and.b32 %r3, %r3, " + bit +
          "; setp.eq.u32 %p0, %r3, 0; @%p0 bra L; "
          "ret;"};
  for (unsigned seed = 0; seed < (kSeedsOfLongRuns + 1) / 2; ++seed) {
    for (const std::string& one : body) {
      const LaunchResult r = apart(one, seed, {2, 1, 1}, 1);
      EXPECT_FALSE(r.fault) << r.fault->message;
    }
  }
  // Who else is at one place is the schedule's affair: in another one this might end.
  const LaunchResult r =
      apart("L: activemask.b32 %r3; setp.ne.u32 %p0, %r3, 7; @%p0 bra L; ret;", 1, {1, 1, 1}, 2);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, Fault::Kind::kTooLong) << r.fault->message;
}

TEST(Apart, CallsAndTablesOfLabels) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Outcome r = run(R"(
      and.b32 %r2, %r0, 3;
      T: .branchtargets A, B, C, A;
      brx.idx %r2, T;
    A: add.u32 %r1, %r1, 1; bra END;
    B: add.u32 %r1, %r1, 2; bra END;
    C: add.u32 %r1, %r1, 3;
    END: redux.sync.add.u32 %r1, %r1, -1; st.global.u32 [%rd1], %r1; ret;)",
                          seed);
    EXPECT_EQ(r.out[31], 56u);
  }
}

// --- lanes at different places in one operation ----------------------------------------------

/// The lower half of the warp runs `low`, the upper half `high`; both leave %r1.
std::vector<std::uint32_t> halves(const std::string& low, const std::string& high,
                                  std::optional<std::uint64_t> seed) {
  return run("mov.u32 %r2, %r0; add.u32 %r3, %r0, 100; setp.lt.u32 %p0, %r0, 16; @%p0 bra LOW;\n" +
                 high + " bra END;\nLOW: add.u32 %r9, %r9, 1; " + low +
                 "\nEND: st.global.u32 [%rd1], %r1; ret;",
             seed)
      .out;
}

TEST(Together, LanesAtDifferentPlacesInTheText) {
  for (const auto& seed : std::vector<std::optional<std::uint64_t>>{{}, 1, 2, 3}) {
    // The ISA asks for the same qualifiers and the same mask. Sources and results are each lane's
    // own: %r2 is the lane's number, %r3 a hundred more.
    auto v = halves("shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1; @!%p1 mov.u32 %r1, 7;",
                    "shfl.sync.bfly.b32 %r4, %r3, 16, 31, -1; mov.u32 %r1, %r4;", seed);
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(v[t], t < 16 ? t + 116 : t - 16) << t;
    v = halves("shfl.sync.idx.b32 %r1, %r2, 20, 31, -1;", "shfl.sync.idx.b32 %r1, %r3, 3, 31, -1;",
               seed);
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(v[t], t < 16 ? 120u : 3u) << t;
    v = halves("setp.lt.u32 %p1, %r2, 4; vote.sync.ballot.b32 %r1, %p1, -1;",
               "setp.lt.u32 %p2, %r2, 20; vote.sync.ballot.b32 %r5, !%p2, -1; mov.u32 %r1, %r5;",
               seed);
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(v[t], 0xfff0000fu) << t;
    v = halves(
        "setp.lt.u32 %p1, %r2, 4; vote.sync.any.pred %p3, %p1, -1; selp.b32 %r1, 1, 2, %p3;",
        "setp.gt.u32 %p2, %r2, 99; vote.sync.any.pred %p4, %p2, -1; selp.b32 %r1, 3, 4, %p4;",
        seed);
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(v[t], t < 16 ? 1u : 3u) << t;
    v = halves("and.b32 %r2, %r2, 3; match.any.sync.b32 %r1, %r2, -1;",
               "and.b32 %r5, %r3, 3; match.any.sync.b32 %r1, %r5, -1;", seed);
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(v[t], 0x11111111u << t % 4) << t;
    v = halves("mov.u32 %r2, 5; match.all.sync.b32 %r1|%p1, %r2, -1; @!%p1 mov.u32 %r1, 9;",
               "mov.u32 %r5, 5; match.all.sync.b32 %r1, %r5, -1;", seed);
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(v[t], ~0u) << t;
    v = halves("redux.sync.add.u32 %r1, %r2, -1;",
               "redux.sync.add.u32 %r5, %r3, -1; add.u32 %r1, %r5, 1;", seed);
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(v[t], 496u + 1600 + t / 16) << t;
    v = halves("elect.sync %r5|%p1, -1; selp.b32 %r1, 50, 51, %p1;",
               "elect.sync _|%p2, -1; selp.b32 %r1, 60, 61, %p2;", seed);
    EXPECT_EQ(std::set<std::uint32_t>(v.begin(), v.begin() + 16).size(), 2u);
    EXPECT_EQ(v[0], 50u);
    for (unsigned t = 16; t < 32; ++t) EXPECT_EQ(v[t], 61u) << t;
  }
}

TEST(Together, OtherQualifiersDoNotMeet) {
  for (const char* other : {"shfl.sync.idx.b32 %r1, %r0, 3, 31, -1;", "bar.warp.sync -1;",
                            "shfl.sync.bfly.b32 %r1, %r0, 16, 31, 0xffff0000; bar.warp.sync -1;"}) {
    Device device(kernel(std::string("setp.lt.u32 %p0, %r0, 16; @%p0 bra LOW;\n") + other +
                         " ret;\nLOW: shfl.sync.bfly.b32 %r1, %r0, 16, 31, -1; ret;"));
    device.argument(device.buffer(std::vector<std::uint32_t>(32)));
    const LaunchResult r = device.run({1, 1, 1}, {32, 1, 1});
    ASSERT_TRUE(r.fault) << other;
    EXPECT_EQ(r.fault->kind, Fault::Kind::kDeadlock) << r.fault->message;
  }
}

}  // namespace
}  // namespace emu::test
