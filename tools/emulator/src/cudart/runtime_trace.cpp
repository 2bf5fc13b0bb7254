// EMU_TRACE: which launch's which block is to be traced, and where to.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cudart/report.hpp"
#include "cudart/runtime.hpp"
#include "watch/kernel_name.hpp"

namespace emu {
namespace {

constexpr std::uint64_t kDefaultLimit = 100'000;  // instructions: some 50 megabytes at most

/// Reads numbers between commas; false for anything else.
bool read_numbers(std::string_view text, std::initializer_list<std::uint64_t*> numbers) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::uint64_t* number : numbers) {
    if (number != *numbers.begin() && (at == end || *at++ != ',')) return false;
    const auto [stop, error] = std::from_chars(at, end, *number);
    if (error != std::errc() || stop == at) return false;
    at = stop;
  }
  return at == end;
}

bool refuse(const char* name, const std::string& why) {
  say(std::string(name) + "=" + std::getenv(name) + ": " + why);
  return false;
}

}  // namespace

bool Runtime::read_trace_request() {
  const char* path = std::getenv("EMU_TRACE");
  if (path == nullptr || *path == '\0') return true;
  TraceRequest wanted{.limit = kDefaultLimit};
  std::uint64_t x = 0, y = 0, z = 0;
  if (const char* text = std::getenv("EMU_TRACE_LAUNCH")) {
    if (!read_numbers(text, {&wanted.launch})) return refuse("EMU_TRACE_LAUNCH", "is no number");
  }
  if (const char* text = std::getenv("EMU_TRACE_LIMIT")) {
    if (!read_numbers(text, {&wanted.limit})) return refuse("EMU_TRACE_LIMIT", "is no number");
  }
  if (const char* text = std::getenv("EMU_TRACE_BLOCK")) {
    const bool three = read_numbers(text, {&x, &y, &z}) && std::max({x, y, z}) <= 0x7fff'ffff;
    if (!three) return refuse("EMU_TRACE_BLOCK", "is no X,Y,Z");
  }
  wanted.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
  if (const char* text = std::getenv("EMU_TRACE_KERNEL")) wanted.kernel = text;
  wanted.file = std::fopen(path, "we");
  if (wanted.file == nullptr) return refuse("EMU_TRACE", std::strerror(errno));
  trace_ = wanted;
  std::atexit([] {
    const auto& left = Runtime::get().trace_;
    if (!left) return;
    say("nothing was traced: the program made " + std::to_string(left->seen) + " launches" +
        (left->kernel.empty() ? "" : " of kernels named " + left->kernel) + ", and number " +
        std::to_string(left->launch) + " was asked for (they count from 0)");
  });
  return true;
}

std::unique_ptr<Trace> Runtime::begin_trace(const LaunchConfig& config) {
  if (!trace_) return nullptr;
  const std::string name = kernel_name(config.kernel->name);
  if (name.find(trace_->kernel) == name.npos || trace_->seen++ != trace_->launch) return nullptr;
  const Dim3 b = trace_->block, grid = config.grid;
  if (b.x >= grid.x || b.y >= grid.y || b.z >= grid.z) {
    say("the launch to be traced has no such block: its grid is " + std::to_string(grid.x) + "," +
        std::to_string(grid.y) + "," + std::to_string(grid.z));
  }
  const auto write = [file = trace_->file](std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), file);
  };
  auto trace = std::make_unique<Trace>(write, b, trace_->limit);
  trace->head(config, trace_->launch, name,
              apart_ ? "apart:" + std::to_string(*apart_) : "together");
  return trace;
}

void Runtime::end_trace(Trace& trace, const LaunchResult& result) {
  trace.foot(result);
  const bool failed = std::ferror(trace_->file) != 0;
  if (std::fclose(trace_->file) != 0 || failed) {
    say(std::string("EMU_TRACE: not all could be written: ") + std::strerror(errno));
  }
  trace_.reset();
}

}  // namespace emu
