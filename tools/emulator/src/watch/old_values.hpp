/// \file
/// Older values: what a strong read of global memory may be given where nothing orders it after
/// another block's strong write. Such a pair doesn't race, so only the value tells. The first time
/// that a thread reads there the device gives it the oldest value that PTX's memory model allows;
/// a thread that looks again, as a loop does that waits, is given the latest.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "emu/memory.hpp"
#include "machine/lanes.hpp"
#include "machine/observer.hpp"
#include "watch/past.hpp"

namespace emu {

/// Of one launch, whose blocks one thread of the host runs.
class OldValues {
 public:
  using Node = std::uint32_t;  // SumForms::Node
  static constexpr Node kUnknown = ~Node{0};
  static constexpr std::size_t kMostWrites = 16, kMostReaders = 16, kMostPlaces = 1 << 18;

  struct By {
    std::uint32_t block;
    unsigned warp, lane;
    Time time;
  };
  struct Write {
    By by;
    std::uint32_t pc;
    std::uint64_t before;  ///< what it took the place of,
    Node node = kUnknown;  ///< and what was in that, as the sum check says at once
  };
  /// A word, or two, that was written strongly.
  struct Place {
    unsigned bytes = 0;
    std::size_t gone = 0;  ///< so many writes came before those that are kept
    std::vector<Write> writes;
    std::vector<std::pair<By, std::size_t>> readers;  ///< how many writes they have seen
  };
  /// An older value that the access that goes on is given.
  struct Given {
    Address at;
    Write write;  ///< the first that it doesn't see
    unsigned bytes;
    std::byte* where;
    std::uint64_t now;  ///< the latest
  };

  void clear();
  /// The place that begins there; null where there is none of this size.
  Place* find(Address at, unsigned bytes);
  /// Forgets places that overlap the range without being it.
  void overwrite(Address at, std::uint64_t bytes, bool strongly);
  void add(Address at, unsigned bytes, const Write& write);
  const Given* given_at(Address at) const;
  /// Of a read or write: f(lane, address, bytes) for each lane's elements.
  template <class F>
  static void each_element(const Access& access, const F& f) {
    const unsigned bytes = access.element_bytes();
    for_each_lane(access.lanes, [&](unsigned i) {
      for (unsigned k = 0; k < access.bytes; k += bytes) f(i, access.address[i] + k, bytes);
    });
  }

  std::vector<Given> given;
  /// At which operations a thread has been given an older value of a place.
  std::map<std::tuple<std::uint32_t, unsigned, Address>, std::vector<std::uint32_t>> looked;

 private:
  std::unordered_map<Address, Place> places_;
};

}  // namespace emu
