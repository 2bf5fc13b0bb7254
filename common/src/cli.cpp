#include "book/cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>
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

/// One option, or one place of the classic form: all that there is to say of it.
struct Row {
  std::string name;
  std::string placeholder;  ///< for the value, as --help shows it; a flag has none
  std::string help;
  std::string allowed;                           ///< as messages say it
  std::function<void(const std::string&)> take;  ///< reads a value, or refuses it
  bool several = false;

  // What was typed, as text: CLI11 only sorts it, so that --help and what nothing takes come first.
  std::optional<std::string> text = {};
  std::vector<std::string> texts = {};
  bool given = false;
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

void refuse_twice(bool given, std::string_view option, std::string_view position) {
  if (!given) return;
  throw bad_argument(fmt::format("{} and {} are both given: leave one out", option, position));
}

void add_variant(Options& options, const std::string& text, const ProgramDescription& program) {
  std::string name = parse_variant("--variant", text, program);
  if (std::find(options.variants.begin(), options.variants.end(), name) != options.variants.end()) {
    throw bad_argument(fmt::format("--variant: {} is named twice", in_quotes(name)));
  }
  options.variants.push_back(std::move(name));
}

Error needs_value(std::string_view option, std::string_view allowed) {
  return bad_argument(fmt::format("{} needs a value; allowed: {}", option, allowed));
}

std::string parse_file(std::string_view option, const std::string& text) {
  if (text.empty() || text.starts_with("--")) throw needs_value(option, kFiles);
  return text;
}

/// Every option, in the order of --help, then the classic form's three places.
std::vector<Row> rows_of(const ProgramDescription& program, Options& options) {
  const std::vector<std::string> sweeps = sweeps_of(program);
  const bool has_blocks =
      std::find(program.axes.begin(), program.axes.end(), "block") != program.axes.end();
  const auto flag = [](std::string name, bool& to, std::string help) {
    return Row{std::move(name), "", std::move(help), "", [&to](const std::string&) { to = true; }};
  };
  const std::string counts{kCounts}, blocks{kBlocks};
  return {
      {"--n", "COUNT", "elements: 16777216, 2^24 or 16M (default: 2^24 on a GPU)", counts,
       [&](const std::string& text) { options.n = parse_count("--n", text); }},
      {"--block", "THREADS",
       fmt::format("threads per block, 1 to 1024 (default: {})", program.block), blocks,
       [&](const std::string& text) { options.block = parse_block("--block", text); }},
      {"--variant", "NAME...", "run these, by name or number (default: all but the legacy ones)",
       "names or numbers from --list",
       [&](const std::string& text) { add_variant(options, text, program); }, true},
      {"--sweep", "AXIS",
       fmt::format("go over the values of {}{}", either(sweeps),
                   has_blocks ? "; blocks at n = 2^28" : ""),
       either(sweeps),
       [&options, sweeps](const std::string& text) { options.sweep = parse_sweep(text, sweeps); }},
      flag("--once", options.once, "one launch and its check, untimed: for profilers"),
      {"--seed", "SEED", "what the input is made from (default: 2018)", std::string{kSeeds},
       [&](const std::string& text) {
         constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
         options.seed = parse_between("--seed", text, 0, kLargest, kSeeds);
       }},
      {"--samples", "COUNT", "exactly so many samples (default: until precise)",
       std::string{kSamples},
       [&](const std::string& text) {
         options.samples = parse_between("--samples", text, 1, 100000, kSamples);
       }},
      flag("--warm", options.warm, "time with whatever the L2 holds (default: emptied)"),
      {"--json", "FILE", "write the record, with every sample, to FILE (- for stdout)",
       std::string{kFiles},
       [&](const std::string& text) { options.json = parse_file("--json", text); }},
      flag("--list", options.list, "list the variants and stop"),
      {"--recheck", "FILE", "compare the useful bytes in FILE with the formulas and stop",
       "a record", [&](const std::string& text) { options.recheck = text; }},
      {"--device", "WHICH", "auto, gpu, gpu:K or embedded (default: auto)", std::string{kDevices},
       [&](const std::string& text) { options.device = parse_device(text); }},
      {"N", " ", "the same as --n", counts,
       [&](const std::string& text) {
         refuse_twice(options.n.has_value(), "--n", "N");
         options.n = parse_count("N", text);
       }},
      {"METHOD", " ", "a variant's name, or its number in --list", "",
       [&](const std::string& text) {
         refuse_twice(!options.variants.empty(), "--variant", "METHOD");
         options.variants = {parse_variant("METHOD", text, program)};
       }},
      {"THREADS", " ", "the same as --block", blocks,
       [&](const std::string& text) {
         refuse_twice(options.block.has_value(), "--block", "THREADS");
         options.block = parse_block("THREADS", text);
       }},
  };
}

std::unique_ptr<CLI::App> make_app(std::vector<Row>& rows, const ProgramDescription& program,
                                   const std::string& self) {
  auto app = std::make_unique<CLI::App>(program.name + ": " + program.title, self);
  app->get_formatter()->column_width(24);
  app->set_help_flag("-h,--help", "print this and stop");
  for (Row& row : rows) {
    if (row.placeholder.empty()) {
      app->add_flag(row.name, row.given, row.help)->disable_flag_override();
    } else if (row.several) {
      app->add_option(row.name, row.texts, row.help)->option_text(row.placeholder);
    } else {
      app->add_option(row.name, row.text, row.help)
          ->option_text(row.placeholder)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
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
/// needed, or one where none is. Its message begins with the option's name, a flag's without
/// dashes.
Error wrong_count(const std::string& message, const std::vector<Row>& rows) {
  const std::string name = message.substr(0, message.find_first_of(": "));
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& each) {
    return each.name == name || each.name == "--" + name;
  });
  if (row == rows.end()) return bad_argument(message);
  if (!row->placeholder.empty()) return needs_value(row->name, row->allowed);
  return bad_argument(fmt::format("{} takes no value", row->name));
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
  Options options;
  std::vector<Row> rows = rows_of(program, options);
  const auto app = make_app(rows, program, internal::printable(argc > 0 ? argv[0] : "./run"));
  try {
    app->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpWanted{app->help()};
  } catch (const CLI::ExtrasError&) {
    throw unexpected(*app);
  } catch (const CLI::ParseError& error) {
    throw wrong_count(error.what(), rows);
  }
  for (const Row& row : rows) {
    if (row.text) row.take(*row.text);
    if (row.given) row.take("");
    for (const std::string& text : row.texts) row.take(text);
  }
  refuse_contradictions(options);
  return options;
}

}  // namespace book
