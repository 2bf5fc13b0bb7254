#include "book/chapter.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>

#include "book/cli.hpp"
#include "book/embedded.hpp"
#include "internal.hpp"

namespace book {
namespace {

using detail::AnyVariant;

constexpr std::size_t kDefaultN = std::size_t{1} << 24;
constexpr std::size_t kEmbeddedDefaultN = std::size_t{1} << 20;
constexpr std::size_t kSweepLastN = std::size_t{1} << 30;
constexpr std::size_t kSweepBlockN = std::size_t{1} << 28;
constexpr unsigned kSweepBlocks[] = {32, 64, 128, 256, 512, 1024};
constexpr std::size_t kLargestGrid = 0x7fffffff;
/// Left free on the device for what the runtime itself allocates.
constexpr std::size_t kSlackBytes = std::size_t{64} << 20;

/// One variant in one shape.
struct Case {
  const AnyVariant* variant;
  Shape shape;
};

Shape shape_of(const AnyVariant& v, std::size_t n, unsigned block) {
  return {.n = n,
          .block = block,
          .grid = v.grid(n, block),
          .shared_bytes = v.shared_bytes ? v.shared_bytes(block) : 0};
}

/// The block a variant gets when nobody chose one: the nearest below the chapter's, else above.
unsigned default_block(const AnyVariant& v, const Defaults& defaults) {
  for (unsigned block = defaults.block; block > 0; --block) {
    if (v.blocks.takes(block)) return block;
  }
  unsigned block = defaults.block + 1;
  while (!v.blocks.takes(block)) ++block;
  return block;
}

std::vector<std::string> names_of(const std::vector<AnyVariant>& variants) {
  std::vector<std::string> names;
  for (const AnyVariant& v : variants) names.push_back(v.name);
  return names;
}

std::vector<VariantInfo> describe(const std::vector<AnyVariant>& variants,
                                  const std::string& chapter) {
  std::vector<VariantInfo> infos;
  for (const AnyVariant& v : variants) {
    infos.push_back({.name = v.name,
                     .from = v.from.empty() ? chapter : v.from,
                     .region = v.region,
                     .legacy = v.legacy,
                     .findings = v.findings,
                     .blocks = v.blocks.text,
                     .counted = v.sizes ? v.sizes->counted : std::vector<std::size_t>{},
                     .params = v.params,
                     .profiled = v.profiled,
                     .steady = v.steady});
  }
  return infos;
}

/// The variants to run: those named, or all that aren't legacy.
std::vector<const AnyVariant*> choose(const std::vector<AnyVariant>& variants,
                                      const Options& options) {
  std::vector<const AnyVariant*> chosen;
  if (options.variants.empty()) {
    for (const AnyVariant& v : variants) {
      if (!v.legacy) chosen.push_back(&v);
    }
    return chosen;
  }
  for (const std::string& name : options.variants) {
    const auto at = std::ranges::find(variants, name, &AnyVariant::name);
    // The command line has refused names that aren't there.
    if (std::ranges::find(chosen, &*at) == chosen.end()) chosen.push_back(&*at);
  }
  for (const AnyVariant* v : chosen) {
    if (v->legacy && chosen.size() > 1) {
      throw bad_argument("--variant " + v->name +
                         ": a legacy form may spoil what runs after it; name it alone");
    }
  }
  return chosen;
}

/// Why a variant does not run with a block.
std::string takes_not(const AnyVariant& v, unsigned block) {
  return "--block " + std::to_string(block) + ": " + v.name + " takes " + v.blocks.text;
}

/// A variant asked for by name must take the block asked for, whatever device there is.
void refuse_blocks(const std::vector<const AnyVariant*>& chosen, const Options& options) {
  if (!options.block || options.variants.empty()) return;
  for (const AnyVariant* v : chosen) {
    if (!v->blocks.takes(*options.block)) throw bad_argument(takes_not(*v, *options.block));
  }
}

/// Says at once, rather than after measuring, that a record can't be written.
void refuse_unwritable(const std::string& path) {
  if (path.empty()) return;
  try {
    require_writable(path);
  } catch (const Error& error) {
    throw bad_argument(std::string("--json: ") + error.what());
  }
}

/// Runs the cases of one invocation and collects what they gave.
class Running {
 public:
  Running(const Options& options, const Defaults& defaults, Session session)
      : options_(options),
        defaults_(defaults),
        session_(std::move(session)),
        progress_(isatty(STDERR_FILENO) != 0 && options.sweep != Options::Sweep::kNone) {
    if (!options_.once) timer_.emplace(session_.device);
    budget_ = free_device_bytes();
    budget_ -= std::min(budget_, kSlackBytes);
  }

