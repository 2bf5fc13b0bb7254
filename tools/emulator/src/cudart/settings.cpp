#include "cudart/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string_view>

#include "cudart/output.hpp"
#include "emu/memory.hpp"

namespace emu {
namespace {

/// What the device has unless EMU_MEMORY says otherwise: enough for a lesson, and a program that
/// takes "all free memory" does not drive the host into swapping.
constexpr std::size_t kDefaultMemory = std::size_t{4} << 30;
/// About ten minutes of one core. A kernel that needs more is endless, or wants
/// EMU_MAX_INSTRUCTIONS.
constexpr std::uint64_t kDefaultMaxInstructions = 20'000'000'000;
/// Some ten seconds, in which no block ends and nothing is written that others see.
constexpr std::uint64_t kDefaultMaxIdle = 1'000'000'000, kDefaultMaxIdleChecked = 300'000'000;
constexpr std::byte kPattern{0xcd};                    // no small number, in whatever type
constexpr std::uint64_t kDefaultTraceLimit = 100'000;  // instructions: some 50 megabytes at most

/// Nonsense that can't be ignored.
struct Refused {
  std::string why;
};

/// A variable's text; empty where it isn't set.
std::string text_of(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

[[noreturn]] void refuse(const char* name, const std::string& why) {
  throw Refused{std::string(name) + "=" + text_of(name) + ": " + why};
}

/// Reads numbers between commas; false for anything else.
bool read_numbers(std::string_view text, std::initializer_list<std::uint64_t*> numbers) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::uint64_t* number : numbers) {
    if (number != *numbers.begin()) {
      if (at == end || *at != ',') return false;
      ++at;
    }
    const auto [stop, error] = std::from_chars(at, end, *number);
    if (error != std::errc() || stop == at) return false;
    at = stop;
  }
  return at == end;
}

/// A number; the default where it isn't set. Nonsense is said and ignored.
std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  std::uint64_t value = 0;
  if (text == nullptr) return otherwise;
  if (read_numbers(text, {&value})) return value;
  say(std::string(name) + "=" + text + " is not a number: " + std::to_string(otherwise) +
      " is used instead");
  return otherwise;
}

/// Half of what the host can spare.
std::size_t spare_bytes() {
  std::size_t bytes = SIZE_MAX;
  std::ifstream info("/proc/meminfo");
  for (std::string word; info >> word;) {
    std::size_t kib = 0;
    if (word == "MemAvailable:" && info >> kib) bytes = kib << 10;
  }
  std::ifstream group("/sys/fs/cgroup/memory.max");
  if (std::size_t limit = 0; group >> limit) bytes = std::min(bytes, limit);
  return bytes / 2;
}

Profile profile() {
  const char* wanted = std::getenv("EMU_DEVICE_PROFILE");
  if (const auto found = find_profile(wanted == nullptr ? profile_names().front() : wanted)) {
    return *found;
  }
  std::string known;
  for (const auto name : profile_names()) known += (known.empty() ? "" : ", ") + std::string(name);
  refuse("EMU_DEVICE_PROFILE", "there is no such profile; there are " + known);
}

Host wanted_host() {
  const std::string name = text_of("EMU_HOST");
  if (name.empty()) return best_host();
  const std::optional<Host> found = host_named(name);
  if (!found) refuse("EMU_HOST", "there is no such host; there are plain, avx2 and avx512");
  if (*found > best_host()) refuse("EMU_HOST", "this host lacks these instructions");
  return *found;
}

/// The seed of apart:SEED, or none for `together`.
std::optional<std::uint64_t> schedule() {
  const std::string text = text_of("EMU_SCHEDULE");
  if (std::getenv("EMU_SCHEDULE") == nullptr || text == "together") return std::nullopt;
  constexpr std::string_view kApart = "apart:";
  std::uint64_t seed = 0;
  if (text.starts_with(kApart) &&
      read_numbers(std::string_view(text).substr(kApart.size()), {&seed})) {
    return seed;
  }
  refuse("EMU_SCHEDULE",
         "there is no such schedule; there are together and apart:SEED, a SEED of up to 19 digits");
}

