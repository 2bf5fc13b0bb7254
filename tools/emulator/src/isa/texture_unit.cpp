#include "isa/texture_unit.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "isa/floats.hpp"

namespace emu {
namespace {

using Kind = TexelFormat::Kind;
using Mode = Texture::Mode;
using U32 = std::uint32_t;
using I64 = std::int64_t;

// --- Coordinates ----------------------------------------------------------------------------

constexpr double kFar = 1e12;  // past every texture, and 256 times that is still an integer

/// Wrapping and mirroring need coordinates that are parts of the size.
Mode mode_of(const Texture& t, unsigned direction) {
  const Mode m = t.modes[direction];
  return t.normalised || m == Mode::kBorder ? m : Mode::kClamp;
}

/// A coordinate in texels. Of one that is a part of the size 21 bits count behind the point.
double in_texels(const Texture& t, float x, U32 size, Mode mode) {
  if (std::isnan(x) || std::abs(x) < 0x1p-126f) return 0;
  double at = x;
  if (t.normalised) at = std::floor(at * 0x1p21) * 0x1p-21 * size;
  if (mode == Mode::kWrap || mode == Mode::kMirror) {
    return std::isinf(x) ? 0 : std::fmod(at, 2.0 * size);
  }
  return std::clamp(at, -kFar, kFar);
}

/// Which texel a number means; -1 for the border.
I64 index_of(I64 i, U32 size, Mode mode) {
  if (i >= 0 && i < size) return i;
  const I64 n = size, twice = 2 * n;
  switch (mode) {
    case Mode::kBorder: return -1;
    case Mode::kWrap: return (i % n + n) % n;
    case Mode::kMirror: i = (i % twice + twice) % twice; return std::min(i, twice - 1 - i);
    case Mode::kClamp: break;
  }
  return i < 0 ? 0 : n - 1;
}

/// Two neighbours in one direction, and how much of 256 the second one weighs.
struct Pair {
  I64 first = 0, second = 0;
  unsigned weight = 0;
};
/// `stays`: a clamped coordinate is one between the centres of texels, as filtering has it.
Pair around(double at, U32 size, Mode mode, bool stays) {
  auto k = static_cast<I64>(std::floor(at * 256 - 127.5));
  if (stays && mode == Mode::kClamp) k = std::clamp<I64>(k, 0, (I64{size} - 1) * 256);
  return {index_of(k >> 8, size, mode), index_of((k >> 8) + 1, size, mode),
          static_cast<unsigned>(k & 255)};
}

struct Directions {
  /// A line is read as a sheet of one row, whose border counts where it is filtered.
  Directions(const Texture& t, const Image& image)
      : count(image.shape == Image::Shape::kLine ? 2 : image.dimensions()),
        size{image.width, image.height, image.depth} {
    for (unsigned i = 0; i < count; ++i) mode[i] = mode_of(t, i);
  }
  unsigned count;
  std::array<U32, 3> size;
  std::array<Mode, 3> mode{};
};

I64 offset(const Image& image, const std::array<I64, 3>& at, I64 layer) {
  if (at[0] < 0 || at[1] < 0 || at[2] < 0) return Tap::kOutside;
  // Of a layer's number 16 bits count.
  const I64 sheet = image.layered() ? std::min<I64>(layer & 0xffff, image.depth - 1) : at[2];
  return sheet * static_cast<I64>(image.sheet) + at[1] * static_cast<I64>(image.pitch) +
         at[0] * image.format.bytes();
}

/// Of four corners, x first, in 256ths, which add up to `sheet`. An H200 has these weights at all
/// 65 536 places of two directions and at 298 085 of three. That is split between its columns,
/// and a column's part between its rows.
std::array<unsigned, 4> weights(unsigned x, unsigned y, unsigned sheet) {
  const unsigned right = (x * sheet + 128) >> 8, left = sheet - right;
  const unsigned right_far = (right * y + 128) >> 8, left_far = (left * y + 127) >> 8;
  return {left - left_far, right - right_far, left_far, right_far};
}

// --- Texels ---------------------------------------------------------------------------------

U32 channel_of(const TexelFormat& format, const std::byte* texel, unsigned channel) {
  U32 bits = 0;
  std::memcpy(&bits, texel + channel * format.bits / 8, format.bits / 8);
  if (format.kind == Kind::kSigned && format.bits < 32) {
    const unsigned shift = 32 - format.bits;
    bits = static_cast<U32>(static_cast<std::int32_t>(bits << shift) >> shift);
  }
  return bits;
}

/// The largest of an integer format, which stands for 1.
int most(const TexelFormat& format) {
  return (1 << (format.bits - (format.kind == Kind::kSigned ? 1 : 0))) - 1;
}

float as_number(const TexelFormat& format, U32 bits) {
  const int value = static_cast<int>(bits), all = most(format);
  return static_cast<float>(std::max(value, -all)) / static_cast<float>(all);
}

/// The border's channel as a texel of the format would hold it.
U32 border_of(const Texture& t, unsigned channel) {
  const TexelFormat& format = t.image.format;
  const U32 bits = t.border[channel];
  if (format.kind == Kind::kFloat) {
    return format.bits == 16 ? narrow(std::bit_cast<float>(bits), kHalf, Rounding::kNearest, true)
                             : bits;
  }
  if (!t.as_float) {
    if (format.bits == 32) return bits;
    const unsigned shift = 32 - format.bits;
    return format.kind == Kind::kSigned
               ? static_cast<U32>(static_cast<std::int32_t>(bits << shift) >> shift)
               : bits << shift >> shift;
  }
  const float x = std::bit_cast<float>(bits);
  const int all = most(format), least = format.kind == Kind::kSigned ? -all : 0;
  const float scaled = std::isnan(x) ? 0 : std::clamp(x, -1.0f, 1.0f) * static_cast<float>(all);
  return static_cast<U32>(std::max(static_cast<int>(std::lrint(scaled)), least));
}

U32 raw(const Texture& t, const std::byte* texels, const Tap& tap, unsigned channel) {
  return tap.at == Tap::kOutside ? border_of(t, channel)
                                 : channel_of(t.image.format, texels + tap.at, channel);
}

U32 shown(const Texture& t, U32 bits) {
  const TexelFormat& format = t.image.format;
  if (format.kind == Kind::kFloat) {
    if (format.bits == 32) return bits;
    if ((bits & 0x7c00) == 0x7c00)
      return (bits & 0x8000) << 16 | 0x7f80'0000 | (bits & 0x3ff) << 13;
    return std::bit_cast<U32>(static_cast<float>(from_half(static_cast<std::uint16_t>(bits))));
  }
  return t.as_float ? std::bit_cast<U32>(as_number(format, bits)) : bits;
}

// --- Filtering ------------------------------------------------------------------------------

/// Floats are aligned to the largest of them and cut off three bits below its last (below 2^-27 of
/// it, or 2^-14 for halves), added up exactly, and the sum is rounded half away from zero.
U32 sum_of_floats(const std::array<float, 8>& value, const Taps& taps, bool halves) {
  const int cut = halves ? 14 : 27;
  int top = -1000;
  bool infinite[2] = {};
  for (unsigned i = 0; i < taps.count; ++i) {
    const float x = value[i];
    if (taps.taps[i].weight == 0 || x == 0) continue;
    if (std::isnan(x)) return 0x7fff'ffff;
    if (std::isinf(x))
      infinite[std::signbit(x)] = true;
    else
      top = std::max(top, std::ilogb(x));
  }
  if (infinite[0] && infinite[1]) return 0x7fff'ffff;
  if (infinite[0] || infinite[1]) return infinite[1] ? 0xff80'0000 : 0x7f80'0000;
  I64 sum = 0;
  for (unsigned i = 0; i < taps.count; ++i) {
    if (taps.taps[i].weight == 0 || value[i] == 0) continue;
    sum += static_cast<I64>(std::ldexp(static_cast<double>(value[i]), cut - top)) *
           taps.taps[i].weight;
  }
  if (sum == 0) return 0;
  const auto size = static_cast<std::uint64_t>(std::abs(sum));
  const int unit = top - cut - 8;  // the exponent of the sum's last place
  int kept = halves ? 11 : 24;
  const int least = halves ? -24 : -149;
  const int length = 64 - std::countl_zero(size);
  kept = std::min(kept, length + unit - least);
  if (kept < 0) return 0;
  const int drop = std::max(length - kept, 0);
  const std::uint64_t rounded = drop ? (size + (std::uint64_t{1} << (drop - 1))) >> drop : size;
  const double magnitude = std::ldexp(static_cast<double>(rounded), unit + drop);
  const double limit = halves ? 65520 : 0x1p128;
  const auto result = magnitude >= limit ? HUGE_VALF : static_cast<float>(magnitude);
  return std::bit_cast<U32>(sum < 0 ? -result : result);
}

/// Integers are added up as 16 bits, and the sum is rounded to so many.
U32 sum_of_integers(const TexelFormat& format, const std::array<U32, 8>& value, const Taps& taps) {
  const bool is_signed = format.kind == Kind::kSigned;
  const int all = is_signed ? 32767 : 65535;
  int sum = 0;
  for (unsigned i = 0; i < taps.count; ++i) {
    const int x = std::max(static_cast<int>(value[i]), -all);
    sum += (format.bits == 8 ? x * 257 : x) * static_cast<int>(taps.taps[i].weight);
  }
  return std::bit_cast<U32>(static_cast<float>((sum + 128) >> 8) / static_cast<float>(all));
}

}  // namespace

namespace {

using Place = std::array<double, 3>;  ///< in texels

Place place_in(const Texture& t, const Image& image, const float* coordinates) {
  const Directions d(t, image);
  Place to{};
  for (unsigned i = 0; i < image.dimensions(); ++i) {
    to[i] = in_texels(t, coordinates[i], d.size[i], d.mode[i]);
  }
  return to;
}

/// Adds those in one level, which weighs so much of 256.
void add_taps(const Texture& t, const Image& image, const Place& place, I64 layer, unsigned part,
              Taps& taps) {
  const Directions d(t, image);
  const I64 begin = static_cast<I64>(image.base - t.image.base);
  const auto add = [&](const std::array<I64, 3>& at, unsigned weight) {
    const I64 in_image = offset(image, at, layer);
    taps.taps[taps.count++] = {in_image == Tap::kOutside ? in_image : begin + in_image, weight};
  };
  std::array<I64, 3> at{};
  if (!t.linear) {
    for (unsigned i = 0; i < d.count; ++i) {
      at[i] = index_of(static_cast<I64>(std::floor(place[i])), d.size[i], d.mode[i]);
    }
    add(at, part);
    return;
  }
  std::array<Pair, 3> pair{};
  for (unsigned i = 0; i < d.count; ++i) {
    pair[i] = around(place[i], d.size[i], d.mode[i], true);
  }
  std::array<unsigned, 8> all{};
  for (unsigned sheet = 0; sheet < (d.count == 3 ? 2u : 1u); ++sheet) {
    const unsigned far = pair[2].weight;
    const auto four =
        weights(pair[0].weight, pair[1].weight, d.count == 3 ? (sheet ? far : 256 - far) : part);
    std::copy(four.begin(), four.end(), all.begin() + sheet * 4);
  }
  for (unsigned c = 0; c < 1u << d.count; ++c) {
    for (unsigned i = 0; i < d.count; ++i) at[i] = c >> i & 1 ? pair[i].second : pair[i].first;
    add(at, all[c]);
  }
}

}  // namespace

Taps taps_of(const Texture& t, const float* place, I64 layer, float level) {
  Taps taps;
  if (t.levels.empty()) {
    add_taps(t, t.image, place_in(t, t.image, place), layer, 256, taps);
    return taps;
  }
  const auto add = [&](std::size_t number, unsigned part) {
    const Image& image = t.levels[number];
    add_taps(t, image, place_in(t, image, place), layer, part, taps);
  };
  const float asked = std::isnan(level) ? 0 : level + t.bias;
  const auto last = static_cast<float>(t.levels.size() - 1);
  const float in = std::clamp(std::clamp(asked, t.least, std::max(t.least, t.most)), 0.0f, last);
  if (!t.between_levels) {
    add(static_cast<std::size_t>(std::floor(in + 0.5f)), 256);
    return taps;
  }
  const auto k = static_cast<unsigned>(in * 256);
  const std::size_t first = k >> 8, second = std::min(first + 1, t.levels.size() - 1);
  add(first, 256 - (k & 255));
  add(second, k & 255);
  return taps;
}

Taps taps_of_cube(const Texture& t, const float* direction) {
  const double x = direction[0], y = direction[1], z = direction[2];
  const double ax = std::abs(x), ay = std::abs(y), az = std::abs(z);
  I64 face = 0;
  double s = 0, r = 0, most = 0;
  if (az >= ax && az >= ay) {
    face = z >= 0 ? 4 : 5, s = z >= 0 ? x : -x, r = -y, most = az;
  } else if (ay >= ax) {
    face = y >= 0 ? 2 : 3, s = x, r = y >= 0 ? z : -z, most = ay;
  } else {
    face = x >= 0 ? 0 : 1, s = x >= 0 ? -z : z, r = -y, most = ax;
  }
  const auto in_texels_of = [&](double along) {
    const double part = most > 0 ? along / most : 0;
    return std::isnan(part) ? 0 : (part + 1) / 2 * t.image.width;
  };
  Taps taps;
  add_taps(t, t.image, {in_texels_of(s), in_texels_of(r), 0}, face, 256, taps);
  return taps;
}

Taps taps_around(const Texture& t, const float* place, I64 layer) {
  const Directions d(t, t.image);
  const Place at = place_in(t, t.image, place);
  const Pair x = around(at[0], d.size[0], d.mode[0], false),
             y = around(at[1], d.size[1], d.mode[1], false);
  Taps taps;
  taps.count = 4;
  taps.taps[0].at = offset(t.image, {x.first, y.second, 0}, layer);
  taps.taps[1].at = offset(t.image, {x.second, y.second, 0}, layer);
  taps.taps[2].at = offset(t.image, {x.second, y.first, 0}, layer);
  taps.taps[3].at = offset(t.image, {x.first, y.first, 0}, layer);
  return taps;
}

Bits4 element(const Texture& t, const std::byte* texels, const Tap& tap) {
  Bits4 result{};
  for (unsigned c = 0; c < t.image.format.channels; ++c) {
    result[c] = shown(t, raw(t, texels, tap, c));
  }
  return result;
}

/// As filtering takes them: signed texels of 8 bits are made ones of 16.
U32 gathered(const Texture& t, const std::byte* texels, const Tap& tap, unsigned channel) {
  const TexelFormat& format = t.image.format;
  if (channel >= format.channels) return 0;
  const U32 bits = raw(t, texels, tap, channel);
  if (!t.as_float || format.kind != Kind::kSigned || format.bits != 8) return shown(t, bits);
  const int wide = (std::max(static_cast<int>(bits), -127) * 33025 + 64) >> 7;
  return std::bit_cast<U32>(static_cast<float>(wide) / 32767.0f);
}

Bits4 filtered(const Texture& t, const std::byte* texels, const Taps& taps) {
  if (taps.count == 1) return element(t, texels, taps.taps[0]);
  const TexelFormat& format = t.image.format;
  Bits4 result{};
  for (unsigned c = 0; c < format.channels; ++c) {
    std::array<U32, 8> bits{};
    for (unsigned i = 0; i < taps.count; ++i) bits[i] = raw(t, texels, taps.taps[i], c);
    if (format.kind != Kind::kFloat) {
      result[c] = sum_of_integers(format, bits, taps);
      continue;
    }
    std::array<float, 8> value{};
    for (unsigned i = 0; i < taps.count; ++i) value[i] = std::bit_cast<float>(shown(t, bits[i]));
    result[c] = sum_of_floats(value, taps, format.bits == 16);
  }
  return result;
}

}  // namespace emu
