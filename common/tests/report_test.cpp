// Tables as a reader sees them, and records with all that was run.
#include "book/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "book/files.hpp"

namespace {

using book::Session;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Session session() {
  Session s;
  s.chapter = "chapter02_smem";
  s.command = {"./run", "--json", "x.json"};
  s.device.name = "NVIDIA H200";
  s.device.major = 9;
  s.device.sm_count = 132;
  s.device.max_threads_per_sm = 2048;
  s.device.l2_bytes = 62914560;
  s.device.global_bytes = 150000000000;
  s.device.shared_per_block = 49152;
  s.device.shared_per_sm = 233472;
  s.device.shared_optin = 232448;
  s.device.shared_reserved = 1024;
  s.device.sm_clock_khz = 1980000;
  s.device.memory_clock_khz = 3201000;
  s.device.memory_bus_bits = 6144;
  s.device.ecc = true;
  s.device.driver_version = 13000;
  s.seed = 2018;
  s.cache = "cold";
  return s;
}

book::Run run(const std::string& variant = "smem",
              std::vector<double> samples = {74.6, 74.6, 74.62, 74.62, 74.7, 74.8}) {
  book::Run r;
  r.variant = variant;
  r.from = "chapter02_smem";
  r.region = "smem-loop";
  r.n = 1 << 24;
  r.block = 256;
  r.grid = 65536;
  r.shared_bytes = 1024;
  r.registers = 12;
  r.local_bytes = 0;
  r.blocks_per_sm = 8;
  r.bytes_read = 4ul << 24;
  r.bytes_written = 4ul << 16;
  r.samples_us = std::move(samples);
  r.summary = book::summarize(r.samples_us);
  r.stopped_by = "interval";
  r.cache = "cold";
  r.clock = "events";
  r.verified = true;
  return r;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// ---- numbers ------------------------------------------------------------------------------------

TEST(GbPerS, IsUsefulBytesOverTheMedian) {
  // (67108864 + 262144) bytes in 74.62 us
  EXPECT_NEAR(run().gb_per_s(), 67371008 / 74.62e-6 / 1e9, 1e-9);
}

TEST(GbPerS, IsZeroWithoutBytesOrTime) {
  book::Run empty = run();
  empty.bytes_read = empty.bytes_written = 0;
  EXPECT_EQ(empty.gb_per_s(), 0);
  EXPECT_EQ(run("smem", {}).gb_per_s(), 0);
}

TEST(CountText, IsAPowerOfTwoOrDigitsInGroups) {
  EXPECT_EQ(book::count_text(0), "0");
  EXPECT_EQ(book::count_text(512), "512");
  EXPECT_EQ(book::count_text(1023), "1023");
  EXPECT_EQ(book::count_text(1024), "2^10");
  EXPECT_EQ(book::count_text(1025), "1025");
  EXPECT_EQ(book::count_text(10000), "10 000");
  EXPECT_EQ(book::count_text(100000), "100 000");
  EXPECT_EQ(book::count_text(1048573), "1 048 573");
  EXPECT_EQ(book::count_text(std::size_t{1} << 31), "2^31");
  EXPECT_EQ(book::count_text(UINT64_MAX), "18 446 744 073 709 551 615");
}

TEST(BytesText, TakesTheUnitThatFits) {
  EXPECT_EQ(book::bytes_text(0), "0 B");
  EXPECT_EQ(book::bytes_text(1023), "1023 B");
  EXPECT_EQ(book::bytes_text(1024), "1 KiB");
  EXPECT_EQ(book::bytes_text(62914560), "60 MiB");
  EXPECT_EQ(book::bytes_text(3ul << 29), "1.5 GiB");
  EXPECT_EQ(book::bytes_text(std::size_t{1} << 62), "4 EiB");
}

// ---- table --------------------------------------------------------------------------------------

TEST(Table, IsWhatAReaderSees) {
  book::Run stride = run("smem_stride", {21.5, 21.5, 21.5, 21.5, 21.5, 22});
  stride.grid = 1056;
  stride.bytes_written = 4224;
  book::Run gmem = run("gmem", {84.03});
  gmem.from = "chapter01_gmem";
  gmem.registers.reset();
  // clang-format off
  EXPECT_EQ(book::table(session(), {gmem, run(), stride}),
            "variant                   n  block  grid  median µs  ± µs    GB/s  % of peak  registers\n"
            "gmem (chapter01_gmem)  2^24    256  2^16      84.03     –   801.7       16.3          –\n"
            "smem                   2^24    256  2^16      74.62  0.18   902.9       18.4         12\n"
            "smem_stride            2^24    256  1056      21.50  0.50  3121.5       63.5         12\n");
  // clang-format on
}

TEST(Table, AlignsByCharactersNotBytes) {
  book::Run legacy = run("smem_classic");
  legacy.legacy = true;
  const auto lines = lines_of(book::table(session(), {legacy, run("smem_unrolled", {1, 2, 3})}));
  ASSERT_EQ(lines.size(), 4u);  // heading, two rows, footnote
  const auto columns = [](const std::string& line) {
    return std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
  };
  EXPECT_EQ(columns(lines[0]), columns(lines[1]));
  EXPECT_EQ(columns(lines[0]), columns(lines[2]));
}

TEST(Table, MarksLegacyFormsAndSaysWhatTheMarkMeans) {
  book::Run legacy = run("smem_classic");
  legacy.legacy = true;
  const std::string text = book::table(session(), {run(), legacy});
  EXPECT_THAT(text, HasSubstr("\nsmem_classic †"));
  EXPECT_THAT(text, HasSubstr("\n† a classic form with a known fault"));
  EXPECT_THAT(text, Not(HasSubstr("smem †")));
  EXPECT_THAT(book::table(session(), {run()}), Not(HasSubstr("†")));
}

TEST(Table, MarksRunsWithAnotherCache) {
  book::Run dirty = run("after_write");
  dirty.cache = "dirty";
  dirty.params = {{"cache", "dirty"}, {"hops", std::int64_t{64}}};
  book::Run unsaid = run("after_nothing");
  unsaid.cache = "warm";
  book::Run same = run("after_read");
  same.params = {{"cache", "cold"}};
  const std::string text = book::table(session(), {dirty, unsaid, same});
  EXPECT_THAT(text, HasSubstr("\nafter_write [cache=dirty, hops=64] "));
  EXPECT_THAT(text, HasSubstr("\nafter_nothing [cache=warm] "));
  EXPECT_THAT(text, HasSubstr("\nafter_read  "));
}

TEST(Table, TellsRunsApartThatDifferInParamsAlone) {
  book::Run one = run("copy");
  one.params = {{"stride", std::int64_t{1}}};
  book::Run two = run("copy");
  two.params = {{"stride", std::int64_t{2}}};
  const std::string text = book::table(session(), {one, two, run()});
  EXPECT_THAT(text, HasSubstr("\ncopy [stride=1] "));
  EXPECT_THAT(text, HasSubstr("\ncopy [stride=2] "));
}

TEST(Table, HasOneUnitOfTime) {
  const book::Run slow = run("slow", {1500, 1500, 1500, 1500, 1500, 1502});
  EXPECT_THAT(book::table(session(), {slow}), HasSubstr("median ms"));
  EXPECT_THAT(book::table(session(), {slow}), HasSubstr(" 1.500  0.002 "));
  EXPECT_THAT(book::table(session(), {slow, run()}), HasSubstr("median µs"));
  EXPECT_THAT(book::table(session(), {slow, run()}), HasSubstr(" 1500.00  "));
}

TEST(Table, SaysHowFarSumsOfFloatsAreOff) {
  EXPECT_THAT(book::table(session(), {run()}), Not(HasSubstr("off by")));
  book::Run rounded = run("plain");
  book::Run exact = run("exact");
  rounded.error = 1.25e-7;
  exact.error = 0;
  for (const auto table : {book::table, book::counter_table}) {
    const auto lines = lines_of(table(session(), {rounded, exact, run("sum_of_ints")}));
    EXPECT_THAT(lines[0], EndsWith("   off by"));
    EXPECT_THAT(lines[1], EndsWith("  1.2e-07"));
    EXPECT_THAT(lines[2], EndsWith("        0"));
    EXPECT_THAT(lines[3], EndsWith("        –"));
  }
}

TEST(Table, ShowsNoShapeOfALibrarysOwnKernels) {
  book::Run cub = run("cub");
  cub.grid = 0;
  cub.registers.reset();
  EXPECT_THAT(book::table(session(), {cub}), HasSubstr("cub      2^24      –     –"));
  EXPECT_THAT(book::counter_table(session(), {cub}), HasSubstr("cub      2^24      –     –"));
}

TEST(Table, LeavesOutWhatThereIsNot) {
  book::Run launch = run("empty_launch", {2.88, 2.88, 2.88, 2.88, 2.88, 2.88});
  launch.bytes_read = launch.bytes_written = 0;
  launch.registers.reset();
  EXPECT_THAT(lines_of(book::table(session(), {launch}))[1],
              EndsWith("  2.88  0.00     –          –          –"));

  book::Run nothing = run("smem", {});
  nothing.n = nothing.grid = nothing.bytes_read = nothing.bytes_written = 0;
  nothing.cache = "";
  const auto lines = lines_of(book::table(session(), {nothing}));
  EXPECT_THAT(lines[0], HasSubstr("median µs"));
  EXPECT_THAT(lines[1], StartsWith("smem     0      –     –          –     –     –          –"));
  // A row without a time has no say in the unit.
  const book::Run slow = run("slow", {1500});
  EXPECT_THAT(book::table(session(), {slow, nothing}), HasSubstr("median ms"));

  Session unknown = session();
  unknown.device.memory_clock_khz = 0;
  EXPECT_THAT(book::table(unknown, {run()}), Not(HasSubstr("inf")));
  EXPECT_EQ(lines_of(book::table(session(), {})).size(), 1u);
}

// ---- record -------------------------------------------------------------------------------------

TEST(Record, HoldsTheSession) {
  const auto record = nlohmann::json::parse(book::to_json(session(), {run()}));
  EXPECT_EQ(record["schema"], 3);
  EXPECT_EQ(record["chapter"], "chapter02_smem");
  EXPECT_EQ(record["commands"], (nlohmann::json{{"./run", "--json", "x.json"}}));
  EXPECT_EQ(record["device"]["name"], "NVIDIA H200");
  EXPECT_EQ(record["device"]["compute_capability"], "9.0");
  EXPECT_EQ(record["device"]["ecc"], true);
  EXPECT_EQ(record["device"]["shared_optin"], 232448);
  EXPECT_EQ(record["device"]["shared_reserved"], 1024);
  EXPECT_EQ(record["driver"], "13.0");
  EXPECT_EQ(record["architectures"], book::built_for());
  EXPECT_EQ(record["seed"], 2018);
  EXPECT_EQ(record["cache"], "cold");
  EXPECT_TRUE(record["source"].is_null());
  EXPECT_TRUE(record["clocks"].is_null());
  EXPECT_THAT(record["date"].get<std::string>(),
              ::testing::MatchesRegex("20[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+Z"));
}

TEST(Record, HoldsEveryRunWithEverySample) {
  book::Run r = run("smem", {74.6004, 74.6006, 74.61, 74.62, 74.7, 74.8});
  r.params = {{"cache", "cold"}, {"stride", std::int64_t{2}}};
  const auto record = nlohmann::json::parse(book::to_json(session(), {r}));
  const nlohmann::json expected = {{"variant", "smem"},
                                   {"from", "chapter02_smem"},
                                   {"region", "smem-loop"},
                                   {"legacy", false},
                                   {"n", 16777216},
                                   {"block", 256},
                                   {"params", {{"cache", "cold"}, {"stride", 2}}},
                                   {"repeat", 0},
                                   {"grid", 65536},
                                   {"shared_bytes", 1024},
                                   {"registers", 12},
                                   {"local_bytes", 0},
                                   {"blocks_per_sm", 8},
                                   {"bytes_read", 67108864},
                                   {"bytes_written", 262144},
                                   {"samples_us", {74.6, 74.601, 74.61, 74.62, 74.7, 74.8}},
                                   {"stopped_by", "interval"},
                                   {"cache", "cold"},
                                   {"clock", "events"},
                                   {"verified", true},
                                   {"kernel_hash", nullptr}};
  ASSERT_EQ(record["runs"].size(), 1u);
  EXPECT_EQ(record["runs"][0], expected) << record["runs"][0].dump(1);
}

TEST(Record, KeepsEachRunOnOneLine) {
  const auto lines = lines_of(book::to_json(session(), {run("a"), run("b")}));
  int found = 0;
  for (const std::string& line : lines) {
    if (line.starts_with("    {\"variant\":\"a\"") || line.starts_with("    {\"variant\":\"b\"")) {
      ++found;
      EXPECT_THAT(line, HasSubstr("\"kernel_hash\":null}"));
    }
  }
  EXPECT_EQ(found, 2);
  EXPECT_EQ(lines.front(), "{");
  EXPECT_EQ(lines.back(), "}");
}

TEST(Record, SaysNullWhereThereIsNothing) {
  book::Run r = run("several", {5});
  r.registers.reset();
  r.local_bytes.reset();
  const auto record = nlohmann::json::parse(book::to_json(session(), {r}));
  EXPECT_TRUE(record["runs"][0]["registers"].is_null());
  EXPECT_TRUE(record["runs"][0]["local_bytes"].is_null());
  EXPECT_EQ(record["runs"][0]["params"], nlohmann::json::object());
}

TEST(Record, HoldsTheErrorOfFloatsWhereThatIsANumber) {
  book::Run r = run();
  r.error = 1.25e-7;
  book::Run of_nothing = run();
  of_nothing.error = std::numeric_limits<double>::infinity();
  const auto runs = nlohmann::json::parse(book::to_json(session(), {r, of_nothing}))["runs"];
  EXPECT_EQ(runs[0]["error"], 1.25e-7);
  EXPECT_FALSE(runs[1].contains("error"));
}

TEST(Record, LeavesOutRunsThatWereNotTimed) {
  const auto record = nlohmann::json::parse(book::to_json(session(), {run("smem", {}), run("b")}));
  ASSERT_EQ(record["runs"].size(), 1u);
  EXPECT_EQ(record["runs"][0]["variant"], "b");
  EXPECT_EQ(nlohmann::json::parse(book::to_json(session(), {}))["runs"], nlohmann::json::array());
}

TEST(Record, RefusesNumbersThatAreNone) {
  const auto refusal = [](const book::Run& r) -> std::string {
    try {
      book::to_json(session(), {r});
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "not refused";
  };
  book::Run r = run();
  r.samples_us[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(r), "smem, n = 2^24: samples_us is nan");
  r.samples_us[3] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(r), "smem, n = 2^24: samples_us is inf");
  r.samples_us[3] = -1;
  EXPECT_THAT(refusal(r), StartsWith("smem, n = 2^24: samples_us is -1"));
}

TEST(Record, HoldsAnArgumentOfAnyBytes) {
  Session s = session();
  s.command = {"./run", "--json", "\xff\xfe \"quoted\" \n.json"};
  EXPECT_TRUE(nlohmann::json::accept(book::to_json(s, {run()})));
}

/// Not a check of its own: test_record_schema.py asks for the file and validates it.
TEST(Record, ForTheSchema) {
  const char* path = std::getenv("BOOK_RECORD");
  if (path == nullptr) return;
  book::Run other = run("gmem", {84.03});
  other.from = "chapter01_gmem";
  other.region = "gmem-loop";
  other.legacy = true;
  other.registers.reset();
  other.local_bytes.reset();
  other.params = {{"cache", "dirty"}, {"hops", std::int64_t{64}}};
  book::Run first = run();
  first.error = 0;
  book::write_whole(path, book::to_json(session(), {first, other, run("smem", {})}));
}

}  // namespace
