/// \file
/// A program's file: its sections, what it imports and which libraries it wants.
#pragma once
#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emu {

/// A program's file, mapped. Nothing outside its bytes is read, whatever they say.
class Elf {
 public:
  explicit Elf(const std::string& path);
  Elf(const Elf&) = delete;
  Elf& operator=(const Elf&) = delete;
  ~Elf();

  /// False for what isn't a 64-bit ELF file with sections: a script, say.
  bool good() const { return !sections_.empty(); }

  /// A section's bytes; none where there is no such section.
  std::span<const std::byte> section(std::string_view name) const;

  /// Names of functions and variables that it takes from libraries.
  std::set<std::string> imports() const;

  /// Texts of its dynamic section's entries with this tag: DT_NEEDED, DT_RPATH.
  std::vector<std::string> dynamic(std::int64_t tag) const;

 private:
  template <class T>
  std::optional<T> at(std::uint64_t offset) const;
  std::span<const std::byte> content(const Elf64_Shdr& section) const;

  std::span<const std::byte> bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::span<const std::byte> names_;
};

}  // namespace emu
