#include "watch/handing.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

namespace emu {

Log::Log() {
  static std::atomic<std::uint64_t> logs{0};
  id_ = ++logs;
}

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
      static_cast<void>(to_block(size(), h.block, false));
      static_cast<void>(to_block(size(), h.block, true));
    }
    folded_ = size();
    all_.clear();
  }
  all_.push_back(handed);
}

void Log::extend(Sum& sum, std::size_t length) const {
  Chain::Blocks blocks;
  for (; sum.length < length; ++sum.length) {
    const Handed& h = all_[sum.length - folded_];
    if (!h.to_grid) continue;
    blocks.emplace_back(h.block, h.to_grid->own);
    sum.others = Others::join(sum.others, h.to_grid->others);
  }
  sum.chain = Chain::with(sum.chain, std::move(blocks));
}

OthersPtr Log::of(const Sum& sum) const {
  return Others::with(sum.others, {id_, sum.length, sum.chain});
}

OthersPtr Log::to_grid(std::size_t length) {
  length = std::max(length, folded_);
  if (!sums_.empty() && length <= sums_.back().length) {
    if (length <= kShort && folded_ == 0 && length < sums_.back().length) {
      Sum sum;
      extend(sum, length);
      return of(sum);
    }
    const auto enough = [&](const Sum& s) { return s.length >= length; };
    return of(*std::ranges::find_if(sums_, enough));
  }
  Sum sum = sums_.empty() ? Sum{} : sums_.back();
  extend(sum, length);
  sums_.push_back(sum);
  if (sums_.size() > kShort) sums_.pop_front();
  return of(sum);
}

bool Log::is_of(std::uint32_t block, std::uint32_t thread, std::size_t length) const {
  if (length < folded_) return false;
  return std::all_of(all_.begin() + static_cast<std::ptrdiff_t>(length - folded_), all_.end(),
                     [&](const Handed& h) { return h.block == block && h.thread == thread; });
}

Known Log::to_block(std::size_t length, std::uint32_t block, bool only) {
  const auto add = [&](Known& sum, std::size_t i) {
    const Handed& h = all_[i - folded_];
    if (h.block == block && !(only && h.to_block == h.to_grid)) sum = join(sum, h.to_block);
  };
  BlockSum& sum = (only ? of_block_only_ : of_block_)[block];
  if (length < sum.length && length <= kShort && folded_ == 0) {
    Known scratch;
    for (std::size_t i = 0; i < length; ++i) add(scratch, i);
    return scratch;
  }
  for (sum.length = std::max(sum.length, folded_); sum.length < length; ++sum.length) {
    add(sum.known, sum.length);
  }
  return sum.known;
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
