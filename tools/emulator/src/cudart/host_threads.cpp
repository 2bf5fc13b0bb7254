#include "cudart/host_threads.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace emu {

HostThreads::HostThreads(unsigned count)
    : count_(std::max(1u, count ? count : std::thread::hardware_concurrency())) {}

void HostThreads::run(unsigned count, const std::function<void()>& work) {
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < count; ++i) others.emplace_back(work);
  work();  // the calling thread is one of them; then the others are waited for
}

void HostThreads::yield() {
  std::this_thread::yield();
}

}  // namespace emu
