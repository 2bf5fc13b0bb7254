#include "cudart/fatbin.hpp"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace emu {
namespace {

static_assert(std::endian::native == std::endian::little, "fat binaries are little-endian");

constexpr std::uint32_t kContainerMagic = 0xba55ed50;
constexpr std::uint64_t kFlagLz4 = 0x2000;
constexpr std::uint64_t kFlagZstd = 0x8000;
constexpr std::size_t kContainerHeader = 16;
constexpr std::size_t kEntryHeader = 64;
/// A program's PTX is a few megabytes; more than this is a broken header, or a trap.
constexpr std::size_t kLargestText = std::size_t{256} << 20;

/// A field of a structure that need not be aligned.
template <class T>
T field(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

FatbinEntry::Packing packing(std::uint64_t flags) {
  if ((flags & kFlagZstd) != 0) return FatbinEntry::Packing::kZstd;
  if ((flags & kFlagLz4) != 0) return FatbinEntry::Packing::kLz4;
  return FatbinEntry::Packing::kNone;
}

}  // namespace

std::size_t fatbin_size(std::span<const std::byte, 16> header) {
  if (field<std::uint32_t>(header, 0) != kContainerMagic) {
    throw FatbinError("not a fat binary: it doesn't begin with ba55ed50");
  }
  const std::size_t header_size = field<std::uint16_t>(header, 6);
  const auto payload = field<std::uint64_t>(header, 8);
  if (header_size < kContainerHeader || payload > SIZE_MAX - header_size) {
    throw FatbinError("a fat binary with sizes that can't be");
  }
  return header_size + payload;
}

std::vector<FatbinEntry> read_fatbin(std::span<const std::byte> container) {
  if (container.size() < kContainerHeader) throw FatbinError("a fat binary that is cut short");
  const std::size_t size = fatbin_size(container.first<kContainerHeader>());
  if (size > container.size()) throw FatbinError("a fat binary that is cut short");
  auto rest = container.subspan(field<std::uint16_t>(container, 6));
  rest = rest.first(size - field<std::uint16_t>(container, 6));

  std::vector<FatbinEntry> entries;
  while (!rest.empty()) {
    if (rest.size() < kEntryHeader) throw FatbinError("a fat binary's entry that is cut short");
    const std::size_t header = field<std::uint32_t>(rest, 4);
    const auto padded = field<std::uint64_t>(rest, 8);
    if (header < kEntryHeader || header > rest.size() || padded > rest.size() - header) {
      throw FatbinError("a fat binary's entry that is larger than what holds it");
    }
    FatbinEntry entry;
    const auto kind = field<std::uint16_t>(rest, 0);
    if (kind == 1) entry.kind = FatbinEntry::Kind::kPtx;
    if (kind == 2) entry.kind = FatbinEntry::Kind::kMachineCode;
    entry.architecture = static_cast<int>(field<std::uint32_t>(rest, 28) & 0xffff);
    entry.packing = packing(field<std::uint64_t>(rest, 40));
    entry.stored = rest.subspan(header, padded);
    if (entry.packing != FatbinEntry::Packing::kNone) {
      const std::size_t packed = field<std::uint32_t>(rest, 16);
      if (packed > padded) throw FatbinError("packed text that is larger than its entry");
      entry.stored = entry.stored.first(packed);
      entry.unpacked_size = field<std::uint64_t>(rest, 56);
    }
    entries.push_back(entry);
    rest = rest.subspan(header + padded);
  }
  return entries;
}

std::optional<FatbinEntry> best_ptx(const std::vector<FatbinEntry>& entries, int architecture) {
  std::optional<FatbinEntry> best;
  for (const FatbinEntry& e : entries) {
    if (e.kind != FatbinEntry::Kind::kPtx || e.architecture > architecture) continue;
    if (!best || e.architecture > best->architecture) best = e;
  }
  return best;
}

std::string ptx_text(const FatbinEntry& entry) {
  if (entry.packing == FatbinEntry::Packing::kNone) {
    std::string text(reinterpret_cast<const char*>(entry.stored.data()), entry.stored.size());
    text.resize(std::strlen(text.c_str()));  // padding
    return text;
  }
  if (std::max(entry.unpacked_size, entry.stored.size()) > kLargestText) {
    throw FatbinError("PTX of " + std::to_string(entry.unpacked_size) + " bytes: too large");
  }
  std::string text(entry.unpacked_size, '\0');
  bool whole = false;
  if (entry.packing == FatbinEntry::Packing::kZstd) {
    // The frame may say less than the entry does, never more: the text's size is the limit.
    const std::size_t got =
        ZSTD_decompress(text.data(), text.size(), entry.stored.data(), entry.stored.size());
    whole = ZSTD_isError(got) == 0 && got == text.size();
  } else {
    const int got =
        LZ4_decompress_safe(reinterpret_cast<const char*>(entry.stored.data()), text.data(),
                            static_cast<int>(entry.stored.size()), static_cast<int>(text.size()));
    whole = got >= 0 && static_cast<std::size_t>(got) == text.size();
  }
  if (!whole) throw FatbinError("packed PTX that can't be unpacked");
  text.resize(std::strlen(text.c_str()));
  return text;
}

std::string contents(const std::vector<FatbinEntry>& entries) {
  std::string text[2];
  for (const FatbinEntry& e : entries) {
    if (e.kind == FatbinEntry::Kind::kOther) continue;
    std::string& list = text[e.kind == FatbinEntry::Kind::kPtx ? 0 : 1];
    const std::string number = std::to_string(e.architecture);
    if ((", " + list + ",").find(", " + number + ",") != list.npos) continue;  // of another unit
    list += (list.empty() ? "" : ", ") + number;
  }
  return (text[0].empty() ? "no PTX" : "PTX for " + text[0]) +
         (text[1].empty() ? "" : "; machine code for " + text[1]);
}

}  // namespace emu
