#include "watch/buffer_use.hpp"

#include <algorithm>
#include <limits>

#include "machine/block.hpp"
#include "machine/lanes.hpp"
#include "watch/check.hpp"

namespace emu {

/// Counts by buffer; what it has goes to all once its blocks are over.
class BufferUse::OfBlocks final : public BlockObserver {
 public:
  OfBlocks(BufferUse& all, Block& block)
      : all_(all), block_(block), here_(all.buffers_.size(), Here{}) {}
  OfBlocks(const OfBlocks&) = delete;
  OfBlocks& operator=(const OfBlocks&) = delete;

  ~OfBlocks() override {
    const std::scoped_lock lock(all_.mutex_);
    for (std::size_t k = 0; k < here_.size(); ++k) {
      Used& whole = all_.buffers_[k];
      if (here_[k].stores && whole.place.empty()) {
        whole.place = source_line(block_.code(), here_[k].pc);
      }
      whole.stores += here_[k].stores;
    }
  }

  void begin(std::uint64_t block) override { number_ = block; }
  void end() override {
    for (std::size_t k = 0; k < here_.size(); ++k) {
      if (!all_.buffers_[k].by_block) continue;
      const std::scoped_lock lock(all_.mutex_);
      auto& read = all_.buffers_[k].read;
      read.resize(std::max<std::size_t>(read.size(), static_cast<std::size_t>(number_ + 1)));
      read[static_cast<std::size_t>(number_)] += here_[k].read;
      here_[k].read = 0;
    }
  }

  void access(const Access& access) override {
    if (access.space != Space::kGlobal) return;
    const bool loads = access.direction == Direction::kLoad;
    for (std::size_t k = 0; k < here_.size(); ++k) {
      const Used& whole = all_.buffers_[k];
      if (loads && !whole.by_block) continue;
      unsigned lanes = 0;
      for_each_lane(access.lanes, [&](unsigned i) {
        lanes += access.address[i] - whole.base < whole.bytes ? 1 : 0;
      });
      if (lanes == 0) continue;
      Here& mine = here_[k];
      if (loads) {
        mine.read += std::uint64_t{lanes} * access.bytes;
      } else {
        mine.stores += lanes;
        const auto* const first = access.warp.code().ops.data();
        mine.pc = std::min(mine.pc, static_cast<std::uint32_t>(&access.op - first));
      }
    }
  }

 private:
  struct Here {
    std::uint64_t stores = 0, read = 0;
    std::uint32_t pc = std::numeric_limits<std::uint32_t>::max();
  };

  BufferUse& all_;
  Block& block_;
  std::uint64_t number_ = 0;
  std::vector<Here> here_;
};

std::unique_ptr<BlockObserver> BufferUse::watch(Block& block) {
  return std::make_unique<OfBlocks>(*this, block);
}

}  // namespace emu
