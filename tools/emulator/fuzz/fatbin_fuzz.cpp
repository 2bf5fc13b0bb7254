// libFuzzer target: the readers of fat binaries on any bytes whatever, and on packed PTX inside a
// container that lies about its sizes, which changed bytes seldom make.
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "cudart/fatbin.hpp"

namespace {

using Bytes = std::vector<std::byte>;

void read(std::span<const std::byte> container) {
  try {
    if (container.size() >= 16) emu::fatbin_size(container.first<16>());
    const auto entries = emu::read_fatbin(container);
    emu::contents(entries);
    emu::best_ptx(entries, 90);
    for (const emu::FatbinEntry& entry : entries) {
      // Up to 256 MB may be asked for; a fuzzer that does so all the time gets nowhere.
      if (entry.unpacked_size > (std::size_t{1} << 20) && entry.unpacked_size < (1ull << 40)) {
        continue;
      }
      const std::string text = emu::ptx_text(entry);
      const std::size_t limit = std::max(entry.unpacked_size, entry.stored.size());
      if (text.size() > limit) __builtin_trap();
    }
  } catch (const emu::FatbinError&) {  // NOLINT(bugprone-empty-catch): a refusal is right, too
  }
}

template <class T>
void put(Bytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// A container of one entry that holds `text` packed; `lie` is added to one of its sizes.
Bytes packed(std::span<const std::uint8_t> text, bool zstd, unsigned which, std::int8_t lie) {
  const std::size_t bound =
      zstd ? ZSTD_compressBound(text.size())
           : static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size())));
  Bytes all(16 + 64 + bound);
  const std::size_t size = zstd ? ZSTD_compress(all.data() + 80, bound, text.data(), text.size(), 1)
                                : static_cast<std::size_t>(LZ4_compress_default(
                                      reinterpret_cast<const char*>(text.data()),
                                      reinterpret_cast<char*>(all.data() + 80),
                                      static_cast<int>(text.size()), static_cast<int>(bound)));
  all.resize(80 + size);
  const auto changed = [&](unsigned field, std::uint64_t value) {
    return field == which ? value + static_cast<std::uint64_t>(std::int64_t{lie}) : value;
  };
  put(all, 0, std::uint32_t{0xba55ed50});
  put(all, 4, std::uint16_t{1});
  put(all, 6, static_cast<std::uint16_t>(changed(0, 16)));
  put(all, 8, changed(1, 64 + size));
  put(all, 16, std::uint16_t{1});
  put(all, 20, static_cast<std::uint32_t>(changed(2, 64)));
  put(all, 24, changed(3, size));
  put(all, 32, static_cast<std::uint32_t>(changed(4, size)));
  put(all, 44, std::uint32_t{75});
  put(all, 56, std::uint64_t{zstd ? 0x8000u : 0x2000u});
  put(all, 72, changed(5, text.size()));
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  read(std::as_bytes(bytes));
  if (size < 2) return 0;
  read(packed(bytes.subspan(2), (data[0] & 1) != 0, data[0] / 2 % 8,
              static_cast<std::int8_t>(data[1])));
  return 0;
}
