// Options: what is read, and one clear line for each that is refused.
#include "book/cli.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "book/check.hpp"

namespace {

using book::Options;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const book::ProgramDescription kProgram{
    "chapter05_unroll4",
    "more work per thread",
    {"smem", "first_add", "unroll1", "unroll2", "unroll4", "complete", "unroll4_classic"},
    128};

Options parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "./run");
  return book::parse_options(static_cast<int>(arguments.size()), arguments.data(), kProgram);
}

/// The message that a command line is refused with.
std::string refusal(const std::vector<const char*>& arguments) {
  try {
    parse(arguments);
  } catch (const book::Error& error) {
    EXPECT_EQ(error.code(), book::ExitCode::kBadArgument);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "not refused: " << ::testing::PrintToString(arguments);
  return "";
}

std::string help() {
  try {
    parse({"--help"});
  } catch (const book::HelpWanted& wanted) {
    return wanted.text;
  }
  ADD_FAILURE() << "no help";
  return "";
}

TEST(Options, AreTheDriversToChooseWhenNothingIsSaid) {
  const auto options = parse({});
  EXPECT_FALSE(options.n);
  EXPECT_FALSE(options.block);
  EXPECT_FALSE(options.samples);
  EXPECT_THAT(options.variants, IsEmpty());
  EXPECT_EQ(options.sweep, "");
  EXPECT_FALSE(options.once || options.list || options.warm);
  EXPECT_EQ(options.seed, 2018u);
  EXPECT_EQ(options.json, "");
  EXPECT_EQ(options.device.kind, book::DeviceRequest::Kind::kAuto);
  EXPECT_FALSE(options.device.index);
}

TEST(Options, AreAllRead) {
  const auto options = parse({"--n", "2^20", "--block", "128", "--variant", "smem", "unroll4",
                              "--seed", "18446744073709551615", "--samples", "50", "--json",
                              "out.json", "--warm", "--device", "gpu:1"});
  EXPECT_EQ(options.n, std::size_t{1} << 20);
  EXPECT_EQ(options.block, 128u);
  EXPECT_THAT(options.variants, ElementsAre("smem", "unroll4"));
  EXPECT_EQ(options.seed, UINT64_MAX);
  EXPECT_EQ(options.samples, 50u);
  EXPECT_EQ(options.json, "out.json");
  EXPECT_TRUE(options.warm);
  EXPECT_EQ(options.device.kind, book::DeviceRequest::Kind::kGpu);
  EXPECT_EQ(options.device.index, 1);
  EXPECT_TRUE(parse({"--once"}).once);
  EXPECT_TRUE(parse({"--list"}).list);
  EXPECT_EQ(parse({"--n=16M"}).n, std::size_t{1} << 24);
}

TEST(Options, TakeTheLastOfARepeatedOption) {
  EXPECT_EQ(parse({"--n", "1", "--n", "2"}).n, 2u);
  EXPECT_THAT(parse({"--variant", "smem", "--n", "5", "--variant", "complete"}).variants,
              ElementsAre("smem", "complete"));
}

TEST(Count, IsPlainOrAPowerOrHasAUnit) {
  const auto count = [](const char* text) { return book::parse_count("--n", text); };
  EXPECT_EQ(count("0"), 0u);
  EXPECT_EQ(count("1"), 1u);
  EXPECT_EQ(count("16777216"), 16777216u);
  EXPECT_EQ(count("2^0"), 1u);
  EXPECT_EQ(count("2^24"), 16777216u);
  EXPECT_EQ(count("3K"), 3072u);
  EXPECT_EQ(count("16M"), 16777216u);
  EXPECT_EQ(count("2G"), std::size_t{1} << 31);
  EXPECT_EQ(count("2^60"), std::size_t{1} << 60);
  EXPECT_EQ(count("1152921504606846976"), std::size_t{1} << 60);
}

TEST(Count, RefusesWhatIsNoCount) {
  for (const char* text :
       {"-5",  "abc",  "1e9",  "",     "16 M", " 16", "16 ",  "+5",   "0x10",  "2^",
        "3^2", "2^-1", "2^+4", "2^1K", "M",    "16m", "16MB", "1.5M", "1,024", "2^^4"}) {
    EXPECT_EQ(refusal({"--n", text}),
              std::string("--n: \"") + text +
                  "\" is not a count; allowed: digits (16777216), a power of two (2^24), or digits "
                  "with K, M or G (16M); at most 2^60");
  }
}

TEST(Count, RefusesWhatIsTooLarge) {
  for (const char* text : {"2^61", "2^64", "2^99", "1152921504606846977", "18446744073709551616",
                           "99999999999999999999999", "1073741825G", "99999999999999999999M"}) {
    EXPECT_THAT(refusal({"--n", text}),
                StartsWith(std::string("--n: \"") + text + "\" is too large; allowed: "));
  }
}

TEST(Count, KeepsItsMessageOnOneLine) {
  EXPECT_THAT(refusal({"--n", "a\nb\x1b[0m"}), StartsWith("--n: \"a?b?[0m\" is not a count"));
}

TEST(Count, ShowsNothingThatHidesOrTurnsText) {
  // A C1 control, an override and an isolate of direction, and a byte that isn't UTF-8.
  EXPECT_THAT(refusal({"--n",
                       "a\xc2\x9b"
                       "b\xe2\x80\xae"
                       "c\xe2\x81\xa6"
                       "d\x9b"
                       "e"}),
              StartsWith("--n: \"a?b?c?d?e\" is not a count"));
  EXPECT_THAT(refusal({"--variant", "\xe2\x80\xaa"}), StartsWith("--variant: no variant \"?\""));
  EXPECT_THAT(refusal({"--caf\xc3\xa9"}), StartsWith("no option \"--caf\xc3\xa9\""));
  // Too long a form of "/", a surrogate, and a character that breaks off.
  EXPECT_THAT(refusal({"--n",
                       "\xc0\xaf"
                       "x\xed\xa0\x80"
                       "x\xe2\x82"}),
              StartsWith("--n: \"??x???x??\" is not a count"));
}

TEST(Block, IsOneTo1024) {
  EXPECT_EQ(parse({"--block", "1"}).block, 1u);
  EXPECT_EQ(parse({"--block", "1024"}).block, 1024u);
  for (const char* text : {"0", "1025", "-1", "", "64.0", "abc", "4294967552", "2^8"}) {
    EXPECT_EQ(refusal({"--block", text}), std::string("--block: \"") + text +
                                              "\" is not a whole number in range; allowed: 1 to "
                                              "1024");
  }
}

TEST(SeedAndSamples, HaveTheirRanges) {
  EXPECT_EQ(parse({"--seed", "0"}).seed, 0u);
  EXPECT_THAT(refusal({"--seed", "-1"}), HasSubstr("allowed: 0 to 18446744073709551615"));
  EXPECT_THAT(refusal({"--seed", "18446744073709551616"}), StartsWith("--seed: "));
  EXPECT_EQ(parse({"--samples", "100000"}).samples, 100000u);
  EXPECT_THAT(refusal({"--samples", "0"}), HasSubstr("allowed: 1 to 100000"));
  EXPECT_THAT(refusal({"--samples", "100001"}), StartsWith("--samples: \"100001\""));
}

TEST(Device, IsAutoGpuOrEmbedded) {
  using Kind = book::DeviceRequest::Kind;
  EXPECT_EQ(parse({"--device", "auto"}).device.kind, Kind::kAuto);
  EXPECT_EQ(parse({"--device", "gpu"}).device.kind, Kind::kGpu);
  EXPECT_FALSE(parse({"--device", "gpu"}).device.index);
  EXPECT_EQ(parse({"--device", "gpu:0"}).device.index, 0);
  EXPECT_EQ(parse({"--device", "embedded"}).device.kind, Kind::kEmbedded);
  for (const char* text :
       {"cuda", "", "gpu:", "gpu:-1", "gpu:x", "gpu:2147483648", "GPU", "gpu0"}) {
    EXPECT_EQ(refusal({"--device", text}),
              std::string("--device: \"") + text +
                  "\" is not a device; allowed: auto, gpu, gpu:K with K counted from 0, or "
                  "embedded");
  }
}

TEST(Sweep, IsOverAnAxisThatTheProgramHas) {
  EXPECT_EQ(parse({"--sweep", "n"}).sweep, "n");
  EXPECT_EQ(parse({"--sweep", "block"}).sweep, "block");
  EXPECT_EQ(parse({"--sweep", "all"}).sweep, "all");
  EXPECT_EQ(refusal({"--sweep", "both"}),
            "--sweep: \"both\" is nothing to sweep over; allowed: n, block, all or rest");
  book::ProgramDescription other{"chapter10_coalescing", "", {"load_stride1"}};
  other.axes = {"n", "stride", "offset"};
  const auto parse_other = [&other](const char* axis) {
    const char* arguments[] = {"./run", "--sweep", axis};
    return book::parse_options(3, arguments, other).sweep;
  };
  EXPECT_EQ(parse_other("stride"), "stride");
  try {
    parse_other("block");
    ADD_FAILURE() << "an axis that no variant has";
  } catch (const book::Error& error) {
    EXPECT_STREQ(
        error.what(),
        "--sweep: \"block\" is nothing to sweep over; allowed: n, stride, offset, all or rest");
  }
  // The other of the two may be chosen.
  EXPECT_EQ(parse({"--sweep", "n", "--block", "128"}).block, 128u);
  EXPECT_EQ(parse({"--sweep", "block", "--n", "2^20"}).n, std::size_t{1} << 20);
}

TEST(Contradictions, AreRefused) {
  const std::string once = "--once launches once and times nothing: leave out ";
  EXPECT_EQ(refusal({"--once", "--sweep", "n"}), once + "--sweep");
  EXPECT_EQ(refusal({"--samples", "5", "--once"}), once + "--samples");
  EXPECT_EQ(refusal({"--once", "--warm"}), once + "--warm");
  EXPECT_EQ(refusal({"--once", "--json", "x.json"}), once + "--json");
  EXPECT_EQ(refusal({"--sweep", "n", "--n", "5"}), "--sweep n chooses n: leave out --n");
  EXPECT_EQ(refusal({"--sweep", "block", "--block", "64"}),
            "--sweep block chooses the block: leave out --block");
  EXPECT_EQ(refusal({"--sweep", "all", "--n", "5"}), "--sweep all chooses n: leave out --n");
  EXPECT_EQ(refusal({"--sweep", "all", "--block", "64"}),
            "--sweep all chooses the block: leave out --block");
  EXPECT_EQ(parse({"--list", "--json", "x.json"}).json, "x.json");
}

TEST(Variant, IsANameOrANumber) {
  EXPECT_THAT(parse({"--variant", "5"}).variants, ElementsAre("unroll4"));
  EXPECT_THAT(parse({"--variant", "unroll4_classic"}).variants, ElementsAre("unroll4_classic"));
  EXPECT_THAT(parse({"--variant", "complete", "smem"}).variants, ElementsAre("complete", "smem"));
}

TEST(Variant, OffersTheNearestNames) {
  EXPECT_EQ(refusal({"--variant", "unrol4"}),
            "--variant: no variant \"unrol4\" in chapter05_unroll4; nearest: unroll4, unroll1, "
            "unroll2; --list shows all");
  EXPECT_THAT(refusal({"--variant", "SMEM"}), HasSubstr("--list shows all"));
  for (const char* text : {"0", "8", "99999999999"}) {
    EXPECT_THAT(refusal({"--variant", text}),
                HasSubstr("allowed: 1 to 7, or a name; --list shows both"));
  }
}

TEST(Variant, IsNamedOnce) {
  EXPECT_EQ(refusal({"--variant", "smem", "smem"}), "--variant: \"smem\" is named twice");
  EXPECT_EQ(refusal({"--variant", "smem", "1"}), "--variant: \"smem\" is named twice");
}

TEST(NearestNames, AreSortedByEditDistance) {
  EXPECT_THAT(book::nearest_names("abd", {"xyz", "abc", "abcd", "abdx", "abd"}),
              ElementsAre("abd", "abc", "abcd"));
  EXPECT_THAT(book::nearest_names("a", {"b"}), ElementsAre("b"));
  EXPECT_THAT(book::nearest_names("a", {}), IsEmpty());
  EXPECT_THAT(book::nearest_names("", {"abc", "a"}), ElementsAre("a", "abc"));
}

TEST(ClassicForm, IsNMethodThreads) {
  const auto named = parse({"16M", "unroll4", "128"});
  EXPECT_EQ(named.n, std::size_t{1} << 24);
  EXPECT_THAT(named.variants, ElementsAre("unroll4"));
  EXPECT_EQ(named.block, 128u);
  EXPECT_THAT(parse({"1000", "1"}).variants, ElementsAre("smem"));
  EXPECT_EQ(parse({"1000"}).n, 1000u);
  EXPECT_EQ(parse({"--once", "1000", "smem"}).n, 1000u);
}

TEST(ClassicForm, NamesWhatIsWrong) {
  EXPECT_THAT(refusal({"many"}), StartsWith("N: \"many\" is not a count"));
  EXPECT_THAT(refusal({"-5"}), StartsWith("N: \"-5\" is not a count"));
  EXPECT_THAT(refusal({"16", "unrol4"}), StartsWith("METHOD: no variant \"unrol4\""));
  EXPECT_THAT(refusal({"16", "smem", "2000"}), StartsWith("THREADS: \"2000\""));
  EXPECT_EQ(refusal({"16", "smem", "64", "7"}),
            "unexpected \"7\": N METHOD THREADS are at most three");
}

TEST(ClassicForm, AgreesWithTheOptionsOrIsRefused) {
  EXPECT_EQ(refusal({"16", "--n", "32"}), "--n and N are both given: leave one out");
  EXPECT_EQ(refusal({"16", "smem", "64", "--block", "32"}),
            "--block and THREADS are both given: leave one out");
  EXPECT_EQ(refusal({"16", "smem", "--variant", "complete"}),
            "--variant and METHOD are both given: leave one out");
  EXPECT_EQ(refusal({"16", "--sweep", "n"}), "--sweep n chooses n: leave out --n");
}

TEST(UnknownOption, OffersTheNearest) {
  EXPECT_EQ(refusal({"--blok", "64"}), "no option \"--blok\"; nearest: --block; --help shows all");
  EXPECT_EQ(refusal({"--sed=123456789"}),
            "no option \"--sed=123456789\"; nearest: --seed; --help shows all");
  EXPECT_EQ(refusal({"--smaples", "5"}),
            "no option \"--smaples\"; nearest: --samples; --help shows all");
  EXPECT_THAT(refusal({"-n", "5"}), HasSubstr("nearest: --n;"));
}

TEST(MissingValue, SaysWhatIsAllowed) {
  EXPECT_THAT(refusal({"--n"}), StartsWith("--n needs a value; allowed: digits"));
  EXPECT_EQ(parse({"--json", "-"}).json, "-");
  // An option in the place of a value must not become the name of a file.
  EXPECT_EQ(refusal({"--json", "--warm"}),
            "--json needs a value; allowed: the name of a file, or - for standard output");
  EXPECT_THAT(refusal({"--n", "--once"}), StartsWith("--n: \"--once\" is not a count"));
  EXPECT_EQ(refusal({"--block"}), "--block needs a value; allowed: 1 to 1024");
  EXPECT_EQ(refusal({"--variant"}),
            "--variant needs a value; allowed: names or numbers from --list");
  EXPECT_EQ(refusal({"--json"}),
            "--json needs a value; allowed: the name of a file, or - for standard output");
  EXPECT_EQ(refusal({"--json", ""}),
            "--json needs a value; allowed: the name of a file, or - for standard output");
  EXPECT_EQ(refusal({"--sweep"}), "--sweep needs a value; allowed: n, block, all or rest");
  EXPECT_THAT(refusal({"--seed"}), StartsWith("--seed needs a value; "));
  EXPECT_THAT(refusal({"--samples"}), StartsWith("--samples needs a value; "));
  EXPECT_THAT(refusal({"--device"}), StartsWith("--device needs a value; "));
}

TEST(Flags, TakeNoValue) {
  EXPECT_EQ(refusal({"--once=5"}), "--once takes no value");
  EXPECT_EQ(refusal({"--warm=false"}), "--warm takes no value");
}

TEST(Help, NamesEveryOptionTheDefaultsAndTheExitStatuses) {
  const std::string text = help();
  EXPECT_THAT(text,
              StartsWith("chapter05_unroll4: more work per thread\nUsage: ./run [OPTIONS] [N]"));
  for (const char* option :
       {"--n ", "--block", "--variant", "--sweep", "--once", "--seed", "--samples", "--warm",
        "--json", "--list", "--device", "-h,--help", "N ", "METHOD", "THREADS"}) {
    EXPECT_THAT(text, HasSubstr(std::string("  ") + option));
  }
  for (const char* value : {"2^24 on a GPU", "(default: 128)", "2018", "auto", "2^28"}) {
    EXPECT_THAT(text, HasSubstr(value));
  }
  EXPECT_THAT(text, HasSubstr("Examples:\n  ./run "));
  EXPECT_THAT(text, HasSubstr("./run --sweep n --json mine.json"));
  EXPECT_THAT(text, HasSubstr("./run 16M smem 128"));
  EXPECT_THAT(text, HasSubstr("Exit status: 0 "));
  EXPECT_THAT(text, HasSubstr("77 what the program needs is not on this machine.\n"));
  std::size_t from = 0;
  for (std::size_t to = 0; (to = text.find('\n', from)) != std::string::npos; from = to + 1) {
    EXPECT_LE(to - from, 88u) << text.substr(from, to - from);
  }
}

TEST(Help, ComesBeforeAnyComplaint) {
  EXPECT_THROW(parse({"--n", "abc", "--help"}), book::HelpWanted);
  EXPECT_THROW(parse({"-h"}), book::HelpWanted);
}

TEST(Help, ExamplesWorkAsWritten) {
  EXPECT_NO_THROW(parse({}));
  EXPECT_NO_THROW(parse({"--sweep", "n", "--json", "mine.json"}));
  EXPECT_NO_THROW(parse({"16M", "smem", "128"}));
}

TEST(Parse, WorksWithoutVariants) {
  const char* arguments[] = {"./run", "--help"};
  EXPECT_THROW(book::parse_options(2, arguments, {"chapter99_none", "none", {}}), book::HelpWanted);
}

}  // namespace