std::optional<unsigned> devices() {
  const std::string text = text_of("EMU_DEVICES");
  if (text.empty()) return std::nullopt;
  std::uint64_t count = 0;
  if (read_numbers(text, {&count}) && count >= 1 && count <= kMostDevices) {
    return static_cast<unsigned>(count);
  }
  refuse("EMU_DEVICES", "there can be 1 to " + std::to_string(kMostDevices) + " devices");
}

std::optional<Checks> checks() {
  const std::string list = text_of("EMU_CHECK");
  if (list.empty()) return std::nullopt;
  if (auto parsed = parse_checks(list)) return parsed;
  refuse("EMU_CHECK", "there are race, memory, init, sync, host, sum and all, with commas between");
}

std::byte fresh(bool checked) {
  const std::string text = text_of("EMU_FRESH");
  if (text.empty()) return checked ? kPattern : std::byte{0};
  if (text == "zeros") return std::byte{0};
  if (text == "pattern") return kPattern;
  refuse("EMU_FRESH", "there are zeros and pattern");
}

/// The text of EMU_PTX's file, whole.
std::string stand_in() {
  const std::string name = text_of("EMU_PTX");
  if (name.empty()) return {};
  std::ifstream file(name, std::ios::binary);
  std::ostringstream text;
  if (file.peek() != file.eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad() || text.bad()) refuse("EMU_PTX", "the file can't be read");
  if (text.view().find(".version") == std::string_view::npos) {
    refuse("EMU_PTX", "the file holds no PTX");
  }
  return text.str();
}

std::optional<TraceSettings> trace() {
  TraceSettings wanted{.file = text_of("EMU_TRACE"),
                       .kernel = text_of("EMU_TRACE_KERNEL"),
                       .limit = kDefaultTraceLimit};
  if (wanted.file.empty()) return std::nullopt;
  const auto read = [](const char* name, std::initializer_list<std::uint64_t*> numbers,
                       const char* otherwise) {
    const char* text = std::getenv(name);
    if (text != nullptr && !read_numbers(text, numbers)) refuse(name, otherwise);
  };
  std::uint64_t x = 0, y = 0, z = 0;
  read("EMU_TRACE_LAUNCH", {&wanted.launch}, "is not a number");
  read("EMU_TRACE_LIMIT", {&wanted.limit}, "is not a number");
  read("EMU_TRACE_BLOCK", {&x, &y, &z}, "is not X,Y,Z");
  if (std::max({x, y, z}) > 0x7fff'ffff) refuse("EMU_TRACE_BLOCK", "is not X,Y,Z");
  wanted.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
  return wanted;
}

}  // namespace

std::optional<Settings> read_settings() {
  try {
    Settings s;
    s.profile = profile();
    s.devices = devices();
    s.threads = static_cast<unsigned>(std::min<std::uint64_t>(number("EMU_THREADS", 0), 1024));
    s.host = wanted_host();
    s.max_instructions = number("EMU_MAX_INSTRUCTIONS", kDefaultMaxInstructions);
    s.apart = schedule();
    s.trace = trace();
    s.checks = checks();
    s.fresh = fresh(s.checks.has_value());
    if (text_of("EMU_MAX_INSTRUCTIONS").empty()) {
      s.max_idle_instructions = s.checks ? kDefaultMaxIdleChecked : kDefaultMaxIdle;
    }
    s.ptx = stand_in();
    s.memory = std::min<std::uint64_t>(
        s.profile.global_bytes, number("EMU_MEMORY", std::min(kDefaultMemory, spare_bytes())));
    s.csv = text_of("EMU_CSV");
    s.findings = text_of("EMU_FINDINGS");
    s.host_log = text_of("EMU_HOST_LOG");
    return s;
  } catch (const Refused& refused) {
    say(refused.why);
    return std::nullopt;
  }
}

}  // namespace emu
