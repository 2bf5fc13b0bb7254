// cp.async, mbarrier and bulk copies: what is visible when, what is counted, and who waits in vain.
#include <numeric>

#include <gmock/gmock.h>

#include "interp_support.hpp"
#include "machine/async.hpp"

namespace emu::test {
namespace {

using testing::HasSubstr;
using u32 = std::uint32_t;

/// A kernel of (out, in): %rd1 and %rd2 global addresses of this thread's word, %r0 the thread,
/// %r3 the shared address of its 16 bytes in `tile`, %r4 that of `bar`.
struct Ran {
  std::vector<u32> out;
  LaunchResult result;
};
Ran run(const std::string& body, unsigned threads, std::size_t in_words = 1024) {
  Device device(module_text(R"(
.visible .entry k(.param .u64 out, .param .u64 in) {
  .reg .pred %p<10>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
  .shared .align 128 .b8 tile[16384]; .shared .align 8 .b64 bar;
  mov.u32 %r0, %tid.x; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];
  mov.u64 %rd9, %rd2;
  mad.wide.u32 %rd1, %r0, 4, %rd1; mad.wide.u32 %rd2, %r0, 16, %rd2;
  mov.u32 %r3, tile; mad.lo.u32 %r3, %r0, 16, %r3; mov.u32 %r4, bar;
  mov.u32 %r1, 0;
)" + body + "\nDONE: st.global.u32 [%rd1], %r1; ret;\n}"));
  std::vector<u32> in(in_words);
  std::iota(in.begin(), in.end(), 100);
  const Address out = device.buffer(std::vector<u32>(threads, 0xdead));
  device.argument(out).argument(device.buffer(in));
  Ran r;
  r.result = device.run({1, 1, 1}, {threads, 1, 1}, 0, 1'000'000);
  r.out = device.read<u32>(out, threads);
  return r;
}

TEST(Async, LandsAtTheWaitAndNotBefore) {
  const std::string copy = "cp.async.ca.shared.global [%r3], [%rd2], 16; cp.async.commit_group;\n";
  const std::string read = "ld.shared.u32 %r1, [%r3+12];\n";
  EXPECT_EQ(run(copy + "cp.async.wait_group 0;" + read, 64).out[5], 100u + 5 * 4 + 3);
  EXPECT_EQ(run(copy + "cp.async.wait_all;" + read, 64).out[63], 100u + 63 * 4 + 3);
  EXPECT_EQ(run(copy + read, 64).out[5], 0u);
  EXPECT_EQ(run(copy + "cp.async.wait_group 1;" + read, 64).out[5], 0u);
  EXPECT_EQ(run(copy + "bar.sync 0;" + read, 64).out[5], 0u) << "a barrier doesn't wait for copies";
  // Another thread's wait doesn't help.
  EXPECT_EQ(
      run(copy + "setp.ne.u32 %p1, %r0, 5; @%p1 cp.async.wait_all; bar.sync 0;" + read, 64).out[5],
      0u);
  // Not committed: a wait for groups doesn't see it, a wait for all does.
  const std::string open = "cp.async.cg.shared.global.L2::128B [%r3], [%rd2], 16;\n";
  EXPECT_EQ(run(open + "cp.async.wait_group 0;" + read, 64).out[1], 0u);
  EXPECT_EQ(run(open + "cp.async.wait_all;" + read, 64).out[1], 107u);
  // The older of two groups.
  const std::string two =
      "cp.async.ca.shared.global [%r3], [%rd2], 4; cp.async.commit_group;\n"
      "cp.async.ca.shared.global [%r3+8], [%rd2+8], 8; cp.async.commit_group;\n"
      "cp.async.wait_group 1;\n"
      "ld.shared.u32 %r1, [%r3]; ld.shared.u32 %r2, [%r3+12]; shl.b32 %r2, %r2, 16;"
      " or.b32 %r1, %r1, %r2;\n";
  EXPECT_EQ(run(two, 32).out[2], 108u);
}

TEST(Async, SizesOfSources) {
  const std::string wait = "cp.async.wait_all; ld.shared.u32 %r1, [%r3+%OFF];\n";
  const auto at = [&](const std::string& copy, const char* offset) {
    std::string text =
        "mov.u32 %r9, 0xffffffff; st.shared.v4.u32 [%r3], {%r9, %r9, %r9, %r9};" + copy + wait;
    text.replace(text.find("%OFF"), 4, offset);
    return run(text, 32).out[3];
  };
  const std::string eight = "mov.u32 %r8, 8; cp.async.ca.shared.global [%r3], [%rd2], 16, %r8;";
  EXPECT_EQ(at(eight, "4"), 113u);
  EXPECT_EQ(at(eight, "8"), 0u) << "the rest is zeros";
  EXPECT_EQ(at("cp.async.cg.shared.global [%r3], [%rd2], 16, 0;", "0"), 0u);
  EXPECT_EQ(at("setp.eq.u32 %p1, %r0, 3; cp.async.cg.shared.global [%r3], [%rd2], 16, %p1;", "0"),
            0u);
  EXPECT_EQ(at("setp.ne.u32 %p1, %r0, 3; cp.async.cg.shared.global [%r3], [%rd2], 16, %p1;", "0"),
            112u);
  // 8 bytes of the last 8 that there are: no more is read.
  const std::string end =
      "mov.u32 %r8, 8; cp.async.ca.shared.global [%r3], [%rd2], 16, %r8; cp.async.wait_all;\n"
      "ld.shared.u32 %r1, [%r3+4];\n";
  const Ran last = run(end, 1, 2);
  EXPECT_FALSE(last.result.fault);
  EXPECT_EQ(last.out[0], 101u);
  const Ran past = run("cp.async.ca.shared.global [%r3], [%rd2], 16;", 1, 2);
  ASSERT_TRUE(past.result.fault);
  EXPECT_EQ(past.result.fault->kind, Fault::Kind::kIllegalAddress);
  EXPECT_EQ(run("cp.async.ca.shared.global [%r3], [%rd2+4], 8;", 1).result.fault->kind,
            Fault::Kind::kMisalignedAddress);
  EXPECT_EQ(run("cp.async.ca.shared.global [%r3], [%rd2], 4, 8;", 1).result.fault->kind,
            Fault::Kind::kIllegalInstruction);
}

TEST(Async, CountsAsAGlobalLoadAndNoSharedStore) {
  const Counters c =
      run("cp.async.ca.shared.global [%r3], [%rd2], 16; cp.async.wait_all;", 32).result.counters;
  EXPECT_EQ(c.global_load_requests, 1u);
  EXPECT_EQ(c.global_load_sectors, 16u);
  EXPECT_EQ(c.shared_store_wavefronts, 0u);
  EXPECT_EQ(c.shared_load_wavefronts, 0u);
  // Lanes that read nothing take no part; a part of a piece counts like all of it.
  const Counters part = run("and.b32 %r8, %r0, 15; mul.lo.u32 %r8, %r8, 4; min.u32 %r8, %r8, 16;"
                            " cp.async.ca.shared.global [%r3], [%rd2], 16, %r8; cp.async.wait_all;",
                            16)
                            .result.counters;
  EXPECT_EQ(part.global_load_requests, 1u);
  EXPECT_EQ(part.global_load_sectors, 8u);
}

const char* kInit =
    "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [%r4], COUNT; bar.sync 0;\n";
std::string with_barrier(const std::string& count, const std::string& body) {
  std::string text = kInit + body;
  text.replace(text.find("COUNT"), 5, count);
  return text;
}

TEST(Async, ALoopThatNeverWaitsTakesNoMoreMemory) {
  AsyncCopies copies;
  copies.start(2, false);
  std::array<std::byte, 16> place{}, other{};
  const auto begin = [&](u32 thread, std::byte* to, u32 value) {
    copies.copy(thread, to, reinterpret_cast<const std::byte*>(&value), sizeof value);
  };
  begin(1, other.data(), 1);
  for (u32 i = 0; i < 1'000'000; ++i) {
    begin(0, place.data(), i);
    if (i % 3 == 0) copies.commit(0);
  }
  EXPECT_LE(copies.kept(), AsyncCopies::kMostKept);
  EXPECT_GT(copies.kept(), AsyncCopies::kMostKept / 2 - 2);
  EXPECT_EQ(other[0], std::byte{0}) << "another thread's";
  copies.wait_all(0);
  EXPECT_EQ(copies.kept(), 1u);
  u32 last = 0;
  std::memcpy(&last, place.data(), sizeof last);
  EXPECT_EQ(last, 999'999u) << "in their order";

  // Bulk copies, which add to their barrier's phase as they land.
  const Mbarrier waiting{1, 1, 0, 0};
  std::uint64_t barrier = waiting.pack();
  auto* const at = reinterpret_cast<std::byte*>(&barrier);
  for (std::size_t i = 0; i < AsyncCopies::kMostKept; ++i) {
    copies.bulk(place.data(), other.data(), 16, at);
    copies.bulk_store(1, place.data(), other.data(), 16);
    EXPECT_LE(copies.kept(), AsyncCopies::kMostKept);
  }
  copies.look_at(at);
  copies.bulk_commit(1);
  copies.bulk_wait(1, 0);
  EXPECT_EQ(copies.kept(), 1u);
  EXPECT_EQ(Mbarrier::unpack(barrier).bytes, -1'048'576);

  const Ran r = run(R"(
  mov.u32 %r5, 0;
MORE: cp.async.ca.shared.global [%r3], [%rd2], 4; add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 10000; @%p1 bra MORE;
  cp.async.wait_all; ld.shared.u32 %r1, [%r3];)",
                    64);
  ASSERT_FALSE(r.result.fault) << r.result.fault->message;
  EXPECT_EQ(r.out[63], 100u + 63 * 4);
}

TEST(Mbarrier, PhasesEndWhenAllHaveArrived) {
  // Warp 1 writes and arrives; warp 0 waits and reads.
  const std::string body = R"(
  setp.lt.u32 %p2, %r0, 32; @%p2 bra WAIT;
  add.u32 %r5, %r0, 1000; st.shared.u32 [%r3], %r5;
  mbarrier.arrive.shared.b64 _, [%r4]; mov.u32 %r1, 1; bra DONE;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r4], 0; @!%p3 bra WAIT;
  ld.shared.u32 %r1, [%r3+512];)";
  const Ran r = run(with_barrier("32", body), 64);
  ASSERT_FALSE(r.result.fault) << r.result.fault->message;
  EXPECT_EQ(r.out[4], 1036u);
}