  /// What to run, and in which order: shapes outside, so that one input serves all variants.
  std::vector<Case> plan(const std::vector<const AnyVariant*>& chosen) {
    std::vector<Case> cases;
    switch (options_.sweep) {
      case Options::Sweep::kNone: {
        for (const AnyVariant* v : chosen) {
          const unsigned block = options_.block.value_or(default_block(*v, defaults_));
          if (!takes(*v, block)) continue;
          for (const std::size_t n : sizes_of(*v)) {
            if (!takes_n(*v, n)) continue;
            const Shape shape = shape_of(*v, n, block);
            if (!shared_fits(*v, shape)) continue;
            refuse_past_memory(*v, shape);
            v->problem->accept(shape);
            cases.push_back({v, shape});
          }
        }
        break;
      }
      case Options::Sweep::kN:
        for (std::size_t n = defaults_.first_n; n <= kSweepLastN; n *= 2) {
          for (const AnyVariant* v : chosen) {
            // Only one of a sweep's launches is the first.
            if (v->timing.first_launch || !v->sized || v->sizes) continue;
            const unsigned block = options_.block.value_or(default_block(*v, defaults_));
            if (takes(*v, block)) add_if_fits(cases, *v, n, block);
          }
        }
        break;
      case Options::Sweep::kBlock:
        for (const unsigned block : kSweepBlocks) {
          for (const AnyVariant* v : chosen) {
            if (v->timing.first_launch || !v->shaped || v->sizes) continue;
            if (!v->blocks.takes(block)) continue;
            add_if_fits(cases, *v, options_.n.value_or(largest_n(chosen)), block);
          }
        }
        break;
    }
    if (cases.empty()) {
      std::string why;
      for (const std::string& note : notes_) why += (why.empty() ? "" : "; ") + note;
      throw bad_argument(why.empty() ? "no variant can run so" : why);
    }
    return cases;
  }

  /// Checks one case, and times it if it is right. Returns whether it was.
  bool run(const Case& c, std::size_t number, std::size_t of) {
    const AnyVariant& v = *c.variant;
    show_progress(c, number, of);
    Problem& problem = *v.problem;
    if (current_ != nullptr && current_ != &problem) current_->release();
    current_ = &problem;
    problem.prepare(c.shape, session_.seed, options_.once ? fill_of_once : Fill::kKernel);
    if (spoiled_.contains(&problem)) {
      problem.restore();
      spoiled_.erase(&problem);
    }

    Run run = record(c);
    problem.poison();
    Verdict verdict;
    if (!v.timing.first_launch || options_.once) {
      reset_device_counters();
      v.launch(c.shape);
      verdict = finish(v, problem);
      if (!verdict.agrees) return wrong(c, verdict);
      run.counters = device_counters();
      problem.poison();
    }
    if (!options_.once) {
      measure(c, run);
      verdict = finish(v, problem);  // of the last sample: a rare race may show only here
      if (!verdict.agrees) return wrong(c, verdict);
    }
    // Last: it loads the kernel, which is part of what a first launch costs, and how much shared
    // memory a block may have is what the launch has asked for.
    describe_kernel(c, run);
    run.verified = true;
    if (std::ranges::find(agreed_, verdict.message) == agreed_.end()) {
      agreed_.push_back(verdict.message);
    }
    runs_.push_back(std::move(run));
    return true;
  }

  void end_progress() const {
    if (progress_) std::fputs("\r\033[K", stderr);
  }
  const std::vector<Run>& runs() const { return runs_; }
  const std::vector<std::string>& notes() const { return notes_; }
  /// What the checks said, each once.
  const std::vector<std::string>& agreed() const { return agreed_; }

 private:
  void note(const std::string& text) {
    if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(text);
  }

  /// Whether v runs with a block; where not, the notes say so.
  bool takes(const AnyVariant& v, unsigned block) {
    if (v.blocks.takes(block)) return true;
    note(takes_not(v, block));
    return false;
  }

