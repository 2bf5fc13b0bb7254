#include "book/cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "book/check.hpp"
#include "internal.hpp"

namespace book {
namespace {

using internal::in_quotes;

// What each option allows, as its messages say it.
constexpr std::string_view kCounts =
    "digits (16777216), a power of two (2^24), or digits with K, M or G (16M); at most 2^60";
constexpr std::string_view kBlocks = "1 to 1024";
constexpr std::string_view kSamples = "1 to 100000";
constexpr std::string_view kSeeds = "0 to 18446744073709551615";
constexpr std::string_view kFiles = "the name of a file, or - for standard output";
constexpr std::string_view kDevices = "auto, gpu, gpu:K with K counted from 0, or embedded";

// Far past any device's memory, and small enough that a number of bytes stays within 64 bits.
constexpr std::size_t kMaxCount = std::size_t{1} << 60;

Error refused(std::string_view option, std::string_view value, std::string_view why,
              std::string_view allowed) {
  return bad_argument(
      fmt::format("{}: {} {}; allowed: {}", option, in_quotes(value), why, allowed));
}

/// Digits alone, no sign and no space; empty for anything else, or past 64 bits.
std::optional<std::uint64_t> parse_digits(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::uint64_t parse_between(std::string_view option, std::string_view text, std::uint64_t low,
                            std::uint64_t high, std::string_view allowed) {
  const auto value = parse_digits(text);
  if (!value || *value < low || *value > high) {
    throw refused(option, text, "is not a whole number in range", allowed);
  }
  return *value;
}

unsigned parse_block(std::string_view option, std::string_view text) {
  return static_cast<unsigned>(parse_between(option, text, 1, 1024, kBlocks));
}

/// "a, b or c".
std::string either(const std::vector<std::string>& words) {
  if (words.empty()) return "none";
  std::string text = words.front();
  for (std::size_t i = 1; i < words.size(); ++i) {
    text += (i + 1 < words.size() ? ", " : " or ") + words[i];
  }
  return text;
}

/// What `--sweep` takes: an axis, or every shape where there is more than the usual run.
std::vector<std::string> sweeps_of(const ProgramDescription& program) {
  std::vector<std::string> words = program.axes;
  const auto is_shape = [](const std::string& axis) { return axis == "n" || axis == "block"; };
  if (std::any_of(words.begin(), words.end(), is_shape))
    words.insert(words.end(), {std::string(kEveryShape), std::string(kOtherShapes)});
  return words;
}

std::string parse_sweep(const std::string& text, const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), text) != words.end()) return text;
  throw refused("--sweep", text, "is nothing to sweep over", either(words));
}

DeviceRequest parse_device(std::string_view text) {
  using Kind = DeviceRequest::Kind;
  if (text == "auto") return {Kind::kAuto, {}};
  if (text == "gpu") return {Kind::kGpu, {}};
  if (text == "embedded") return {Kind::kEmbedded, {}};
  if (text.starts_with("gpu:")) {
    const auto index = parse_digits(text.substr(4));
    if (index && *index <= std::numeric_limits<int>::max()) {
      return {Kind::kGpu, static_cast<int>(*index)};
    }
  }
  throw refused("--device", text, "is not a device", kDevices);
}

