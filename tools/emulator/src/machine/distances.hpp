/// \file
/// A warp's addresses by their distances from one of them: 32 bits each, so that what lanes have in
/// common is found for many at a time. All of it is compiled into its callers, for each kind of
/// host.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "machine/counting.hpp"
#include "machine/lanes.hpp"

namespace emu {

struct Distances {
  std::uint64_t first = 0;  ///< address of the first lane of the mask
  Mask mask = 0;
  std::int32_t least = 0, most = 0;
  bool same = false;           ///< all lanes access one address
  bool row = false;            ///< lane after lane, one element after another
  bool aligned = false;        ///< to the size of an element
  std::int32_t* of = nullptr;  ///< each lane's; of lanes outside the mask: 0

  std::uint64_t begin() const { return first + static_cast<std::uint64_t>(std::int64_t{least}); }
  /// From the first byte that is touched to the last.
  std::uint64_t span(unsigned bytes) const {
    return static_cast<std::uint64_t>(std::int64_t{most} - least) + bytes;
  }
};

/// The distances of `address(lane)`; false where they don't fit.
template <class F>
bool measure(Mask mask, unsigned bytes, Distances& out, F address) {
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint64_t first = address(lane);
  std::uint64_t high = 0;
  std::int32_t least = 0, most = 0, other = 0, off_row = 0;
  const auto before = static_cast<std::int32_t>(lane * bytes);
  const auto take = [&](unsigned i, bool active) {
    const std::uint64_t far = active ? address(i) - first : 0;
    const auto distance = static_cast<std::int32_t>(far);
    const std::int32_t in_row = static_cast<std::int32_t>(i * bytes) - before;
    out.of[i] = distance;
    high |= far + 0x8000'0000u;
    least = std::min(least, distance);
    most = std::max(most, distance);
    other |= distance;
    off_row |= active ? distance ^ in_row : 0;
  };
  if (mask == kAllLanes) {
    EMU_FOR_LANES take(i, true);
  } else {
    EMU_FOR_LANES take(i, (mask & kBit[i]) != 0);
  }
  if (high >> 32) return false;
  out.first = first;
  out.mask = mask;
  out.least = least;
  out.most = most;
  out.same = other == 0;
  out.row = off_row == 0;
  out.aligned = ((static_cast<std::uint64_t>(std::int64_t{other}) | first) & (bytes - 1)) == 0;
  return true;
}

/// One lane for each value that there is; nothing where that isn't found so quickly. Each lane
/// leaves its number at its value's place, and those that find their own again are it.
inline std::optional<Mask> first_of_each(const std::array<std::uint32_t, kLanes>& values) {
  constexpr std::size_t kPlaces = 4096;
  std::array<std::uint8_t, kPlaces> lane_at;  // what lanes haven't written isn't read
#pragma GCC unroll 32
  for (unsigned i = 0; i < kLanes; ++i) {
    lane_at[values[i] % kPlaces] = static_cast<std::uint8_t>(i);
  }
  Mask found = 0;
  std::uint32_t other = 0;  // values at one place
#pragma GCC unroll 32
  for (unsigned i = 0; i < kLanes; ++i) {
    const unsigned lane = lane_at[values[i] % kPlaces];
    other |= values[lane] ^ values[i];
    found |= static_cast<Mask>(lane == i) << i;
  }
  if (other) return std::nullopt;
  return found;
}

/// As count_sectors of the addresses.
inline std::uint64_t count_sectors(const Distances& d) {
  constexpr unsigned kBits = 5;  // 32 bytes
  const auto inside = static_cast<std::int64_t>(d.first & 31);
  const std::int64_t begin = (d.least + inside) >> kBits, end = (d.most + inside) >> kBits;
  const auto sector = [&](unsigned i) {
    return static_cast<std::uint32_t>(((d.of[i] + inside) >> kBits) - begin);
  };
  if (end - begin < 64) {
    std::uint64_t touched = 0;
    EMU_FOR_LANES touched |= std::uint64_t{1} << sector(i);
    return static_cast<std::uint64_t>(std::popcount(touched));
  }
  alignas(64) std::array<std::uint32_t, kLanes> sectors;
  EMU_FOR_LANES sectors[i] = sector(i);
  if (const auto one_of_each = first_of_each(sectors)) return count_lanes(*one_of_each);
  std::sort(sectors.begin(), sectors.end());
  return static_cast<std::uint64_t>(std::unique(sectors.begin(), sectors.end()) - sectors.begin());
}

/// As count_wavefronts of the addresses, where a closed form is known; else false. The lanes'
/// addresses are aligned to `bytes`.
inline bool count_wavefronts(const Distances& d, unsigned bytes, bool is_load, Wavefronts& out) {
  if (bytes > 4) {
    // One element for all: a wavefront for each group that has a lane. Loads join groups in pairs.
    if (d.row && d.mask == kAllLanes) {
      out = {bytes / 4, 0};
      return true;
    }
    if (!d.same) return false;
    const unsigned size = (bytes == 8 ? 16 : 8) * (is_load ? 2 : 1);
    std::uint32_t groups = 0;
    for (unsigned begin = 0; begin < kLanes; begin += size) {
      groups += size == kLanes || (d.mask >> begin & ((Mask{1} << size) - 1)) != 0;
    }
    out = {groups, 0};
    return true;
  }
  if (d.same || d.row) {  // neighbouring words lie in different banks
    out = {1, 0};
    return true;
  }
  // The words that are touched, as bits from the beginning of a row of banks on.
  const std::uint64_t begin = d.begin() / 128 * 128;
  const auto inside = static_cast<std::int64_t>(d.first - begin);
  if ((d.most + inside) / 4 >= 64) {
    alignas(64) std::array<std::uint32_t, kLanes> words;
    EMU_FOR_LANES words[i] = static_cast<std::uint32_t>(d.of[i] + inside) / 4;
    const auto distinct = first_of_each(words);
    if (!distinct) return false;
    std::array<std::uint8_t, 32> in_bank{};
    std::uint8_t most = 0;
    for_each_lane(*distinct, [&](unsigned i) { most = std::max(most, ++in_bank[words[i] % 32]); });
    out = {most, most - 1u};
    return true;
  }
  std::uint64_t touched = 0;
  EMU_FOR_LANES touched |= std::uint64_t{1} << (static_cast<std::uint64_t>(d.of[i] + inside) / 4);
  const bool twice = (touched & touched >> 32) != 0;
  out = {twice ? 2u : 1u, twice ? 1u : 0u};
  return true;
}

}  // namespace emu