  /// The n at which a variant runs: what was asked for, else its own, else the book's.
  std::vector<std::size_t> sizes_of(const AnyVariant& v) const {
    const bool embedded = session_.device.embedded;
    if (options_.n) return {*options_.n};
    if (!v.sizes) return {embedded ? kEmbeddedDefaultN : kDefaultN};
    return embedded ? std::vector{v.sizes->usual_embedded} : v.sizes->usual;
  }

  /// Whether v runs with so large an n here; where not, the notes say so.
  bool takes_n(const AnyVariant& v, std::size_t n) {
    if (!v.sizes) return true;
    const std::size_t most = session_.device.embedded ? v.sizes->most_embedded : v.sizes->most;
    if (n <= most) return true;
    note("--n " + count_text(n) + ": " + v.name + " takes n up to " + count_text(most) + " on " +
         session_.device.name);
    return false;
  }

  /// Whether a block may have so much shared memory here; where not, the notes say so.
  bool shared_fits(const AnyVariant& v, const Shape& shape) {
    const Device& d = session_.device;
    if (shape.shared_bytes <= std::max(d.shared_optin, d.shared_per_block)) return true;
    note("left out: " + v.name + " needs " + bytes_text(shape.shared_bytes) +
         " of shared memory a block; " + d.name + " has " + bytes_text(d.shared_optin));
    return false;
  }

  bool fits(const AnyVariant& v, const Shape& shape) const {
    return v.problem->device_bytes(shape) <= budget_;
  }

  void refuse_past_memory(const AnyVariant& v, const Shape& shape) const {
    if (fits(v, shape)) return;
    throw bad_argument("--n " + count_text(shape.n) + ": needs " +
                       bytes_text(v.problem->device_bytes(shape)) + " of device memory, and " +
                       bytes_text(budget_) + " are free on " + session_.device.name);
  }

  /// Sweeps go as far as the device does, and say where they stopped.
  void add_if_fits(std::vector<Case>& cases, const AnyVariant& v, std::size_t n, unsigned block) {
    const Shape shape = shape_of(v, n, block);
    if (!shared_fits(v, shape)) return;
    if (!fits(v, shape)) {
      note("left out: n = " + count_text(n) + " needs more memory than is free");
      return;
    }
    try {
      v.problem->accept(shape);
    } catch (const Error& refused) {
      note("left out: " + v.name + ": " + refused.what());
      return;
    }
    cases.push_back({&v, shape});
  }

  /// The block sweep's n: 2^28, or the largest smaller power of two that every variant fits in.
  std::size_t largest_n(const std::vector<const AnyVariant*>& chosen) const {
    std::size_t n = kSweepBlockN;
    const auto all_fit = [&] {
      return std::ranges::all_of(chosen, [&](const AnyVariant* v) {
        return v->sizes || !v->shaped || fits(*v, shape_of(*v, n, default_block(*v, defaults_)));
      });
    };
    while (n > defaults_.first_n && !all_fit()) n /= 2;
    return n;
  }

  /// Waits for a launch and compares its result.
  Verdict finish(const AnyVariant& v, Problem& problem) {
    BOOK_CUDA(cudaGetLastError());
    BOOK_CUDA(cudaDeviceSynchronize());
    if (v.destroys_input) {
      if (options_.once) {
        spoiled_.insert(&problem);
      } else {
        problem.restore();
      }
    }
    return problem.check();
  }

  Run record(const Case& c) const {
    const AnyVariant& v = *c.variant;
    Run run;
    run.variant = v.name;
    run.from = v.from.empty() ? session_.chapter : v.from;
    run.region = v.region;
    run.legacy = v.legacy;
    run.n = c.shape.n;
    run.block = c.shape.block;
    run.params = v.params;
    run.grid = c.shape.grid;
    run.shared_bytes = c.shape.shared_bytes;
    const UsefulBytes bytes = v.problem->useful_bytes(c.shape);
    run.bytes_read = bytes.read;
    run.bytes_written = bytes.written;
    return run;
  }

