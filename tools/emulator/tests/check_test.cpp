// Each kind of finding on a kernel that has it, and none on the kernel that does it right.
#include "watch/check.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "interp_support.hpp"

namespace emu::test {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// %r0: the thread's number; %r1: the address of tile[thread]; %rd1: that of the buffer's element.
struct Checked {
  std::vector<std::string> found;  ///< "check: what", each once, sorted
  std::vector<Finding> findings;
  LaunchResult result;
};

Checked check(const std::string& body, unsigned threads, const std::string& list = "all",
              unsigned blocks = 1, bool written = true, const std::string& head = "",
              bool goes_on = false) {
  Checker checker(*parse_checks(list));
  Checked out;
  {
    Device device(module_text(head + R"(
.visible .entry k(.param .u64 buffer) {
  .reg .pred %p<10>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .b16 %rs<4>;
  .shared .align 16 .b8 other[16];
  .shared .align 16 .b8 tile[4096];
  .local .align 16 .b8 own[16];
  mov.u32 %r0, %tid.x;
  shl.b32 %r2, %r0, 2;
  mov.u32 %r1, tile;
  add.u32 %r1, %r1, %r2;
  ld.param.u64 %rd0, [buffer];
  mad.wide.u32 %rd1, %r0, 4, %rd0;
)" + body + "\nDONE: ret;\n}"),
                  "k", &checker);
    const Address buffer = *device.memory().allocate(8192, "cudaMalloc");
    if (written) checker.host_wrote(buffer, 8192);
    device.goes_on = goes_on;
    if (goes_on) device.memory().keep_apart(1 << 20);
    device.argument(buffer);
    out.result = device.run({blocks, 1, 1}, {threads, 1, 1});
    if (goes_on) checker.finish();
  }
  out.findings = checker.findings().all();
  for (const Finding& f : out.findings) out.found.push_back(f.check + ": " + f.what);
  std::ranges::sort(out.found);
  out.found.erase(std::unique(out.found.begin(), out.found.end()), out.found.end());
  return out;
}

constexpr const char* kRaw = "race: read after write in shared memory, unsynchronised";
constexpr const char* kWar = "race: write after read in shared memory, unsynchronised";
constexpr const char* kWaw = "race: two threads write one place of shared memory, unsynchronised";
constexpr const char* kSameShared =
    "race: two threads write the same value to one place of shared memory, unsynchronised";
constexpr const char* kRawGlobal = "race: read after write in global memory, unsynchronised";
constexpr const char* kShared = "init: reads shared memory that was never written";

/// What a load left in %r5 decides something.
constexpr const char* kUsed = "setp.eq.u32 %p5, %r5, 0; @%p5 mov.u32 %r7, 1;";

TEST(Checks, AreNamed) {
  EXPECT_TRUE(parse_checks("race,sync")->sync);
  EXPECT_FALSE(parse_checks("race,sync")->init);
  EXPECT_TRUE(parse_checks("all")->memory);
  for (const char* wrong : {"", "races", "race,", ",race", "race;init"}) {
    EXPECT_FALSE(parse_checks(wrong)) << wrong;
  }
}

// --- race ------------------------------------------------------------------------------------

/// Each thread writes its own word, and reads that of the thread `distance` further.
std::string neighbour(const std::string& between, int distance, const std::string& how = "") {
  return "st" + how + ".shared.u32 [%r1], %r0;\n" + between + "\nxor.b32 %r3, %r0, " +
         std::to_string(distance) +
         ";\nshl.b32 %r3, %r3, 2;\nmov.u32 %r4, tile;\nadd.u32 %r3, %r3, %r4;\n"
         "ld" +
         how + ".shared.u32 %r5, [%r3];\n";
}

TEST(Findings, ComeInTheOrderInWhichTheyHappened) {
  // Not by their words, and not by their lines: what is told first leads to what follows.
  const std::string all = R"(
  mov.u32 %r4, 0;
AGAIN:
  setp.eq.u32 %p1, %r4, 0;
  @%p1 bra FIRST;
  st.shared.u32 [tile], %r0;
  st.global.u32 [%rd0+4], %r0;
  bra DONE;
FIRST:
  st.global.u32 [%rd0], %r0;
  mov.u32 %r4, 1;
  bra AGAIN;
)";
  const auto order = [](const std::vector<Finding>& findings) {
    std::vector<std::string> words;
    for (const Finding& f : findings) {
      words.push_back(f.what.find("shared") != f.what.npos ? "shared" : f.places[0]);
    }
    return words;
  };
  const auto found = order(check(all, 8, "race").findings);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1], "shared");
  EXPECT_GT(found[0], found[2]);  // "PTX line 34" is behind the others and first

  // Whoever hands over first: the lowest block that has seen it counts.
  for (const bool turned : {false, true}) {
    Findings findings;
    findings.add({.check = "init", .what = "of the host"});
    findings.launch_begins();
    std::vector<Finding> some{{.check = "race", .what = "a", .block = 1, .number = 0},
                              {.check = "race", .what = "c", .block = 0, .number = 1},
                              {.check = "race", .what = "b", .block = 0, .number = 0},
                              {.check = "race", .what = "a", .block = 0, .number = 2}};
    if (turned) std::ranges::reverse(some);
    for (const Finding& f : some) findings.add(f);
    findings.launch_ends();
    std::string whole;
    for (const Finding& f : findings.all()) whole += f.what + " ";
    EXPECT_EQ(whole, "of the host b c a ");
    findings.add({.check = "race", .what = "b"});  // still the same finding
    EXPECT_EQ(findings.all()[1].count, 2u);
    EXPECT_EQ(findings.all().size(), 4u);
  }
}

TEST(Race, BetweenWarpsNeedsABarrier) {
  EXPECT_THAT(check(neighbour("", 32), 64, "race").found, Contains(kWar));  // warp 0 runs first
  EXPECT_THAT(check(neighbour("bar.sync 0;", 32), 64).found, IsEmpty());
  EXPECT_THAT(check(neighbour("bar.warp.sync -1;", 32), 64, "race").found, Contains(kWar));
}

TEST(Race, BetweenLanesNeedsABarrierOfTheWarp) {
  EXPECT_THAT(check(neighbour("", 1), 32).found, ElementsAre(kRaw));
  EXPECT_THAT(check(neighbour("", 1, ".volatile"), 32).found, ElementsAre(kRaw));
  EXPECT_THAT(check(neighbour("bar.warp.sync -1;", 1), 32).found, IsEmpty());
  EXPECT_THAT(check(neighbour("bar.sync 0;", 1), 32).found, IsEmpty());
  // A shuffle orders no memory, nor does a barrier of other lanes.
  EXPECT_THAT(check(neighbour("shfl.sync.idx.b32 %r6, %r0, 0, 31, -1;", 1), 32).found,
              ElementsAre(kRaw));
  EXPECT_THAT(check(neighbour("bar.warp.sync -1;", 16), 32).found, IsEmpty());
  EXPECT_THAT(check(neighbour("setp.lt.u32 %p1, %r0, 16; selp.b32 %r6, 0xffff, 0xffff0000, %p1;"
                              "bar.warp.sync %r6;",
                              16),
                    32, "race")
                  .found,
              ElementsAre(kRaw));
  EXPECT_THAT(check(neighbour("setp.lt.u32 %p1, %r0, 16; selp.b32 %r6, 0xffff, 0xffff0000, %p1;"
                              "bar.warp.sync %r6;",
                              8),
                    32)
                  .found,
              IsEmpty());
}

TEST(Race, SaysWhoAndWhere) {
  const Checked c = check(
      ".loc 1 7 3\nst.shared.u32 [%r1], %r0;\n"
      ".loc 1 8 3\nld.shared.u32 %r5, [tile+4];\n",
      32, "all", 1, true, ".file 1 \"/a/kernels.cuh\"\n");
  ASSERT_EQ(c.findings.size(), 1u);
  const Finding& f = c.findings[0];
  EXPECT_THAT(f.places, ElementsAre("kernels.cuh:8", "kernels.cuh:7"));
  EXPECT_EQ(f.count, 31u);
  EXPECT_EQ(f.kernel, "k");
  ASSERT_EQ(f.details.size(), 3u);
  EXPECT_EQ(f.details[0], "block (0, 0, 0), byte 4 of tile (4096 bytes)");
  EXPECT_THAT(f.details[1], HasSubstr("thread (1, 0, 0) writes it at kernels.cuh:7 (PTX line"));
  EXPECT_THAT(f.details[2], HasSubstr("thread (0, 0, 0) reads it at kernels.cuh:8 (PTX line"));
  EXPECT_THAT(readable(f), HasSubstr("(31 times)"));
}

TEST(Race, WriteAfterRead) {
  const std::string body =
      "st.shared.u32 [%r1], %r0; bar.sync 0; ld.shared.u32 %r5, [tile];\n%%\n"
      "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [tile], 7;";
  const auto with = [&](const std::string& between) {
    std::string text = body;
    return text.replace(text.find("%%"), 2, between);
  };
  EXPECT_THAT(check(with(""), 32).found, ElementsAre(kWar));
  EXPECT_THAT(check(with("bar.warp.sync -1;"), 32).found, IsEmpty());
  EXPECT_THAT(check(with("bar.warp.sync -1;"), 64).found, ElementsAre(kWar));
  EXPECT_THAT(check(with("bar.sync 0;"), 64).found, IsEmpty());
}

