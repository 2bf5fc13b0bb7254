/// \file
/// A trace: what one block did, instruction by instruction, as lines of JSON (the README says what
/// is in them).
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

#include "machine/observer.hpp"

namespace emu {

/// What is to be traced.
struct TraceRequest {
  std::FILE* file = nullptr;
  std::string kernel = {};   ///< part of its name; empty for any
  std::uint64_t launch = 0;  ///< number among the launches of such kernels, from 0
  Dim3 block = {0, 0, 0};
  std::uint64_t limit = 0;  ///< instructions
  std::uint64_t seen = 0;   ///< launches of such kernels so far
};

/// Looks on at one launch and writes down one of its blocks.
class Trace : public Observer {
 public:
  /// `limit`: how many instructions are written at most.
  Trace(std::FILE* file, Dim3 block, std::uint64_t limit)
      : file_(file), block_(block), limit_(limit) {}

  std::unique_ptr<BlockObserver> watch(Block& block) override;

  /// The first line. `schedule` and `name` as a reader knows them.
  void head(const LaunchConfig& config, std::uint64_t launch, const std::string& name,
            const std::string& schedule);
  /// The last line: whether all is there.
  void foot(const LaunchResult& result);

 private:
  class Writer;
  std::FILE* file_;
  Dim3 block_;
  std::uint64_t limit_;
  std::uint64_t written_ = 0;
  bool cut_ = false, ended_ = false;
};

}  // namespace emu