TEST(Mbarrier, StatesAndCounts) {
  // One thread goes through two phases and tells what it saw, a bit for each question.
  const std::string body = R"(
  mbarrier.arrive.release.cta.shared::cta.b64 %rd3, [%r4];        // 1 of 3
  mbarrier.pending_count.b64 %r5, %rd3;                           // was 3
  mbarrier.test_wait.shared.b64 %p2, [%r4], %rd3;                 // no
  mbarrier.arrive.noComplete.shared.b64 %rd4, [%r4], 1;           // 2 of 3
  mbarrier.pending_count.b64 %r6, %rd4;                           // was 2
  mbarrier.test_wait.parity.shared.b64 %p3, [%r4], 1;             // the phase before: yes
  mbarrier.arrive_drop.shared.b64 %rd5, [%r4];                    // 3 of 3, from now on 2
  mbarrier.test_wait.shared.b64 %p4, [%r4], %rd3;                 // yes
  mbarrier.test_wait.parity.shared.b64 %p5, [%r4], 0;             // yes
  mbarrier.arrive.shared.b64 %rd6, [%r4], 2;                      // the second phase needs 2
  mbarrier.pending_count.b64 %r7, %rd6;                           // was 2
  mbarrier.test_wait.shared.b64 %p6, [%r4], %rd6;                 // yes
  selp.u32 %r8, 1, 0, %p2; selp.u32 %r9, 2, 0, %p3; or.b32 %r8, %r8, %r9;
  selp.u32 %r9, 4, 0, %p4; or.b32 %r8, %r8, %r9; selp.u32 %r9, 8, 0, %p5; or.b32 %r8, %r8, %r9;
  selp.u32 %r9, 16, 0, %p6; or.b32 %r8, %r8, %r9;
  mad.lo.u32 %r1, %r5, 1000, %r6; mad.lo.u32 %r1, %r1, 10, %r7; mad.lo.u32 %r1, %r1, 100, %r8;)";
  const Ran r = run(with_barrier("3", body), 1);
  ASSERT_FALSE(r.result.fault) << r.result.fault->message;
  EXPECT_EQ(r.out[0], ((3 * 1000 + 2) * 10 + 2) * 100 + 30);
}

