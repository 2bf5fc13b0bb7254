#include "watch/atomic_counts.hpp"

#include <bit>

#include "machine/lanes.hpp"

namespace emu {

class AtomicCounts::OfBlocks final : public BlockObserver {
 public:
  explicit OfBlocks(AtomicCounts& all) : all_(all) {}
  OfBlocks(const OfBlocks&) = delete;
  OfBlocks& operator=(const OfBlocks&) = delete;

  ~OfBlocks() override {
    const std::scoped_lock lock(all_.mutex_);
    all_.counts_.global += here_.global;
    all_.counts_.shared += here_.shared;
    all_.counts_.shared_collisions += here_.shared_collisions;
  }

  void access(const Access& access) override {
    if (access.direction != Direction::kAtomic || access.barrier) return;
    if (access.space == Space::kGlobal) here_.global += count_lanes(access.lanes);
    if (access.space != Space::kShared) return;
    std::uint32_t banks = 0;
    for_each_lane(access.lanes, [&](unsigned lane) {
      banks |= std::uint32_t{1} << (access.address[lane] / 4 % 32);
    });
    const auto lanes = count_lanes(access.lanes);
    here_.shared += lanes;
    here_.shared_collisions += lanes - static_cast<unsigned>(std::popcount(banks));
  }

 private:
  AtomicCounts& all_;
  Counts here_;
};

std::unique_ptr<BlockObserver> AtomicCounts::watch(Block&) {
  return std::make_unique<OfBlocks>(*this);
}

AtomicCounts::Counts AtomicCounts::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

}  // namespace emu
