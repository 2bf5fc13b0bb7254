/// \file
/// What two sources of the library share and no chapter needs.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace book::internal {

// Of this build (build.cpp), for the record of a run.
std::string toolkit();        ///< e.g. "13.0.88"
std::string host_compiler();  ///< e.g. "GNU 13.3.0"
std::string compile_flags();  ///< e.g. "-O3 -lineinfo"
/// Folder of the library that stands in for the CUDA runtime; empty where the build has none.
std::string embedded_folder();
/// How to get it, e.g. "cmake --build '/home/me/book/build' --target embedded_device".
std::string embedded_build();

/// Calls `work(part, first, last)` for consecutive parts of [0, n), each on a thread of its own:
/// as many as the host has cores, fewer where a part would be too small to be worth a thread.
/// Returns when all have ended.
template <class Work>
void on_all_cores(std::size_t n, const Work& work) {
  constexpr std::size_t kWorthAThread = std::size_t{1} << 18;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t parts = std::clamp<std::size_t>(n / kWorthAThread, 1, cores);
  const auto bound = [&](std::size_t part) { return n / parts * part + std::min(part, n % parts); };
  std::vector<std::jthread> threads;
  for (std::size_t part = 1; part < parts; ++part) {
    threads.emplace_back([&, part] { work(part, bound(part), bound(part + 1)); });
  }
  work(std::size_t{0}, bound(0), bound(1));  // this thread does its share; the others join here
}

/// A reader's text within a message: on one line, whatever it holds.
inline std::string in_quotes(std::string_view text) {
  std::string safe(text);
  std::replace_if(
      safe.begin(), safe.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return '"' + safe + '"';
}

/// Puts the input's values at positions first, first + 1, … into `out`.
void generate(std::span<int> out, std::uint64_t seed, std::size_t first);

}  // namespace book::internal
