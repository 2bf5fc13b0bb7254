/// \file
/// Sets of bytes, as ranges: what an operation of a stream has touched.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "emu/memory.hpp"

namespace emu {

/// Bytes from `begin` up to `end`, and a number that says which access touched the first of them.
struct Range {
  Address begin = 0, end = 0;
  std::uint32_t access = 0;
};

class Ranges {
 public:
  void add(const Range& range);  ///< in any order
  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  Address first() const { return all_.front().begin; }
  Address last() const { return all_.back().end - 1; }
  const std::vector<Range>& all() const { return all_; }
  /// Puts them in order and joins those that touch; the functions below count on it.
  void settle();
  /// The first bytes that are in both: of each the range that holds them.
  std::optional<std::pair<Range, Range>> shared_with(const Ranges& other) const;
  void remove(const Ranges& other);

 private:
  std::vector<Range> all_;
  bool settled_ = true;
};

}  // namespace emu
