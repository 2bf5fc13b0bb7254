/// \file
/// What texture and surface objects are to a kernel: texels in the device's memory, and how they
/// are read.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "emu/memory.hpp"

namespace emu {

struct TexelFormat {
  enum class Kind : std::uint8_t { kUnsigned, kSigned, kFloat };
  Kind kind = Kind::kFloat;
  std::uint8_t bits = 32;  ///< of a channel
  std::uint8_t channels = 1;
  unsigned bytes() const { return bits / 8u * channels; }
};

/// Texels, rows of them, and sheets of rows: a CUDA array, or memory that a program has.
struct Image {
  enum class Shape : std::uint8_t { kMemory, kLine, kFlat, kDeep, kLines, kSheets };
  Shape shape = Shape::kFlat;
  TexelFormat format;
  Address base = 0;
  std::uint64_t bytes = 0;  ///< all of them lie in one allocation
  std::uint32_t width = 1, height = 1;
  std::uint32_t depth = 1;  ///< sheets, or layers
  std::uint64_t pitch = 0, sheet = 0;

  unsigned dimensions() const {
    return shape == Shape::kDeep ? 3 : shape == Shape::kFlat || shape == Shape::kSheets ? 2 : 1;
  }
  bool layered() const { return shape == Shape::kLines || shape == Shape::kSheets; }
};

struct Texture {
  enum class Mode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };
  Image image;                  ///< with levels: the first, and all bytes
  bool cube = false;            ///< its layers are the faces of one
  std::vector<Image> levels;    ///< of a mipmapped array, in one allocation
  float least = 0, most = 0;    ///< of levels
  float bias = 0;               ///< added to a level that is asked for
  bool between_levels = false;  ///< linear between them
  std::array<Mode, 3> modes{};  ///< past the ends of each direction
  bool linear = false;          ///< between texels
  bool normalised = false;      ///< coordinates are parts of the size
  bool as_float = false;        ///< integers become numbers up to 1
  std::array<std::uint32_t, 4> border{};
  const char* unsupported = nullptr;  ///< why a kernel can't read through it here
};

/// What a program has made, by the handles that its kernels are given.
struct ImageObjects {
  std::map<std::uint64_t, Texture> textures;
  std::map<std::uint64_t, Image> surfaces;
};

}  // namespace emu