/// A variant by name, or by its number in `--list`.
std::string parse_variant(std::string_view option, const std::string& text,
                          const ProgramDescription& program) {
  const auto& names = program.variants;
  if (std::find(names.begin(), names.end(), text) != names.end()) return text;
  if (const auto number = parse_digits(text)) {
    if (*number >= 1 && *number <= names.size()) return names[*number - 1];
    throw refused(option, text, "is not the number of a variant",
                  fmt::format("1 to {}, or a name; --list shows both", names.size()));
  }
  throw bad_argument(fmt::format("{}: no variant {} in {}; nearest: {}; --list shows all", option,
                                 in_quotes(text), program.name,
                                 fmt::join(nearest_names(text, names), ", ")));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);  // from a's first i characters to b's first j
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({changed, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

/// What was typed, as text: checked in one place, whichever of the two forms it came in.
struct Typed {
  std::optional<std::string> n, block, sweep, seed, samples, json, recheck, device;
  std::optional<std::string> first, second, third;
  std::vector<std::string> variants;
  bool once = false, list = false, warm = false;
};

std::string examples(const ProgramDescription& program, const std::string& self) {
  const std::string method = program.variants.empty() ? "1" : program.variants.front();
  const std::vector<std::pair<std::string, std::string>> lines{
      {self, "every variant at the default size"},
      {self + " --sweep n --json mine.json", "over all sizes, every sample kept"},
      {self + " 16M " + method + " 128", "the classic form: N METHOD THREADS"}};
  std::size_t width = 0;
  for (const auto& [command, what] : lines) width = std::max(width, command.size());
  std::string text = "Examples:\n";
  for (const auto& [command, what] : lines) {
    text += fmt::format("  {:<{}}   {}\n", command, width, what);
  }
  return text;
}

std::unique_ptr<CLI::App> make_app(Typed& typed, const ProgramDescription& program,
                                   const std::string& self) {
  auto app = std::make_unique<CLI::App>(program.name + ": " + program.title, self);
  const auto value = [&app](const std::string& name, std::optional<std::string>& to,
                            const std::string& placeholder, const std::string& help) {
    app->add_option(name, to, help)
        ->option_text(placeholder)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  };
  const auto flag = [&app](const std::string& name, bool& to, const std::string& help) {
    app->add_flag(name, to, help)->disable_flag_override();
  };
  app->get_formatter()->column_width(24);
  const bool has_blocks =
      std::find(program.axes.begin(), program.axes.end(), "block") != program.axes.end();
  app->set_help_flag("-h,--help", "print this and stop");
  value("--n", typed.n, "COUNT", "elements: 16777216, 2^24 or 16M (default: 2^24 on a GPU)");
  value("--block", typed.block, "THREADS",
        fmt::format("threads per block, 1 to 1024 (default: {})", program.block));
  app->add_option("--variant", typed.variants,
                  "run these, by name or number (default: all but the legacy ones)")
      ->option_text("NAME...");
  value("--sweep", typed.sweep, "AXIS",
        fmt::format("go over the values of {}{}", either(sweeps_of(program)),
                    has_blocks ? "; blocks at n = 2^28" : ""));
  flag("--once", typed.once, "one launch and its check, untimed: for profilers");
  value("--seed", typed.seed, "SEED", "what the input is made from (default: 2018)");
  value("--samples", typed.samples, "COUNT", "exactly so many samples (default: until precise)");
  flag("--warm", typed.warm, "time with whatever the L2 holds (default: emptied)");
  value("--json", typed.json, "FILE",
        "write the record, with every sample, to FILE (- for stdout)");
  flag("--list", typed.list, "list the variants and stop");
  value("--recheck", typed.recheck, "FILE",
        "compare the useful bytes in FILE with the formulas and stop");
  value("--device", typed.device, "WHICH", "auto, gpu, gpu:K or embedded (default: auto)");
  value("N", typed.first, " ", "the same as --n");
  value("METHOD", typed.second, " ", "a variant's name, or its number in --list");
  value("THREADS", typed.third, " ", "the same as --block");
  app->footer(examples(program, self) +
              "\nExit status: 0 every result agreed, 1 a wrong result, 2 a bad argument,\n"
              "3 a CUDA error, 77 what the program needs is not on this machine.");
  return app;
}

/// Names the first argument that nothing takes.
Error unexpected(const CLI::App& app) {
  const std::string word = app.remaining().front();
  if (!word.starts_with('-')) {
    return bad_argument(
        fmt::format("unexpected {}: N METHOD THREADS are at most three", in_quotes(word)));
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) names.push_back(option->get_name());
  }
  return bad_argument(fmt::format("no option {}; nearest: {}; --help shows all", in_quotes(word),
                                  nearest_names(word.substr(0, word.find('=')), names).front()));
}

/// The only mistakes that are left to CLI11, to which every value is a text: none where one is
/// needed, or one where none is.
Error wrong_count(std::string_view option, const ProgramDescription& program) {
  const std::string axes = either(sweeps_of(program));
  const std::pair<std::string_view, std::string_view> allowed_values[] = {
      {"--n", kCounts},   {"--block", kBlocks},      {"--variant", "names or numbers from --list"},
      {"--sweep", axes},  {"--seed", kSeeds},        {"--samples", kSamples},
      {"--json", kFiles}, {"--recheck", "a record"}, {"--device", kDevices}};
  for (const auto& [name, allowed] : allowed_values) {
    if (name == option) {
      return bad_argument(fmt::format("{} needs a value; allowed: {}", option, allowed));
    }
  }
  const std::string dashes = option.starts_with("--") ? "" : "--";  // CLI11 leaves a flag's out
  return bad_argument(fmt::format("{}{} takes no value", dashes, option));
}

/// Options that contradict each other.
void refuse_contradictions(const Options& options) {
  const auto leave_out = [](bool given, const std::string& reason, const std::string& option) {
    if (given) throw bad_argument(fmt::format("{}: leave out {}", reason, option));
  };
  if (options.once) {
    const std::string reason = "--once launches once and times nothing";
    leave_out(!options.sweep.empty(), reason, "--sweep");
    leave_out(options.samples.has_value(), reason, "--samples");
    leave_out(options.warm, reason, "--warm");
    leave_out(!options.json.empty() && !options.list, reason, "--json");
  }
  const bool all = options.sweep == kEveryShape || options.sweep == kOtherShapes;
  leave_out((all || options.sweep == "n") && options.n,
            fmt::format("--sweep {} chooses n", options.sweep), "--n");
  leave_out((all || options.sweep == "block") && options.block,
            fmt::format("--sweep {} chooses the block", options.sweep), "--block");
}

}  // namespace