TEST(Race, TwoWrites) {
  EXPECT_THAT(check("st.shared.u32 [tile], %r0;", 32).found, ElementsAre(kWaw));
  EXPECT_THAT(check("and.b32 %r3, %r0, 32; st.shared.u32 [tile], %r3;", 64).found,
              ElementsAre(kWaw, kSameShared));
  // All write the same: in one instruction, of two warps, atomically.
  EXPECT_THAT(check("st.shared.u32 [tile], 1;", 64).found, ElementsAre(kSameShared));
  EXPECT_THAT(check("st.shared.u32 [tile], 1;", 1).found, IsEmpty());
  EXPECT_THAT(
      check("and.b32 %r3, %r0, 31; setp.eq.u32 %p1, %r3, 0; @%p1 st.shared.u32 [tile], 1;", 64)
          .found,
      ElementsAre(kSameShared));
  EXPECT_THAT(check("st.relaxed.cta.shared.u32 [tile], 1;", 64).found, IsEmpty());
  // The same instruction again, of another lane: the earlier turn of a loop.
  EXPECT_THAT(check("mov.u32 %r6, 0;\nL: setp.eq.u32 %p1, %r0, %r6;\n"
                    "@%p1 st.shared.u32 [tile], %r0;\nadd.u32 %r6, %r6, 1;\n"
                    "setp.lt.u32 %p2, %r6, 2; @%p2 bra L;",
                    32)
                  .found,
              ElementsAre(kWaw));
}

TEST(Race, BytesOfAWordAreApart) {
  const std::string own =
      "mov.u32 %r3, tile; add.u32 %r3, %r3, %r0; mov.u16 %rs1, 3;"
      "st.shared.u8 [%r3], %rs1;";
  EXPECT_THAT(check(own, 64).found, IsEmpty());
  EXPECT_THAT(check(own + "xor.b32 %r3, %r3, 1; ld.shared.u8 %rs2, [%r3];", 32).found,
              ElementsAre(kRaw));
  EXPECT_THAT(check(own + "and.b32 %r3, %r3, -4; ld.shared.u32 %r4, [%r3];", 32).found,
              ElementsAre(kRaw));
  EXPECT_THAT(check("st.shared.u32 [%r1], %r0; ld.shared.u8 %rs2, [%r1+1];", 32).found, IsEmpty());
}

TEST(Race, GlobalMemoryToo) {
  const std::string body =
      "st.global.u32 [%rd1], %r0;\n%%\nxor.b32 %r3, %r0, 1;"
      "mad.wide.u32 %rd2, %r3, 4, %rd0; ld.global.u32 %r4, [%rd2];";
  const auto with = [&](const std::string& between) {
    std::string text = body;
    return text.replace(text.find("%%"), 2, between);
  };
  EXPECT_THAT(check(with(""), 32).found, ElementsAre(kRawGlobal));
  EXPECT_THAT(check(with("bar.sync 0;"), 32).found, IsEmpty());
  // Blocks are checked one by one: this one's accesses don't race with the next one's.
  EXPECT_THAT(check(with("bar.sync 0;"), 32, "race").found, IsEmpty());
}

TEST(Race, Atomics) {
  EXPECT_THAT(check("atom.global.add.u32 %r3, [%rd0], 1;", 64).found, IsEmpty());
  EXPECT_THAT(
      check("red.global.add.u32 [%rd0], 1; bar.sync 0; ld.global.u32 %r3, [%rd0];", 64).found,
      IsEmpty());
  EXPECT_THAT(check("red.global.add.u32 [%rd0], 1; ld.global.u32 %r3, [%rd0];", 64, "race").found,
              Contains(kRawGlobal));
  // The last of them is ordered before the read; those of the other warp aren't.
  EXPECT_THAT(check("red.global.add.u32 [%rd0], 1; setp.lt.u32 %p1, %r0, 32; @%p1 bra DONE;"
                    "bar.warp.sync -1; ld.global.u32 %r3, [%rd0];",
                    64)
                  .found,
              ElementsAre(kRawGlobal));
}

TEST(Race, NamedBarriersOfAPartOfTheThreads) {
  // Warps 0 and 1 meet at barrier 1; warp 2 doesn't.
  const std::string pair =
      "st.shared.u32 [%r1], %r0; setp.ge.u32 %p1, %r0, 64; @%p1 bra DONE;"
      "bar.sync 1, 64; xor.b32 %r3, %r0, 32; shl.b32 %r3, %r3, 2;"
      "mov.u32 %r4, tile; add.u32 %r3, %r3, %r4; ld.shared.u32 %r5, [%r3";
  EXPECT_THAT(check(pair + "];", 96).found, IsEmpty());
  EXPECT_THAT(check(pair + "+128];", 96, "race").found, Contains(kRaw));
}

TEST(Race, ArrivingHandsOnAndTakesNothing) {
  const std::string body =
      "setp.lt.u32 %p1, %r0, 32; @%p1 bra PRODUCER;\n"
      "bar.sync 1, 64; ld.shared.u32 %r5, [tile]; %% bra DONE;\n"
      "PRODUCER: st.shared.u32 [%r1], %r0; bar.arrive 1, 64; ##";
  const auto with = [&](const std::string& consumer, const std::string& producer) {
    std::string text = body;
    text.replace(text.find("%%"), 2, consumer);
    return text.replace(text.find("##"), 2, producer);
  };
  EXPECT_THAT(check(with("", ""), 64).found, IsEmpty());
  // The producer writes again without having waited for the consumer.
  EXPECT_THAT(check(with("", "st.shared.u32 [%r1], 5;"), 64, "race").found, Contains(kRaw));
}

TEST(Race, ReleaseAndAcquire) {
  // Thread 0 writes and raises a flag; thread 32 waits for it and reads.
  const auto flag = [](const std::string& release, const std::string& set, const std::string& poll,
                       const std::string& acquire) {
    return "setp.eq.u32 %p1, %r0, 0; @%p1 st.global.u32 [%rd0], 0; bar.sync 0;\n"
           "@%p1 bra WRITER; setp.ne.u32 %p2, %r0, 32; @%p2 bra DONE;\n"
           "WAIT: " +
           poll + "; setp.eq.u32 %p3, %r3, 0; @%p3 bra WAIT;\n" + acquire +
           "\nld.shared.u32 %r4, [tile]; bra DONE;\n"
           "WRITER: st.shared.u32 [tile], 7;\n" +
           release + "\n" + set + ";";
  };
  const std::string fence = "fence.acq_rel.cta;";
  const std::string set = "st.volatile.global.u32 [%rd0], 1";
  const std::string poll = "ld.volatile.global.u32 %r3, [%rd0]";
  const std::string exchange = "atom.global.exch.b32 %r5, [%rd0], 1";
  EXPECT_THAT(check(flag(fence, set, poll, fence), 64).found, IsEmpty());
  EXPECT_THAT(check(flag(fence, exchange, poll, fence), 64).found, IsEmpty());
  EXPECT_THAT(check(flag("", "st.release.gpu.global.u32 [%rd0], 1",
                         "ld.acquire.gpu.global.u32 %r3, [%rd0]", ""),
                    64)
                  .found,
              IsEmpty());
  EXPECT_THAT(check(flag("", exchange, poll, fence), 64).found, ElementsAre(kRaw));
  EXPECT_THAT(check(flag(fence, exchange, poll, ""), 64).found, ElementsAre(kRaw));
}

TEST(Race, ASpinLockWithFences) {
  const auto lock = [](const std::string& fence) {
    return "and.b32 %r9, %r0, 30; setp.ne.u32 %p2, %r9, 0; @%p2 bra DONE;\n"  // 0, 1, 32, 33
           "L: atom.global.cas.b32 %r3, [%rd0], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra AGAIN;\n" +
           fence +
           "ld.global.u32 %r4, [%rd0+4]; add.u32 %r4, %r4, 1;\n"
           "st.global.u32 [%rd0+4], %r4;\n" +
           fence + "atom.global.exch.b32 %r5, [%rd0], 0; bra DONE;\nAGAIN: bra L;";
  };
  EXPECT_THAT(check(lock("membar.gl;"), 64).found, IsEmpty());
  EXPECT_THAT(check(lock(""), 64).found, Contains(kRawGlobal));
}

