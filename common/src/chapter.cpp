#include "book/chapter.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <sstream>
#include <string_view>
#include <system_error>

#include "book/cli.hpp"
#include "book/files.hpp"
#include "book/list.hpp"
#include "book/recheck.hpp"
#include "internal.hpp"
#include "runner.hpp"

namespace book {
namespace {

/// The name that `--json` takes for standard output.
constexpr std::string_view kStandardOutput = "-";

/// Says at once, rather than after measuring, that a record can't be written.
void refuse_unwritable(const std::string& path) {
  if (path.empty() || path == kStandardOutput) return;
  try {
    require_writable(path);
  } catch (const Error& error) {
    throw bad_argument(std::string("--json: ") + error.what());
  }
}

/// Writes what `--json` asked for, where it was given.
void write_json(const std::string& path, const std::string& text) {
  if (path == kStandardOutput) {
    std::cout << text;
  } else if (!path.empty()) {
    write_whole(path, text);
  }
}

/// Of the architectures built for, those that the embedded device can take: it reads PTX.
std::string ptx_among(const std::string& architectures) {
  std::string ptx;
  std::istringstream list(architectures);
  for (std::string one; std::getline(list, one, ';');) {
    if (!one.ends_with("-real")) ptx += (ptx.empty() ? "" : ";") + one;
  }
  return ptx;
}

std::string heading(const Session& session, const std::string& title, const Options& options,
                    const Defaults& defaults) {
  const Device& d = session.device;
  std::string text = fmt::format("{}: {}\ndevice  {}, compute capability {}.{}", session.chapter,
                                 title, d.name, d.major, d.minor);
  text += d.embedded ? ": the CPU checks and counts, and has no times\n"
                     : fmt::format(", {} SMs, L2 {}, peak {:.0f} GB/s\n", d.sm_count,
                                   bytes_text(d.l2_bytes), d.peak_gb_per_s());
  text += fmt::format("built   CUDA {} for {}", internal::toolkit(),
                      d.embedded ? ptx_among(built_for()) : built_for());
  if (!d.embedded) {
    text += fmt::format("; driver takes CUDA {}", version_text(d.driver_version));
  }
  text += "\nrun     ";
  if (options.sweep.empty()) {
    text += "n = " + count_text(options.n.value_or(default_n(d)));
  } else {
    text += options.sweep == "block"        ? "sweep over blocks"
            : options.sweep == kEveryShape  ? "every size and block"
            : options.sweep == kOtherShapes ? "every other size and block"
                                            : "sweep over " + options.sweep;
  }
  if (options.sweep != "block") {
    text += fmt::format(", block {}", options.block.value_or(defaults.block));
  }
  text += fmt::format(", seed {}", session.seed);
  if (options.warm) text += ", cache warm";
  if (options.once && !d.embedded) text += ", once, no times";
  return text + "\n\n";
}

/// What has to be alike on all ranks, in the words of the command line.
std::string wanted(const Options& options) {
  std::string text = fmt::format("--seed {}", options.seed);
  if (options.n) text = fmt::format("--n {} ", *options.n) + text;
  if (options.block) text += fmt::format(" --block {}", *options.block);
  for (const std::string& name : options.variants) text += " --variant " + name;
  if (!options.sweep.empty()) text += " --sweep " + options.sweep;
  if (options.samples) text += fmt::format(" --samples {}", *options.samples);
  if (options.once) text += " --once";
  if (options.warm) text += " --warm";
  return text;
}

/// Says which useful bytes in a record differ from what the formulas make.
int recheck(const std::string& path, const std::string& chapter,
            const std::vector<Variant>& variants) {
  std::error_code none;
  // A device or a pipe may have no end.
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, none)) file.open(path, std::ios::binary);
  std::ostringstream text;
  if (!file.is_open() || !(text << file.rdbuf())) {
    throw bad_argument(fmt::format("--recheck {}: cannot be read", path));
  }
  const std::vector<std::string> differing = differing_bytes(path, text.str(), chapter, variants);
  for (const std::string& line : differing) std::cerr << chapter << ": " << line << "\n";
  if (!differing.empty()) return static_cast<int>(ExitCode::kWrongResult);
  std::cout << chapter << ": the useful bytes of every run are what the formulas make\n";
  return static_cast<int>(ExitCode::kAgreed);
}

/// Throws where standard output has not taken everything: a full disk, say.
void require_output() {
  if (std::cout) errno = 0;  // else it still says what went wrong
  if (std::cout.flush()) return;
  std::cout.clear();
  throw bad_argument(fmt::format("cannot write to standard output: {}",
                                 errno != 0 ? std::strerror(errno) : "not all of it was taken"));
}

}  // namespace

Chapter::Chapter(std::string name, std::string title, std::string next, Defaults defaults)
    : name_(std::move(name)),
      title_(std::move(title)),
      next_(std::move(next)),
      defaults_(std::move(defaults)) {}

void Chapter::add(Variant variant) {
  Launch& launch = variant.launch;
  if (!launch.problem && launch.make) {
    std::shared_ptr<Problem>& shared = problems_[launch.type];
    if (!shared) shared = launch.make();
    launch.problem = shared;
  }
  variants_.push_back(completed(std::move(variant), name_, defaults_));
}