TEST(Mbarrier, CopiesArrive) {
  const std::string body = R"(
  cp.async.ca.shared.global [%r3], [%rd2], 16;
  cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r4];
WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0, 1000; @!%p3 bra WAIT;
  xor.b32 %r5, %r3, 16; ld.shared.u32 %r1, [%r5];)";
  const Ran r = run(with_barrier("64", body), 64);
  ASSERT_FALSE(r.result.fault) << r.result.fault->message;
  EXPECT_EQ(r.out[6], 128u);
}

TEST(Mbarrier, MistakesAreFaults) {
  const auto message = [](const std::string& body) {
    const Ran r = run(body, 1);
    return r.result.fault ? r.result.fault->message : std::string("no fault");
  };
  EXPECT_THAT(message("mbarrier.arrive.shared.b64 _, [%r4];"), HasSubstr("never initialised"));
  EXPECT_THAT(message("mbarrier.init.shared.b64 [%r4], 0;"), HasSubstr("count of 0"));
  EXPECT_THAT(message(with_barrier("1", "mbarrier.arrive.shared.b64 _, [%r4], 2;")),
              HasSubstr("more arrive"));
  EXPECT_THAT(message(with_barrier(
                  "1", "mbarrier.inval.shared.b64 [%r4]; mbarrier.arrive.shared.b64 _, [%r4];")),
              HasSubstr("no longer valid"));
  EXPECT_THAT(message("mbarrier.init.shared.b64 [%r4+4], 1;"), HasSubstr("multiple of 8"));
}

