// Which variants run at which shapes, and what is said of those that can't.
#include "book/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "book/list.hpp"

namespace {

using book::Case;
using book::Device;
using book::Options;
using book::Plan;
using book::Variant;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kFree = std::size_t{1} << 30;

/// 4 bytes per element, and no more than `kMost` of them. Nothing is ever prepared.
class Fake : public book::Problem {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 40;
  struct Launch {};
  Launch launch(const book::Shape&) const { return {}; }
  std::size_t device_bytes(const book::Shape& shape) const override { return 4 * shape.n; }
  void accept(const book::Shape& shape) const override {
    if (shape.n / shape.grid > 4096) throw book::bad_argument("too much for a block");
  }
  void prepare(const book::Shape&, std::uint64_t, book::Fill) override { throw 1; }
  void poison() override { throw 1; }
  book::Verdict check() override { throw 1; }
  book::UsefulBytes useful_bytes(const book::Shape&) const override { return {}; }
};

Variant fake(std::string name) {
  return {.name = std::move(name),
          .launch = book::launch(std::make_shared<Fake>(), [](const Fake::Launch&) {})};
}

Device gpu() {
  Device device;
  device.name = "GPU";
  device.shared_per_block = 48 << 10;
  device.shared_optin = 100 << 10;
  return device;
}

Device embedded() {
  Device device = gpu();
  device.name = "embedded";
  device.embedded = true;
  return device;
}

/// What a chapter with these variants would run.
struct Chapter {
  std::vector<Variant> variants;
  book::Defaults defaults;

