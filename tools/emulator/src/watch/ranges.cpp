#include "watch/ranges.hpp"

#include <algorithm>

namespace emu {

void Ranges::add(const Range& range) {
  if (!all_.empty()) {
    Range& last = all_.back();
    if (range.begin >= last.begin && range.begin <= last.end) {
      last.end = std::max(last.end, range.end);
      return;
    }
    settled_ &= range.begin > last.end;
  }
  all_.push_back(range);
}

void Ranges::settle() {
  if (std::exchange(settled_, true)) return;
  std::vector<Range> before = std::exchange(all_, {});
  std::sort(before.begin(), before.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (const Range& range : before) add(range);
}

std::optional<std::pair<Range, Range>> Ranges::shared_with(const Ranges& other) const {
  auto a = all_.begin(), b = other.all_.begin();
  while (a != all_.end() && b != other.all_.end()) {
    if (a->end <= b->begin) {
      ++a;
    } else if (b->end <= a->begin) {
      ++b;
    } else {
      return std::pair{*a, *b};
    }
  }
  return std::nullopt;
}

void Ranges::remove(const Ranges& other) {
  if (empty() || other.empty() || other.last() < first() || last() < other.first()) return;
  std::vector<Range> left;
  auto b = other.all_.begin();
  for (Range a : all_) {
    while (b != other.all_.end() && b->end <= a.begin) ++b;
    for (auto c = b; c != other.all_.end() && c->begin < a.end; ++c) {
      if (c->begin > a.begin) left.push_back({a.begin, c->begin, a.access});
      a.begin = std::max(a.begin, std::min(c->end, a.end));
    }
    if (a.begin < a.end) left.push_back(a);
  }
  all_ = std::move(left);
}

}  // namespace emu