// A thread's copy is seen by itself once it has waited, and by others after a barrier then.
TEST(Race, AsynchronousCopies) {
  const std::string copy = "cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.commit_group;\n";
  const std::string own = std::string("ld.shared.u32 %r5, [%r1];") + kUsed;
  const std::string other = "xor.b32 %r3, %r1, 4; ld.shared.u32 %r5, [%r3];";
  EXPECT_THAT(check(copy + "cp.async.wait_group 0;" + own, 64).found, IsEmpty());
  EXPECT_THAT(check(copy + "cp.async.wait_all; bar.sync 0;" + other, 64).found, IsEmpty());
  EXPECT_THAT(check(copy + "cp.async.wait_all;" + other, 64, "race").found, ElementsAre(kRaw));
  EXPECT_THAT(check(copy + "bar.sync 0; cp.async.wait_all;" + other, 64, "race").found,
              ElementsAre(kRaw));
  EXPECT_THAT(check(copy + own, 64).found, ElementsAre(kShared, kRaw));
  EXPECT_THAT(check(copy + "cp.async.wait_group 1;" + own, 64).found, ElementsAre(kShared, kRaw));
  EXPECT_THAT(check(copy + "st.shared.u32 [%r1], 1; cp.async.wait_all;", 64).found,
              ElementsAre(kWaw));
  EXPECT_THAT(
      check("st.shared.u32 [%r1], 1; bar.sync 0;" + other + copy + "cp.async.wait_all;", 64, "race")
          .found,
      ElementsAre(kWar));
  // It comes after what its own thread did, a copy among it that the thread has waited for.
  const std::string store = "st.shared.u32 [%r1], 1;", wait = "cp.async.wait_all;";
  EXPECT_THAT(check(copy + wait + copy + wait + own, 64).found, IsEmpty());
  EXPECT_THAT(check(store + copy + wait + own, 64).found, IsEmpty());
  EXPECT_THAT(check(copy + copy + wait, 64).found, ElementsAre(kWaw));
  EXPECT_THAT(check("xor.b32 %r3, %r1, 4; st.shared.u32 [%r3], 1;" + copy + wait, 64).found,
              ElementsAre(kWaw));
  // What is left on its way ends with the block.
  EXPECT_THAT(check(copy, 64, "all", 3).found, IsEmpty());
}

// Warp 0 produces, warp 1 waits at the mbarrier at other[0].
std::string handed_over(const std::string& produce, const std::string& wait,
                        const std::string& count = "32") {
  return "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [other], " + count +
         "; bar.sync 0;\nsetp.ge.u32 %p2, %r0, 32; @%p2 bra CONSUME;\n" + produce +
         "\nbra DONE;\nCONSUME: " + wait + "\nld.shared.u32 %r5, [%r1+-128];" + kUsed;
}

TEST(Race, Mbarriers) {
  const std::string store = "st.shared.u32 [%r1], %r0;";
  const std::string wait =
      "mbarrier.try_wait.parity.shared.b64 %p3, [other], 0; @!%p3 bra CONSUME;";
  const std::string arrive = "mbarrier.arrive.shared.b64 _, [other];";
  EXPECT_THAT(check(handed_over(store + arrive, wait), 64).found, IsEmpty());
  EXPECT_THAT(check(handed_over(arrive + store, wait), 64, "race").found, ElementsAre(kRaw));
  EXPECT_THAT(
      check(handed_over(store + "mbarrier.arrive.relaxed.cta.shared.b64 _, [other];", wait), 64)
          .found,
      ElementsAre(kRaw));
  EXPECT_THAT(check(handed_over(store + arrive,
                                "mbarrier.try_wait.parity.relaxed.cta.shared.b64 %p3, [other], 0;"
                                "@!%p3 bra CONSUME;"),
                    64)
                  .found,
              ElementsAre(kRaw));
  // A phase that isn't over hands on nothing.
  EXPECT_THAT(check(handed_over(store + arrive,
                                "mbarrier.test_wait.parity.shared.b64 %p3, [other], 0;", "33"),
                    64)
                  .found,
              Contains(kWar));
  // cp.async.mbarrier.arrive hands on the copies, of what the thread did itself nothing.
  const std::string noinc = "cp.async.mbarrier.arrive.noinc.shared.b64 [other];";
  EXPECT_THAT(
      check(handed_over("cp.async.ca.shared.global [%r1], [%rd1], 4;" + noinc, wait), 64).found,
      IsEmpty());
  EXPECT_THAT(check(handed_over(store + noinc, wait), 64).found, ElementsAre(kRaw));
  // The first value is a plain write.
  EXPECT_THAT(check("mbarrier.init.shared.b64 [other], 64;", 64, "race").found,
              Contains(HasSubstr("race: two threads write")));
}

TEST(Race, BulkCopies) {
  const auto bulk = [](const std::string& barrier) {
    return "setp.ne.u32 %p4, %r0, 0; @%p4 bra DONE;\nmov.u32 %r6, 128;\n"
           "mbarrier.arrive.expect_tx.shared.b64 _, [other], %r6;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], %r6,"
           " [" +
           barrier + "];";
  };
  const std::string wait =
      "mbarrier.try_wait.parity.shared.b64 %p3, [other], 0; @!%p3 bra CONSUME;";
  EXPECT_THAT(check(handed_over(bulk("other"), wait, "1"), 64).found, IsEmpty());
  EXPECT_THAT(check(handed_over(bulk("other"), "", "1"), 64).found, ElementsAre(kShared, kWar));
  // Who began it knows no more of it than others.
  EXPECT_THAT(
      check(handed_over(bulk("other") + "ld.shared.u32 %r5, [tile];" + kUsed, wait, "1"), 64).found,
      ElementsAre(kShared, kRaw));
  EXPECT_THAT(check(handed_over(bulk("other"), wait, "1"), 64, "all", 1, false).found,
              ElementsAre("init: reads global memory that was never written"));
  // To global memory: the source stays in use until its thread has waited.
  const std::string store =
      "st.shared.u32 [%r1], %r0; fence.proxy.async.shared::cta; bar.sync 0;\n"
      "setp.ne.u32 %p4, %r0, 0; @%p4 bra DONE;\n"
      "mov.u32 %r6, 128; cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], %r6;\n"
      "cp.async.bulk.commit_group;\n";
  const std::string waited = "cp.async.bulk.wait_group 0;", again = "st.shared.u32 [tile], 7;";
  EXPECT_THAT(check(store + waited + again + "ld.global.u32 %r5, [%rd0];", 32).found, IsEmpty());
  EXPECT_THAT(check(store + again + waited, 32).found, ElementsAre(kWar));
  EXPECT_THAT(check(store + "ld.global.u32 %r5, [%rd0];" + waited, 32).found,
              ElementsAre(kRawGlobal));
}

// --- proxy fences --------------------------------------------------------------------------------

/// What a copy does where an ordinary write is, and no fence shows it that.
std::string unshown(const std::string& does) {
  return "race: a bulk copy " + does + " memory with no proxy fence after a write there";
}
const std::string kStore = "st.shared.u32 [%r1], %r0;", kBarrier = "bar.sync 0;";
const std::string kFence = "fence.proxy.async.shared::cta;";
const std::string kAlone = "setp.ne.u32 %p4, %r0, 0; @%p4 bra DONE;";
const std::string kWaited = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
/// Thread 0 copies the tile of 64 threads, and waits.
const std::string kCopyOut =
    "mov.u32 %r6, 256; cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], %r6;" + kWaited;
const std::string kCopyIn =
    "mov.u32 %r6, 256; mbarrier.init.shared.b64 [other], 1;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [other], %r6;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0+4096], %r6,"
    " [other];\n"
    "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [other], 0; @!%p3 bra WAIT;\n";

TEST(ProxyFences, OfTheThreadThatWritesOrOneAfterIt) {
  const auto copied = [](const std::string& before) {
    return check(before + kAlone + kCopyOut, 64).found;
  };
  const std::string first = "setp.eq.u32 %p1, %r0, 0;";
  EXPECT_THAT(copied(kStore + kFence + kBarrier), IsEmpty());
  EXPECT_THAT(copied(kStore + "fence.proxy.async;" + kBarrier), IsEmpty());
  EXPECT_THAT(copied(kStore + kBarrier + first + "@%p1 " + kFence), IsEmpty());
  for (const std::string& wrong : {
           kStore + kBarrier, kFence + kStore + kBarrier,
           kStore + kFence + kBarrier + kStore + kBarrier,
           kStore + "fence.proxy.async.global;" + kBarrier,
           kStore + "fence.proxy.alias; fence.acq_rel.gpu;" + kBarrier,
           kStore + "fence.mbarrier_init.release.cluster;" + kBarrier,
           kStore + kBarrier + first + "@!%p1 " + kFence,  // of threads that the copy isn't after
           first + kStore + "@%p1 " + kFence + kBarrier,   // its own write alone
       }) {
    EXPECT_THAT(copied(wrong), ElementsAre(unshown("from shared"))) << wrong;
  }
  // Of one thread alone.
  const std::string four = "st.shared.v4.u32 [tile], {%r0, %r0, %r0, %r0};";
  const std::string copy = "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 16;";
  EXPECT_THAT(check(four + kFence + copy + kWaited, 1).found, IsEmpty());
  EXPECT_THAT(check(four + copy + kWaited, 1).found, ElementsAre(unshown("from shared")));
  // What isn't ordered at all is a race like others, fence or none.
  EXPECT_THAT(check(kStore + kFence + kAlone + kCopyOut, 64, "race").found,
              ElementsAre(kRaw, kWar));
  EXPECT_THAT(check(kStore + kAlone + kCopyOut, 64, "race").found,
              ElementsAre(unshown("from shared"), kRaw, kWar));
}

TEST(ProxyFences, AreNamedWithBothPlaces) {
  const Checked c = check(".loc 1 7 3\n" + kStore + "setp.eq.u32 %p1, %r0, 0; @%p1 " + kFence +
                              kBarrier + kAlone + "\n.loc 1 9 3\n" + kCopyOut,
                          64, "race", 1, true, ".file 1 \"/a/k.cu\"\n");
  ASSERT_EQ(c.findings.size(), 1u);
  EXPECT_THAT(c.findings[0].places, ElementsAre("k.cu:9", "k.cu:7"));
  EXPECT_THAT(c.findings[0].details[0], HasSubstr("block (0, 0, 0), byte 4 of tile"));
  EXPECT_THAT(c.findings[0].details[1], HasSubstr("thread (1, 0, 0) writes it at k.cu:7"));
  EXPECT_THAT(c.findings[0].details[2], HasSubstr("thread (0, 0, 0) copies from it at k.cu:9"));
  EXPECT_THAT(c.findings[0].details[3], HasSubstr("it takes fence.proxy.async"));
}

