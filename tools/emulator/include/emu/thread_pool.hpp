/// \file
/// Where a launch gets threads from: the device itself starts none.
#pragma once
#include <functional>

namespace emu {

class ThreadPool {
 public:
  ThreadPool() = default;
  virtual ~ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// How many run at a time.
  virtual unsigned threads() const = 0;
  /// Calls `work` `count` times, all at a time; returns when all of these have. `count` is at most
  /// `threads()`.
  virtual void run(unsigned count, const std::function<void()>& work) = 0;
  /// Called by one of them that waits for another.
  virtual void yield() = 0;
};

}  // namespace emu
