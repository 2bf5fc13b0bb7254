#include "elf.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace emu {
namespace {

std::string_view text(std::span<const std::byte> strings, std::size_t offset) {
  if (offset >= strings.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(strings.data()) + offset;
  return {begin, strnlen(begin, strings.size() - offset)};
}

/// The file's bytes; none where it can't be read.
std::span<const std::byte> mapped(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  struct stat found {};
  void* at = MAP_FAILED;
  const bool whole = fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0;
  const auto size = static_cast<std::size_t>(found.st_size);
  if (whole) at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (at == MAP_FAILED) return {};
  return {static_cast<const std::byte*>(at), size};
}

/// A table's entries, one after another.
template <class T, class F>
void for_each_entry(std::span<const std::byte> table, const F& f) {
  for (; table.size() >= sizeof(T); table = table.subspan(sizeof(T))) {
    T entry;
    std::memcpy(&entry, table.data(), sizeof entry);
    f(entry);
  }
}

}  // namespace

Elf::Elf(const std::string& path) : bytes_(mapped(path)) {
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

Elf::~Elf() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::span<const std::byte> Elf::section(std::string_view name) const {
  for (const Elf64_Shdr& s : sections_) {
    if (text(names_, s.sh_name) == name) return content(s);
  }
  return {};
}

std::set<std::string> Elf::imports() const {
  std::set<std::string> names;
  const auto strings = section(".dynstr");
  for_each_entry<Elf64_Sym>(section(".dynsym"), [&](const Elf64_Sym& symbol) {
    if (symbol.st_shndx == SHN_UNDEF) names.emplace(text(strings, symbol.st_name));
  });
  return names;
}

std::vector<std::string> Elf::dynamic(std::int64_t tag) const {
  std::vector<std::string> texts;
  const auto strings = section(".dynstr");
  for_each_entry<Elf64_Dyn>(section(".dynamic"), [&](const Elf64_Dyn& entry) {
    if (entry.d_tag == tag) texts.emplace_back(text(strings, entry.d_un.d_val));
  });
  return texts;
}

template <class T>
std::optional<T> Elf::at(std::uint64_t offset) const {
  if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return std::nullopt;
  T value;
  std::memcpy(&value, bytes_.data() + offset, sizeof value);
  return value;
}

std::span<const std::byte> Elf::content(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size() ||
      section.sh_size > bytes_.size() - section.sh_offset) {
    return {};
  }
  return bytes_.subspan(section.sh_offset, section.sh_size);
}

}  // namespace emu
