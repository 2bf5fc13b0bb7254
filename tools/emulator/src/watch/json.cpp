#include "watch/json.hpp"

#include <cstddef>

namespace emu {
namespace {

/// How many bytes the first character of a text has in UTF-8; 0 where its bytes are none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto in = [](unsigned value, unsigned low, unsigned high) {
    return value >= low && value <= high;
  };
  const auto follows = [&](std::size_t i) { return in(byte(i), 0x80, 0xbf); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (in(first, 0xc2, 0xdf)) return follows(1) ? 2 : 0;
  // The second byte rules out longer spellings than needed, and surrogates.
  if (in(first, 0xe0, 0xef)) {
    const bool second = in(byte(1), first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
    return second && follows(2) ? 3 : 0;
  }
  if (in(first, 0xf0, 0xf4)) {
    const bool second = in(byte(1), first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

void add_escaped(std::string& out, char c) {
  constexpr std::string_view kShort = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '\\';
  if (const std::size_t at = kShort.find(c); at != kShort.npos) {
    out += kLetters[at];
  } else {
    out.append("u00").append(1, kDigits[static_cast<std::size_t>(c >> 4 & 15)]);
    out += kDigits[static_cast<std::size_t>(c & 15)];
  }
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t size = character(text);
    const char first = text.front();
    if (size == 0) {
      out += "\xef\xbf\xbd";
    } else if (first == '"' || first == '\\' || static_cast<unsigned char>(first) < 0x20) {
      add_escaped(out, first);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out + '"';
}

}  // namespace emu
