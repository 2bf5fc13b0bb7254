/// \file
/// Text as JSON has it.
#pragma once
#include <string>
#include <string_view>

namespace emu {

/// A string in quotes. Bytes that aren't UTF-8 become U+FFFD, so that every reader takes it.
std::string quoted(std::string_view text);

}  // namespace emu
