/// \file
/// Work on all of the host's cores.
#pragma once
#include <cstddef>
#include <functional>

namespace book {

/// How many parts `on_all_cores` has at most.
std::size_t core_count();

/// Calls `work(part, first, last)` for consecutive parts of [0, n), each on a thread of its own: as
/// many as the host has cores, fewer where a part would have less than `least`. Returns when all
/// have ended.
/// \param least  how many are worth a thread: of numbers that take a nanosecond each, the default
void on_all_cores(
    std::size_t n,
    const std::function<void(std::size_t part, std::size_t first, std::size_t last)>& work,
    std::size_t least = std::size_t{1} << 18);

}  // namespace book
