#include "options.hpp"

#include <CLI/CLI.hpp>
#include <regex>

#include "stop.hpp"

namespace emu {
namespace {

/// An option with a value, which reaches the library as an environment variable.
struct Setting {
  const char* option;
  const char* variable;
  const char* value;    ///< what its value is called in the help
  const char* pattern;  ///< what its value must match, or one of two; the library reads it again
  const char* refusal;  ///< what is said of any other
  const char* help;
};

constexpr const char* kNumber = "[0-9]{1,19}";
constexpr const char* kText = "any";
constexpr const char* kFile = "a name that doesn't begin with -";
constexpr const char* kNoNumber = "not a number";
constexpr const char* kNoFile = "not a FILE (put ./ before a name that begins with -)";

constexpr Setting kSettings[] = {
    {"--schedule", "EMU_SCHEDULE", "SCHEDULE", "together|apart:[0-9]{1,19}",
     "there are together and apart:SEED, a SEED of up to 19 digits",
     "together (default): lanes of a warp run together where they\n"
     "can; apart:SEED: lanes, warps and blocks take turns in a\n"
     "random order that the number SEED fixes, and meet only where\n"
     "PTX says so"},
    {"--check", "EMU_CHECK", "LIST",
     "(race|memory|init|sync|host|sum|all)(,(race|memory|init|sync|host|sum|all))*",
     "there are race, memory, init, sync, host, sum and all, with commas between",
     "look for what a GPU hides: any of these, with commas\n"
     "between, or all, which is the first five\n"
     "  race    accesses of threads or streams that nothing orders\n"
     "  memory  illegal accesses and frees, memory never freed\n"
     "  init    values that were never written, where they are used\n"
     "  sync    barriers and warp operations used against their\n"
     "          rules\n"
     "  host    what host code gets wrong: failures that it never\n"
     "          asks about, memory of the wrong side, results read\n"
     "          before they are there\n"
     "  sum     elements of the data that a sum lacks, or has twice;\n"
     "          it looks for races too"},
    {"--findings", "EMU_FINDINGS", "FILE", kFile, kNoFile,
     "also write what --check found to FILE, one JSON object per\n"
     "line"},
    {"--csv", "EMU_CSV", "FILE", kFile, kNoFile,
     "write what each launch counted, as `ncu --csv --page raw`\n"
     "does, and say at the end which counts are hardware's"},
    {"--trace", "EMU_TRACE", "FILE", kFile, kNoFile,
     "write what one block does, instruction by instruction: a\n"
     "block of the first launch, or as these say"},
    {"--trace-kernel", "EMU_TRACE_KERNEL", "TEXT", kText, "",
     "count only launches of kernels with TEXT in their name"},
    {"--trace-launch", "EMU_TRACE_LAUNCH", "K", kNumber, kNoNumber, "launch number K, from 0"},
    {"--trace-block", "EMU_TRACE_BLOCK", "X,Y,Z", "[0-9]{1,9},[0-9]{1,9},[0-9]{1,9}", "not X,Y,Z",
     "the block (default: 0,0,0)"},
    {"--trace-limit", "EMU_TRACE_LIMIT", "N", kNumber, kNoNumber,
     "at most N instructions (default: 100000)"},
    {"--host-log", "EMU_HOST_LOG", "FILE", kFile, kNoFile,
     "write what PROGRAM's host code asks of the device:\n"
     "allocations, copies, sets, and launches with their arguments"},
    {"--device-profile", "EMU_DEVICE_PROFILE", "NAME", "h200|t4|gtx1050ti",
     "there are h200, t4 and gtx1050ti", "pass for this GPU: h200 (default), t4, gtx1050ti"},
    {"--threads", "EMU_THREADS", "N", kNumber, kNoNumber,
     "use N threads of the CPU (default: all cores)"},
    {"--memory", "EMU_MEMORY", "BYTES", kNumber, kNoNumber,
     "device memory (default: half of what is free, at most 4 GiB)"},
    {"--max-instructions", "EMU_MAX_INSTRUCTIONS", "N", kNumber, kNoNumber,
     "stop a kernel after N warp instructions (default:\n"
     "20000000000, and after some ten seconds in which no block\n"
     "ends and none writes to global memory)"},
    {"--fresh", "EMU_FRESH", "WHAT", "zeros|pattern", "there are zeros and pattern",
     "fill new device and shared memory with zeros, or with bytes\n"
     "of 0xcd, so that what was never written shows (default:\n"
     "zeros, and pattern under --check)"},
};

constexpr const char* kUsage = "usage: tools/emulate [OPTION...] PROGRAM [ARGUMENT...]";

/// std::regex calls itself for every character: a text that may be long is not for it.
bool matches(const std::string& value, std::string_view pattern) {
  constexpr std::size_t kLongest = 200;
  if (pattern == kText) return true;
  if (pattern == kFile) return !value.empty() && value.front() != '-';
  return value.size() <= kLongest && std::regex_match(value, std::regex(std::string(pattern)));
}

class Help : public CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override {
    return std::string("\n") + kUsage + "\n";
  }
};

}  // namespace