void Chapter::add(std::vector<Variant> variants) {
  for (Variant& variant : variants) add(std::move(variant));
}

void Chapter::join(std::shared_ptr<Team> team) {
  team_ = std::move(team);
}

/// Tells who runs the program why it ends, and the other processes.
void Chapter::say(const std::string& why) const {
  std::cerr << name_ << (team_ ? fmt::format(": rank {}: ", team_->rank()) : ": ") << why << "\n";
  if (team_) team_->fail(why);
}

/// The end after an error. Of several processes this one ends at once: a GPU may be waiting for a
/// process that is gone, and to free what it uses would be to wait with it.
int Chapter::give_up(ExitCode code) const {
  if (team_) {
    std::cout.flush();
    std::cerr.flush();
    std::_Exit(static_cast<int>(code));
  }
  return static_cast<int>(code);
}

int Chapter::run(int argc, const char* const* argv) {
  int status = 0;
  try {
    try {
      status = run_or_throw(argc, argv);
    } catch (const HelpWanted& help) {
      std::cout << help.text;
    }
    require_output();
  } catch (const Error& error) {
    say(error.what());
    if (status == 0) status = static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    say("this machine has no memory left for what is to be printed");
    status = static_cast<int>(ExitCode::kCudaError);
  } catch (const std::exception& error) {
    say(error.what());
    status = static_cast<int>(ExitCode::kCudaError);
  }
  return status;
}

int Chapter::run_or_throw(int argc, const char* const* argv) {
  std::vector<std::string> names;
  for (const Variant& v : variants_) names.push_back(v.name);
  Options options =
      parse_options(argc, argv, {name_, title_, names, defaults_.block, axes_of(variants_)});
  const bool first = !team_ || team_->rank() == 0;  // the one that prints
  if (!first) options.json.clear();
  refuse_unwritable(options.json);
  // The record alone is on standard output where it goes there: people read the rest beside it.
  std::ostream nowhere(nullptr);
  std::ostream& out = !first ? nowhere : options.json == kStandardOutput ? std::cerr : std::cout;
  if (options.list) {
    write_json(options.json, list_json(name_, defaults_.block, variants_));
    out << list_text(name_, variants_);
    return static_cast<int>(ExitCode::kAgreed);
  }
  if (!options.recheck.empty()) return recheck(options.recheck, name_, variants_);
  const std::vector<const Variant*> chosen = choose(variants_, options);

  const Session session = begin(options, {argv, argv + argc});
  out << heading(session, title_, options, defaults_);
  require_output();
  if (options.n == std::size_t{0}) {
    out << "n = 0: no launch, and nothing to check (the sum of no elements is 0)\n";
    write_json(options.json, to_json(session, {}));
    return static_cast<int>(ExitCode::kAgreed);
  }
  return run_all(chosen, options, session, out);
}

/// Chooses the device, meets the other processes, and settles what the device leaves open.
Session Chapter::begin(Options& options, std::vector<std::string> command) {
  Session session;
  session.chapter = name_;
  session.command = std::move(command);
  options.device.most = team_ ? 1 : defaults_.devices;
  if (team_) {
    options.device.alone = false;
    options.device.local_rank = team_->local_rank();
  }
  session.device = choose_device(options.device);
  if (team_) {
    team_->start();
    team_->agree(wanted(options));
  }
  if (session.device.embedded) {
    if (!options.sweep.empty()) {
      throw bad_argument("--sweep: the embedded device has no times to sweep for");
    }
    options.once = true;
  }
  session.seed = options.seed;
  session.cache = to_string(options.warm ? Cache::kWarm : Cache::kCold);
  return session;
}

/// Runs every case of the plan, and prints and records what came of them.
int Chapter::run_all(const std::vector<const Variant*>& chosen, const Options& options,
                     const Session& session, std::ostream& out) {
  internal::Runner runner(options, session, team_.get());
  std::size_t free_bytes = internal::Runner::free_bytes();
  if (team_) {  // all ranks plan the same
    free_bytes = static_cast<std::size_t>(-team_->largest(-static_cast<double>(free_bytes)));
  }
  const Plan plan =
      make_plan(chosen, options, defaults_, session.device, free_bytes, team_ ? team_->size() : 1);
  ExitCode code = ExitCode::kAgreed;
  bool failed = false;
  try {
    for (std::size_t i = 0; i < plan.cases.size(); ++i) {
      if (!runner.run(plan.cases[i], i + 1, plan.cases.size())) code = ExitCode::kWrongResult;
    }
  } catch (const Error& error) {  // what was measured before it is not lost
    runner.end_progress();
    say(error.what());
    if (runner.runs().empty()) return give_up(error.code());
    code = error.code();
    failed = true;
  }
  runner.end_progress();

  if (!runner.runs().empty()) {
    out << (session.device.embedded ? counter_table(session, runner.runs())
                                    : table(session, runner.runs()));
  }
  for (const std::string& note : plan.notes) out << "note: " << note << "\n";
  if (!runner.runs().empty() && options.sweep.empty()) {
    out << "\n";
    for (const std::string& line : runner.agreed()) out << line << "\n";
  }
  if (!next_.empty()) out << "next: " << next_ << "\n";
  write_json(options.json, to_json(session, runner.runs()));
  return failed ? give_up(code) : static_cast<int>(code);
}

}  // namespace book