  explicit Chapter(std::vector<Variant> of, book::Defaults d = {}) : defaults(std::move(d)) {
    for (Variant& v : of) variants.push_back(completed(std::move(v), "chapter99", defaults));
  }
  Plan plan(const Options& options, const Device& device = gpu(), std::size_t free = kFree) const {
    return make_plan(choose(variants, options), options, defaults, device, free);
  }
  std::string refusal(const Options& options, const Device& device = gpu(),
                      std::size_t free = kFree,
                      book::ExitCode code = book::ExitCode::kBadArgument) const {
    try {
      plan(options, device, free);
    } catch (const book::Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.what();
    }
    return "not refused";
  }
};

std::vector<std::string> text_of(const Plan& plan) {
  std::vector<std::string> cases;
  for (const Case& c : plan.cases) {
    cases.push_back(c.variant->name + " " + book::count_text(c.shape.n) + " " +
                    std::to_string(c.shape.block));
  }
  return cases;
}

TEST(Plan, IsEveryModernVariantAtTheBooksSize) {
  Variant old = fake("old");
  old.legacy = true;
  const Chapter chapter({fake("a"), old, fake("b")});
  EXPECT_THAT(text_of(chapter.plan({})), ElementsAre("a 2^24 256", "b 2^24 256"));
  EXPECT_THAT(text_of(chapter.plan({}, embedded())), ElementsAre("a 2^20 256", "b 2^20 256"));
  EXPECT_THAT(text_of(chapter.plan({.n = 100, .block = 32})), ElementsAre("a 100 32", "b 100 32"));
  EXPECT_THAT(text_of(chapter.plan({.variants = {"b", "a"}})),
              ElementsAre("b 2^24 256", "a 2^24 256"));
  EXPECT_THAT(text_of(chapter.plan({.variants = {"old"}})), ElementsAre("old 2^24 256"));
  EXPECT_THAT(chapter.refusal({.variants = {"a", "old"}}), HasSubstr("name it alone"));
  EXPECT_EQ(chapter.plan({.n = 1000}).cases[0].shape.grid, 4u);
}

TEST(Plan, GivesEachVariantABlockThatItTakes) {
  Variant large = fake("large");
  large.blocks = book::any_block(512);
  Variant small = fake("small");
  small.blocks = book::powers_of_two(1, 64);
  const Chapter chapter({large, small});
  EXPECT_THAT(text_of(chapter.plan({.n = 8})), ElementsAre("large 8 512", "small 8 64"));
  const Plan plan = chapter.plan({.n = 8, .block = 600});
  EXPECT_THAT(text_of(plan), ElementsAre("large 8 600"));
  EXPECT_THAT(plan.notes, ElementsAre("--block 600: small takes powers of two from 1 to 64"));
  EXPECT_EQ(chapter.refusal({.block = 600, .variants = {"small"}}),
            "--block 600: small takes powers of two from 1 to 64");
  EXPECT_THAT(chapter.refusal({.block = 100}), HasSubstr("large takes blocks of 512 to 1024; "));
}

TEST(Plan, GivesAVariantTheBlockThatItAsksFor) {
  Variant own = fake("own");
  own.block = 128;
  Variant odd = own;
  odd.name = "odd";
  odd.blocks = book::powers_of_two(1, 64);
  const Chapter chapter({fake("a"), own, odd});
  EXPECT_THAT(text_of(chapter.plan({.n = 8})), ElementsAre("a 8 256", "own 8 128", "odd 8 64"));
  EXPECT_THAT(text_of(chapter.plan({.n = 8, .block = 32})),
              ElementsAre("a 8 32", "own 8 32", "odd 8 32"));
}

TEST(Completed, RefusesAVariantThatTakesNoBlockOrLaunchesNothing) {
  Variant none = fake("none");
  none.blocks = {.low = 33, .high = 63, .powers_of_two = true};
  EXPECT_THROW(Chapter({none}), std::logic_error);
  Variant idle = fake("idle");
  idle.launch = {};
  EXPECT_THROW(Chapter({idle}), std::logic_error);
}

TEST(Plan, TakesAVariantsOwnSizes) {
  Variant rows = fake("rows");
  rows.sizes = book::Sizes{
      .usual = {2048, 4096}, .usual_embedded = 256, .most = 16384, .most_embedded = 512};
  rows.axes = {};
  const Chapter chapter({rows, fake("a")});
  EXPECT_THAT(text_of(chapter.plan({})),
              ElementsAre("rows 2^11 256", "rows 2^12 256", "a 2^24 256"));
  EXPECT_THAT(text_of(chapter.plan({}, embedded())), ElementsAre("rows 256 256", "a 2^20 256"));
  const Plan large = chapter.plan({.n = 1000}, embedded());
  EXPECT_THAT(text_of(large), ElementsAre("a 1000 256"));
  EXPECT_THAT(large.notes, ElementsAre("--n 1000: rows takes n up to 512 on embedded"));
  for (const Case& c : chapter.plan({.sweep = "n"}).cases) EXPECT_EQ(c.variant->name, "a");
}

TEST(Plan, SweepsNFromTheLeastToTheMost) {
  const Chapter chapter({fake("a"), fake("b")}, {.n = {1024, 2048}});
  EXPECT_THAT(text_of(chapter.plan({.sweep = "n"})),
              ElementsAre("a 2^10 256", "b 2^10 256", "a 2^11 256", "b 2^11 256"));
  EXPECT_THAT(text_of(chapter.plan({.block = 64, .variants = {"b"}, .sweep = "n"})),
              ElementsAre("b 2^10 64", "b 2^11 64"));
}

TEST(Plan, SweepsBlocksAtALargeN) {
  Variant only = fake("only");
  only.blocks = book::any_block(64, 64);
  Variant still = fake("still");
  still.axes = {{"n"}};
  const Chapter chapter({fake("a"), only, still}, {.blocks = {32, 64}});
  EXPECT_THAT(text_of(chapter.plan({.sweep = "block"})),
              ElementsAre("a 2^28 32", "a 2^28 64", "only 2^28 64"));
  EXPECT_THAT(text_of(chapter.plan({.n = 100, .sweep = "block"})),
              ElementsAre("a 100 32", "a 100 64", "only 100 64"));
  EXPECT_THAT(text_of(chapter.plan({.sweep = "block"}, gpu(), kFree / 8)),
              ElementsAre("a 2^25 32", "a 2^25 64", "only 2^25 64"))
      << "smaller where memory is short";
}

TEST(Plan, SweepsEveryShapeOnce) {
  Variant still = fake("still");
  still.axes = {};
  Variant large = fake("large");
  large.axes = book::at_large_n();
  const Chapter chapter({fake("a"), still, large},
                        {.n = book::powers(24, 25), .blocks = {128, 256}});
  EXPECT_THAT(text_of(chapter.plan({.sweep = "all"})),
              ElementsAre("a 2^24 256", "still 2^24 256", "large 2^24 256",  // the usual run
                          "a 2^25 256", "large 2^28 256",                    // n
                          "a 2^28 128", "a 2^28 256"));                      // blocks
  EXPECT_THAT(text_of(chapter.plan({.sweep = "rest"})),
              ElementsAre("a 2^25 256", "large 2^28 256", "a 2^28 128", "a 2^28 256"));
  const Chapter crossing({fake("a")}, {.n = {std::size_t{1} << 28}, .blocks = {256}});
  EXPECT_THAT(text_of(crossing.plan({.sweep = "all"})), ElementsAre("a 2^24 256", "a 2^28 256"));
}

TEST(Plan, SweepsAParameterOverTheVariantsThatHaveIt) {
  std::vector<Variant> variants = book::family(
      {"stride", {1, 2}}, [](unsigned stride) { return fake("load" + std::to_string(stride)); });
  variants.push_back(fake("a"));
  const Chapter chapter(variants, {.blocks = {}});
  EXPECT_THAT(axes_of(chapter.variants), ElementsAre("n", "stride"));
  EXPECT_THAT(text_of(chapter.plan({.sweep = "stride"})),
              ElementsAre("load1 2^24 256", "load2 2^24 256"));
  EXPECT_EQ(std::get<std::int64_t>(chapter.variants[1].params[0].second), 2);
}

TEST(Plan, SaysWhatMemoryHasNoRoomFor) {
  const Chapter chapter({fake("a")}, {.n = {1024, std::size_t{1} << 29}});
  const Plan plan = chapter.plan({.sweep = "n"});
  EXPECT_THAT(text_of(plan), ElementsAre("a 2^10 256"));
  EXPECT_THAT(plan.notes, ElementsAre("left out: n = 2^29 needs more memory than is free"));
  EXPECT_EQ(chapter.refusal({.n = std::size_t{1} << 29}),
            "--n 2^29: needs 2 GiB of device memory, and 1 GiB are free on GPU");
}

TEST(Plan, SaysWhatTheProblemRefuses) {
  Variant one = fake("one");
  one.grid = book::one_block;
  const Chapter chapter({one}, {.n = {1024, 8192}});
  EXPECT_EQ(chapter.refusal({.n = 8192}), "too much for a block");
  const Plan plan = chapter.plan({.sweep = "n"});
  EXPECT_THAT(text_of(plan), ElementsAre("one 2^10 256"));
  EXPECT_THAT(plan.notes, ElementsAre("left out: one: too much for a block"));
}

TEST(Plan, SaysWhatHasTooLittleSharedMemory) {
  Variant much = fake("much");
  much.shared_bytes = [](unsigned) { return std::size_t{200} << 10; };
  const Chapter chapter({much, fake("a")});
  const Plan plan = chapter.plan({});
  EXPECT_THAT(text_of(plan), ElementsAre("a 2^24 256"));
  EXPECT_THAT(
      plan.notes,
      ElementsAre("left out: much needs 200 KiB of shared memory per block; GPU has 100 KiB"));
  EXPECT_THAT(chapter.refusal({.variants = {"much"}}), HasSubstr("much needs 200 KiB"));
}

TEST(Plan, SaysWhatNeedsANewerDevice) {
  Variant clusters = fake("clusters");
  clusters.capability = 90;
  Variant more = fake("more");
  more.capability = 90;
  Variant old = fake("old");
  old.capability = 75;
  Device device = gpu();
  device.major = 8;
  device.minor = 6;
  const Chapter chapter({clusters, old, more});
  const Plan plan = chapter.plan({}, device);
  EXPECT_THAT(text_of(plan), ElementsAre("old 2^24 256"));
  EXPECT_THAT(
      plan.notes,
      ElementsAre("left out: clusters and 1 more need compute capability 9.0; GPU has 8.6"));
  EXPECT_EQ(chapter.refusal({.variants = {"more"}}, device, kFree, book::ExitCode::kNotAvailable),
            "left out: more needs compute capability 9.0; GPU has 8.6");
  device.major = 9;
  device.minor = 0;
  EXPECT_THAT(text_of(chapter.plan({.variants = {"more"}}, device)), ElementsAre("more 2^24 256"));
}

Variant on_devices(const char* name, unsigned devices) {
  Variant v = fake(name);
  v.devices = devices;
  return v;
}

TEST(Plan, SaysWhatTakesMoreDevices) {
  const Chapter chapter({fake("one"), on_devices("two", 2), on_devices("three", 3)});
  Device device = gpu();
  device.count = 2;
  const Plan plan = chapter.plan({}, device);
  EXPECT_THAT(text_of(plan), ElementsAre("one 2^24 256", "two 2^24 256"));
  EXPECT_THAT(plan.notes, ElementsAre("left out: three: for more GPUs than the 2 here"));
  EXPECT_THAT(chapter.plan({}).notes,
              ElementsAre("left out: two and 1 more: for more GPUs than the 1 here"));
}

TEST(Plan, TakesWhatIsForAsManyProcesses) {
  const Chapter chapter({fake("one"), on_devices("two", 2), on_devices("three", 3)});
  const Plan plan = book::make_plan(choose(chapter.variants, {}), {}, {}, gpu(), kFree, 2);
  EXPECT_THAT(text_of(plan), ElementsAre("two 2^24 256"));
  EXPECT_THAT(plan.notes, ElementsAre("left out: one and 1 more: not for the GPUs of 2 processes"));
  try {
    book::make_plan(choose(chapter.variants, {}), {}, {}, gpu(), kFree, 4);
    ADD_FAILURE() << "planned all the same";
  } catch (const book::Error& error) {
    EXPECT_STREQ(error.what(), "left out: one and 2 more: not for the GPUs of 4 processes");
    EXPECT_EQ(error.code(), book::ExitCode::kNotAvailable);
  }
}

TEST(Plan, SaysWhatIsMissing) {
  Variant library = fake("library");
  library.missing = [] { return std::string("there is none"); };
  Variant there = fake("there");
  there.missing = [] { return std::string(); };
  const Chapter chapter({library, there});
  const Plan plan = chapter.plan({});
  EXPECT_THAT(text_of(plan), ElementsAre("there 2^24 256"));
  EXPECT_THAT(plan.notes, ElementsAre("left out: library: there is none"));
  EXPECT_EQ(chapter.refusal({.variants = {"library"}}, gpu(), kFree, book::ExitCode::kNotAvailable),
            "left out: library: there is none");
}

TEST(Completed, CountsAndChecksWhereTheChapterDoes) {
  Variant powers = fake("powers");
  powers.blocks = book::powers_of_two(256);
  Variant only = fake("only");
  only.blocks = book::any_block(1, 1);
  Variant own = fake("own");
  own.counted = {{2048, 1024}};
  own.checked = book::Point{253, 1024};
  const Chapter chapter({powers, only, own});
  const auto counted = [&](std::size_t i) {
    std::vector<std::pair<std::size_t, unsigned>> points;
    for (const book::Point& p : chapter.variants[i].counted) points.emplace_back(p.n, p.block);
    return points;
  };
  using Pair = std::pair<std::size_t, unsigned>;
  EXPECT_THAT(counted(0), ElementsAre(Pair{1 << 24, 256}, Pair{1 << 20, 256}, Pair{1 << 16, 256}));
  EXPECT_THAT(counted(1), ElementsAre(Pair{1 << 24, 1}, Pair{1 << 20, 1}, Pair{1 << 16, 1}));
  EXPECT_THAT(counted(2), ElementsAre(Pair{2048, 1024}));
  EXPECT_EQ(chapter.variants[0].checked->block, 256u);
  EXPECT_EQ(chapter.variants[1].checked->block, 1u);
  EXPECT_EQ(chapter.variants[2].checked->n, 253u);
  EXPECT_EQ(chapter.variants[1].axis("block"), nullptr) << "it has but one block";
}

TEST(Blocks, AreWhatTheirTextSays) {
  EXPECT_EQ(book::any_block().text(), "blocks of 1 to 1024");
  EXPECT_EQ(book::any_block(1, 1).text(), "block 1 only");
  EXPECT_EQ(book::powers_of_two(64).text(), "powers of two from 64 to 1024");
  EXPECT_EQ(book::whole_warps().text(), "multiples of 32 up to 1024");
  EXPECT_EQ((book::Blocks{.low = 1024, .multiple_of = 32}.text()), "block 1024 only");
  const book::Blocks more_warps{.low = 64, .high = 512, .multiple_of = 32};
  EXPECT_EQ(more_warps.text(), "multiples of 32 from 64 to 512");
  EXPECT_TRUE(more_warps.takes(64) && !more_warps.takes(32));
  EXPECT_TRUE(book::whole_warps().takes(96) && !book::whole_warps().takes(100));
  EXPECT_TRUE(book::powers_of_two().takes(64) && !book::powers_of_two().takes(96));
  EXPECT_FALSE(book::any_block(2).takes(1));
  EXPECT_EQ(book::whole_warps().nearest(100), 96u);
  EXPECT_EQ(book::whole_warps().nearest(5), 32u);
}

// ---- list ---------------------------------------------------------------------------------------

/// Two completed variants, one of them with everything said otherwise.
std::vector<Variant> two() {
  Variant gmem = fake("gmem");
  gmem.from = "chapter01_gmem";
  gmem.region = "gmem-loop";
  gmem.blocks = book::powers_of_two();
  Variant classic = fake("smem_classic");
  classic.region = "smem-classic";
  classic.legacy = true;
  classic.findings = {"racecheck"};
  classic.blocks = book::any_block(64);
  classic.block = 512;
  classic.sizes = book::Sizes{.usual_embedded = 256, .most_embedded = 512};
  classic.axes = {{"stride", {1, 2}}};
  classic.counters = book::Counters::kLessArbitration;
  classic.compared = false;
  classic.profiled = false;
  classic.counted = {{256, 64}};
  classic.params = {{"stride", std::int64_t{2}}};
  const book::Defaults defaults{.n = {1024}, .blocks = {32}};
  return {completed(gmem, "chapter02_smem", defaults),
          completed(classic, "chapter02_smem", defaults)};
}

TEST(List, IsALineAVariant) {
  EXPECT_EQ(book::list_text("chapter02_smem", two()),
            "1  gmem (chapter01_gmem)  takes powers of two from 1 to 1024\n"
            "2  smem_classic           takes blocks of 64 to 1024          legacy\n");
}

TEST(List, IsJsonForTools) {
  const auto list = nlohmann::json::parse(book::list_json("chapter02_smem", 128, two()));
  EXPECT_EQ(list["schema"], 3);
  EXPECT_EQ(list["chapter"], "chapter02_smem");
  EXPECT_EQ(list["default_block"], 128);
  ASSERT_EQ(list["variants"].size(), 2u);
  const nlohmann::json classic = {
      {"name", "smem_classic"},
      {"from", "chapter02_smem"},
      {"region", "smem-classic"},
      {"legacy", true},
      {"problem", "(anonymous namespace)::Fake"},
      {"sizes", {{"usual", 256}, {"most", 512}}},
      {"findings", {"racecheck"}},
      {"blocks",
       {{"low", 64},
        {"high", 1024},
        {"powers_of_two", false},
        {"multiple_of", 1},
        {"text", "blocks of 64 to 1024"}}},
      {"block", 512},
      {"counters", "less_arbitration"},
      {"compared", false},
      {"profiled", false},
      {"embedded", true},
      {"devices", 1},
      {"axes", nlohmann::json::array({{{"name", "stride"}, {"values", {1, 2}}}})},
      {"counted", nlohmann::json::array({{{"n", 256}, {"block", 64}}})},
      {"checked", {{"n", 1048573}, {"block", 256}}},
      {"params", {{"stride", 2}}}};
  EXPECT_EQ(list["variants"][1], classic) << list["variants"][1].dump(1);
  const auto& gmem = list["variants"][0];
  EXPECT_EQ(gmem["counters"], "exact");
  EXPECT_EQ(gmem["block"], 128);
  EXPECT_TRUE(gmem["sizes"]["most"].is_null());
  EXPECT_EQ(gmem["compared"], true);
  EXPECT_EQ(gmem["profiled"], true);
  EXPECT_EQ(gmem["findings"], nlohmann::json::array());
  EXPECT_EQ(gmem["blocks"]["powers_of_two"], true);
  EXPECT_EQ(gmem["axes"][1]["values"], nlohmann::json::array({32}));
  EXPECT_EQ(gmem["counted"].size(), 4u);
}

}  // namespace
