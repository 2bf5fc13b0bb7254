#include "book/embedded.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include <cuda_runtime_api.h>

#include "book/check.hpp"
#include "internal.hpp"

namespace book {
namespace {

namespace fs = std::filesystem;

/// Set for the program that is started again: it must not be started a third time.
constexpr const char* kRestarted = "BOOK_ON_EMBEDDED_DEVICE";

/// What the library that stands in for the runtime exports (emu/counters.h there). Found by name,
/// so that this book builds and runs without it.
struct ForeignCounter {
  const char* name;
  const char* unit;
  std::uint64_t value;
};

template <class Function>
Function* exported(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// The folder of the library that stands in: where the build put it, or beside this program's
/// build. Empty where there is none.
fs::path library_folder() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  std::vector<fs::path> places;
  if (const std::string built = internal::embedded_folder(); !built.empty())
    places.push_back(built);
  fs::path folder = program.parent_path();
  for (int level = 0; level < 4; ++level) {  // build/chapters/NAME/NAME
    places.push_back(folder / "emulator" / "lib");
    folder = folder.parent_path();
  }
  const std::string name = "libcudart.so." + std::to_string(CUDART_VERSION / 1000);
  for (const fs::path& place : places) {
    if (fs::exists(place / name, ignored)) return place;
  }
  return {};
}

/// This process's own command line, from the system: a test may call the driver with another.
std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

}  // namespace

bool on_embedded_device() {
  return exported<int(ForeignCounter*, int)>("emu_counters") != nullptr;
}

void show_embedded_devices(unsigned count) {
  if (auto* show = exported<int(int)>("emu_show_devices")) show(static_cast<int>(count));
}

void start_on_embedded_device(const std::string& why, const std::string& notice) {
  if (std::getenv(kRestarted) != nullptr) {
    throw not_available(why + ", and the embedded device was found but not loaded");
  }
  const fs::path folder = library_folder();
  if (folder.empty()) {
    throw not_available(
        why + ", and the embedded device is not built; fix: " + internal::embedded_build());
  }
  std::string path = folder.string();
  if (const char* others = std::getenv("LD_LIBRARY_PATH"); others != nullptr && *others != '\0') {
    path += std::string(":") + others;
  }
  setenv("LD_LIBRARY_PATH", path.c_str(), 1);
  setenv(kRestarted, "1", 1);
  std::vector<std::string> arguments = command_line();
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::cout << std::flush;
  if (!notice.empty())
    std::cerr << internal::printable(program_invocation_short_name) << ": " << notice << "\n";
  execv("/proc/self/exe", argv.data());
  throw not_available(why +
                      ", and the embedded device could not be started: " + std::strerror(errno));
}

std::vector<Counter> device_counters() {
  auto* const get = exported<int(ForeignCounter*, int)>("emu_counters");
  if (get == nullptr) return {};
  std::vector<ForeignCounter> all(static_cast<std::size_t>(get(nullptr, 0)));
  get(all.data(), static_cast<int>(all.size()));
  std::vector<Counter> counters;
  for (const ForeignCounter& c : all) counters.push_back({c.name, c.value});
  return counters;
}

void reset_device_counters() {
  if (auto* const reset = exported<void()>("emu_reset_counters")) reset();
}

}  // namespace book