TEST(ProxyFences, AreHandedOnAsOtherOrderIs) {
  // Warp 0 stores and arrives, and thread 32 copies what it has waited for.
  const auto handed = [](const std::string& before, const std::string& after) {
    const std::string wait =
        "mbarrier.try_wait.parity.shared.b64 %p3, [other], 0; @!%p3 bra CONSUME;"
        "setp.ne.u32 %p4, %r0, 32; @%p4 bra DONE;" +
        after + "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 128;" + kWaited +
        "bra DONE;";
    return check(handed_over(kStore + before + "mbarrier.arrive.shared.b64 _, [other];", wait), 64)
        .found;
  };
  EXPECT_THAT(handed(kFence, ""), IsEmpty());
  EXPECT_THAT(handed("", kFence), IsEmpty());
  EXPECT_THAT(handed("", ""), ElementsAre(unshown("from shared")));
  // By a flag, from thread 0 to thread 32.
  const auto flagged = [](const std::string& before) {
    return check(
               "setp.eq.u32 %p1, %r0, 0; @%p1 st.volatile.shared.u32 [other], 0;"
               "setp.eq.u32 %p2, %r0, 32;" +
                   kBarrier +
                   "@%p2 bra LOOK; @!%p1 bra DONE; st.shared.v4.u32 [tile], {%r0, %r0, %r0, %r0};" +
                   before +
                   "st.release.cta.shared.u32 [other], 1; bra DONE;\n"
                   "LOOK: ld.acquire.cta.shared.u32 %r4, [other]; setp.eq.u32 %p3, %r4, 0;"
                   "@%p3 bra LOOK; cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], "
                   "16;" +
                   kWaited,
               64)
        .found;
  };
  EXPECT_THAT(flagged(kFence), IsEmpty());
  EXPECT_THAT(flagged(""), ElementsAre(unshown("from shared")));
}

TEST(ProxyFences, AreAskedForWhereOrdinaryWritesAre) {
  const auto found = [](const std::string& body, unsigned blocks = 1) {
    return check(body, 64, "race", blocks).found;
  };
  // A copy over them.
  EXPECT_THAT(found(kStore + kBarrier + kAlone + kCopyIn), ElementsAre(unshown("to shared")));
  EXPECT_THAT(found(kStore + kFence + kBarrier + kAlone + kCopyIn), IsEmpty());
  // Not for an mbarrier, for what has been read, for what another bulk copy has brought, nor for
  // what earlier blocks did.
  EXPECT_THAT(found(kAlone + kCopyIn + kCopyOut), IsEmpty());
  EXPECT_THAT(found("ld.shared.u32 %r5, [%r1];" + kBarrier + kAlone + kCopyIn), IsEmpty());
  EXPECT_THAT(found(kAlone + kCopyIn + kStore, 3), IsEmpty());
  EXPECT_THAT(found(kAlone + kCopyOut + kStore + kFence + kCopyOut), IsEmpty());
  // cp.async writes as stores do.
  const std::string async = "cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.wait_all;";
  EXPECT_THAT(found(async + kBarrier + kAlone + kCopyOut), Contains(unshown("from shared")));
  EXPECT_THAT(found(async + kFence + kBarrier + kAlone + kCopyIn), IsEmpty());
  EXPECT_THAT(found("red.shared.add.u32 [%r1], 1;" + kBarrier + kAlone + kCopyOut),
              ElementsAre(unshown("from shared")));
  // In global memory.
  const std::string far = "st.global.u32 [%rd1+4096], %r0;", near = "st.global.u32 [%rd1], %r0;";
  EXPECT_THAT(found(far + kBarrier + kAlone + kCopyIn), ElementsAre(unshown("from global")));
  EXPECT_THAT(found(far + kFence + kBarrier + kAlone + kCopyIn),
              ElementsAre(unshown("from global")));
  EXPECT_THAT(found(far + "fence.proxy.async.global;" + kBarrier + kAlone + kCopyIn), IsEmpty());
  EXPECT_THAT(found(near + kBarrier + kAlone + kCopyOut), ElementsAre(unshown("to global")));
}

TEST(Race, NamesTheCallOfWhatWasInlined) {
  const Checked c = check(
      ".loc 1 7 3\n.loc 2 50 5, function_name $L, inlined_at 1 7 3\n"
      ".loc 2 60 6, function_name $L, inlined_at 2 50 5\nst.shared.u32 [%r1], %r0;\n"
      ".loc 1 8 3\nld.shared.u32 %r5, [tile+4];\n",
      32, "all", 1, true, ".file 1 \"/a/kernels.cuh\"\n.file 2 \"/b/sync.h\"\n");
  ASSERT_EQ(c.findings.size(), 1u);
  EXPECT_THAT(c.findings[0].places, ElementsAre("kernels.cuh:8", "sync.h:60"));
  EXPECT_THAT(c.findings[0].details[1],
              HasSubstr("writes it at sync.h:60, inlined at kernels.cuh:7 (PTX line"));
  EXPECT_THAT(c.findings[0].details[2], HasSubstr("reads it at kernels.cuh:8 (PTX line"));
}

/// Lane 0 of each of two warps takes a piece of the heap and writes to it.
Checked of_the_heap(const std::string& after) {
  return check(
      R"(
  and.b32 %r3, %r0, 31;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra DONE;
  { .param .b64 n; .param .b64 r; st.param.b64 [n], 40; call.uni (r), malloc, (n);
    ld.param.b64 %rd2, [r]; }
  st.u32 [%rd2+36], %r0;
)" + after,
      64, "race", 1, true,
      ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
      ".extern .func free(.param .b64 p);\n");
}

TEST(Race, NotWithWhoHadAPieceOfTheHeapBefore) {
  // The second warp gets what the first has freed.
  EXPECT_THAT(of_the_heap("{ .param .b64 p; st.param.b64 [p], %rd2; call.uni free, (p); }").found,
              IsEmpty());
  // It has a piece of its own, and writes to the first's, 48 bytes before it.
  EXPECT_THAT(of_the_heap("setp.eq.u32 %p2, %r0, 0; @%p2 bra DONE; st.u32 [%rd2+-12], %r0;").found,
              ElementsAre("race: two threads write one place of global memory, unsynchronised"));
}

// --- races between blocks ----------------------------------------------------------------------

constexpr const char* kRawBlocks =
    "race: read after another block's write in global memory, unsynchronised";

/// Block 0 writes a place and raises a flag by `raise`, block 1 waits for it by `look` and reads.
std::string message(const std::string& raise, const std::string& look) {
  return "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 0; @%p1 bra SEND;\n"
         "LOOK: " +
         look + "\nsetp.eq.u32 %p2, %r4, 0; @%p2 bra LOOK;\n%%\nld.global.u32 %r5, [%rd0];\n" +
         "bra DONE;\nSEND: st.global.u32 [%rd0], 42;\n" + raise;
}
Checked across(const std::string& raise, const std::string& look, const std::string& then = "") {
  std::string text = message(raise, look);
  text.replace(text.find("%%"), 2, then);
  return check(text, 1, "race", 2);
}

TEST(RaceOfBlocks, ReleaseAndAcquireReachAsFarAsTheirScope) {
  const std::string release = "st.release.gpu.global.u32 [%rd0+256], 1;";
  const std::string acquire = "ld.acquire.gpu.global.u32 %r4, [%rd0+256];";
  EXPECT_THAT(across(release, acquire).found, IsEmpty());
  EXPECT_THAT(across("st.release.sys.global.u32 [%rd0+256], 1;", acquire).found, IsEmpty());
  EXPECT_THAT(across("st.relaxed.gpu.global.u32 [%rd0+256], 1;", acquire).found,
              ElementsAre(kRawBlocks));
  EXPECT_THAT(across(release, "ld.relaxed.gpu.global.u32 %r4, [%rd0+256];").found,
              ElementsAre(kRawBlocks));
  // A flag of a block's scope is no flag between blocks: it races itself. Who looks before it is
  // raised finds that write racing, too.
  const Checked narrow = across("st.release.cta.global.u32 [%rd0+256], 1;", acquire);
  EXPECT_THAT(narrow.found, Contains(kRawBlocks));
  EXPECT_GE(narrow.findings.size(), 2u);
}

