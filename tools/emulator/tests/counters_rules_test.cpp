// What is counted, by probes whose counts follow from the rules found on hardware.
#include "interp_support.hpp"

namespace emu::test {
namespace {

Counters count(const std::string& body, unsigned threads = 32) {
  LaunchResult r;
  run_body(body + " exit;", threads, &r);  // before the result is stored
  EXPECT_FALSE(r.fault) << r.fault->message;
  return r.counters;
}

TEST(GlobalCounters, StridesOffsetsAndWidths) {
  const struct {
    const char* type;
    int bytes;
  } kTypes[] = {{"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8}};
  for (const auto& t : kTypes) {
    for (const int stride : {t.bytes, 2 * t.bytes, 3 * t.bytes, 32, 40, 128}) {
      for (const int offset : {0, t.bytes, 24}) {
        if (stride % t.bytes || offset % t.bytes) continue;
        const std::string reg = t.bytes == 8 ? "%rd5" : "%r5";
        const std::string body = "mov.u64 %rd1, room; mul.lo.u32 %r2, %r0, " +
                                 std::to_string(stride) +
                                 "; cvt.u64.u32 %rd2, %r2; add.u64 %rd1, %rd1, %rd2;";
        const std::string place = "[%rd1+" + std::to_string(offset) + "]";
        bool touched[400] = {};
        std::uint64_t sectors = 0;
        for (int lane = 0; lane < 32; ++lane) {
          bool& s = touched[(lane * stride + offset) / 32];
          sectors += !s;
          s = true;
        }
        const Counters c = count(body + "ld.global." + t.type + " " + reg + ", " + place +
                                 "; st.global." + t.type + " " + place + ", " + reg + ";");
        EXPECT_EQ(c.global_load_requests, 1u);
        EXPECT_EQ(c.global_load_sectors, sectors)
            << t.type << " stride " << stride << " offset " << offset;
        EXPECT_EQ(c.global_store_requests, 1u);
        EXPECT_EQ(c.global_store_sectors, sectors);
      }
    }
  }
}

TEST(GlobalCounters, LanesThatTakeNoPart) {
  const std::string row = "mov.u64 %rd1, room; mad.wide.u32 %rd1, %r0, 4, %rd1;";
  EXPECT_EQ(
      count(row + "setp.lt.u32 %p0, %r0, 9; @%p0 ld.global.u32 %r3, [%rd1];").global_load_sectors,
      2u);
  EXPECT_EQ(
      count(row + "and.b32 %r2, %r0, 8; setp.eq.u32 %p0, %r2, 0; @%p0 ld.global.u32 %r3, [%rd1];")
          .global_load_sectors,
      2u);
  const Counters none = count(row + "setp.gt.u32 %p0, %r0, 99; @%p0 ld.global.u32 %r3, [%rd1];");
  EXPECT_EQ(none.global_load_requests, 0u);
  EXPECT_EQ(none.global_load_sectors, 0u);
  EXPECT_EQ(count(row + "ld.global.u32 %r3, [%rd1];", 33).global_load_requests, 2u);
  EXPECT_EQ(count(row + "ld.global.u32 %r3, [%rd1];", 33).global_load_sectors, 5u);
  EXPECT_EQ(count("mov.u64 %rd1, room; ld.global.u32 %r3, [%rd1];").global_load_sectors,
            1u);  // broadcast
}

TEST(GlobalCounters, AtomicsConstantsAndOtherSpacesAreNoLoads) {
  const Counters c =
      count(R"(mov.u64 %rd1, room; atom.global.add.u32 %r2, [%rd1], 1; red.global.add.u32 [%rd1], 1;
    ld.const.u32 %r3, [fixed]; .local .b32 mine; st.local.u32 [mine], %r3;)");
  EXPECT_EQ(c.global_load_requests + c.global_store_requests, 0u);
  EXPECT_EQ(c.shared_load_wavefronts, 0u);
}

Counters shared(const std::string& instruction, const std::string& index, unsigned threads = 32) {
  return count("mov.u32 %r9, tile; " + index + " add.u32 %r9, %r9, %r8; " + instruction, threads);
}
std::string stride(int bytes) {
  return "mul.lo.u32 %r8, %r0, " + std::to_string(bytes) + ";";
}

TEST(SharedCounters, FourBytesOrLess) {
  for (const auto& [bytes, want] : std::vector<std::pair<int, unsigned>>{
           {4, 1}, {8, 2}, {12, 1}, {16, 4}, {20, 1}, {32, 8}, {64, 16}, {128, 32}, {0, 1}}) {
    const Counters load = shared("ld.shared.u32 %r3, [%r9];", stride(bytes));
    EXPECT_EQ(load.shared_load_wavefronts, want) << bytes;
    EXPECT_EQ(load.shared_load_conflicts, want - 1) << bytes;
    const Counters store = shared("st.shared.u32 [%r9], %r3;", stride(bytes));
    EXPECT_EQ(store.shared_store_wavefronts, want) << bytes;
    EXPECT_EQ(store.shared_store_conflicts, want - 1) << bytes;
  }
  EXPECT_EQ(shared("ld.shared.u8 %r3, [%r9];", stride(1)).shared_load_wavefronts, 1u);
  EXPECT_EQ(shared("ld.shared.u16 %r3, [%r9];", stride(2)).shared_load_wavefronts, 1u);
  // The column of a tile of 33 words per row.
  EXPECT_EQ(shared("ld.shared.f32 %f3, [%r9];", stride(132)).shared_load_wavefronts, 1u);
}

TEST(SharedCounters, EightBytes) {
  EXPECT_EQ(shared("ld.shared.u64 %rd3, [%r9];", stride(8)).shared_load_wavefronts, 2u);
  EXPECT_EQ(shared("ld.shared.u64 %rd3, [%r9];", stride(8)).shared_load_conflicts, 0u);
  EXPECT_EQ(shared("st.shared.u64 [%r9], %rd3;", stride(8)).shared_store_wavefronts, 2u);
  EXPECT_EQ(shared("ld.shared.u64 %rd3, [%r9];", stride(16)).shared_load_wavefronts, 4u);
  EXPECT_EQ(shared("ld.shared.u64 %rd3, [%r9];", stride(16)).shared_load_conflicts, 2u);
  // Only one half has lanes.
  EXPECT_EQ(shared("ld.shared.u64 %rd3, [%r9];", stride(8), 16).shared_load_wavefronts, 1u);
  // Pairs of lanes that read one element: both halves in one; a store never.
  const std::string pairs = "and.b32 %r8, %r0, 30; shl.b32 %r8, %r8, 2;";
  EXPECT_EQ(shared("ld.shared.u64 %rd3, [%r9];", pairs).shared_load_wavefronts, 1u);
  EXPECT_EQ(shared("st.shared.u64 [%r9], %rd3;", pairs).shared_store_wavefronts, 2u);
  const std::string twos = "and.b32 %r8, %r0, 29; shl.b32 %r8, %r8, 3;";  // lane xor 2
  EXPECT_EQ(shared("ld.shared.u64 %rd3, [%r9];", twos).shared_load_wavefronts, 2u);
  EXPECT_EQ(shared("ld.shared.u64 %rd3, [%r9];", twos).shared_load_conflicts, 1u);
  EXPECT_EQ(shared("ld.shared.u64 %rd3, [%r9];", stride(0)).shared_load_wavefronts, 1u);
}

TEST(SharedCounters, SixteenBytes) {
  EXPECT_EQ(
      shared("ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r9];", stride(16)).shared_load_wavefronts,
      4u);
  EXPECT_EQ(
      shared("ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r9];", stride(16)).shared_load_conflicts,
      0u);
  EXPECT_EQ(shared("st.shared.v2.u64 [%r9], {%rd3, %rd4};", stride(16)).shared_store_wavefronts,
            4u);
  EXPECT_EQ(shared("ld.shared.v2.u64 {%rd3, %rd4}, [%r9];", stride(0)).shared_load_wavefronts, 2u);
  EXPECT_EQ(shared("st.shared.v2.u64 [%r9], {%rd3, %rd4};", stride(0)).shared_store_wavefronts, 4u);
  EXPECT_EQ(shared("ld.shared.v2.u64 {%rd3, %rd4}, [%r9];", stride(32)).shared_load_wavefronts, 8u);
  EXPECT_EQ(shared("ld.shared.v2.u64 {%rd3, %rd4}, [%r9];", stride(16), 3).shared_load_wavefronts,
            1u);
}

TEST(SharedCounters, GenericAddressesCountInTheirSpace) {
  const Counters c = count(
      "mov.u64 %rd1, tile; cvta.shared.u64 %rd1, %rd1; ld.u32 %r3, [%rd1]; mov.u64 %rd2, room; "
      "ld.u32 %r3, [%rd2];");
  EXPECT_EQ(c.shared_load_wavefronts, 1u);
  EXPECT_EQ(c.global_load_requests, 1u);
}

TEST(SourceCounters, InstructionsAndLanes) {
  const Counters a = count("");
  const Counters b =
      count("add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r0, 3; @%p0 add.u32 %r1, %r1, 1;");
  EXPECT_EQ(b.warp_instructions - a.warp_instructions, 3u);
  EXPECT_EQ(b.thread_instructions - a.thread_instructions, 32u + 32 + 3);
}

}  // namespace
}  // namespace emu::test
