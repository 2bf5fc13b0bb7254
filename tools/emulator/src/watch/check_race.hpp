/// \file
/// Races between threads of one block, in shared and global memory, by happens-before.
///
/// Each thread knows of each other thread up to when it has seen what that one did: a vector of
/// clocks. Barriers and bar.warp.sync join the vectors of those that take part. A fence and then an
/// atomic (or volatile) write hands on what the thread knew at the fence; an atomic (or volatile)
/// read and then a fence takes it up: PTX's release and acquire patterns.
///
/// An mbarrier gathers what those who arrive at it know, and when a phase is over hands it to who
/// waits for that. What a copy that goes on by itself touches, it accesses as if at every moment
/// from its beginning until it has landed: then, where its thread waited for it, it counts as that
/// thread's access, and where it counts at an mbarrier as one of a thread that stands for the
/// mbarrier (kAgents of them; beyond, mbarriers share one).
///
/// Of each word, and of each byte where bytes were accessed, there is a list of the accesses that a
/// later one could still race with. An access that happens after another and conflicts with all
/// that the other does replaces it, so that the lists stay short: a thread is in each at most once
/// for each kind of access. Of global memory the words that one block touched are kept, up to
/// kMostPages pages: then the oldest page is forgotten, and races with what was in it are not seen.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "watch/check.hpp"

namespace emu {

class RaceCheck {
 public:
  explicit RaceCheck(BlockFindings& findings);

  void begin();
  void access(const Access& access);
  void arrived(const Warp& warp, Mask lanes, unsigned barrier, bool waits);
  void completed(unsigned barrier);
  void met(const Warp& warp, Mask lanes);
  void fence(const Warp& warp, Mask lanes);
  void copy_began(const Copy& copy);
  void copy_landed(std::uint64_t number);
  void copy_landed_at(std::uint64_t number, Address mbarrier);
  void mbarrier_arrived(const Warp& warp, unsigned lane, Address mbarrier, bool releases);
  void mbarrier_completed(Address mbarrier);
  void mbarrier_waited(const Warp& warp, unsigned lane, Address mbarrier);
  void given(Address at, std::uint64_t bytes);

 private:
  using Clock = std::uint32_t;
  static constexpr Clock kOnItsWay = ~Clock{0};  ///< of a copy: in no agent's past
  static constexpr unsigned kAgents = 32;
  using Clocks = std::vector<Clock>;  ///< of each lane of the block's warps, and of agents
  using Known = std::shared_ptr<const Clocks>;

  /// How an access takes part in races.
  enum Kind : std::uint8_t {
    kWrites = 1,
    kStrong = 2,    ///< atomic: never races with another strong one
    kVolatile = 4,  ///< strong against strong ones only…
    kReleases = 8   ///< …or where the store follows a fence
  };
  struct Entry {
    Clock clock = 0;
    std::uint32_t pc = 0;
    Mask lanes = 0;
    std::uint8_t warp = 0, kind = 0;
    std::uint16_t access = 0;  ///< its number, as far as it fits
  };
  struct Cell {
    std::array<Entry, 2> first;
    std::uint32_t count = 0;
    std::unique_ptr<std::vector<Entry>> more;
    std::unique_ptr<std::array<Cell, 4>> bytes;  ///< where single bytes were accessed

    Entry& at(std::uint32_t i) { return i < 2 ? first[i] : (*more)[i - 2]; }
    void push(const Entry& entry);
    void remove(std::uint32_t i);
    void clear();
  };
  static constexpr unsigned kPageWords = 256;
  static constexpr std::size_t kMostPages = 8192;
  using Page = std::array<Cell, kPageWords>;

  /// Lanes of a warp that know the same.
  struct Knowing {
    Mask lanes;
    Known known;
  };
  struct WarpState {
    Clock clock = 1;
    std::vector<Knowing> knowing;
  };
  /// What a thread had seen at its last fence.
  struct Released {
    Known known;
    Clock clock = 0;
  };
  struct Pattern {
    Released released;
    Known pending;  ///< read and not yet taken up by a fence
  };
  struct Arrived {
    unsigned warp;
    Mask lanes;
    Known known;
    Clock clock;
    bool waits;
  };
  struct Mbarrier {
    unsigned agent = 0;
    Known gathered;  ///< in this phase
    Known handed;    ///< by phases that are over
  };
  /// What one access, or a copy's, does to a place.
  struct Touch {
    const Warp& warp;
    Space space;
    Direction direction;
    std::uint8_t kind;
    std::uint32_t pc;
    Clock clock;
    const std::byte* values = nullptr;  ///< from `at` on; null: not known
    Address at = 0;
  };
  struct OnItsWay {
    unsigned warp, lane;
    std::uint32_t pc;
    Space to_space, from_space;
    Address to, from;
    std::uint64_t bytes;
  };

  const Known& known(unsigned warp, unsigned lane) const;
  void learn(unsigned warp, Mask lanes, const Known& known);
  Known join(const std::vector<Arrived>& all) const;
  static Known join(const Known& a, const Known& b);
  Known materialise(const Released& released, unsigned thread) const;
  void release_from(std::vector<Arrived>& out, unsigned warp, Mask lanes, bool waits);

  Cell& cell(Space space, Address word);
  void order(const Access& access, unsigned lane);
  void touch(const Touch& touch, unsigned lane, Address first, std::uint64_t bytes);
  void visit(const Touch& touch, unsigned lane, Cell& cell, Address at, unsigned bytes);
  void same_instruction(const Access& access, std::uint8_t kind, std::uint32_t pc);
  bool stores_what_is_there(const Touch& touch, Address at, unsigned bytes) const;
  bool excused(std::uint8_t before, std::uint8_t now) const;
  void report(const Touch& touch, unsigned lane, Address at, const Entry& before,
              unsigned before_lane, bool same_value);
  Mbarrier& mbarrier(Address at);
  void land(std::uint64_t number, unsigned warp, unsigned lane, Clock clock);
  void land(const OnItsWay& copy, Space space, Address first, unsigned warp, unsigned lane,
            Clock clock);

  BlockFindings& findings_;
  unsigned threads_;
  std::vector<WarpState> warps_;
  std::array<std::vector<Arrived>, 16> barriers_;
  bool fenced_ = false;  ///< any thread of this block: else there are no patterns to follow
  std::vector<Pattern> patterns_;
  std::unordered_map<Address, Known> locations_;  ///< handed on there
  std::unordered_map<Address, Mbarrier> mbarriers_;
  std::array<Clock, kAgents> agents_{};
  Known waited_before_, waited_for_, waited_now_;  ///< of the last lane that waited
  std::unordered_map<std::uint64_t, OnItsWay> copies_;
  std::vector<Cell> shared_;
  std::unordered_map<Address, Page*> pages_;
  std::deque<std::pair<Address, std::unique_ptr<Page>>> used_;
  std::vector<std::unique_ptr<Page>> free_;
  std::uint16_t number_ = 0;  ///< of the access
  Address last_number_ = ~Address{0};
  Page* last_page_ = nullptr;
};

}  // namespace emu