std::size_t parse_count(std::string_view option, std::string_view text) {
  std::optional<std::uint64_t> digits;
  unsigned shift = 0;
  if (text.starts_with("2^")) {
    digits = 1;
    // Exponents with more digits than any allowed one are too large, not malformed.
    const auto exponent = parse_digits(text.substr(2));
    if (!exponent) throw refused(option, text, "is not a count", kCounts);
    shift = static_cast<unsigned>(std::min<std::uint64_t>(*exponent, 64));
  } else {
    std::string_view number = text;
    constexpr std::string_view kUnits = "KMG";
    const std::size_t unit = text.empty() ? kUnits.npos : kUnits.find(text.back());
    if (unit != kUnits.npos) {
      shift = 10 * (static_cast<unsigned>(unit) + 1);
      number.remove_suffix(1);
    }
    if (number.empty() || number.find_first_not_of("0123456789") != number.npos) {
      throw refused(option, text, "is not a count", kCounts);
    }
    digits = parse_digits(number);  // empty only for a number past 64 bits
  }
  if (!digits || shift > 60 || *digits > kMaxCount >> shift) {
    throw refused(option, text, "is too large", kCounts);
  }
  return static_cast<std::size_t>(*digits << shift);
}

std::vector<std::string> nearest_names(std::string_view wanted,
                                       const std::vector<std::string>& names) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  ranked.reserve(names.size());
  for (const std::string& name : names) ranked.emplace_back(edit_distance(wanted, name), name);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, ranked.size()); ++i) {
    nearest.push_back(ranked[i].second);
  }
  return nearest;
}

Options parse_options(int argc, const char* const* argv, const ProgramDescription& program) {
  Typed typed;
  const auto app = make_app(typed, program, internal::printable(argc > 0 ? argv[0] : "./run"));
  try {
    app->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpWanted{app->help()};
  } catch (const CLI::ExtrasError&) {
    throw unexpected(*app);
  } catch (const CLI::ParseError& error) {
    const std::string message = error.what();  // begins with the option's name
    throw wrong_count(message.substr(0, message.find_first_of(": ")), program);
  }

  Options options;
  const auto twice = [](bool given, const std::string& option, const std::string& position) {
    if (given) {
      throw bad_argument(fmt::format("{} and {} are both given: leave one out", option, position));
    }
  };
  if (typed.n) options.n = parse_count("--n", *typed.n);
  if (typed.first) {
    twice(typed.n.has_value(), "--n", "N");
    options.n = parse_count("N", *typed.first);
  }
  if (typed.block) options.block = parse_block("--block", *typed.block);
  if (typed.third) {
    twice(typed.block.has_value(), "--block", "THREADS");
    options.block = parse_block("THREADS", *typed.third);
  }
  for (const std::string& variant : typed.variants) {
    const std::string name = parse_variant("--variant", variant, program);
    if (std::find(options.variants.begin(), options.variants.end(), name) !=
        options.variants.end()) {
      throw bad_argument(fmt::format("--variant: {} is named twice", in_quotes(name)));
    }
    options.variants.push_back(name);
  }
  if (typed.second) {
    twice(!typed.variants.empty(), "--variant", "METHOD");
    options.variants = {parse_variant("METHOD", *typed.second, program)};
  }
  if (typed.sweep) options.sweep = parse_sweep(*typed.sweep, sweeps_of(program));
  if (typed.seed) {
    options.seed =
        parse_between("--seed", *typed.seed, 0, std::numeric_limits<std::uint64_t>::max(), kSeeds);
  }
  if (typed.samples) {
    options.samples = parse_between("--samples", *typed.samples, 1, 100000, kSamples);
  }
  if (typed.json) {
    if (typed.json->empty() || typed.json->starts_with("--")) {
      throw wrong_count("--json", program);
    }
    options.json = *typed.json;
  }
  if (typed.recheck) options.recheck = *typed.recheck;
  if (typed.device) options.device = parse_device(*typed.device);
  options.once = typed.once;
  options.list = typed.list;
  options.warm = typed.warm;
  refuse_contradictions(options);
  return options;
}

}  // namespace book
