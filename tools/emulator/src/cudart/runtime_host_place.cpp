#include "cudart/host_place.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#ifdef EMU_HAS_BACKTRACE
#include <backtrace.h>
#endif

namespace emu {
namespace {

/// The file that an address was loaded from; empty for none.
std::string_view file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

bool of_the_system(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  for (const char* known : {"libc.so", "libc-", "libstdc++", "libm.so", "libgcc_s", "ld-linux"}) {
    if (name.starts_with(known)) return true;
  }
  return false;
}

/// What nvcc writes, and what CUDA's headers hold: code that stands between a reader's line and the
/// runtime.
bool of_cuda(std::string_view source) {
  for (const char* known : {".stub.c", "/cuda_runtime.h", "/crt/", "/cub/", "/thrust/",
                            "/cuda/std/", "/cuda/__", "/cooperative_groups", "/include/c++/"}) {
    if (source.find(known) != source.npos) return true;
  }
  return false;
}

#ifdef EMU_HAS_BACKTRACE
void no_error(void* /*data*/, const char* /*message*/, int /*number*/) {}

backtrace_state* backtraces() {
  static backtrace_state* const made = backtrace_create_state(nullptr, 1, no_error, nullptr);
  return made;
}
#endif

/// "a.cu:12", of the innermost function at an address that isn't CUDA's; empty where nothing says.
std::string line_of(std::uintptr_t address) {
  std::string line;
#ifdef EMU_HAS_BACKTRACE
  if (backtraces() == nullptr) return line;
  backtrace_pcinfo(
      backtraces(), address,
      [](void* data, std::uintptr_t, const char* file, int number, const char*) {
        if (file == nullptr || of_cuda(file)) return 0;
        const std::string_view name = file;
        *static_cast<std::string*>(data) =
            std::string(name.substr(name.rfind('/') + 1)) + ":" + std::to_string(number);
        return 1;
      },
      no_error, &line);
#else
  static_cast<void>(address);
#endif
  return line;
}

/// The symbol that an address is in, as the linker knows it.
std::string symbol_of(std::uintptr_t address) {
  std::string name;
#ifdef EMU_HAS_BACKTRACE
  if (backtraces() != nullptr) {
    backtrace_syminfo(
        backtraces(), address,
        [](void* data, std::uintptr_t, const char* found, std::uintptr_t, std::uintptr_t) {
          if (found != nullptr) *static_cast<std::string*>(data) = found;
        },
        no_error, &name);
  }
#else
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address), &info) != 0 && info.dli_sname != nullptr) {
    name = info.dli_sname;
  }
#endif
  return name;
}

/// `dev<int>` of "int* dev<int>(std::vector<int, std::allocator<int> > const&)".
std::string short_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  std::string whole = status == 0 ? plain.get() : symbol;
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = whole.find(kUnnamed, at)) != whole.npos;) {
    whole.erase(at, kUnnamed.size());
  }
  std::size_t begin = 0, depth = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const char c = whole[i];
    if (c == '<') ++depth;
    if (c == '>' && depth > 0) --depth;
    if (depth == 0 && c == ' ') begin = i + 1;
    if (depth == 0 && c == '(' && i > begin) return whole.substr(begin, i - begin);
  }
  return whole.substr(begin);
}

/// A function that nvcc or its headers put between the program and the runtime.
bool in_between(const std::string& symbol, const std::string& kernel) {
  if (symbol == kernel) return true;
  for (const char* known : {"__device_stub__", "cudaLaunchKernel", "_cudaL"}) {
    if (symbol.find(known) != symbol.npos) return true;
  }
  return short_name(symbol).starts_with("cuda");
}

}  // namespace

HostPlace HostPlace::here() {
  HostPlace place;
  place.count_ = backtrace(place.frames_.data(), kMost);
  return place;
}

std::string HostPlace::call() const {
  const std::string_view own = file_of(reinterpret_cast<const void*>(&of_cuda));
  std::string name;
  for (int i = 0; i < count_; ++i) {
    void* const at = frames_[static_cast<std::size_t>(i)];
    if (file_of(at) != own) {
      if (!name.empty()) break;
      continue;
    }
    Dl_info info{};
    if (dladdr(at, &info) != 0 && info.dli_sname != nullptr) name = info.dli_sname;
  }
  for (const std::string_view kind : {"_ptsz", "_ptds"}) {
    if (name.ends_with(kind)) name.resize(name.size() - kind.size());
  }
  return name.starts_with("__cuda") ? name.substr(2) : name;
}

std::vector<std::string> HostPlace::callers(const std::string& kernel) const {
  const std::string_view own = file_of(reinterpret_cast<const void*>(&of_cuda));
  std::vector<std::string> found;
  for (int i = 0; i < count_ && found.size() < 2; ++i) {
    void* const frame = frames_[static_cast<std::size_t>(i)];
    const std::string_view file = file_of(frame);
    if (file.empty() || file == own || of_the_system(file)) continue;
    const std::uintptr_t call = reinterpret_cast<std::uintptr_t>(frame) - 1;  // it is a way back
    const std::string symbol = symbol_of(call);
    if (symbol == "_start" || in_between(symbol, kernel)) continue;
    std::string place = line_of(call);
    if (place.empty() && !symbol.empty()) place = short_name(symbol);
    if (place.empty() || (!found.empty() && found.back() == place)) continue;
    found.push_back(std::move(place));
    if (symbol == "main") break;
  }
  return found;
}

std::string HostPlace::line(const std::string& kernel) const {
  const std::vector<std::string> found = callers(kernel);
  return found.empty() ? "" : found.front();
}

std::string HostPlace::story(const std::string& kernel) const {
  const std::vector<std::string> found = callers(kernel);
  if (found.empty()) return "";
  std::string text = (found[0].find(':') == std::string::npos ? "in " : "at ") + found[0];
  if (found.size() > 1) text += ", called from " + found[1];
  return text;
}

}  // namespace emu
