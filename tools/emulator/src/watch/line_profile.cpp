#include "watch/line_profile.hpp"

#include <cstddef>

#include "machine/block.hpp"

namespace emu {
namespace {

std::string name_of(const Code& code, int file) {
  const auto at = static_cast<std::size_t>(file);
  return at < code.files.size() ? code.files[at] : "";
}

}  // namespace

/// Counts by operation; what it has goes to the lines once its blocks are over.
class LineProfile::OfBlocks final : public BlockObserver {
 public:
  OfBlocks(LineProfile& profile, Block& block)
      : profile_(profile), block_(block), of_op_(block.code().ops.size()) {}
  OfBlocks(const OfBlocks&) = delete;
  OfBlocks& operator=(const OfBlocks&) = delete;

  ~OfBlocks() override {
    settle();
    const Code& code = block_.code();
    const std::scoped_lock lock(profile_.mutex_);
    for (std::size_t pc = 0; pc < of_op_.size(); ++pc) {
      if (of_op_[pc] == Counters{}) continue;
      const Code::Place& place = code.places[pc];
      Key key{"", 0, "", 0};
      if (place.line > 0) {
        key = {name_of(code, place.file), place.line, "", 0};
        if (place.outer_line > 0) {
          std::get<2>(key) = name_of(code, place.outer_file);
          std::get<3>(key) = place.outer_line;
        }
      }
      profile_.lines_[key] += of_op_[pc];
    }
  }

  bool steps() const override { return true; }

  void instruction(Warp&, const Op& op, Mask lanes) override {
    settle();
    op_ = static_cast<std::size_t>(&op - block_.code().ops.data());
    ++of_op_[op_].warp_instructions;
    of_op_[op_].thread_instructions += count_lanes(lanes);
  }

  void end() override { settle(); }

 private:
  /// What the block has counted since the last instruction began is that one's. Of instructions
  /// themselves the block counts a stretch at a time: they were counted as they came.
  void settle() {
    const Counters& now = block_.counters;
    Counters& here = of_op_[op_];
    for (const CounterField& field : counter_fields()) {
      if (field.at_once) here.*field.value += now.*field.value - before_.*field.value;
    }
    before_ = now;
  }

  LineProfile& profile_;
  Block& block_;
  std::vector<Counters> of_op_;
  std::size_t op_ = 0;
  Counters before_;
};

std::unique_ptr<BlockObserver> LineProfile::watch(Block& block) {
  return std::make_unique<OfBlocks>(*this, block);
}

std::vector<LineCounts> LineProfile::lines() const {
  const std::scoped_lock lock(mutex_);
  std::vector<LineCounts> out;
  for (const auto& [key, counters] : lines_) {
    const auto& [file, line, outer_file, outer_line] = key;
    out.push_back({file, line, outer_file, outer_line, counters});
  }
  return out;
}

}  // namespace emu
