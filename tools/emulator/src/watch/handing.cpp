#include "watch/handing.hpp"

#include <algorithm>
#include <utility>

namespace emu {

void Log::add(const Handed& handed) {
  // A thread that goes on with updates and executes no further fence hands on the same.
  const std::size_t first = all_.size() > kLanes ? all_.size() - kLanes : 0;
  for (std::size_t i = all_.size(); i > first; --i) {
    const Handed& h = all_[i - 1];
    if (h.block == handed.block && h.thread == handed.thread && h.to_block == handed.to_block &&
        h.to_grid == handed.to_grid) {
      return;
    }
  }
  if (all_.size() >= kMost) {
    static_cast<void>(to_grid(size()));
    for (const Handed& h : all_) {
      Known& sum = folded_of_[h.block];
      sum = join(sum, h.to_block);
    }
    folded_ = size();
    all_.clear();
  }
  all_.push_back(handed);
}

OthersPtr Log::to_grid(std::size_t length) {
  const auto sum = [&](std::size_t from, std::size_t past, const OthersPtr& rest) {
    Others::Blocks blocks;
    OthersPtr others = rest;
    for (std::size_t i = from; i < past; ++i) {
      const Handed& h = all_[i - folded_];
      if (!h.to_grid) continue;
      blocks.emplace_back(h.block, h.to_grid->own);
      others = Others::join(others, h.to_grid->others);
    }
    return Others::with(others, std::move(blocks));
  };
  length = std::max(length, folded_);
  if (length < summed_to_) return folded_ ? summed_ : sum(0, length, nullptr);
  summed_ = sum(summed_to_, length, summed_);
  summed_to_ = length;
  return summed_;
}

Known Log::to_block(std::size_t length, std::uint32_t block) const {
  const auto at = folded_of_.find(block);
  Known sum = at == folded_of_.end() ? nullptr : at->second;
  for (std::size_t i = folded_; i < length; ++i) {
    const Handed& h = all_[i - folded_];
    if (h.block == block) sum = join(sum, h.to_block);
  }
  return sum;
}

std::shared_ptr<Log> Log::of_thread(std::uint32_t block, std::uint32_t thread) const {
  std::shared_ptr<Log> own;
  for (const Handed& h : all_) {
    if (h.block != block || h.thread != thread) continue;
    if (!own) own = std::make_shared<Log>();
    own->add(h);
  }
  return own;
}

}  // namespace emu