TEST(RaceOfBlocks, FencesReachAsFarAsTheirScope) {
  const std::string raise = "st.volatile.global.u32 [%rd0+256], 1;";
  const std::string look = "ld.volatile.global.u32 %r4, [%rd0+256];";
  EXPECT_THAT(across("membar.gl; " + raise, look, "fence.acq_rel.gpu;").found, IsEmpty());
  EXPECT_THAT(across("fence.sc.sys; " + raise, look, "membar.gl;").found, IsEmpty());
  const Checked narrow = across("membar.cta; " + raise, look, "membar.gl;");
  ASSERT_THAT(narrow.found, ElementsAre(kRawBlocks));
  EXPECT_THAT(narrow.findings[0].details[1], HasSubstr("block (0, 0, 0), thread (0, 0, 0) writes"));
  EXPECT_THAT(narrow.findings[0].details[2], HasSubstr("block (1, 0, 0), thread (0, 0, 0) reads"));
  EXPECT_THAT(narrow.findings[0].details[3], HasSubstr("reaches that block alone"));
  EXPECT_THAT(across("membar.gl; " + raise, look, "membar.cta;").findings[0].details[3],
              HasSubstr("reaches that block alone"));
  EXPECT_THAT(across("membar.gl; " + raise, look).findings[0].details[3],
              HasSubstr("between reading what was handed on and its access"));
  // A fence of a proxy hands nothing on.
  EXPECT_THAT(across("fence.proxy.async; " + raise, look, "membar.gl;").found,
              ElementsAre(kRawBlocks));
}

TEST(RaceOfBlocks, ProxyFencesAreOfEitherBlock) {
  const auto copied = [](const std::string& before, const std::string& after) {
    return check(
        "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 0; @%p1 bra SEND;\n"
        "LOOK: ld.acquire.gpu.global.u32 %r4, [%rd0+256]; setp.eq.u32 %p2, %r4, 0; @%p2 bra LOOK;" +
            after + kCopyIn + "bra DONE;\nSEND: st.global.u32 [%rd0+4096], 42;" + before +
            "st.release.gpu.global.u32 [%rd0+256], 1;",
        1, "race", 2);
  };
  EXPECT_THAT(copied("fence.proxy.async;", "").found, IsEmpty());
  EXPECT_THAT(copied("", "fence.proxy.async.global;").found, IsEmpty());
  const Checked c = copied(kFence, kFence);
  ASSERT_THAT(c.found, ElementsAre(unshown("from global")));
  EXPECT_THAT(c.findings[0].details[1], HasSubstr("block (0, 0, 0), thread (0, 0, 0) writes it"));
  EXPECT_THAT(c.findings[0].details[2], HasSubstr("block (1, 0, 0), thread (0, 0, 0) copies from"));
}

TEST(RaceOfBlocks, ProxyFencesComeBackByWayOfAnother) {
  // Thread 0 of block 0 writes, block 1 is told and tells thread 32, which copies.
  const auto copied = [](const std::string& before) {
    return check(
               "mov.u32 %r3, %ctaid.x; setp.ne.u32 %p1, %r3, 0; setp.eq.u32 %p2, %r0, 32;\n"
               "and.b32 %r4, %r0, 31; setp.ne.u32 %p3, %r4, 0; @%p3 bra DONE; @%p1 bra BETWEEN;\n"
               "@%p2 bra LAST; st.shared.v4.u32 [tile], {%r0, %r0, %r0, %r0};" +
                   before +
                   "st.release.gpu.global.u32 [%rd0+256], 1; bra DONE;\n"
                   "BETWEEN: @%p2 bra DONE;\n"
                   "LOOK: ld.acquire.gpu.global.u32 %r4, [%rd0+256]; setp.eq.u32 %p4, %r4, 0;\n"
                   "@%p4 bra LOOK; st.release.gpu.global.u32 [%rd0+512], 1; bra DONE;\n"
                   "LAST: ld.acquire.gpu.global.u32 %r4, [%rd0+512]; setp.eq.u32 %p4, %r4, 0;\n"
                   "@%p4 bra LAST; cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], "
                   "16;" +
                   kWaited,
               64, "race", 2)
        .found;
  };
  EXPECT_THAT(copied(kFence), IsEmpty());
  EXPECT_THAT(copied(""), ElementsAre(unshown("from shared")));
}

TEST(RaceOfBlocks, AnUpdateThatGivesBackWhatWasThereIsOrderedAfterIt) {
  // The last one clears the counter, with no fence at all.
  const auto clears = [](const std::string& update) {
    return check(update + " setp.ne.u32 %p1, %r3, 3; @%p1 bra DONE; st.global.u32 [%rd0], 0;", 1,
                 "race", 4)
        .found;
  };
  EXPECT_THAT(clears("atom.global.add.u32 %r3, [%rd0], 1;"), IsEmpty());
  EXPECT_THAT(clears("red.global.add.u32 [%rd0], 1; mov.u32 %r3, %ctaid.x;"),
              ElementsAre("race: two blocks write one place of global memory, unsynchronised"));
}

TEST(RaceOfBlocks, StrongAccessesOfOneSize) {
  EXPECT_THAT(check("red.global.add.u32 [%rd0], 1;", 1, "race", 3).found, IsEmpty());
  EXPECT_THAT(check("red.global.cta.add.u32 [%rd0], 1;", 1, "race", 3).found,
              ElementsAre("race: two blocks write one place of global memory, unsynchronised"));
  // Two host threads run a block each: either may come first.
  EXPECT_THAT(check("mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 0;"
                    "@%p1 red.global.add.u32 [%rd0], 1; @!%p1 red.global.add.u64 [%rd0], 1;",
                    1, "race", 2)
                  .findings[0]
                  .details[3],
              AnyOf(HasSubstr("of 4 and 8 bytes"), HasSubstr("of 8 and 4 bytes")));
}

TEST(RaceOfBlocks, NeighboursAreNotThePlaceItself) {
  const auto bytes = [](const std::string& shift) {
    return check("mov.u32 %r3, %ctaid.x; shr.u32 %r3, %r3, " + shift +
                     "; cvt.u64.u32 %rd2, %r3; add.u64 %rd2, %rd2, %rd0; st.global.u8 [%rd2], 1;",
                 1, "race", 8)
        .found;
  };
  EXPECT_THAT(bytes("0"), IsEmpty());
  EXPECT_THAT(bytes("1"), ElementsAre("race: two blocks write the same value to one place of "
                                      "global memory, unsynchronised"));
}

TEST(RaceOfBlocks, WhatIsReadOnlyIsNotWritten) {
  const Checked c =
      check("st.global.u32 [%rd1], 1; bar.sync 0; ld.global.nc.u32 %r3, [%rd1];", 32, "race");
  EXPECT_THAT(c.found, ElementsAre("race: a read through the read-only cache of global memory that "
                                   "the same kernel writes"));
}

// --- init ------------------------------------------------------------------------------------

constexpr const char* kGlobal = "init: reads global memory that was never written";
constexpr const char* kLocal = "init: reads local memory that it didn't write";

/// What is loaded into %r3 is used.
std::string used(const std::string& body) {
  return body + "\nst.global.u32 [%rd1], %r3;";
}

TEST(Init, SharedMemoryOfEachBlock) {
  EXPECT_THAT(check(used("ld.shared.u32 %r3, [%r1];"), 32).found, ElementsAre(kShared));
  EXPECT_THAT(check(used("st.shared.u32 [%r1], 0; ld.shared.u32 %r3, [%r1];"), 32).found,
              IsEmpty());
  EXPECT_THAT(check("st.shared.u32 [%r1], 0; ld.shared.u8 %rs1, [%r1+3];\n"
                    "st.global.u8 [%rd1], %rs1;",
                    32)
                  .found,
              IsEmpty());
  EXPECT_THAT(
      check(used("mov.u16 %rs1, 1; st.shared.u8 [%r1], %rs1; ld.shared.u32 %r3, [%r1];"), 32).found,
      ElementsAre(kShared));
  EXPECT_THAT(check("red.shared.add.u32 [%r1], 1;", 32).found, ElementsAre(kShared));
  // What block 0 wrote is nothing to block 1.
  const std::string first =
      "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 0;\n"
      "@%p1 st.shared.u32 [%r1], 0; ld.shared.u32 %r3, [%r1];";
  const Checked c = check(used(first), 32, "init", 2);
  ASSERT_THAT(c.found, ElementsAre(kShared));
  EXPECT_THAT(c.findings[0].details[0], HasSubstr("block (1, 0, 0), byte 0 of tile"));
  EXPECT_EQ(c.findings[0].count, 32u);
}

TEST(Init, LocalMemory) {
  EXPECT_THAT(check(used("ld.local.u32 %r3, [own];"), 32).found, ElementsAre(kLocal));
  EXPECT_THAT(check(used("mov.u32 %r3, 0; setp.eq.u32 %p1, %r0, 3; @%p1 st.local.u32 [own], 1;"
                         "@%p1 ld.local.u32 %r3, [own];"),
                    32)
                  .found,
              IsEmpty());
}

TEST(Init, GlobalMemory) {
  const auto fresh = [](const std::string& body) {
    return check(used(body), 32, "all", 1, false).found;
  };
  EXPECT_THAT(fresh("ld.global.u32 %r3, [%rd1];"), ElementsAre(kGlobal));
  EXPECT_THAT(check(used("ld.global.u32 %r3, [%rd1];"), 32).found, IsEmpty());
  EXPECT_THAT(fresh("st.global.u32 [%rd1], 0; ld.global.u32 %r3, [%rd1];"), IsEmpty());
}

