// What is compiled for each kind of host does the same on all of them.
#include <algorithm>
#include <random>
#include <set>

#include "interp_support.hpp"
#include "machine/counting.hpp"

namespace emu::test {
namespace {

TEST(Hosts, AreNamed) {
  EXPECT_EQ(host_named("plain"), Host::kPlain);
  EXPECT_EQ(host_named("avx2"), Host::kAvx2);
  EXPECT_EQ(host_named("avx512"), Host::kAvx512);
  EXPECT_EQ(host_named("sse"), std::nullopt);
}

TEST(Hosts, ChooseAmongTheForms) {
  const Forms forms{[](Warp&, const Op&, Mask) {}, [](Warp&, const Op&, Mask) {},
                    [](Warp&, const Op&, Mask) {}};
  ASSERT_TRUE(use_host(Host::kPlain));
  EXPECT_EQ(Handler{forms}, forms.plain);
  if (use_host(Host::kAvx2)) EXPECT_EQ(Handler{forms}, forms.avx2);
  if (use_host(Host::kAvx512)) EXPECT_EQ(Handler{forms}, forms.avx512);
  EXPECT_TRUE(use_host(best_host()));
}

constexpr std::uint64_t kRoom = 16384;

/// Addresses as kernels have them, and as they don't: multiples of `bytes` below kRoom.
std::vector<std::uint32_t> some_addresses(std::mt19937& random, unsigned bytes) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const unsigned places = kRoom / bytes;
  const unsigned kind = below(7), stride = below(40), fold = 1u << below(6);
  const unsigned first = below(64), range = 1u << below(14);
  // Words apart: on both sides of a row of banks, of two, and of 64 sectors.
  constexpr unsigned kGaps[] = {31, 32, 33, 63, 64, 65, 72, 504, 511, 512, 513, 520};
  const unsigned gap = std::max(kGaps[below(std::size(kGaps))] * 4 / bytes, 1u);
  std::vector<std::uint32_t> out(32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned place = kind == 0   ? first                                       // all at one
                           : kind == 1 ? first + lane                                // in a row
                           : kind == 2 ? first + lane * stride                       // strided
                           : kind == 3 ? first + lane % fold + lane / fold * stride  // by tiles
                           : kind == 4 ? first + below(range)                        // gathered
                           : kind == 5 ? first + lane % 2 * gap         // at two places
                                       : first + (31 - lane) * stride;  // backwards
    out[lane] = place % places * bytes;
  }
  return out;
}

struct Access {
  const char* name;
  unsigned bytes;
  const char* load;
  const char* store;
};
constexpr Access kAccesses[] = {
    {"u8", 1, "ld.SPACE.u8 %r4, [AT];", "st.SPACE.u8 [AT], %r4;"},
    {"u16", 2, "ld.SPACE.u16 %r4, [AT];", "st.SPACE.u16 [AT], %r4;"},
    {"u32", 4, "ld.SPACE.u32 %r4, [AT];", "st.SPACE.u32 [AT], %r4;"},
    {"u64", 8, "ld.SPACE.u64 %rd4, [AT]; cvt.u32.u64 %r4, %rd4;", "st.SPACE.u64 [AT], %rd4;"},
    {"v4", 16, "ld.SPACE.v4.u32 {%r4, %r5, %r6, %r7}, [AT]; add.u32 %r4, %r4, %r7;",
     "st.SPACE.v4.u32 [AT], {%r4, %r5, %r6, %r7};"},
};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

/// Each word of the room has its own number; lanes of the mask load at their addresses, and then
/// store there.
std::string kernel_of(const Access& access, const std::string& space) {
  const std::string fill = R"(
    mul.lo.u32 %r2, %r0, 4;
    FILL: add.u32 %r3, %r9, %r2; cvt.u64.u32 %rd3, %r2; add.u64 %rd3, %rd2, %rd3;
    mad.lo.u32 %r4, %r2, 77777, 5; st.SPACE.u32 [WORD], %r4;
    add.u32 %r2, %r2, 128; setp.lt.u32 %p1, %r2, 16384; @%p1 bra FILL;)";
  return replaced(replaced(R"(
.global .align 256 .b8 global_room[16384];
.visible .entry k(.param .u64 out, .param .u64 at, .param .u32 lanes, .param .u32 use) {
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
  .shared .align 256 .b8 shared_room[16384];
  mov.u32 %r0, %tid.x; mov.u32 %r9, shared_room; mov.u64 %rd2, global_room;
  ld.param.u64 %rd7, [at]; mad.wide.u32 %rd7, %r0, 4, %rd7;
  ld.param.u32 %r10, [lanes]; shr.u32 %r10, %r10, %r0; and.b32 %r10, %r10, 1;
  setp.eq.u32 %p0, %r10, 1; mov.u32 %r4, 0;
  ld.param.u32 %r11, [use]; setp.eq.u32 %p2, %r11, 0;)" +
                               fill + R"(
  bar.sync 0; mov.u32 %r4, 0; mov.u32 %r5, 1; mov.u32 %r6, 2; mov.u32 %r7, 3; mov.u64 %rd4, 9;
  ld.global.u32 %r2, [%rd7]; add.u32 %r3, %r9, %r2; cvt.u64.u32 %rd3, %r2; add.u64 %rd3, %rd2, %rd3;
  @%p2 bra END; @!%p0 bra END;
)" + access.load + access.store +
                               R"(
END: ld.param.u64 %rd8, [out]; mad.wide.u32 %rd8, %r0, 4, %rd8; st.global.u32 [%rd8], %r4; ret;
})",
                           "AT", space == "shared" ? "%r3" : "%rd3"),
                  "SPACE", space);
}

