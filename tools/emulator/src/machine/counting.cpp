#include "machine/counting.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace emu {
namespace {

/// The most distinct words in one bank, over the lanes of the mask.
std::uint32_t most_in_a_bank(const std::uint64_t* address, Mask mask, unsigned bytes) {
  constexpr unsigned kBanks = 32;
  std::array<std::array<std::uint32_t, kLanes>, kBanks> words;  // of each bank, the distinct ones
  std::array<std::uint8_t, kBanks> count{};
  std::uint32_t most = 0;
  const unsigned per_lane = bytes <= 4 ? 1 : bytes / 4;
  std::uint32_t last = ~std::uint32_t{0};
  for (; mask; mask &= mask - 1) {
    const auto first = static_cast<std::uint32_t>(address[std::countr_zero(mask)] / 4);
    if (first == last) continue;  // neighbours mostly share
    last = first;
    for (std::uint32_t word = first; word < first + per_lane; ++word) {
      auto& here = words[word % kBanks];
      auto& n = count[word % kBanks];
      if (std::find(here.begin(), here.begin() + n, word) != here.begin() + n) continue;
      here[n++] = word;
      most = std::max<std::uint32_t>(most, n);
    }
  }
  return most;
}

/// Whether each active lane's partner, `lane ^ distance`, is inactive or reads the same element.
bool partners_agree(const std::uint64_t* address, Mask mask, unsigned distance) {
  for (Mask m = mask; m; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const unsigned partner = lane ^ distance;
    if ((mask >> partner & 1) && address[partner] != address[lane]) return false;
  }
  return true;
}

}  // namespace

std::uint64_t count_sectors(const std::uint64_t* address, Mask mask) {
  std::array<std::uint64_t, kLanes> sectors;
  std::size_t n = 0;
  bool sorted = true;
  for (; mask; mask &= mask - 1) {
    const std::uint64_t sector = address[std::countr_zero(mask)] / 32;
    if (n && sector == sectors[n - 1]) continue;  // neighbours mostly share
    sorted &= n == 0 || sector > sectors[n - 1];
    sectors[n++] = sector;
  }
  if (sorted) return n;
  std::sort(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(n));
  return static_cast<std::uint64_t>(
      std::unique(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(n)) -
      sectors.begin());
}

Wavefronts count_wavefronts(const std::uint64_t* address, Mask mask, unsigned bytes, bool is_load) {
  if (bytes <= 4) {
    const std::uint32_t most = most_in_a_bank(address, mask, bytes);
    return {most, most - 1};
  }
  // Lanes are served in groups: halves of a warp for 8 bytes, quarters for 16. Two neighbouring
  // groups of a load become one where lanes share elements in pairs.
  const unsigned size = bytes == 8 ? 16 : 8;
  Wavefronts sum;
  const auto serve = [&](Mask group) {
    if (!group) return;
    const std::uint32_t most = most_in_a_bank(address, group, bytes);
    sum.wavefronts += most;
    sum.conflicts += most - 1;
  };
  for (unsigned first = 0; first < kLanes; first += 2 * size) {
    const Mask lower = ((Mask{1} << size) - 1) << first;
    const Mask upper = lower << size;
    const Mask both = mask & (lower | upper);
    if (is_load && (partners_agree(address, both, 1) || partners_agree(address, both, 2))) {
      serve(both);
    } else {
      serve(mask & lower);
      serve(mask & upper);
    }
  }
  return sum;
}

}  // namespace emu
