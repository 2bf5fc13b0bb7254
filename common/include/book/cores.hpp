/// \file
/// Work on all of the host's cores.
#pragma once
#include <cstddef>
#include <functional>

namespace book {

/// How many parts `on_all_cores` has at most.
std::size_t core_count();

/// Calls `work(part, first, last)` for consecutive parts of [0, n), each on a thread of its own: as
/// many as the host has cores, fewer where a part would be too small to be worth a thread. Returns
/// when all have ended.
void on_all_cores(
    std::size_t n,
    const std::function<void(std::size_t part, std::size_t first, std::size_t last)>& work);

}  // namespace book
