// tools/emulate: runs a CUDA program on the embedded device, a library that stands in for the CUDA
// runtime. All of the command line is read and checked before any file is touched.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <list>
#include <string_view>
#include <utility>

#include "attend.hpp"
#include "elf.hpp"
#include "libraries.hpp"
#include "list_unsupported.hpp"
#include "options.hpp"
#include "print_ptx.hpp"
#include "results.hpp"
#include "stop.hpp"

namespace emu {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResults[] = {"EMU_TRACE", "EMU_CSV", "EMU_FINDINGS", "EMU_HOST_LOG"};

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// The program's path. A name without a / is looked up in PATH, then in this folder.
std::string find_program(const std::string& name) {
  const auto is_file = [](const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') == name.npos && !name.empty()) {
    std::string_view left = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
    while (!left.empty()) {
      const std::string folder(left.substr(0, left.find(':')));
      left.remove_prefix(std::min(folder.size() + 1, left.size()));
      const fs::path path = fs::path(folder.empty() ? "." : folder) / name;
      if (is_file(path)) return path;
    }
  }
  const std::string path = name.find('/') == name.npos ? "./" + name : name;
  std::error_code ignored;
  if (name.empty() || !fs::exists(path, ignored)) {
    throw Stop(kBadArgument, name + ": not found, or not a program");
  }
  if (!is_file(path)) throw Stop(kBadArgument, name + ": not a program");
  return path;
}

/// This program's folder, which has the library too.
fs::path own_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

/// The name of the library in a folder.
std::string library_in(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("libcudart.so.")) return name;
  }
  throw Stop(kNotAvailable, "there is no embedded device in " + folder.string() +
                                ": its build is incomplete; build it again");
}

/// Says before the start what can't be caught. A script, or a program that loads CUDA's runtime
/// later, is let through. Whether the library has to be preloaded: where the program brings a path
/// to look for libraries that goes before LD_LIBRARY_PATH.
bool must_preload(const std::string& name, const std::string& path, const std::string& library) {
  const Elf program(path);
  const auto needed = program.dynamic(DT_NEEDED);
  const auto wanted = std::ranges::find_if(
      needed, [](const std::string& n) { return n.starts_with("libcudart.so."); });
  for (const std::string& library_past : libraries_past_the_runtime(program)) {
    complain(std::string(name).append(" uses ").append(library_past).append(kPastTheRuntime));
  }
  if (wanted == needed.end()) {
    if (has_runtime_inside(program)) {
      throw Stop(kNotAvailable,
                 name + " has the CUDA runtime inside it (nvcc's default), so nothing can stand " +
                     "in for it\nbuild it again with: nvcc -cudart shared");
    }
    return false;
  }
  if (*wanted != library) {
    throw Stop(kNotAvailable,
               name + " uses " + *wanted + ", and the embedded device stands in for " + library +
                   "\nbuild the program with the CUDA version that the device was built with");
  }
  return !program.dynamic(DT_RPATH).empty();
}

/// Puts something in front of a list in the environment.
void prepend(const char* name, const std::string& value) {
  const std::string old = variable(name);
  setenv(name, (old.empty() ? value : value + ":" + old).c_str(), 1);
}

/// What the library has to tell: a file in memory, to which it adds a word per line.
class Outcome {
 public:
  Outcome() : file_(memfd_create("outcome", MFD_CLOEXEC)) {
    setenv("EMU_OUTCOME", name().c_str(), 1);
  }
  /// Seen from any process.
  static std::string reachable(int descriptor) {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor);
  }
  bool says(const std::string& word) const {
    std::ifstream file(name());
    for (std::string line; std::getline(file, line);) {
      if (line == word) return true;
    }
    return false;
  }

 private:
  std::string name() const { return reachable(file_); }
  int file_;
};

using Destinations = std::map<std::string, Destination>;
using Drafts = std::map<std::string, Draft>;

/// Where each result goes.
Destinations destinations_of(const Request& request, const std::string& program) {
  // Two results in one file leave nothing to be read, wherever their names come from.
  Destinations destinations;
  for (const char* result : kResults) {
    const auto option = request.settings.find(result);
    const bool given = option != request.settings.end();
    const std::string file = given ? option->second : variable(result);
    if (file.empty()) continue;
    Destination destination;
    try {
      destination = find_destination(option_of(result), file, program);
    } catch (const Stop&) {
      if (given) throw;
      continue;  // a variable that was set by hand is the library's to refuse
    }
    for (const auto& [other, its] : destinations) {
      if (!same_file(destination, its)) continue;
      throw Stop(kBadArgument,
                 option_of(other) + " and " + option_of(result) + " name the same file: " + file);
    }
    destinations[result] = destination;
  }
  return destinations;
}

/// Puts what was asked for into the environment, results that are plain files as drafts.
Drafts hand_on(const Request& request, const Destinations& destinations) {
  // The program may change its folder, so files are handed on with their whole path.
  Drafts drafts;
  for (const auto& [setting, value] : request.settings) {
    const auto at = destinations.find(setting);
    if (at != destinations.end()) {  // what the reader calls it
      setenv((setting + "_AS").c_str(), (option_of(setting) + " " + value).c_str(), 1);
    }
    if (at == destinations.end()) {
      setenv(setting.c_str(), value.c_str(), 1);
    } else if (!at->second.regular) {
      setenv(setting.c_str(), at->second.path.c_str(), 1);
    } else {
      const auto [draft, fresh] =
          drafts.try_emplace(setting, option_of(setting), value, at->second);
      setenv(setting.c_str(), draft->second.path().c_str(), 1);
    }
  }
  return drafts;
}

