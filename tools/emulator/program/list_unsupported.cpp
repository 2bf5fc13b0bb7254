#include "list_unsupported.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "containers.hpp"
#include "cudart/profile.hpp"
#include "elf.hpp"
#include "emu/module.hpp"
#include "libraries.hpp"
#include "stop.hpp"
#include "watch/kernel_name.hpp"

namespace emu {
namespace {

constexpr std::string_view kRefused[] = {
#define REFUSED(function) #function,
#include "cudart/refused.inc"
#undef REFUSED
};

class List {
 public:
  explicit List(const Profile& profile) : profile_(profile) {}

  bool empty() const { return lines_.empty(); }

  /// Once, though several parts of a program say it.
  void add(const std::string& line) {
    if (lines_.insert(line).second) std::printf("%s\n", line.c_str());
  }

  /// Modules that are linked together: one, where the program isn't of units compiled apart.
  void add_modules(const std::vector<std::vector<FatbinEntry>>& parts) {
    std::vector<FatbinEntry> all;
    std::vector<std::string> texts;
    for (const auto& entries : parts) {
      all.insert(all.end(), entries.begin(), entries.end());
      try {
        if (const auto best = best_ptx(entries, profile_.architecture())) {
          texts.push_back(ptx_text(*best));
        }
      } catch (const FatbinError& error) {
        add(error.what());
      }
    }
    if (texts.empty()) {
      // A container of nothing is what nvcc's linker leaves.
      const bool code = std::ranges::any_of(
          all, [](const FatbinEntry& e) { return e.kind != FatbinEntry::Kind::kOther; });
      if (code) {
        add("the program has " + contents(all) + ", and the device (" + std::string(profile_.key) +
            ") runs PTX for " + std::to_string(profile_.architecture()) + " or lower");
      }
      return;
    }
    try {
      const auto module = parse_ptx(texts, "the program's PTX");
      for (const auto& [name, kernel] : module->kernels) {
        if (kernel.unsupported.empty()) continue;
        add("kernel " + kernel_name(name) + ": " + kernel.unsupported);
      }
      link_module(*module);
    } catch (const PtxError& error) {
      add(error.what());
    }
  }

 private:
  const Profile& profile_;
  std::set<std::string> lines_;
};

}  // namespace

int list_unsupported(const std::string& profile_key, const std::string& path) {
  const Elf program(path);
  if (!program.good()) throw Stop(kBadArgument, path + ": not a program for this machine");
  const auto profile = find_profile(profile_key);
  List list(*profile);
  const auto whole = containers(program.section(".nv_fatbin"));
  const auto units = containers(program.section("__nv_relfatbin"));
  const auto imports = program.imports();
  for (const std::string& library : libraries_past_the_runtime(program)) {
    list.add(library + kPastTheRuntime);
  }
  if (has_runtime_inside(program)) {
    list.add(
        "the CUDA runtime is inside the program, so nothing can stand in for it; "
        "build it with: nvcc -cudart shared");
  }
  for (const auto& container : whole) {
    // What the units were linked to is machine code, which this list does not need.
    const bool linked = !units.empty() && !best_ptx(container, 1 << 16);
    if (!linked) list.add_modules({container});
  }
  if (!units.empty()) list.add_modules(units);
  for (const std::string_view function : kRefused) {
    if (imports.contains(std::string(function))) {
      list.add("function " + std::string(function) + ": the device hasn't got it");
    }
  }
  return list.empty() ? 0 : 1;
}

}  // namespace emu
