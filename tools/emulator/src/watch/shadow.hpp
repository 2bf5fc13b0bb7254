/// \file
/// Who touched what last: for each line of 128 bytes the accesses that a later one could still race
/// with. Most lines have one or two, of whole warps; where many threads touch pieces of a line, its
/// words have lists of their own.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "emu/memory.hpp"
#include "watch/past.hpp"

namespace emu {

inline constexpr unsigned kLineBytes = 128;
inline constexpr unsigned kLineWords = kLineBytes / 4;

/// What lanes of one warp did to words of one line.
struct Mark {
  /// How an access takes part in races.
  enum Kind : std::uint8_t {
    kWrites = 1,
    kStrong = 2,     ///< atomic, relaxed or stronger: also kGrid where it is so for other blocks
    kVolatile = 4,   ///< strong, and wide in scope; see RaceCheck::excused
    kReleases = 8,   ///< volatile, and its thread has executed a fence
    kGrid = 16,      ///< its scope is the device or the system
    kUpdates = 32,   ///< reads and writes
    kReadOnly = 64,  ///< ld.global.nc
    kSilent = 128,   ///< an update that gives nothing back
  };
  static constexpr std::uint8_t kAlike = 255;

  std::uint32_t block = 0;
  Time time = 0;
  std::uint32_t pc = 0;
  Mask lanes = 0;          ///< each of which touches all of `words`, where shift is kAlike; else
  std::int16_t from = 0;   ///< lane 0's byte, counted from the line's first,
  std::uint8_t shift = 0;  ///< and the logarithm of each lane's bytes
  std::uint8_t warp = 0;
  Mask words = 0;           ///< of the line
  std::uint8_t bytes = 15;  ///< of each word
  std::uint8_t kind = 0;
  std::uint8_t size = 0;     ///< of an element that is accessed at once
  bool bulk : 1 = false;     ///< by a bulk copy, which goes to memory another way than the rest
  bool orders : 1 = false;   ///< an acquire or a release
  std::uint32_t number = 0;  ///< of the instruction carried out, in the order of its block

  Mask lanes_at(unsigned byte) const {
    return shift == kAlike ? lanes : Mask{1} << ((static_cast<int>(byte) - from) >> shift);
  }
  bool reads_only() const { return !(kind & kWrites); }
  bool of_warp(const Mark& o) const { return warp == o.warp && block == o.block; }
  /// Each byte that both touch, they touch by the same lane.
  bool same_lanes(const Mark& o) const {
    return shift == o.shift &&
           (shift == kAlike ? lanes == o.lanes && (lanes & (lanes - 1)) == 0 : from == o.from);
  }
};

/// A list of marks, in the order of their accesses; mostly one.
class Marks {
 public:
  std::size_t size() const { return count_; }
  Mark& operator[](std::size_t i) { return i == 0 ? first_ : (*more_)[i - 1]; }
  void push(const Mark& mark);
  void erase(std::size_t i);
  void clear();

 private:
  Mark first_;
  std::uint32_t count_ = 0;
  std::unique_ptr<std::vector<Mark>> more_;
};

struct Line {
  Marks all;
  std::unique_ptr<std::array<Marks, kLineWords>> words;  ///< instead of `all`

  void split();
  void clear();
  void forget(Mask words);
};

/// The lines of global memory that the blocks of a launch touch. Threads of the host share it: a
/// page is one's own while it is held. Beyond kMostPages the page that came first is forgotten.
class GlobalShadow {
 public:
  static constexpr unsigned kPageLines = 64;
  static constexpr unsigned kPageBytes = kPageLines * kLineBytes;
  // Of the host's memory: some 200 MiB of pages, and as much again and more of split lines.
  static constexpr std::size_t kMostPages = sizeof(void*) > 4 ? 65'536 : 4096;
  static constexpr std::size_t kMostSplit = 4 * kMostPages;

  struct Page {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    Address number = ~Address{0};
    std::array<Line, kPageLines> lines;

    void hold() {
      while (busy.test_and_set(std::memory_order_acquire)) {
      }
    }
    void let_go() { busy.clear(std::memory_order_release); }
  };
  /// Where a thread of the host found pages.
  struct Found {
    Address number = ~Address{0};
    Page* page = nullptr;
  };
  using Cache = std::array<Found, 64>;

  /// Holds the page of this number; null where it isn't there and isn't to be `made`.
  Page* hold(Address number, Cache& cache, bool made = true);
  /// Whether there is room to split another line; the room is taken.
  bool may_split() { return split_.fetch_add(1, std::memory_order_relaxed) < kMostSplit; }
  /// Calls f(first address of a line, marks) for all there are; while no block runs.
  template <class F>
  void each(const F& f) {
    for (const auto& page : pages_) {
      Address line = page->number * kPageBytes;
      for (Line& l : page->lines) {
        if (l.words) {
          for (Marks& marks : *l.words) f(line, marks);
        } else {
          f(line, l.all);
        }
        line += kLineBytes;
      }
    }
  }

 private:
  Page* find(Address number, bool made);

  std::mutex mutex_;
  std::unordered_map<Address, Page*> by_number_;
  std::deque<std::unique_ptr<Page>> pages_;  ///< oldest first
  std::atomic<std::size_t> split_{0};
};

}  // namespace emu