TEST(Init, JudgesWhereAValueIsUsed) {
  const std::string load = "setp.lt.u32 %p1, %r0, 16; mov.u32 %r4, 5; ld.shared.u32 %r3, [%r1];\n";
  // As nvcc makes it of `t < 16 ? 5 : tile[t]`, where the others were written.
  const std::string written = "setp.ge.u32 %p2, %r0, 16; @%p2 st.shared.u32 [%r1], 1;" + load;
  EXPECT_THAT(check("ld.shared.u32 %r3, [%r1];", 32).found, IsEmpty());
  EXPECT_THAT(check(used(written + "selp.b32 %r3, %r4, %r3, %p1;"), 32).found, IsEmpty());
  EXPECT_THAT(check(used(written + "selp.b32 %r3, %r3, %r4, %p2;"), 32).found, IsEmpty());
  EXPECT_THAT(check(used(written + "add.u32 %r3, %r3, 1; selp.b32 %r3, %r4, %r3, %p1;"), 32).found,
              IsEmpty());
  EXPECT_THAT(check(used(written + "selp.b32 %r3, %r3, %r4, %p1;"), 32).found,
              ElementsAre(kShared));
  // Through moves and arithmetic to each kind of use.
  const std::string far = load + "mov.u32 %r5, %r3; add.u32 %r6, %r5, 1; mul.lo.u32 %r3, %r6, 4;\n";
  for (const char* use :
       {"st.global.u32 [%rd1], %r3;", "st.shared.u32 [%r1], %r3;", "st.local.u32 [own], %r3;",
        "setp.eq.u32 %p3, %r3, 9; @%p3 bra DONE;", "setp.eq.u32 %p3, %r3, 9; @!%p3 bra DONE;",
        "setp.eq.u32 %p3, %r3, 9; @%p3 mov.u32 %r7, 1;",
        "setp.eq.u32 %p3, %r3, 9; selp.b32 %r7, 1, 2, %p3;",
        "and.b32 %r3, %r3, 60; add.u32 %r3, %r3, other; ld.shared.u32 %r7, [%r3];",
        "red.global.add.u32 [%rd1], %r3;", "atom.global.exch.b32 %r7, [%rd1], %r3;",
        "shfl.sync.idx.b32 %r7, %r3, 0, 31, -1;",
        "setp.eq.u32 %p3, %r3, 9;"
        "vote.sync.any.pred %p4, %p3, -1;"}) {
    const Checked c = check(far + use, 32, "init");
    ASSERT_THAT(c.found, ElementsAre(kShared)) << use;
    EXPECT_EQ(c.findings[0].count, 32u) << use;
  }
  // What is written over, or decided otherwise, is not used.
  for (const char* not_used :
       {"mov.u32 %r3, 1; st.global.u32 [%rd1], %r3;",
        "and.b32 %r3, %r3, 0; st.global.u32 [%rd1], %r3;",
        "or.b32 %r3, %r3, -1; st.global.u32 [%rd1], %r3;",
        "setp.eq.u32 %p3, %r3, 9; setp.gt.u32 %p4, %r0, 99; and.pred %p3, %p4, %p3; @%p3 bra DONE;",
        "setp.eq.u32 %p3, %r3, 9; setp.lt.u32 %p4, %r0, 99; or.pred %p3, %p4, %p3; @%p3 bra DONE;",
        "setp.gt.u32 %p4, %r0, 99; @%p4 st.global.u32 [%rd1], %r3;"}) {
    EXPECT_THAT(check(far + not_used, 32, "init").found, IsEmpty()) << not_used;
  }
  // Of a vector each element is judged by itself.
  const std::string pair =
      "shl.b32 %r2, %r0, 3; mov.u32 %r4, tile; add.u32 %r4, %r4, %r2;\n"
      "st.shared.u32 [%r4], 1; ld.shared.v2.u32 {%r3, %r5}, [%r4];\n";
  EXPECT_THAT(check(used(pair), 32).found, IsEmpty());
  EXPECT_THAT(check(pair + "st.global.u32 [%rd1], %r5;", 32).found, ElementsAre(kShared));
}

TEST(Init, SaysWhereItIsReadAndWhereUsed) {
  const std::string body =
      ".loc 1 7 3\nld.shared.u32 %r3, [%r1];\nadd.u32 %r3, %r3, 1;\n"
      ".loc 1 9 3\nst.global.u32 [%rd1], %r3;\nst.global.u32 [%rd1], %r3;\n";
  const Checked c = check(body, 64, "init", 1, true, ".file 1 \"/a/kernels.cuh\"\n");
  ASSERT_EQ(c.findings.size(), 1u);
  EXPECT_THAT(c.findings[0].places, ElementsAre("kernels.cuh:7"));
  EXPECT_EQ(c.findings[0].count, 64u);
  ASSERT_EQ(c.findings[0].details.size(), 3u);
  EXPECT_THAT(c.findings[0].details[1],
              HasSubstr("thread (0, 0, 0) reads 4 bytes at kernels.cuh:7 (PTX line"));
  EXPECT_THAT(c.findings[0].details[2], HasSubstr("and uses them at kernels.cuh:9 (PTX line"));
}

TEST(Init, FollowsValuesInEachScheduleAndThroughCalls) {
  const std::string both =
      "ld.shared.u32 %r3, [%r1]; setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW;\n"
      "add.u32 %r3, %r3, 1; bra.uni MEET;\nLOW: mov.u32 %r3, 2;\nMEET:";
  const Checked c = check(used(both), 32, "init");
  ASSERT_THAT(c.found, ElementsAre(kShared));
  EXPECT_EQ(c.findings[0].count, 16u);
  EXPECT_THAT(c.findings[0].details[1], HasSubstr("thread (16, 0, 0)"));
  const std::string call =
      ".func (.param .b32 out) twice(.param .b32 in) {\n.reg .b32 %a; ld.param.b32 %a, [in];\n"
      "add.u32 %a, %a, %a; st.param.b32 [out], %a; ret;\n}\n";
  const std::string calls =
      "ld.shared.u32 %r3, [%r1];\n{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r3;\n"
      "call.uni (b), twice, (a); ld.param.b32 %r4, [b]; }\n";
  EXPECT_THAT(check(calls, 32, "init", 1, true, call).found, ElementsAre(kShared));
}

TEST(Init, WhatTheHostDoes) {
  Checker checker(*parse_checks("init"));
  GlobalMemory memory(1 << 20, &checker);
  const Address a = *memory.allocate(100, "cudaMalloc"), b = *memory.allocate(100, "cudaMalloc");
  checker.host_wrote(a + 10, 20);
  checker.host_read(a + 10, 20);
  checker.host_copied(b + 50, a + 10, 20);
  checker.host_read(b + 50, 20);
  EXPECT_THAT(checker.findings().all(), IsEmpty());
  checker.host_copied(b + 49, a + 9, 5);  // its first byte was never written
  checker.host_read(b + 49, 1);
  ASSERT_EQ(checker.findings().all().size(), 1u);
  EXPECT_THAT(checker.findings().all()[0].details[0], HasSubstr("byte 49 of"));
  checker.host_read(a + 29, 2);
  EXPECT_EQ(checker.findings().all().size(), 2u);
}

// --- memory ----------------------------------------------------------------------------------

TEST(Memory, IllegalAndFreed) {
  const Checked past = check("ld.global.u32 %r3, [%rd0+8192];", 1, "memory");
  ASSERT_THAT(past.found, ElementsAre("memory: an illegal address"));
  EXPECT_THAT(past.findings[0].details[0], HasSubstr("0 bytes past its end"));
  EXPECT_TRUE(past.result.fault);
  EXPECT_THAT(check("ld.global.u32 %r3, [%rd0+2];", 1, "memory").found,
              ElementsAre("memory: a misaligned address"));
  EXPECT_THAT(check("ld.global.u32 %r3, [%rd0+8192];", 1, "race").found, IsEmpty());

  Device device(
      module_text(".visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>;"
                  "ld.param.u64 %rd0, [p]; ld.global.u32 %r0, [%rd0+8]; ret; }"));
  const Address a = *device.memory().allocate(64, "cudaMalloc");
  static_cast<void>(device.memory().allocate(64, "cudaMalloc"));
  device.memory().free(a);
  const LaunchResult r = device.argument(a).run({1, 1, 1}, {1, 1, 1});
  ASSERT_TRUE(r.fault);
  EXPECT_THAT(r.fault->message, HasSubstr("byte 8 of memory that was freed"));
}

TEST(Memory, AllocationsAreKeptApart) {
  GlobalMemory memory(1 << 20);
  const auto next = [&] { return *memory.allocate(256, "x"); };
  const Address a = next();
  EXPECT_EQ(next() - a, 512u);
  memory.keep_apart(1 << 16);
  const Address b = next();
  EXPECT_EQ(next() - b, 512u + (1 << 16));
}

TEST(Memory, Leaks) {
  Checker checker(*parse_checks("memory"));
  GlobalMemory memory(1 << 20, &checker);
  const Address a = *memory.allocate(100, "cudaMalloc");
  const Address b = *memory.allocate(200, "cudaMalloc");
  static_cast<void>(memory.allocate(8, "__device__ x", Allocation::Kind::kVariable));
  memory.free(a);
  checker.finish();
  ASSERT_EQ(checker.findings().all().size(), 1u);
  EXPECT_THAT(checker.findings().all()[0].details[0],
              HasSubstr("200 bytes (cudaMalloc) at 0x2100000002"));
  memory.free(b);
}

