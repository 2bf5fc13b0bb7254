#include "book/cores.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace book {

std::size_t core_count() {
  return std::max(1u, std::thread::hardware_concurrency());
}

void on_all_cores(
    std::size_t n,
    const std::function<void(std::size_t part, std::size_t first, std::size_t last)>& work,
    std::size_t least) {
  const std::size_t parts = std::clamp<std::size_t>(n / least, 1, core_count());
  const auto bound = [&](std::size_t part) { return n / parts * part + std::min(part, n % parts); };
  std::vector<std::jthread> threads;
  for (std::size_t part = 1; part < parts; ++part) {
    threads.emplace_back([&, part] { work(part, bound(part), bound(part + 1)); });
  }
  work(0, bound(0), bound(1));  // this thread does its share; the others join here
}

}  // namespace book
