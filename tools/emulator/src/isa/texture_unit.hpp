/// \file
/// What a texture unit makes of coordinates and texels: bit for bit what an H200 gives
/// (tests/probes/textures.cu).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "machine/image.hpp"

namespace emu {

/// One texel that a read takes part of.
struct Tap {
  std::int64_t at = kOutside;                   ///< byte in the image
  unsigned weight = 256;                        ///< of 256
  static constexpr std::int64_t kOutside = -1;  ///< the border
};
struct Taps {
  unsigned count = 0;
  std::array<Tap, 8> taps;
};

using Bits4 = std::array<std::uint32_t, 4>;  ///< of the four registers that get a result

/// Which texels a read at `place` takes; `layer` of a layered texture, `level` of one with levels.
Taps taps_of(const Texture& texture, const float* place, std::int64_t layer, float level);
/// Those that a direction leads to in a cube, whose faces don't mix.
Taps taps_of_cube(const Texture& texture, const float* direction);
/// The four that lie around a place, as tld4 gives them.
Taps taps_around(const Texture& texture, const float* place, std::int64_t layer);

/// A texel, or the border, as point sampling gives it.
Bits4 element(const Texture& texture, const std::byte* texels, const Tap& tap);
/// A channel of one that was gathered.
std::uint32_t gathered(const Texture& texture, const std::byte* texels, const Tap& tap,
                       unsigned channel);
/// The taps' sum.
Bits4 filtered(const Texture& texture, const std::byte* texels, const Taps& taps);

}  // namespace emu
