#include "book/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "book/check.hpp"

namespace {

namespace fs = std::filesystem;
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

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
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
  EXPECT_EQ(record["schema"], 2);
  EXPECT_EQ(record["chapter"], "chapter02_smem");
  EXPECT_EQ(record["commands"], (nlohmann::json{{"./run", "--json", "x.json"}}));
  EXPECT_EQ(record["device"]["name"], "NVIDIA H200");
  EXPECT_EQ(record["device"]["compute_capability"], "9.0");
  EXPECT_EQ(record["device"]["ecc"], true);
  EXPECT_EQ(record["device"]["shared_optin"], 232448);
  EXPECT_EQ(record["device"]["shared_reserved"], 1024);
  EXPECT_EQ(record["device"]["peak_gb_per_s"], 4916.736);
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
                                   {"median_us", 74.615},
                                   {"median_ci_us", {74.6, 74.8}},
                                   {"p25_us", 74.603},
                                   {"p75_us", 74.68},
                                   {"min_us", 74.6},
                                   {"gb_per_s", 902.915},
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
  EXPECT_TRUE(record["runs"][0]["median_ci_us"].is_null());
  EXPECT_EQ(record["runs"][0]["params"], nlohmann::json::object());
}

TEST(Record, LeavesOutRunsThatWereNotTimed) {
  const auto record = nlohmann::json::parse(book::to_json(session(), {run("smem", {}), run("b")}));
  ASSERT_EQ(record["runs"].size(), 1u);
  EXPECT_EQ(record["runs"][0]["variant"], "b");
  EXPECT_EQ(nlohmann::json::parse(book::to_json(session(), {}))["runs"], nlohmann::json::array());
}

TEST(Record, RefusesNumbersThatAreNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto refusal = [](const book::Run& r) -> std::string {
    try {
      book::to_json(session(), {r});
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "not refused";
  };
  book::Run r = run();
  r.samples_us[3] = nan;
  EXPECT_EQ(refusal(r), "smem, n = 2^24: samples_us is nan");
  r = run();
  r.samples_us[3] = -1;
  EXPECT_THAT(refusal(r), StartsWith("smem, n = 2^24: samples_us is -1"));
  r = run();
  r.summary.median = infinity;
  EXPECT_EQ(refusal(r), "smem, n = 2^24: median_us is inf");
  r = run();
  r.summary.median_ci->second = nan;
  EXPECT_EQ(refusal(r), "smem, n = 2^24: median_ci_us is nan");
  r = run();
  r.summary.p25 = nan;
  EXPECT_EQ(refusal(r), "smem, n = 2^24: p25_us is nan");
  r = run();
  r.summary.p75 = nan;
  EXPECT_EQ(refusal(r), "smem, n = 2^24: p75_us is nan");
  r = run();
  r.summary.min = nan;
  EXPECT_EQ(refusal(r), "smem, n = 2^24: min_us is nan");
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
  book::write_whole(path, book::to_json(session(), {run(), other, run("smem", {})}));
}

// ---- list ---------------------------------------------------------------------------------------

const std::vector<book::VariantInfo> kVariants{{.name = "gmem",
                                                .from = "chapter01_gmem",
                                                .region = "gmem-loop",
                                                .findings = {},
                                                .blocks = "powers of two from 1 to 1024",
                                                .counted = {},
                                                .params = {}},
                                               {.name = "smem_classic",
                                                .from = "chapter02_smem",
                                                .region = "smem-classic",
                                                .legacy = true,
                                                .findings = {"racecheck"},
                                                .blocks = "blocks of 64 to 1024",
                                                .counted = {256},
                                                .params = {{"stride", std::int64_t{2}}},
                                                .profiled = false,
                                                .steady = false}};

TEST(List, IsALineAVariant) {
  EXPECT_EQ(book::list_text("chapter02_smem", kVariants),
            "1  gmem (chapter01_gmem)  takes powers of two from 1 to 1024\n"
            "2  smem_classic           takes blocks of 64 to 1024          legacy\n");
}

TEST(List, IsJsonForTools) {
  const auto list = nlohmann::json::parse(book::list_json("chapter02_smem", kVariants));
  EXPECT_EQ(list["schema"], 2);
  EXPECT_EQ(list["chapter"], "chapter02_smem");
  ASSERT_EQ(list["variants"].size(), 2u);
  EXPECT_EQ(list["variants"][1], (nlohmann::json{{"name", "smem_classic"},
                                                 {"from", "chapter02_smem"},
                                                 {"region", "smem-classic"},
                                                 {"legacy", true},
                                                 {"findings", {"racecheck"}},
                                                 {"blocks", "blocks of 64 to 1024"},
                                                 {"counted", {256}},
                                                 {"params", {{"stride", 2}}},
                                                 {"profiled", false},
                                                 {"steady", false}}));
  EXPECT_EQ(list["variants"][0]["counted"], nullptr);
  EXPECT_EQ(list["variants"][0]["profiled"], true);
  EXPECT_EQ(list["variants"][0]["steady"], true);
  EXPECT_EQ(list["variants"][0]["findings"], nlohmann::json::array());
}

// ---- files --------------------------------------------------------------------------------------

/// A folder of its own for each test, gone afterwards.
class WriteWhole : public ::testing::Test {
 public:
  WriteWhole() : folder_(fs::path(::testing::TempDir()) / ("write-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  WriteWhole(const WriteWhole&) = delete;
  WriteWhole& operator=(const WriteWhole&) = delete;
  WriteWhole(WriteWhole&&) = delete;
  WriteWhole& operator=(WriteWhole&&) = delete;
  ~WriteWhole() override { fs::remove_all(folder_); }

 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }
  static std::string refusal(const std::string& path, const std::string& text = "new") {
    try {
      book::write_whole(path, text);
    } catch (const book::Error& error) {
      EXPECT_EQ(error.code(), book::ExitCode::kBadArgument);
      return error.what();
    }
    return "not refused";
  }

  fs::path folder_;
};

TEST_F(WriteWhole, WritesAndReplaces) {
  book::write_whole(path("a.json"), "old and longer\n");
  book::write_whole(path("a.json"), "new\n");
  EXPECT_EQ(read(path("a.json")), "new\n");
  EXPECT_EQ(files(), 1u);
}

TEST_F(WriteWhole, WritesMoreThanOneCallTakes) {
  const std::string text(5'000'000, 'x');
  book::write_whole(path("a.json"), text);
  EXPECT_EQ(read(path("a.json")), text);
}

TEST_F(WriteWhole, NamesAMissingFolder) {
  EXPECT_EQ(refusal(path("none/a.json")),
            "cannot write \"" + path("none/a.json") + "\": No such file or directory");
}

TEST_F(WriteWhole, RefusesAFolder) {
  EXPECT_EQ(refusal(folder_.string()),
            "cannot write \"" + folder_.string() + "\": it is a directory");
}

TEST_F(WriteWhole, RefusesWhatIsNoRegularFile) {
  // A pipe stands in for /dev/null. Never name a real device here: should the check be broken, the
  // rename puts a plain file in the device's place, for the whole machine when run by root.
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(path("pipe")),
            "cannot write \"" + path("pipe") + "\": it is not a regular file");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(WriteWhole, RefusesAFolderThatIsNotWritable) {
  if (geteuid() == 0) {
    // Root may write anywhere but in the kernel's own file systems.
    EXPECT_THAT(refusal("/proc/a.json"), StartsWith("cannot write \"/proc/a.json\": "));
    return;
  }
  book::write_whole(path("a.json"), "old");
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(refusal(path("a.json")), "cannot write \"" + path("a.json") + "\": Permission denied");
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(read(path("a.json")), "old");
}

TEST_F(WriteWhole, LeavesTheOldFileAloneWhenTheDiskIsFull) {
  book::write_whole(path("a.json"), "old");
  // A limit on the size of files stands in for a full disk: the write itself fails half-way.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = refusal(path("a.json"), std::string(100000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(message, "cannot write \"" + path("a.json") + "\": File too large");
  EXPECT_EQ(read(path("a.json")), "old");
  EXPECT_EQ(files(), 1u) << "the temporary file is gone";
}

TEST_F(WriteWhole, KeepsASymbolicLink) {
  book::write_whole(path("real.json"), "old");
  fs::create_symlink("real.json", path("link.json"));
  book::write_whole(path("link.json"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_EQ(read(path("real.json")), "new");
}

TEST_F(WriteWhole, CanBeAskedBeforehand) {
  book::require_writable(path("a.json"));
  EXPECT_EQ(files(), 0u);
  book::write_whole(path("a.json"), "old");
  book::require_writable(path("a.json"));
  EXPECT_EQ(read(path("a.json")), "old");
  EXPECT_EQ(files(), 1u);
  EXPECT_THROW(book::require_writable(path("none/a.json")), book::Error);
  EXPECT_THROW(book::require_writable(folder_.string()), book::Error);
}

}  // namespace
