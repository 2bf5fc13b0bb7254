// The PTX in a fat binary: unpacked, chosen, and refused where the bytes are damaged.
#include "cudart/fatbin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <random>

namespace {

using emu::FatbinEntry;
using testing::HasSubstr;

using Bytes = std::vector<std::byte>;

template <class T>
void put(Bytes& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

Bytes bytes_of(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

struct Part {
  int kind = 1;
  int architecture = 75;
  std::uint64_t flags = 0;
  Bytes stored;
  std::size_t unpacked = 0;
};

/// A container written from the description of the format.
Bytes container(const std::vector<Part>& parts) {
  Bytes all(16);
  for (const Part& p : parts) {
    Bytes entry(64);
    const std::size_t padded = (p.stored.size() + 7) / 8 * 8;
    put(entry, 0, static_cast<std::uint16_t>(p.kind));
    put(entry, 4, std::uint32_t{64});
    put(entry, 8, std::uint64_t{padded});
    put(entry, 16, static_cast<std::uint32_t>(p.stored.size()));
    put(entry, 28, static_cast<std::uint32_t>(p.architecture));
    put(entry, 40, p.flags);
    put(entry, 56, static_cast<std::uint64_t>(p.unpacked));
    entry.insert(entry.end(), p.stored.begin(), p.stored.end());
    entry.resize(64 + padded);
    all.insert(all.end(), entry.begin(), entry.end());
  }
  put(all, 0, std::uint32_t{0xba55ed50});
  put(all, 4, std::uint16_t{1});
  put(all, 6, std::uint16_t{16});
  put(all, 8, static_cast<std::uint64_t>(all.size() - 16));
  return all;
}

Part zstd(const std::string& text, int architecture) {
  Bytes packed(ZSTD_compressBound(text.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return {.architecture = architecture, .flags = 0x8000, .stored = packed, .unpacked = text.size()};
}

Part lz4(const std::string& text, int architecture) {
  Bytes packed(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))));
  packed.resize(static_cast<std::size_t>(
      LZ4_compress_default(text.data(), reinterpret_cast<char*>(packed.data()),
                           static_cast<int>(text.size()), static_cast<int>(packed.size()))));
  return {.architecture = architecture, .flags = 0x2000, .stored = packed, .unpacked = text.size()};
}

std::string why(const Bytes& bytes) {
  try {
    for (const FatbinEntry& e : emu::read_fatbin(bytes)) emu::ptx_text(e);
  } catch (const emu::FatbinError& error) {
    return error.what();
  }
  return "";
}

const std::string kText = ".version 9.0\n.target sm_90\n.address_size 64\n" + std::string(500, '/');

TEST(Fatbin, ReadsPlainText) {
  const Bytes all = container({{.stored = bytes_of(kText)}});  // padded with zeros
  const auto entries = emu::read_fatbin(all);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].kind, FatbinEntry::Kind::kPtx);
  EXPECT_EQ(entries[0].architecture, 75);
  EXPECT_EQ(emu::ptx_text(entries[0]), kText);
}

TEST(Fatbin, UnpacksZstdAndLz4) {
  const Bytes all = container({zstd(kText, 75), lz4(kText + "\n", 90)});
  const auto entries = emu::read_fatbin(all);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(emu::ptx_text(entries[0]), kText);
  EXPECT_EQ(emu::ptx_text(entries[1]), kText + "\n");
}

TEST(Fatbin, TakesTheHighestPtxThatTheDeviceAllows) {
  const Bytes all = container({{.architecture = 75, .stored = bytes_of("a")},
                               {.architecture = 90, .stored = bytes_of("b")},
                               {.kind = 2, .architecture = 90, .stored = bytes_of("machine code")},
                               {.architecture = 100, .stored = bytes_of("c")}});
  const auto entries = emu::read_fatbin(all);
  EXPECT_EQ(emu::best_ptx(entries, 90)->architecture, 90);
  EXPECT_EQ(emu::best_ptx(entries, 89)->architecture, 75);
  EXPECT_FALSE(emu::best_ptx(entries, 61).has_value());
  EXPECT_EQ(emu::contents(entries), "PTX for 75, 90, 100; machine code for 90");
}

TEST(Fatbin, SaysWhatIsWrong) {
  const Bytes good = container({zstd(kText, 75)});
  EXPECT_EQ(why(good), "");
  EXPECT_THAT(why({}), HasSubstr("cut short"));
  EXPECT_THAT(why(Bytes(64)), HasSubstr("ba55ed50"));

  Bytes longer = good;
  put(longer, 8, std::uint64_t{longer.size()});
  EXPECT_THAT(why(longer), HasSubstr("cut short"));
  Bytes endless = good;
  put(endless, 8, ~std::uint64_t{0});
  EXPECT_THAT(why(endless), HasSubstr("can't be"));
  Bytes large = good;
  put(large, 16 + 8, ~std::uint64_t{0});
  EXPECT_THAT(why(large), HasSubstr("larger than what holds it"));
  Bytes packed = good;
  put(packed, 16 + 16, ~std::uint32_t{0});
  EXPECT_THAT(why(packed), HasSubstr("larger than its entry"));
  Bytes bomb = good;
  put(bomb, 16 + 56, std::uint64_t{1} << 40);
  EXPECT_THAT(why(bomb), HasSubstr("too large"));
  Bytes wrong = good;
  put(wrong, 16 + 56, std::uint64_t{kText.size() + 1});
  EXPECT_THAT(why(wrong), HasSubstr("can't be unpacked"));
  Bytes header = good;
  put(header, 16 + 4, std::uint32_t{8});
  EXPECT_THAT(why(header), HasSubstr("larger than what holds it"));
}

// Whatever the bytes, an answer or a FatbinError; under a sanitizer, no read outside them.
TEST(Fatbin, AnyBytesAreSafe) {
  const Bytes good = container({zstd(kText, 75), lz4(kText, 90), {.stored = bytes_of(kText)}});
  std::mt19937 random(2018);
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes = good;
    for (unsigned changes = 1 + random() % 8; changes > 0; --changes) {
      // Headers more often than the text between them.
      const std::size_t range = random() % 2 == 0 ? 80 : bytes.size();
      bytes[random() % range] = static_cast<std::byte>(random() % 4 == 0 ? 0xff : random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    bytes.shrink_to_fit();
    why(bytes);
  }
}

}  // namespace