  void describe_kernel(const Case& c, Run& run) const {
    const KernelFor& kernel_for = c.variant->kernel;
    const void* kernel = kernel_for ? kernel_for(c.shape.block) : nullptr;
    if (kernel == nullptr) return;
    cudaFuncAttributes attributes{};
    BOOK_CUDA(cudaFuncGetAttributes(&attributes, kernel));
    // The assembler gives out registers, and the embedded device runs what comes before it.
    if (!session_.device.embedded) run.registers = attributes.numRegs;
    run.local_bytes = attributes.localSizeBytes;
    run.shared_bytes += attributes.sharedSizeBytes;
    int blocks = 0;
    BOOK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, static_cast<int>(c.shape.block), c.shape.shared_bytes));
    run.blocks_per_sm = blocks;
  }

  void measure(const Case& c, Run& run) {
    const AnyVariant& v = *c.variant;
    Timing timing = v.timing;
    if (options_.warm && !v.fixed_cache) timing.cache = Cache::kWarm;
    Sampling sampling;
    if (options_.samples) sampling.min_samples = sampling.max_samples = *options_.samples;
    std::function<void()> restore;
    if (v.destroys_input) restore = [&v] { v.problem->restore(); };
    Measurement measured = timer_->measure(timing, sampling, restore, [&] { v.launch(c.shape); });
    run.samples_us = std::move(measured.samples_us);
    run.summary = summarize(run.samples_us);
    run.stopped_by = to_string(measured.stopped_by);
    run.cache = to_string(timing.cache);
    run.clock = to_string(timing.clock);
  }

  bool wrong(const Case& c, const Verdict& verdict) const {
    end_progress();
    std::cerr << session_.chapter << ": WRONG RESULT: " << c.variant->name
              << ", n = " << count_text(c.shape.n) << ", block " << c.shape.block << ": "
              << verdict.message << "; not timed\n";
    return false;
  }

  void show_progress(const Case& c, std::size_t number, std::size_t of) const {
    if (!progress_) return;
    std::fprintf(stderr, "\r\033[K%zu/%zu  %s  n = %s  block %u", number, of,
                 c.variant->name.c_str(), count_text(c.shape.n).c_str(), c.shape.block);
    std::fflush(stderr);
  }

  const Options& options_;
  const Defaults& defaults_;
  Session session_;
  bool progress_;
  std::optional<Timer> timer_;
  std::size_t budget_ = 0;            // device bytes that a problem may take
  Problem* current_ = nullptr;        // the one that has them
  std::set<const Problem*> spoiled_;  // inputs that a launch under --once destroyed
  std::vector<Run> runs_;
  std::vector<std::string> notes_;
  std::vector<std::string> agreed_;
};

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
  char peak[32];
  std::snprintf(peak, sizeof peak, "%.0f", d.peak_gb_per_s());
  std::string text = session.chapter + ": " + title + "\n";
  text += "device  " + d.name + ", compute capability " + std::to_string(d.major) + "." +
          std::to_string(d.minor);
  text += d.embedded ? ": the CPU checks and counts, and has no times\n"
                     : ", " + std::to_string(d.sm_count) + " SMs, L2 " + bytes_text(d.l2_bytes) +
                           ", peak " + peak + " GB/s\n";
  text += "built   CUDA " + internal::toolkit() + " for ";
  text += d.embedded ? ptx_among(built_for()) : built_for();
  text += d.embedded ? "\n" : "; driver takes CUDA " + version_text(d.driver_version) + "\n";
  text += "run     ";
  switch (options.sweep) {
    case Options::Sweep::kNone:
      text += "n = " + count_text(options.n.value_or(d.embedded ? kEmbeddedDefaultN : kDefaultN));
      break;
    case Options::Sweep::kN: text += "sweep over n"; break;
    case Options::Sweep::kBlock: text += "sweep over blocks"; break;
  }
  if (options.sweep != Options::Sweep::kBlock) {
    text += ", block " + std::to_string(options.block.value_or(defaults.block));
  }
  text += ", seed " + std::to_string(session.seed);
  if (options.warm) text += ", cache warm";
  if (options.once && !d.embedded) text += ", once, no times";
  return text + "\n\n";
}

}  // namespace

Blocks any_block(unsigned low, unsigned high) {
  return {[=](unsigned b) { return b >= low && b <= high; },
          low == high ? "block " + std::to_string(low) + " only"
                      : "blocks of " + std::to_string(low) + " to " + std::to_string(high)};
}

Blocks powers_of_two(unsigned low, unsigned high) {
  return {[=](unsigned b) { return b >= low && b <= high && (b & (b - 1)) == 0; },
          "powers of two from " + std::to_string(low) + " to " + std::to_string(high)};
}