TEST(Mbarrier, LiesInSharedMemory) {
  const auto message = [](const std::string& body) {
    const Ran r = run(body, 1);
    return r.result.fault ? r.result.fault->message : std::string("no fault");
  };
  const std::string local = "{ .local .align 8 .b64 own; cvta.local.u64 %rd5, own; }\n";
  const std::string init = "mbarrier.init.b64 [%rd5], 1;";
  EXPECT_EQ(message("cvta.shared.u64 %rd5, bar;" + init), "no fault");
  EXPECT_THAT(message("mov.u64 %rd5, %rd9;" + init), HasSubstr("doesn't lie in shared memory"));
  EXPECT_THAT(message(local + init), HasSubstr("doesn't lie in shared memory"));
  for (const char* operation :
       {"mbarrier.arrive.b64 %rd6, [%rd9];", "mbarrier.expect_tx.relaxed.cta.b64 [%rd9], 16;",
        "mbarrier.test_wait.parity.b64 %p3, [%rd9], 0;",
        "mbarrier.try_wait.parity.b64 %p3, [%rd9], 0;", "mbarrier.inval.b64 [%rd9];",
        "cp.async.mbarrier.arrive.b64 [%rd9];"}) {
    EXPECT_THAT(message(operation), HasSubstr("doesn't lie in shared memory")) << operation;
  }
}

TEST(Mbarrier, AWaitThatCantEndIsADeadlock) {
  for (const char* wait :
       {"mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0;",
        "mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0; nanosleep.u32 20;"}) {
    const Ran r =
        run(with_barrier("65", std::string("mbarrier.arrive.shared.b64 _, [%r4];\nWAIT: ") + wait +
                                   " @!%p3 bra WAIT;"),
            64);
    ASSERT_TRUE(r.result.fault);
    EXPECT_EQ(r.result.fault->kind, Fault::Kind::kDeadlock);
    EXPECT_THAT(r.result.fault->message, HasSubstr("mbarrier whose phase doesn't end"));
    EXPECT_THAT(r.result.fault->message, HasSubstr("warp 1, lanes 0xffffffff"));
  }
}

