#include "runner.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <new>

#include "book/embedded.hpp"

namespace book::internal {
namespace {

/// Left free on the device for what the runtime itself allocates.
constexpr std::size_t kSlackBytes = std::size_t{64} << 20;

std::string text_of(const Case& c) {
  return fmt::format("{}, n = {}, block {}", c.variant->name, count_text(c.shape.n), c.shape.block);
}

}  // namespace

Runner::Runner(const Options& options, const Session& session, Team* team)
    : options_(options),
      session_(session),
      team_(team),
      progress_(isatty(STDERR_FILENO) != 0 && !options.sweep.empty() &&
                (team == nullptr || team->rank() == 0)) {
  if (!options_.once) timer_.emplace(session_.device);
}

std::size_t Runner::free_bytes() {
  const std::size_t free = free_device_bytes();
  return free - std::min(free, kSlackBytes);
}

bool Runner::run(const Case& c, std::size_t number, std::size_t of) {
  show_progress(c, number, of);
  if (team_ != nullptr) team_->agree(text_of(c));
  try {
    return check_and_time(c);
  } catch (const std::bad_alloc&) {
    const std::size_t bytes = c.variant->launch.problem->device_bytes(c.shape);
    throw Error(ExitCode::kCudaError,
                fmt::format("{}: this machine has too little memory to check it: its arrays are {}",
                            text_of(c), bytes_text(bytes)));
  }
}

bool Runner::check_and_time(const Case& c) {
  const Variant& v = *c.variant;
  Problem& problem = *v.launch.problem;
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
    v.launch.queue(problem, c.shape);
    verdict = finish(v);
    if (!verdict.agrees) return wrong(c, verdict);
    run.counters = device_counters();
    problem.poison();
  }
  if (!options_.once) {
    measure(c, run);
    verdict = finish(v);  // of the last sample: a rare race may show only here
    if (!verdict.agrees) return wrong(c, verdict);
  }
  // Last: it loads the kernel, which is part of what a first launch costs, and how much shared
  // memory a block may have is what the launch has asked for.
  describe_kernel(c, run);
  run.verified = true;
  run.error = verdict.error;
  if (std::ranges::find(agreed_, verdict.message) == agreed_.end()) {
    agreed_.push_back(verdict.message);
  }
  runs_.push_back(std::move(run));
  return true;
}

/// Waits for a launch and compares its result.
Verdict Runner::finish(const Variant& v) {
  BOOK_CUDA(cudaGetLastError());
  Problem& problem = *v.launch.problem;
  problem.wait();
  if (v.destroys_input) {
    if (options_.once) {
      spoiled_.insert(&problem);
    } else {
      problem.restore();
    }
  }
  Verdict verdict = problem.check();
  if (team_ == nullptr || team_->largest(verdict.agrees ? 0 : 1) == 0) return verdict;
  if (verdict.agrees) verdict = {false, verdict.message + " here, and another rank has another"};
  return verdict;
}

Run Runner::record(const Case& c) const {
  const Variant& v = *c.variant;
  Run run;
  run.variant = v.name;
  run.from = v.from;
  run.region = v.region;
  run.legacy = v.legacy;
  run.n = c.shape.n;
  run.block = c.shape.block;
  run.params = v.params;
  run.devices = v.devices;
  if (team_ != nullptr) run.params.emplace_back("processes", std::int64_t{team_->size()});
  run.grid = c.shape.grid;
  run.shared_bytes = c.shape.shared_bytes;
  const UsefulBytes bytes = v.launch.problem->useful_bytes(c.shape);
  run.bytes_read = bytes.read;
  run.bytes_written = bytes.written;
  return run;
}

void Runner::describe_kernel(const Case& c, Run& run) const {
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

void Runner::measure(const Case& c, Run& run) {
  const Variant& v = *c.variant;
  Problem& problem = *v.launch.problem;
  Timing timing = v.timing;
  if (options_.warm && !v.fixed_cache) timing.cache = Cache::kWarm;
  Sampling sampling;
  if (options_.samples) sampling.min_samples = sampling.max_samples = *options_.samples;
  const auto restore = [&] {
    if (v.destroys_input) problem.restore();
    if (timing.cache != Cache::kWarm) problem.empty_other_caches();
  };
  Others others{.wait_for = [&problem](cudaEvent_t event) { problem.wait_for(event); }};
  if (team_ != nullptr) {
    others.align = [&problem] { problem.align(); };
    others.meet = [this] { team_->meet(); };
    others.of_all = [this](double value) { return team_->largest(value); };
  }
  Measurement measured = timer_->measure(
      timing, sampling, restore, [&] { v.launch.queue(problem, c.shape); }, others);
  run.samples_us = std::move(measured.samples_us);
  run.summary = summarize(run.samples_us);
  run.stopped_by = to_string(measured.stopped_by);
  run.cache = to_string(timing.cache);
  run.clock = to_string(timing.clock);
}

bool Runner::wrong(const Case& c, const Verdict& verdict) const {
  end_progress();
  std::cerr << fmt::format("{}: WRONG RESULT: {}: {}; not timed\n", session_.chapter, text_of(c),
                           verdict.message);
  return false;
}

void Runner::show_progress(const Case& c, std::size_t number, std::size_t of) const {
  if (!progress_) return;
  std::cerr << fmt::format("\r\033[K{}/{}  {}  n = {}  block {}", number, of, c.variant->name,
                           count_text(c.shape.n), c.shape.block)
            << std::flush;
}

void Runner::end_progress() const {
  if (progress_) std::cerr << "\r\033[K";
}

}  // namespace book::internal