std::string option_of(const std::string& variable) {
  for (const Setting& setting : kSettings) {
    if (variable == setting.variable) return setting.option;
  }
  return variable;
}

Request parse_command_line(int argc, char** argv) {
  Request request;
  std::vector<std::string> values(std::size(kSettings));
  CLI::App app(
      "Runs PROGRAM, which must use the shared CUDA runtime (nvcc -cudart shared) and hold PTX,\n"
      "on the embedded device.");
  app.formatter(std::make_shared<Help>());
  app.get_formatter()->column_width(26);
  app.footer(
      "FILE is replaced when PROGRAM has ended by itself; until then, and when a signal ends\n"
      "PROGRAM, it stays as it was, and what is written lies beside it, in FILE.XXXXXXXX.part.\n"
      "\n"
      "Exit status: PROGRAM's; 4 if --check found something; 2 for a bad argument, or for a FILE\n"
      "that could not be written although PROGRAM itself says 0; 77 if something that is needed\n"
      "isn't here; 128 plus its number for a signal that ended PROGRAM.");
  app.set_help_flag("-h,--help", "print this");
  app.add_flag("--list-unsupported", request.list_unsupported,
               "don't run PROGRAM: list what its file needs that the device\n"
               "doesn't have; the exit status is 0 for nothing, 1 for\n"
               "something")
      ->disable_flag_override();
  app.add_flag("--print-ptx", request.print_ptx,
               "don't run PROGRAM: print the PTX that the device takes of\n"
               "its file, a module after another")
      ->disable_flag_override();
  for (std::size_t i = 0; i < values.size(); ++i) {
    app.add_option(kSettings[i].option, values[i], kSettings[i].help)
        ->option_text(kSettings[i].value)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  app.prefix_command();  // what comes after PROGRAM is PROGRAM's
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    request.help = app.help();
    return request;
  } catch (const CLI::ParseError& error) {
    // Every value is a text to CLI11, so what is left is an option without its value.
    const std::string message = error.what();
    const std::string option = message.substr(0, message.find_first_of(": "));
    throw Stop(kBadArgument, option.starts_with("--") ? option + " needs a value"
                                                      : "--" + option + " takes no value");
  }

  request.command = app.remaining();
  if (!request.command.empty() && request.command.front() == "--") {
    request.command.erase(request.command.begin());
  } else if (!request.command.empty() && request.command.front().starts_with('-')) {
    throw Stop(kBadArgument,
               request.command.front() + ": no such option; tools/emulate --help lists them");
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Setting& setting = kSettings[i];
    if (app.count(setting.option) == 0) continue;
    if (!matches(values[i], setting.pattern)) {
      throw Stop(kBadArgument,
                 std::string(setting.option) + " " + values[i] + ": " + setting.refusal);
    }
    request.settings[setting.variable] = values[i];
  }
  if (request.command.empty()) {
    throw Stop(kBadArgument,
               std::string("PROGRAM is missing\n") + kUsage + "; --help lists the options");
  }
  return request;
}

}  // namespace emu