/// As the runtime launches where memory is checked: the launch goes on. The buffer is never freed.
std::vector<std::string> going_on(const std::string& body, unsigned threads,
                                  std::vector<Finding>* findings = nullptr,
                                  const std::string& head = "") {
  const Checked c = check(body, threads, "memory", 1, true, head, true);
  EXPECT_FALSE(c.result.fault) << c.result.fault->message;
  if (findings) *findings = c.findings;
  std::vector<std::string> found;
  for (const Finding& f : c.findings) {
    if (f.what != "memory is never freed") found.push_back(f.what);
  }
  return found;
}

TEST(Memory, AnIllegalAccessThatHardwareMayPassIsOneOfSeveral) {
  // The first is left out, reads zero, and the launch goes on to the others and to its end.
  std::vector<Finding> findings;
  EXPECT_THAT(going_on("ld.global.u32 %r3, [%rd1+8192];\nst.global.u32 [%rd0+-4], %r0;\n"
                       "st.global.v4.u32 [%rd0+8192], {%r0, %r0, %r0, %r0};\n"
                       "red.global.add.u32 [%rd0+8200], 1; setp.ne.u32 %p1, %r3, 0; @%p1 trap;\n"
                       "st.global.u32 [%rd1], 1;",
                       2, &findings),
              ElementsAre("an illegal address", "an illegal address", "an illegal address",
                          "an illegal address"));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(findings[i].count, 2u);
  EXPECT_THAT(findings[0].details[0],
              HasSubstr("reads 4 bytes of global memory at 0x210000002000, outside every"));
  EXPECT_THAT(findings[1].details[0], HasSubstr("writes 4 bytes"));
  // Of a warp's lanes those that may, do.
  EXPECT_THAT(going_on("ld.global.u32 %r3, [%rd1+8188]; shl.b32 %r4, %r3, 2; cvt.u64.u32 %rd3, %r4;"
                       "add.u64 %rd4, %rd0, %rd3; ld.global.u32 %r5, [%rd4];",
                       4, &findings),
              ElementsAre("an illegal address"));
  EXPECT_EQ(findings[0].count, 3u);
  // Far away no page is mapped, and shared memory and alignment hardware looks at.
  for (const char* fatal : {"ld.global.u32 %r3, [%rd0+4194304];", "ld.shared.u32 %r3, [tile+4096];",
                            "ld.global.u32 %r3, [%rd0+2];"}) {
    EXPECT_TRUE(check(fatal, 1, "memory", 1, true, "", true).result.fault) << fatal;
  }
}

constexpr const char* kHeap =
    ".extern .func (.param .b64 p) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n";
/// Of 20 bytes; its address in a register.
std::string given(const std::string& to) {
  return "{ .param .b64 n; .param .b64 p; st.param.b64 [n], 20;\n"
         "call.uni (p), malloc, (n); ld.param.b64 " +
         to + ", [p]; }\n";
}
std::string freed(const std::string& address) {
  return "{ .param .b64 p; st.param.b64 [p], " + address + "; call.uni free, (p); }\n";
}

TEST(Memory, TheHeapOfMalloc) {
  const auto found = [](const std::string& body, std::vector<Finding>* findings = nullptr) {
    return going_on(given("%rd5") + given("%rd6") + body, 2, findings, kHeap);
  };
  const std::string both = freed("%rd5") + freed("%rd6");
  EXPECT_THAT(found("st.global.u32 [%rd5+16], 1; ld.global.u32 %r3, [%rd5+16];\n" + both),
              IsEmpty());
  std::vector<Finding> f;
  EXPECT_THAT(found("st.global.u32 [%rd5+20], 1;\n" + both, &f),
              ElementsAre("an illegal address in the heap of malloc"));
  EXPECT_EQ(f[0].count, 2u);
  EXPECT_THAT(f[0].details[0], HasSubstr("thread (0, 0, 0) writes 4 bytes at PTX line"));
  EXPECT_THAT(f[0].details[1], HasSubstr("0 bytes past the end of 20 bytes that malloc gave"));
  EXPECT_THAT(found("ld.u32 %r3, [%rd6+-4];\n" + both),
              ElementsAre("an illegal address in the heap of malloc"));
  EXPECT_THAT(found("ld.global.u8 %rs1, [%rd5+19]; ld.global.u16 %rs1, [%rd5+18];\n" + both),
              IsEmpty());
  EXPECT_THAT(found(both + "ld.global.u32 %r3, [%rd5];\n", &f),
              ElementsAre("an illegal address in the heap of malloc"));
  EXPECT_THAT(f[0].details[1], HasSubstr("byte 0 of 20 bytes that malloc gave at"));
  EXPECT_THAT(f[0].details[1], HasSubstr("which were freed"));
  EXPECT_THAT(found(both + freed("%rd5"), &f), ElementsAre("an illegal free in a kernel"));
  EXPECT_THAT(f[0].details[0], HasSubstr("which were freed"));
  EXPECT_THAT(found(both + freed("%rd0")), ElementsAre("an illegal free in a kernel"));
  EXPECT_THAT(found(freed("%rd6"), &f),
              ElementsAre("memory from malloc in a kernel is never freed"));
  EXPECT_EQ(f[0].count, 2u);  // of two threads, by one line
  EXPECT_THAT(f[0].details[0], HasSubstr("thread (0, 0, 0) was given at PTX line"));
}

TEST(Memory, TheHeapGivesAsMuchWhereItsPiecesLieApart) {
  for (const std::uint64_t room : {1024u, 2048u}) {
    DeviceHeap heap;
    heap.begin(0x1000, 1024, room);
    std::vector<Address> pieces;
    while (const Address a = heap.allocate(16)) pieces.push_back(a);
    EXPECT_EQ(pieces.size(), 64u);
    for (const Address a : pieces) EXPECT_TRUE(heap.free(a));
    EXPECT_FALSE(heap.free(pieces[0]));
    EXPECT_NE(heap.allocate(1024), 0u);  // what was kept back is there when it is needed
    EXPECT_EQ(heap.allocate(1), 0u);
  }
}

// --- sync ------------------------------------------------------------------------------------

TEST(Sync, DifferentBarriersOfOneWarp) {
  const auto apart = [](const std::string& barrier) {
    return "setp.lt.u32 %p1, %r0, 16; @%p1 bra A;\n" + barrier + " bra DONE;\nA: " + barrier;
  };
  EXPECT_THAT(check(apart("bar.sync 0;"), 32).found,
              ElementsAre("sync: threads of one warp at different barriers"));
  EXPECT_THAT(check(apart("barrier.sync 0;"), 32).found, IsEmpty());
  EXPECT_THAT(check("bar.sync 0;", 32).found, IsEmpty());
  // Whole warps may come from different places.
  EXPECT_THAT(
      check("setp.lt.u32 %p1, %r0, 32; @%p1 bra A;\nbar.sync 0; bra DONE;\nA: bar.sync 0;", 64)
          .found,
      IsEmpty());
  // No thread waits for one that has exited.
  EXPECT_THAT(check("setp.lt.u32 %p1, %r0, 16; @%p1 ret; bar.sync 0;", 64).found, IsEmpty());
}

TEST(Sync, PartOfABlockThatSkipsABarrier) {
  // Warp 0 alone comes to the first; then there is one too few of the second.
  const std::string skipped = "setp.ge.u32 %p1, %r0, 32; @%p1 bra B;\nbar.sync 0;\nB:\nbar.sync 0;";
  const Checked c = check(skipped, 64, "sync");
  ASSERT_THAT(c.found, ElementsAre("sync: part of a block skips a barrier"));
  EXPECT_THAT(c.findings[0].places, ElementsAre("PTX line 19", "PTX line 17"));
  EXPECT_THAT(c.findings[0].details[0],
              HasSubstr("barrier 0: thread (0, 0, 0) at PTX line 19 and its like are there alone"));
  EXPECT_THAT(c.findings[0].details[1], HasSubstr("thread (32, 0, 0) at PTX line 19 together with "
                                                  "thread (0, 0, 0) at PTX line 17"));
  // Also in a loop, and however many warps skip it.
  EXPECT_THAT(check("mov.u32 %r3, 0;\nL: setp.ge.u32 %p1, %r0, 32; @%p1 bra B;\nbar.sync 0;\nB:\n"
                    "bar.sync 0; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 9; @%p2 bra L;",
                    96, "sync")
                  .found,
              ElementsAre("sync: part of a block skips a barrier"));
  EXPECT_THAT(check(skipped, 32, "sync").found, IsEmpty());
  // As often as the others, from another place; and where the number of threads is given.
  const std::string twice =
      "setp.ge.u32 %p1, %r0, 32; @%p1 bra B;\nbar.sync 0; bar.sync 0; ret;\n"
      "B: bar.sync 0; bar.sync 0;";
  EXPECT_THAT(check(twice, 64, "sync").found, IsEmpty());
  // Then one part ends, and the other goes on.
  EXPECT_THAT(
      check("setp.ge.u32 %p1, %r0, 32; @%p1 bra B;\nbar.sync 0; bar.sync 0; bar.sync 0; ret;\n"
            "B: bar.sync 0; bar.sync 0;",
            64, "sync")
          .found,
      IsEmpty());
  EXPECT_THAT(check("setp.ge.u32 %p1, %r0, 32; @%p1 bra B;\nbar.sync 1, 64; bar.sync 2, 32; ret;\n"
                    "B: bar.sync 1, 64;",
                    64, "sync")
                  .found,
              IsEmpty());
}

