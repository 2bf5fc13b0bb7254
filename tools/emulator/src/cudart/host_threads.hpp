/// \file
/// The host's threads, for launches.
#pragma once
#include "emu/thread_pool.hpp"

namespace emu {

class HostThreads : public ThreadPool {
 public:
  /// `count` 0: as many as the host has cores.
  explicit HostThreads(unsigned count = 0);

  unsigned threads() const override { return count_; }
  void run(unsigned count, const std::function<void()>& work) override;
  void yield() override;

 private:
  unsigned count_;
};

}  // namespace emu
