/// \file
/// Files that are whole or untouched.
#pragma once
#include <string>

namespace book {

/// Writes a new file beside `path` to the disk and gives it that name, so that `path` is whole or
/// untouched. A symbolic link stays one: the file that it leads to is written, and keeps its mode.
/// Throws Error(kBadArgument) naming the path and the reason: a folder, a device, a pipe, what the
/// program prints to.
void write_whole(const std::string& path, const std::string& text);

/// Throws what write_whole would, as far as that can be known in advance. Leaves nothing behind.
/// So a program need not measure first and find out afterwards.
void require_writable(const std::string& path);

}  // namespace book