TEST(Sync, WhoReturnedEarlyIsNotWaitedFor) {
  // The way out is the function's end, where the lanes of warp 0 would meet again.
  EXPECT_THAT(check("setp.ge.u32 %p1, %r0, 40; @%p1 bra DONE; bar.sync 0;", 64).found, IsEmpty());
  EXPECT_THAT(
      check("setp.lt.u32 %p1, %r0, 16; @%p1 bra A; bar.sync 0;\nA: bar.sync 0;", 32, "race").found,
      IsEmpty());
}

TEST(Sync, WaitingForEver) {
  const Checked c = check("setp.lt.u32 %p1, %r0, 32; @%p1 ret; bar.sync 0, 64;", 64, "sync");
  ASSERT_THAT(c.found, ElementsAre("sync: threads wait for ever"));
  EXPECT_THAT(c.findings[0].details[0], HasSubstr("warp 1, lanes 0xffffffff at barrier 0"));
  const Checked m =
      check("setp.eq.u32 %p1, %r0, 3; @%p1 bra A; bar.warp.sync -1; bra DONE; A: bar.sync 0;", 32);
  EXPECT_THAT(m.found, Contains("sync: threads wait for ever"));
}

TEST(Sync, AShuffleFromNowhereCountsWhereItsValueIsUsed) {
  // Lanes 0 to 15 are there. By 8 down, lanes 8 to 15 read others.
  const std::string half = "setp.ge.u32 %p1, %r0, 16; @%p1 ret;";
  const std::string down = "shfl.sync.down.b32 %r3, %r0, 8, 31, 0xffff; add.u32 %r4, %r0, %r3;";
  const std::string again = "shfl.sync.down.b32 %r5, %r4, 4, 31, 0xffff;";
  const auto found = [&](const std::string& body) { return check(half + body, 32).found; };
  const auto undefined = ElementsAre("sync: an undefined result");
  EXPECT_THAT(found(down), IsEmpty());
  EXPECT_THAT(found(down + again), IsEmpty());
  EXPECT_THAT(found(down + "st.shared.u32 [%r1], %r4;"), undefined);
  EXPECT_THAT(found(down + "setp.eq.u32 %p2, %r4, 7; @%p2 bra DONE;"), undefined);
  EXPECT_THAT(found(down + "setp.eq.u32 %p2, %r4, 7; vote.sync.any.pred %p3, %p2, 0xffff;"),
              undefined);
  EXPECT_THAT(found(down + "shfl.sync.idx.b32 %r5, %r0, %r4, 31, 0xffff;"), undefined);
  // Lanes 4 to 7 are handed what lanes 8 to 11 have made of it; lanes 0 to 3 are not.
  EXPECT_THAT(found(down + again + "setp.lt.u32 %p2, %r0, 4; @%p2 st.shared.u32 [%r1], %r5;"),
              IsEmpty());
  EXPECT_THAT(found(down + again + "setp.eq.u32 %p2, %r0, 5; @%p2 st.shared.u32 [%r1], %r5;"),
              undefined);
  EXPECT_THAT(found(down + "setp.lt.u32 %p2, %r0, 8; selp.b32 %r5, %r4, 0, %p2;"
                           "st.shared.u32 [%r1], %r5;"),
              IsEmpty());
  // What replaces it is defined again.
  EXPECT_THAT(found(down + "mov.u32 %r4, 1; st.shared.u32 [%r1], %r4;"), IsEmpty());
  EXPECT_THAT(found("shfl.sync.down.b32 %r0, %r0, 8, 31, 0xffff;"
                    "shfl.sync.idx.b32 %r0, %r0, 0, 31, 0xffff; st.shared.u32 [%r1], %r0;"),
              IsEmpty());
  EXPECT_THAT(found("shfl.sync.down.b32 %r0, %r0, 8, 31, 0xffff;"
                    "shfl.sync.idx.b32 %r0, %r0, 8, 31, 0xffff; st.shared.u32 [%r1], %r0;"),
              undefined);

  const Checked c = check(half + down + "st.shared.u32 [%r1], %r4;", 32, "sync");
  ASSERT_THAT(c.found, undefined);
  EXPECT_THAT(
      c.findings[0].details[1],
      HasSubstr("thread (8, 0, 0) at PTX line 16: shfl.sync reads lane 16, which the mask"));
  EXPECT_THAT(c.findings[0].details[2], HasSubstr("thread (8, 0, 0) uses what comes of it at"));
  EXPECT_THAT(check("shfl.sync.idx.b32 %r3, %r0, 20, 31, -1; st.shared.u32 [%r1], %r3;", 32).found,
              IsEmpty());
}

TEST(Sync, AMaskWithoutItsCaller) {
  for (const char* operation :
       {"bar.warp.sync 0xfffe;", "vote.sync.ballot.b32 %r3, %p1, 0xfffe;",
        "shfl.sync.idx.b32 %r3, %r0, 1, 31, 0xfffe;", "vote.sync.any.pred %p2, %p1, 0xfffe;"}) {
    const std::string all = "setp.lt.u32 %p1, %r0, 99;\n";
    const Checked c = check(all + operation, 16, "sync");
    ASSERT_THAT(c.found, ElementsAre("sync: an undefined result")) << operation;
    EXPECT_THAT(c.findings[0].details[1],
                HasSubstr("thread (0, 0, 0) at PTX line 17: the mask 0x0000fffe leaves out the"));
    EXPECT_FALSE(c.result.fault);
    const std::string others = all + "setp.ne.u32 %p3, %r0, 0; @%p3 ";
    EXPECT_THAT(check(others + operation, 16, "sync").found, IsEmpty()) << operation;
  }
}

constexpr const char* kForEver = "sync: threads wait for ever";

TEST(Sync, ALoopThatWaitsForWhatNobodyWillDo) {
  // Thread 0 looks at a flag that thread 32 would set after the barrier to which thread 0 comes
  // then.
  const auto wait = [](const std::string& look, const std::string& set) {
    return "setp.ne.u32 %p1, %r0, 0; @%p1 bra MEET;\nWAIT: " + look +
           " setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT;\nMEET: bar.sync 0;\n"
           "setp.eq.u32 %p3, %r0, 32; @%p3 " +
           set;
  };
  const Checked c = check("st.global.u32 [%rd1], 0;" + wait("ld.volatile.global.u32 %r5, [%rd0];",
                                                            "st.volatile.global.u32 [%rd0], 1;"),
                          64, "sync");
  ASSERT_THAT(c.found, ElementsAre(kForEver));
  const std::string& text = c.findings[0].details[0];
  EXPECT_THAT(text, HasSubstr("nothing changes any more; warp 0, lanes 0x00000001 at a loop"));
  EXPECT_THAT(text, HasSubstr("a loop that looks at byte 0 of cudaMalloc (8192 bytes), PTX line"));
  EXPECT_THAT(text, HasSubstr("; warp 1, lanes 0xffffffff at barrier 0, PTX line"));
  EXPECT_THAT(text, HasSubstr("barrier 0 has 63 of the 64 threads that it waits for"));
  // By atomics that change nothing, in shared memory, and where nothing is looked at.
  EXPECT_THAT(
      check(wait("atom.global.cas.b32 %r5, [%rd0+4096], 1, 2;", "st.global.u32 [%rd0+4096], 1;"),
            64, "sync")
          .found,
      ElementsAre(kForEver));
  EXPECT_THAT(
      check(wait("ld.volatile.shared.u32 %r5, [tile];", "st.shared.u32 [tile], 1;"), 64, "sync")
          .found,
      ElementsAre(kForEver));
  EXPECT_THAT(check("L: bra.uni L;", 32, "sync").found, ElementsAre(kForEver));
}

TEST(Sync, ALoopThatEndsSomeTimeIsLetRun) {
  const std::string count =
      "add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, " + rounds(1'000'000) + "; @%p2 bra L;";
  EXPECT_THAT(check("mov.u32 %r6, 0;\nL: " + count, 32, "sync").found, IsEmpty());
  EXPECT_THAT(
      check("mov.u32 %r6, 0;\nL: ld.volatile.global.u32 %r5, [%rd0];" + count, 32, "sync").found,
      IsEmpty());
  EXPECT_THAT(check("st.local.u32 [own], 0;\nL: ld.volatile.local.u32 %r6, [own];\n"
                    "add.u32 %r6, %r6, 1; st.volatile.local.u32 [own], %r6;\n"
                    "setp.lt.u32 %p2, %r6, " +
                        rounds(1'000'000) + "; @%p2 bra L;",
                    32, "sync")
                  .found,
              IsEmpty());
  EXPECT_THAT(check("L: mov.u64 %rd5, %clock64; setp.lt.u64 %p2, %rd5, " + rounds(2'000'000) +
                        "; @%p2 bra L;",
                    32, "sync")
                  .found,
              IsEmpty());
  // Block 1 writes after long work what block 0 waits for.
  EXPECT_THAT(check("mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 1; @%p1 bra WORK;\n"
                    "WAIT: ld.volatile.global.u32 %r5, [%rd0];\n"
                    "setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT; ret;\n"
                    "WORK: mov.u32 %r6, 0;\nL: " +
                        count + " st.volatile.global.u32 [%rd0], 1;",
                    1, "sync", 2)
                  .found,
              IsEmpty());
}

}  // namespace
}  // namespace emu::test
