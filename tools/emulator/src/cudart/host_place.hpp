/// \file
/// Where host code is: which function of the runtime it called, and from which of its own lines.
#pragma once
#include <array>
#include <string>
#include <vector>

namespace emu {

/// A call of the program's, as addresses. What they mean is looked up when someone asks.
class HostPlace {
 public:
  /// Where this thread is now.
  static HostPlace here();

  /// The runtime's function that the program called, "cudaMemcpy"; empty where it called none.
  std::string call() const;
  /// "a.cu:12" where the program has debug information (nvcc -g), else "main"; empty where nothing
  /// is known. \param kernel  mangled: its host function is not what the reader wrote
  std::string line(const std::string& kernel = {}) const;
  /// "at a.cu:12, called from b.cu:3", "in fill<int>, called from main"; empty likewise.
  std::string story(const std::string& kernel = {}) const;

 private:
  std::vector<std::string> callers(const std::string& kernel) const;

  static constexpr int kMost = 24;
  std::array<void*, kMost> frames_{};
  int count_ = 0;
};

}  // namespace emu
