/// \file
/// Numbers in messages.
#pragma once
#include <cstdint>
#include <string>

namespace emu {

/// "0x1f", with at least so many digits.
inline std::string hexadecimal(std::uint64_t value, unsigned digits = 1) {
  std::string text;
  for (; value != 0 || text.size() < digits; value >>= 4) {
    text.insert(text.begin(), "0123456789abcdef"[value & 15]);
  }
  return "0x" + text;
}

}  // namespace emu
