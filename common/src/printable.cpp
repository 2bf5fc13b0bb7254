#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "internal.hpp"

namespace book::internal {
namespace {

/// One character of UTF-8: its code point and its length; length 0 where there is none.
struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;
};

Character first_of(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  std::uint32_t code = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kLeast[length] || code > 0x10ffff || surrogate ? Character{}
                                                               : Character{code, length};
}

bool hides(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  // Marks, embeddings, overrides and isolates of direction (Unicode Standard Annex #9), and the
  // two separators that some programs take for the end of a line.
  const bool turns = code == 0x061c || code == 0x200e || code == 0x200f ||
                     (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return control || turns;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const Character character = first_of(text);
    if (character.length == 0 || hides(character.code)) {
      safe += '?';
    } else {
      safe += text.substr(0, character.length);
    }
    text.remove_prefix(std::max<std::size_t>(character.length, 1));
  }
  return safe;
}

std::string in_quotes(std::string_view text) {
  return '"' + printable(text) + '"';
}

}  // namespace book::internal