unsigned grid_for(std::size_t n, unsigned block, std::size_t factor) {
  const std::size_t share = block * factor;
  const std::size_t grid = n / share + (n % share != 0 ? 1 : 0);
  if (grid > kLargestGrid) {
    throw bad_argument("n = " + count_text(n) + " at block " + std::to_string(block) + " needs " +
                       std::to_string(grid) + " blocks; the largest grid is 2147483647 (2^31 - 1)");
  }
  return static_cast<unsigned>(grid);
}

unsigned resident_grid(std::size_t n, unsigned block) {
  int device = 0;
  int sm_count = 0;
  int threads = 0;
  BOOK_CUDA(cudaGetDevice(&device));
  BOOK_CUDA(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
  BOOK_CUDA(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  const unsigned resident =
      static_cast<unsigned>(sm_count) * (static_cast<unsigned>(threads) / block);
  const std::size_t needed = n / block + (n % block != 0 ? 1 : 0);
  return static_cast<unsigned>(std::min<std::size_t>(resident, needed));
}

Chapter::Chapter(std::string name, std::string title, std::string next, Defaults defaults)
    : name_(std::move(name)),
      title_(std::move(title)),
      next_(std::move(next)),
      defaults_(defaults) {}

void Chapter::add_any(AnyVariant variant) {
  variants_.push_back(std::move(variant));
}

int Chapter::run(int argc, const char* const* argv) {
  try {
    Options options =
        parse_options(argc, argv, {name_, title_, names_of(variants_), defaults_.block});
    refuse_unwritable(options.json);
    if (options.list) {
      const std::vector<VariantInfo> infos = describe(variants_, name_);
      if (!options.json.empty()) write_whole(options.json, list_json(name_, infos));
      std::cout << list_text(name_, infos);
      return static_cast<int>(ExitCode::kAgreed);
    }
    const std::vector<const AnyVariant*> chosen = choose(variants_, options);

    refuse_blocks(chosen, options);

    Session session;
    session.chapter = name_;
    session.command.assign(argv, argv + argc);
    session.device = choose_device(options.device);
    if (session.device.embedded) {
      if (options.sweep != Options::Sweep::kNone) {
        throw bad_argument("--sweep: the embedded device has no times to sweep for");
      }
      options.once = true;
    }
    session.seed = options.seed;
    session.cache = to_string(options.warm ? Cache::kWarm : Cache::kCold);
    std::cout << heading(session, title_, options, defaults_) << std::flush;
    if (options.n == std::size_t{0}) {
      std::cout << "n = 0: no launch, and nothing to check (the sum of no elements is 0)\n";
      if (!options.json.empty()) write_whole(options.json, to_json(session, {}));
      return static_cast<int>(ExitCode::kAgreed);
    }

    Running runs(options, defaults_, session);
    const std::vector<Case> cases = runs.plan(chosen);
    ExitCode code = ExitCode::kAgreed;
    try {
      for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!runs.run(cases[i], i + 1, cases.size())) code = ExitCode::kWrongResult;
      }
    } catch (const Error& error) {  // what was measured before it is not lost
      runs.end_progress();
      std::cerr << name_ << ": " << error.what() << "\n";
      if (runs.runs().empty()) return static_cast<int>(error.code());
      code = error.code();
    }
    runs.end_progress();

    if (!runs.runs().empty()) {
      std::cout << (session.device.embedded ? counter_table(session, runs.runs())
                                            : table(session, runs.runs()));
    }
    for (const std::string& note : runs.notes()) std::cout << "note: " << note << "\n";
    if (!runs.runs().empty() && options.sweep == Options::Sweep::kNone) {
      std::cout << "\n";
      for (const std::string& line : runs.agreed()) std::cout << line << "\n";
    }
    if (!next_.empty()) std::cout << "next: " << next_ << "\n";
    if (!options.json.empty()) write_whole(options.json, to_json(session, runs.runs()));
    return static_cast<int>(code);
  } catch (const HelpWanted& help) {
    std::cout << help.text;
    return static_cast<int>(ExitCode::kAgreed);
  } catch (const Error& error) {
    std::cerr << name_ << ": " << error.what() << "\n";
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::cerr << name_ << ": " << error.what() << "\n";
    return static_cast<int>(ExitCode::kCudaError);
  }
}

}  // namespace book
