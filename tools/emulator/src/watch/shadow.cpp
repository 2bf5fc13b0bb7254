#include "watch/shadow.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace emu {

void Marks::push(const Mark& mark) {
  if (count_++ == 0) {
    first_ = mark;
    return;
  }
  if (!more_) more_ = std::make_unique<std::vector<Mark>>();
  more_->push_back(mark);
}

void Marks::erase(std::size_t i) {
  --count_;
  if (!more_ || more_->empty()) return;
  if (i == 0) {
    first_ = more_->front();
    i = 1;
  }
  more_->erase(more_->begin() + static_cast<std::ptrdiff_t>(i) - 1);
}

void Marks::clear() {
  count_ = 0;
  more_.reset();
}

void Line::split() {
  if (words) return;
  words = std::make_unique<std::array<Marks, kLineWords>>();
  for (std::size_t i = 0; i < all.size(); ++i) {
    Mark mark = all[i];
    for (Mask left = mark.words; left; left &= left - 1) {
      mark.words = left & (~left + 1);
      (*words)[static_cast<unsigned>(std::countr_zero(left))].push(mark);
    }
  }
  all.clear();
}

void Line::clear() {
  all.clear();
  words.reset();
}

void Line::forget(Mask gone) {
  if (words) {
    for (Mask left = gone; left; left &= left - 1) {
      (*words)[static_cast<unsigned>(std::countr_zero(left))].clear();
    }
    return;
  }
  for (std::size_t i = 0; i < all.size();) {
    all[i].words &= ~gone;
    if (all[i].words) {
      ++i;
    } else {
      all.erase(i);
    }
  }
}

GlobalShadow::Page* GlobalShadow::hold(Address number, Cache& cache, bool made) {
  Found& found = cache[static_cast<std::size_t>(number) % cache.size()];
  while (true) {
    if (found.number != number || !found.page) {
      Page* const page = find(number, made);
      if (!page) return nullptr;
      found = {number, page};
    }
    found.page->hold();
    if (found.page->number == number) return found.page;
    found.page->let_go();  // it was given to another number
    found = {};
  }
}

GlobalShadow::Page* GlobalShadow::find(Address number, bool made) {
  const std::scoped_lock lock(mutex_);
  const auto at = by_number_.find(number);
  if (at != by_number_.end()) return at->second;
  if (!made) return nullptr;
  std::unique_ptr<Page> page;
  if (pages_.size() < kMostPages) {
    page = std::make_unique<Page>();
    page->number = number;
  } else {
    page = std::move(pages_.front());
    pages_.pop_front();
    by_number_.erase(page->number);
    page->hold();
    page->number = number;
    for (Line& line : page->lines) {
      if (line.words) split_.fetch_sub(1, std::memory_order_relaxed);
      line.clear();
    }
    page->let_go();
  }
  Page* const made_now = page.get();
  by_number_[number] = made_now;
  pages_.push_back(std::move(page));
  return made_now;
}

}  // namespace emu
