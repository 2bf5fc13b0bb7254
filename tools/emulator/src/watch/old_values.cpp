#include "watch/old_values.hpp"

#include <algorithm>
#include <cstring>

#include "machine/block.hpp"
#include "machine/lanes.hpp"
#include "watch/check_race.hpp"

namespace emu {

void OldValues::clear() {
  given.clear();
  looked.clear();
  places_.clear();
}

OldValues::Place* OldValues::find(Address at, unsigned bytes) {
  const auto place = places_.find(at);
  return place != places_.end() && place->second.bytes == bytes ? &place->second : nullptr;
}

void OldValues::overwrite(Address at, std::uint64_t bytes, bool strongly) {
  if (places_.empty()) return;
  for (Address a = at / 4 * 4 - 4; a < at + bytes; a += 4) {
    const auto place = places_.find(a);
    if (place == places_.end() || a + place->second.bytes <= at) continue;
    if (!strongly || a != at || place->second.bytes != bytes) places_.erase(place);
  }
}

void OldValues::add(Address at, unsigned bytes, const Write& write) {
  if (places_.size() >= kMostPlaces && !places_.contains(at)) return;
  Place& place = places_[at];
  place.bytes = bytes;
  if (place.writes.size() >= kMostWrites) {
    place.writes.erase(place.writes.begin());
    ++place.gone;
  }
  place.writes.push_back(write);
}

const OldValues::Given* OldValues::given_at(Address at) const {
  const auto found = std::ranges::find(given, at, &Given::at);
  return found == given.end() ? nullptr : &*found;
}

// --- By whom, and in which order -----------------------------------------------------------------

/// Whether what someone did comes before all that a thread does from here on. A thread that has
/// read what was handed on, with no fence since, doesn't have that from PTX's model; but its later
/// reads wait for that one on any GPU, and NVIDIA's own examples rely on it.
bool RaceCheck::comes_before(const OldValues::By& by, unsigned warp, unsigned lane) const {
  if (by.block == block_) return true;
  const auto knows = [&](const OthersPtr& others) {
    return others && !others->unknown(by.block, by.warp, kBit[by.lane], by.time);
  };
  return knows(known(warp, lane)->others) || std::ranges::any_of(read_, [&](const Taken& t) {
           return knows(t.log->to_grid(t.length));
         });
}

/// A strong read of global memory: puts older values there until it has been carried out. Gives
/// back the lanes that are given one.
Mask RaceCheck::give_older(const Access& access, Time time) {
  OldValues& old = *grid_.old;
  const unsigned w = access.warp.number();
  const auto pc = static_cast<std::uint32_t>(&access.op - access.warp.code().ops.data());
  struct Wanted {
    Address at;
    unsigned bytes;
    std::size_t seen;  ///< so many writes has it to see
    Mask lanes;
    bool again;
  };
  std::vector<Wanted> wanted;
  OldValues::each_element(access, [&](unsigned i, Address at, unsigned bytes) {
    OldValues::Place* const place = old.find(at, bytes);
    if (!place) return;
    catch_up(w, kBit[i]);
    const std::size_t all = place->gone + place->writes.size();
    std::size_t seen = all;
    while (seen > place->gone && !comes_before(place->writes[seen - 1 - place->gone].by, w, i)) {
      --seen;
    }
    for (const auto& [by, saw] : place->readers) {
      if (saw > seen && comes_before(by, w, i)) seen = saw;
    }
    if (place->readers.size() >= OldValues::kMostReaders) seen = all;
    const auto before = old.looked.find({block_, w * kLanes + i, at});
    const bool again = before != old.looked.end() && std::ranges::count(before->second, pc) > 0;
    const auto same = std::ranges::find(wanted, at, &Wanted::at);
    if (same == wanted.end()) {
      wanted.push_back({at, bytes, seen, kBit[i], again});
    } else {
      same->seen = std::max(same->seen, seen);
      same->again |= again;
      same->lanes |= kBit[i];
    }
  });
  Mask lanes = 0;
  for (const Wanted& want : wanted) {
    OldValues::Place& place = *old.find(want.at, want.bytes);
    const std::size_t all = place.gone + place.writes.size();
    const Allocation* const a = findings_.block().launch().config.memory->find(want.at, want.bytes);
    if (want.again || want.seen == all || !a) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(want.lanes));
      if (place.readers.size() < OldValues::kMostReaders) {
        place.readers.push_back({{block_, w, lane, time}, all});
      }
      continue;
    }
    const OldValues::Write& write = place.writes[want.seen - place.gone];
    OldValues::Given given{want.at, write, want.bytes, a->host + (want.at - a->base), 0};
    std::memcpy(&given.now, given.where, want.bytes);
    std::memcpy(given.where, &write.before, want.bytes);
    old.given.push_back(given);
    lanes |= want.lanes;
    for_each_lane(want.lanes, [&](unsigned i) {
      old.looked[{block_, w * kLanes + i, want.at}].push_back(pc);
    });
  }
  return lanes;
}

/// A strong write to global memory, or a weak one: what was there before.
void RaceCheck::keep_older(const Access& access, Time time) {
  OldValues& old = *grid_.old;
  const bool strong = access.direction == Direction::kAtomic || access.order != Order::kWeak;
  Address last = ~Address{0};
  OldValues::each_element(access, [&](unsigned i, Address at, unsigned bytes) {
    const bool follows = strong && at % 4 == 0 && (bytes == 4 || bytes == 8);
    old.overwrite(at, bytes, follows);
    if (!follows || at == last) return;
    last = at;
    const Allocation* const a = findings_.block().launch().config.memory->find(at, bytes);
    if (!a) return;
    OldValues::Write write{{block_, access.warp.number(), i, time},
                           static_cast<std::uint32_t>(&access.op - access.warp.code().ops.data()),
                           0};
    std::memcpy(&write.before, a->host + (at - a->base), bytes);
    old.add(at, bytes, write);
  });
}

/// The read has been carried out.
void RaceCheck::put_back() {
  for (const OldValues::Given& g : grid_.old->given) {
    std::memcpy(g.where, &g.now, g.bytes);
  }
  grid_.old->given.clear();
}

}  // namespace emu