struct Seen {
  std::vector<std::uint32_t> loaded;
  Counters counters;
};

Seen run_access(const std::string& text, const std::vector<std::uint32_t>& addresses, Mask lanes,
                bool use) {
  Device device(module_text(text));
  const Address out = device.buffer(std::vector<std::uint32_t>(32, 0xdead));
  const Address at = device.buffer(addresses);
  device.argument(out).argument(at).argument(lanes).argument<std::uint32_t>(use);
  const LaunchResult r = device.run({1, 1, 1}, {32, 1, 1}, 0, 10'000'000, 1);
  EXPECT_FALSE(r.fault) << r.fault->message;
  return {device.read<std::uint32_t>(out, 32), r.counters};
}

class Accesses : public testing::TestWithParam<std::string> {};

TEST_P(Accesses, LoadAndCountAsLaneByLane) {
  const std::string space = GetParam();
  std::mt19937 random(7);
  for (const Access& access : kAccesses) {
    std::string text = kernel_of(access, space);
    text = replaced(text, "WORD", space == "shared" ? "%r3" : "%rd3");
    for (int round = 0; round < 150; ++round) {
      const auto addresses = some_addresses(random, access.bytes);
      const Mask lanes = round % 3 == 0   ? kAllLanes
                         : round % 3 == 1 ? kAllLanes >> random() % 32
                                          : static_cast<Mask>(random() | 1);
      SCOPED_TRACE(std::string(access.name) + ", round " + std::to_string(round));
      std::vector<std::uint64_t> wide(addresses.begin(), addresses.end());
      const bool shared = space == "shared";
      const Wavefronts load = count_wavefronts(wide.data(), lanes, access.bytes, true);
      const Wavefronts store = count_wavefronts(wide.data(), lanes, access.bytes, false);
      const std::uint64_t sectors = count_sectors(wide.data(), lanes);
      on_each_host([&] {
        const Seen with = run_access(text, addresses, lanes, true);
        const Seen without = run_access(text, addresses, lanes, false);
        const auto more = [&](std::uint64_t Counters::*field) {
          return with.counters.*field - without.counters.*field;
        };
        EXPECT_EQ(more(&Counters::shared_load_wavefronts), shared ? load.wavefronts : 0);
        EXPECT_EQ(more(&Counters::shared_load_conflicts), shared ? load.conflicts : 0);
        EXPECT_EQ(more(&Counters::shared_store_wavefronts), shared ? store.wavefronts : 0);
        EXPECT_EQ(more(&Counters::shared_store_conflicts), shared ? store.conflicts : 0);
        EXPECT_EQ(more(&Counters::global_load_sectors), shared ? 0 : sectors);
        EXPECT_EQ(more(&Counters::global_store_sectors), shared ? 0 : sectors);
        for (unsigned i = 0; i < 32; ++i) {
          const auto word = [&](std::uint32_t at) { return at / 4 * 4 * 77777 + 5; };
          const std::uint32_t first = word(addresses[i]) >> addresses[i] % 4 * 8;
          const std::uint32_t expected = access.bytes == 1    ? first & 0xff
                                         : access.bytes == 2  ? first & 0xffff
                                         : access.bytes == 16 ? first + word(addresses[i] + 12)
                                                              : first;
          EXPECT_EQ(with.loaded[i], lanes >> i & 1 ? expected : 0) << "lane " << i;
        }
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Spaces, Accesses, testing::Values("shared", "global"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace emu::test
