#include "machine/cluster.hpp"

#include <algorithm>

namespace emu {

Cluster::Cluster(LaunchState& launch) : launch_(launch) {
  const auto size = static_cast<unsigned>(launch.config.cluster.volume());
  over_.resize(size);
  for (unsigned rank = 0; rank < size; ++rank) {
    blocks_.push_back(std::make_unique<Block>(launch, *this, rank));
  }
}

Dim3 Cluster::place_of(unsigned rank) const {
  const Dim3 size = launch_.config.cluster;
  return {rank % size.x, rank / size.x % size.y, rank / size.x / size.y};
}

void Cluster::start(std::uint64_t number) {
  const Dim3 grid = launch_.config.grid, size = launch_.config.cluster;
  const std::uint64_t across = grid.x / size.x, down = grid.y / size.y;
  place_ = {static_cast<unsigned>(number % across), static_cast<unsigned>(number / across % down),
            static_cast<unsigned>(number / across / down)};
  running_ = this->size();
  missing_ = static_cast<std::uint32_t>(launch_.config.block.volume()) * running_;
  std::ranges::fill(over_, 0);
  for (unsigned rank = 0; rank < running_; ++rank) {
    const Dim3 in = place_of(rank);
    const std::uint64_t x = std::uint64_t{place_.x} * size.x + in.x;
    const std::uint64_t y = std::uint64_t{place_.y} * size.y + in.y;
    const std::uint64_t z = std::uint64_t{place_.z} * size.z + in.z;
    blocks_[rank]->start(x + grid.x * (y + grid.y * z));
  }
}

Block* Cluster::block_at(Address shared, unsigned rank) const {
  const Address number = shared / kClusterStep;
  if (number > (size() == 1 ? 0 : size())) return nullptr;
  return blocks_[number == 0 ? rank : static_cast<unsigned>(number - 1)].get();
}

Block::Status Cluster::turn() {
  bool waits = true;
  for (unsigned rank = 0; rank < size(); ++rank) {
    if (over_[rank]) continue;
    const Block::Status status = blocks_[rank]->turn();
    waits &= status == Block::Status::kWaits;
    if (status != Block::Status::kDone) continue;
    over_[rank] = 1;
    if (--running_ == 0) return status;
  }
  look_for_deadlock();
  return waits ? Block::Status::kWaits : Block::Status::kRuns;
}

bool Cluster::turn_apart(Random& random) {
  unsigned rank = size() == 1 ? 0 : random.below(size());
  while (over_[rank]) rank = (rank + 1) % size();
  if (!blocks_[rank]->turn_apart()) {
    over_[rank] = 1;
    if (--running_ == 0) return false;
  }
  look_for_deadlock();
  return true;
}

bool Cluster::repeats_since(std::uint64_t changes) const {
  for (unsigned rank = 0; rank < size(); ++rank) {
    if (!over_[rank] && blocks_[rank]->repeats() != changes) return false;
  }
  return true;
}

const Block& Cluster::first() const {
  unsigned rank = 0;
  while (over_[rank]) ++rank;
  return *blocks_[rank];
}

std::uint32_t Cluster::live() const {
  std::uint32_t sum = 0;
  for (const auto& block : blocks_) sum += block->live();
  return sum;
}

void Cluster::arrived(unsigned threads) {
  missing_ -= threads;
  if (missing_ == 0) complete();
}

void Cluster::exited(unsigned threads) {
  missing_ -= threads;
  if (missing_ == 0 && live() != 0) complete();
}

void Cluster::complete() {
  missing_ = live();
  // All of them hand on what they know before any goes on.
  const std::uint64_t phase = launch_.cluster_phases.fetch_add(1);
  for (const auto& block : blocks_) {
    block->tell([&](BlockObserver& o) { o.cluster_gathered(phase, size()); });
  }
  for (const auto& block : blocks_) block->cluster_completed();
}

/// Blocks that can do nothing but wait at the cluster's barrier wait for ever when all of them do.
void Cluster::look_for_deadlock() const {
  for (unsigned rank = 0; rank < size(); ++rank) {
    if (!over_[rank] && !blocks_[rank]->stuck()) return;
  }
  constexpr std::size_t kMost = 400;  // of a block's
  std::string text = first().name() + ": threads of a cluster wait for what can't come";
  for (unsigned rank = 0; rank < size(); ++rank) {
    if (over_[rank]) continue;
    if (size() > 1) text += "; in block " + blocks_[rank]->place();
    const std::string its = blocks_[rank]->waits();
    text += its.size() <= kMost ? its : its.substr(0, its.rfind(';', kMost)) + "; and more";
  }
  throw StopLaunch{{Fault::Kind::kDeadlock, text + waits()}};
}

std::string Cluster::waits() const {
  const std::uint32_t all = live();
  return "; the cluster's barrier has " + std::to_string(all - missing_) + " of the " +
         std::to_string(all) + " threads that it waits for";
}

}  // namespace emu