/// Has each draft take its file's place, if the program has ended by itself. Whether all could.
bool finish(Drafts& drafts, const Ended& ended, const Outcome& outcome) {
  bool written = true;
  for (auto& [setting, draft] : drafts) {
    if (ended.signal != 0) {
      draft.leave();
    } else if (outcome.says("unwritten " + setting)) {
      draft.drop();
      written = false;
    } else {
      written = draft.replace() && written;
    }
  }
  return written;
}

int run(int argc, char** argv) {
  Request request = parse_command_line(argc, argv);
  if (!request.help.empty()) {
    std::fputs(request.help.c_str(), stdout);
    if (std::fflush(stdout) != 0) {
      throw Stop(kBadArgument, std::string("--help: can't be written: ") + std::strerror(errno));
    }
    return 0;
  }
  const std::string name = request.command.front();
  const std::string program = find_program(name);
  request.command.front() = program;
  if (request.list_unsupported || request.print_ptx) {
    const auto option = request.settings.find("EMU_DEVICE_PROFILE");
    const std::string profile = option == request.settings.end() ? "h200" : option->second;
    return request.list_unsupported ? list_unsupported(profile, program)
                                    : print_ptx(profile, program);
  }

  const Destinations destinations = destinations_of(request, program);
  const fs::path folder = own_folder();
  const std::string library = library_in(folder);
  const bool preload = must_preload(name, program, library);

  Drafts drafts = hand_on(request, destinations);

  // The loader splits its lists at these marks: a folder with one of them gets another name.
  std::string place = folder;
  const bool renamed = place.find_first_of(" :;") != place.npos;
  if (renamed) place = Outcome::reachable(open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  prepend("LD_LIBRARY_PATH", place);
  if (preload) prepend("LD_PRELOAD", place + "/" + library);
  const bool checks = !variable("EMU_CHECK").empty();
  if (drafts.empty() && !checks && !renamed) become(request.command);

  const Outcome outcome;
  const Ended ended = attend(request.command);
  if (ended.signal != 0) {
    const char* abbreviation = sigabbrev_np(ended.signal);
    complain("status " + std::to_string(128 + ended.signal) + ", as after SIG" +
             (abbreviation == nullptr ? std::to_string(ended.signal) : abbreviation));
  }
  const bool written = finish(drafts, ended, outcome);
  if (outcome.says("findings")) return kFound;
  if (ended.signal != 0) return 128 + ended.signal;
  return ended.status == 0 && !written ? kBadArgument : ended.status;
}

/// Without the middle of a word of several hundred characters.
std::string cut(std::string_view line) {
  constexpr std::size_t kLongest = 400, kBegin = 200, kEnd = 100;
  std::string shorter;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' ', 1));
    line.remove_prefix(word.size());
    if (word.size() <= kLongest) {
      shorter += word;
    } else {
      shorter.append(word.substr(0, kBegin)).append("...").append(word.substr(word.size() - kEnd));
    }
  }
  return shorter;
}

/// Without what a terminal obeys, or what turns the direction of text: names come from anywhere.
std::string tamed(std::string_view text) {
  // In UTF-8: control characters but the end of a line, marks of direction, and the two separators
  // that some programs take for the end of a line (Unicode Standard Annex #9).
  constexpr std::pair<std::string_view, std::string_view> kTricks[] = {
      {"\x01", "\x09"},
      {"\x0b", "\x1f"},
      {"\x7f", "\x7f"},
      {"\xc2\x80", "\xc2\x9f"},
      {"\xd8\x9c", "\xd8\x9c"},
      {"\xe2\x80\x8e", "\xe2\x80\x8f"},
      {"\xe2\x80\xa8", "\xe2\x80\xae"},
      {"\xe2\x81\xa6", "\xe2\x81\xa9"}};
  std::string safe;
  while (!text.empty()) {
    const auto trick = std::ranges::find_if(kTricks, [text](const auto& range) {
      const std::string_view next = text.substr(0, range.first.size());
      return range.first <= next && next <= range.second;
    });
    const bool none = trick == std::end(kTricks);
    safe += none ? text.front() : '?';
    text.remove_prefix(none ? 1 : trick->first.size());
  }
  return safe;
}

}  // namespace

void complain(const std::string& message) {
  const std::string safe = tamed(message);
  std::string text;
  for (std::string_view left = safe; !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));
    text.append("tools/emulate: ").append(cut(line)) += '\n';
    left.remove_prefix(std::min(line.size() + 1, left.size()));
  }
  std::fputs(text.c_str(), stderr);
}

}  // namespace emu

int main(int argc, char** argv) {
  try {
    return emu::run(argc, argv);
  } catch (const emu::Stop& stop) {
    emu::complain(stop.what());
    return stop.status;
  } catch (const std::exception& error) {
    emu::complain(error.what());
    return emu::kBadArgument;
  }
}
