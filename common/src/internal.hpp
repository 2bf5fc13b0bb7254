/// \file
/// What two sources of the library share and no chapter needs.
#pragma once
#include <string>
#include <string_view>

namespace book::internal {

// Of this build (build.cpp), for the record of a run.
std::string toolkit();        ///< e.g. "13.0.88"
std::string host_compiler();  ///< e.g. "GNU 13.3.0"
std::string compile_flags();  ///< e.g. "-O3 -lineinfo"
/// Folder of the library that stands in for the CUDA runtime; empty where the build has none.
std::string embedded_folder();
/// How to get it, e.g. "cmake --build '/home/me/book/build' --target embedded_device".
std::string embedded_build();

/// A reader's text with a ? for whatever would not show as itself on one line of a terminal:
/// control characters, those that turn the direction of what follows, and bytes that are not UTF-8.
std::string printable(std::string_view text);
/// The same within a message.
std::string in_quotes(std::string_view text);

}  // namespace book::internal
