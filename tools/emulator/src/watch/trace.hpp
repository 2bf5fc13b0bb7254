/// \file
/// A trace: what one block did, instruction by instruction, as lines of JSON (the README says what
/// is in them).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "machine/observer.hpp"

namespace emu {

/// Looks on at one launch and writes down one of its blocks.
class Trace : public Observer {
 public:
  /// Takes one line at a time, its end included.
  using Write = std::function<void(std::string_view)>;
  /// `limit`: how many instructions are written at most.
  Trace(Write write, Dim3 block, std::uint64_t limit)
      : write_(std::move(write)), block_(block), limit_(limit) {}

  std::unique_ptr<BlockObserver> watch(Block& block) override;

  /// The first line. `schedule` and `name` as a reader knows them.
  void head(const LaunchConfig& config, std::uint64_t launch, const std::string& name,
            const std::string& schedule);
  /// The last line: whether all is there.
  void foot(const LaunchResult& result);

 private:
  class Writer;
  Write write_;
  Dim3 block_;
  std::uint64_t limit_;
  std::uint64_t written_ = 0;
  bool cut_ = false, ended_ = false;
};

}  // namespace emu
