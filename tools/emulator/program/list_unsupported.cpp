// What a program would trip over on the embedded device, found in its file; nothing of it runs.
//
//   list_unsupported PROFILE PROGRAM
//
// Exit status: 0 for nothing, 1 for something, 2 where the program can't be read.
#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cudart/fatbin.hpp"
#include "cudart/profile.hpp"
#include "cudart/report.hpp"
#include "emu/module.hpp"
#include "watch/kernel_name.hpp"

namespace emu {
namespace {

constexpr std::string_view kRefused[] = {
#define REFUSED(function) #function,
#include "cudart/refused.inc"
#undef REFUSED
};

/// A program's file: its sections, by name. Nothing outside its bytes is read.
class Elf {
 public:
  explicit Elf(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {
    const auto header = at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr)) {
      return;
    }
    for (std::size_t i = 0; i < header->e_shnum; ++i) {
      if (const auto section = at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr))) {
        sections_.push_back(*section);
      }
    }
    if (header->e_shstrndx < sections_.size()) names_ = content(sections_[header->e_shstrndx]);
  }

  bool good() const { return !sections_.empty(); }

  std::span<const std::byte> section(std::string_view name) const {
    for (const Elf64_Shdr& s : sections_) {
      if (text(names_, s.sh_name) == name) return content(s);
    }
    return {};
  }

  /// The names that the program wants of its libraries.
  std::set<std::string> imports() const {
    std::set<std::string> names;
    const auto symbols = section(".dynsym"), strings = section(".dynstr");
    for (std::size_t i = 0; i + sizeof(Elf64_Sym) <= symbols.size(); i += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols.data() + i, sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF) names.emplace(text(strings, symbol.st_name));
    }
    return names;
  }

 private:
  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::span<const std::byte> content(const Elf64_Shdr& s) const {
    if (s.sh_type == SHT_NOBITS || s.sh_offset > bytes_.size() ||
        s.sh_size > bytes_.size() - s.sh_offset) {
      return {};
    }
    return std::span(bytes_).subspan(s.sh_offset, s.sh_size);
  }
  static std::string_view text(std::span<const std::byte> strings, std::size_t offset) {
    if (offset >= strings.size()) return {};
    const auto* begin = reinterpret_cast<const char*>(strings.data()) + offset;
    return {begin, strnlen(begin, strings.size() - offset)};
  }

  std::vector<std::byte> bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::span<const std::byte> names_;
};

/// The containers of a section, which lie one after another with padding between them.
std::vector<std::vector<FatbinEntry>> containers(std::span<const std::byte> section) {
  std::vector<std::vector<FatbinEntry>> all;
  while (section.size() >= 16) {
    try {
      const std::size_t size = fatbin_size(section.first<16>());
      if (size > section.size()) throw FatbinError("a fat binary that is cut short");
      all.push_back(read_fatbin(section.first(size)));
      section = section.subspan(size);
    } catch (const FatbinError&) {
      section = section.subspan(8);
    }
  }
  return all;
}

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
        const std::size_t place = kernel.unsupported.find("PTX line");
        add("kernel " + kernel_name(name) + ": " +
            kernel.unsupported.substr(place == std::string::npos ? 0 : place));
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

int run(const char* profile_key, const char* path) {
  const auto profile = find_profile(profile_key);
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> read((std::istreambuf_iterator<char>(file)), {});
  const auto* bytes = reinterpret_cast<const std::byte*>(read.data());
  const Elf program(std::vector<std::byte>(bytes, bytes + read.size()));
  if (!profile || !file || !program.good()) {
    std::fprintf(stderr, "%s: not a program for this machine\n", path);
    return 2;
  }
  List list(*profile);
  const auto whole = containers(program.section(".nv_fatbin"));
  const auto units = containers(program.section("__nv_relfatbin"));
  const auto imports = program.imports();
  const bool uses_runtime = std::ranges::any_of(
      imports, [](const std::string& name) { return name.starts_with("__cudaRegister"); });
  if ((!whole.empty() || !units.empty()) && !uses_runtime) {
    list.add(
        "the CUDA runtime is inside the program, so nothing can stand in for it; "
        "build it with: nvcc -cudart shared");
  }
  for (const auto& container : whole) {
    // What the units were linked to is machine code, which nobody needs here.
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

}  // namespace
}  // namespace emu

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    return emu::run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[2], error.what());
    return 2;
  }
}