TEST(Mbarrier, AFailedTryMayBeFollowedByOtherWork) {
  // The thread that waits is the one that has to arrive: a try must give up.
  const Ran r = run(with_barrier("1", R"(
  mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0; @%p3 bra DONE;
  mbarrier.arrive.shared.b64 _, [%r4];
  mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0; selp.u32 %r1, 7, 8, %p3;)"),
                    1);
  ASSERT_FALSE(r.result.fault) << r.result.fault->message;
  EXPECT_EQ(r.out[0], 7u);
}

const char* kBulk = R"(
  @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 1024;
  mov.u32 %r5, tile; mov.u32 %r6, 1024;
  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd9], %r6, [%r4];
)";
TEST(Bulk, ToSharedLandsWhenItsBarrierIsWaitedFor) {
  const std::string wait =
      "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0; @!%p3 bra WAIT;\n";
  const std::string read = "ld.shared.u32 %r1, [%r3+4];";
  const Ran r = run(with_barrier("1", kBulk + wait + read), 64);
  ASSERT_FALSE(r.result.fault) << r.result.fault->message;
  EXPECT_EQ(r.out[63], 100u + 63 * 4 + 1);
  EXPECT_EQ(r.result.counters.global_load_requests, 0u);
  EXPECT_EQ(r.result.counters.shared_store_wavefronts, 0u);
  EXPECT_EQ(run(with_barrier("1", kBulk + read), 64).out[63], 0u);
  // Fewer bytes than expected: the rest never arrives.
  std::string less = with_barrier("1", kBulk + wait);
  less.replace(less.find("1024;"), 5, "2048;");
  const Ran hangs = run(less, 64);
  ASSERT_TRUE(hangs.result.fault);
  EXPECT_EQ(hangs.result.fault->kind, Fault::Kind::kDeadlock);
}

TEST(Bulk, ToGlobalLandsAtTheGroupsWait) {
  const std::string fill =
      "add.u32 %r5, %r0, 7; st.shared.u32 [%r3], %r5; fence.proxy.async.shared::cta; bar.sync 0;\n"
      "mov.u32 %r5, tile; setp.ne.u32 %p1, %r0, 0; @%p1 bra AFTER;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%rd9], [%r5], 64; "
      "cp.async.bulk.commit_group;\n";
  const std::string read = "\nAFTER: bar.sync 0; ld.global.u32 %r1, [%rd2];";
  EXPECT_EQ(run(fill + "cp.async.bulk.wait_group 0;" + read, 8).out[3], 10u);
  EXPECT_EQ(run(fill + "cp.async.bulk.wait_group.read 0;" + read, 8).out[3], 10u);
  EXPECT_EQ(run(fill + "cp.async.bulk.wait_group 1;" + read, 8).out[3], 112u);
  const Ran never = run(fill + read, 8);
  EXPECT_EQ(never.out[3], 112u);
  ASSERT_EQ(never.result.warnings.size(), 1u);
  EXPECT_THAT(never.result.warnings[0], HasSubstr("no thread waited for"));
}

TEST(Bulk, SizesAndPlaces) {
  const auto kind = [](const std::string& body) {
    return run(with_barrier("1", body), 1).result.fault->kind;
  };
  const std::string copy =
      "mov.u32 %r5, tile; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes ";
  EXPECT_EQ(kind(copy + "[%r5], [%rd9], 24, [%r4];"), Fault::Kind::kMisalignedAddress);
  EXPECT_EQ(kind(copy + "[%r5+8], [%rd9], 16, [%r4];"), Fault::Kind::kMisalignedAddress);
  EXPECT_EQ(kind(copy + "[%r5], [%rd9], 8192, [%r4];"), Fault::Kind::kIllegalAddress);
  EXPECT_EQ(kind(copy + "[%r5+16368], [%rd9], 64, [%r4];"), Fault::Kind::kIllegalAddress);
}

}  // namespace
}  // namespace emu::test
