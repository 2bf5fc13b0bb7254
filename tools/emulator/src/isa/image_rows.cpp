// tex, tld4, suld and sust: reads through texture objects, and what surface objects read and write.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "isa/texture_unit.hpp"
#include "machine/access.hpp"
#include "machine/block.hpp"
#include "machine/text.hpp"

namespace emu {
namespace {

using I64 = std::int64_t;

/// A register that holds an object's handle. Names of textures in the module aren't objects.
Slot handle_of(Builder& b, std::size_t i) {
  const Operand& o = b.operand(i);
  if (o.kind != Operand::Kind::kAddress || o.elements.size() != 1 || o.offset != 0) {
    b.unsupported("this form of address");
  }
  Operand handle = o;
  handle.kind = Operand::Kind::kName;
  handle.elements.clear();
  if (b.register_width(handle, 0) != 64) b.unsupported("a texture or surface of the module");
  return b.source(handle, 64);
}

/// The registers of a list, which may hold more than the ones that count.
std::vector<std::uint32_t> registers_of(Builder& b, const Operand& o, std::size_t least,
                                        unsigned width, bool results) {
  if (!o.second.empty()) b.unsupported("a predicate that says what is resident");
  std::vector<const Operand*> all{&o};
  if (o.kind == Operand::Kind::kList) {
    all.clear();
    for (const Operand& e : o.elements) all.push_back(&e);
  }
  if (all.size() < least) b.unsupported("so many registers");
  std::vector<std::uint32_t> slots;
  for (std::size_t i = 0; i < least; ++i) {
    slots.push_back(results ? b.result(*all[i], width) : b.source(*all[i], width));
  }
  return slots;
}

struct Geometry {
  unsigned dimensions = 0;
  bool layered = false;
  bool cube = false;  ///< a direction, and not a place
  unsigned coordinates() const { return dimensions + (layered ? 1 : 0); }
};
Geometry take_geometry(Builder& b) {
  constexpr std::pair<const char*, Geometry> kAll[] = {
      {"1d", {1, false}}, {"2d", {2, false}}, {"3d", {3, false}},
      {"a1d", {1, true}}, {"a2d", {2, true}}, {"cube", {3, false, true}}};
  for (const auto& [name, geometry] : kAll) {
    if (b.take(name)) return geometry;
  }
  b.unsupported("this geometry");
}

/// What a kernel's handle stands for, looked up where it isn't the one of the lane before.
template <class Object>
class Found {
 public:
  Found(Warp& warp, const Op& op, const char* what) : warp_(warp), op_(op), what_(what) {}

  const Object& of(std::uint64_t handle, unsigned lane, Geometry geometry) {
    if (object_ && handle == handle_) return *object_;
    const LaunchConfig& config = warp_.block().launch().config;
    const auto& all = objects(config);
    const auto at = all.find(handle);
    if (at == all.end()) {
      fault(Fault::Kind::kIllegalAddress, lane,
            "there is no " + std::string(what_) + " object " + std::to_string(handle));
    }
    const Image& image = image_of(at->second);
    const bool same =
        image.dimensions() == geometry.dimensions && image.layered() == geometry.layered;
    if (is_cube(at->second) ? !geometry.cube : geometry.cube || !same) {
      fault(Fault::Kind::kUnsupported, lane,
            "an access of another shape than the " + std::string(what_) + " object's");
    }
    const Allocation* memory =
        config.memory ? config.memory->find(image.base, image.bytes) : nullptr;
    if (!memory) {
      fault(Fault::Kind::kIllegalAddress, lane,
            "the memory behind the " + std::string(what_) + " object was freed");
    }
    texels_ = memory->host + (image.base - memory->base);
    what_memory_ = &memory->what;
    handle_ = handle;
    return *(object_ = &at->second);
  }
  std::byte* texels() const { return texels_; }
  const std::string& memory() const { return *what_memory_; }

  [[noreturn]] void fault(Fault::Kind kind, unsigned lane, const std::string& why) {
    warp_.fault(kind, op_, lane, why);
  }

 private:
  static const auto& objects(const LaunchConfig& config) {
    static const ImageObjects kNone;
    const ImageObjects& all = config.images ? *config.images : kNone;
    if constexpr (std::is_same_v<Object, Texture>) {
      return all.textures;
    } else {
      return all.surfaces;
    }
  }
  static bool is_cube(const Texture& t) { return t.cube; }
  static bool is_cube(const Image&) { return false; }
  static const Image& image_of(const Texture& t) { return t.image; }
  static const Image& image_of(const Image& i) { return i; }

  Warp& warp_;
  const Op& op_;
  const char* what_;
  std::uint64_t handle_ = 0;
  const Object* object_ = nullptr;
  std::byte* texels_ = nullptr;
  const std::string* what_memory_ = nullptr;
};

/// Tells those who look on of one texel per lane.
void tell(Warp& warp, const Op& op, Mask lanes, Direction direction, unsigned bytes,
          const std::array<std::uint64_t, kLanes>& address, const std::byte* values) {
  if (lanes == 0 || !warp.block().watched()) return;
  const Access access{.warp = warp,
                      .op = op,
                      .lanes = lanes,
                      .space = Space::kGlobal,
                      .direction = direction,
                      .order = Order::kWeak,
                      .bytes = bytes,
                      .address = address.data(),
                      .values = values};
  warp.block().tell([&](BlockObserver& o) { o.access(access); });
}

// --- Textures -------------------------------------------------------------------------------

/// a: the handle; b: the level. In the list: four results, then the layer if there is one, then
/// coordinates.
struct Reading {
  std::uint32_t list = 0;
  Geometry geometry;
  bool numbered = false;     ///< the coordinate is a texel's number: tex1Dfetch
  bool leveled = false;      ///< the level is given
  std::int8_t channel = -1;  ///< of tld4
};
static_assert(sizeof(Reading) <= 24);

void read_texture(Warp& warp, const Op& op, Mask mask) {
  const auto& how = op.as<Reading>();
  const std::uint32_t* const slots = warp.code().lists.data() + how.list;
  const std::uint32_t* const places = slots + 4 + (how.geometry.layered ? 1 : 0);
  Found<Texture> found(warp, op, "texture");
  std::array<std::array<std::uint64_t, kLanes>, 8> touched{};
  std::array<Mask, 8> touch{};
  unsigned bytes = 1;
  for_each_lane(mask, [&](unsigned lane) {
    const Texture& texture = found.of(warp.lanes<std::uint64_t>(op.a)[lane], lane, how.geometry);
    const Image& image = texture.image;
    if (texture.unsupported) found.fault(Fault::Kind::kUnsupported, lane, texture.unsupported);
    if (how.channel >= 0 && !texture.levels.empty()) {
      found.fault(Fault::Kind::kUnsupported, lane, "a gather from a texture with levels");
    }
    if (how.numbered != (image.shape == Image::Shape::kMemory)) {
      found.fault(Fault::Kind::kUnsupported, lane,
                  how.numbered ? "tex1Dfetch from a CUDA array"
                               : "a texture of linear memory, read with a float");
    }
    bytes = image.format.bytes();
    Taps taps;
    if (how.numbered) {
      const std::uint32_t i = warp.lanes<std::uint32_t>(places[0])[lane];
      taps.count = i < image.width ? 1 : 0;
      taps.taps[0].at = I64{i} * bytes;
    } else {
      std::array<float, 3> place{};
      for (unsigned k = 0; k < how.geometry.dimensions; ++k) {
        place[k] = warp.lanes<float>(places[k])[lane];
      }
      const I64 layer = how.geometry.layered ? warp.lanes<std::int32_t>(slots[4])[lane] : 0;
      const float level = how.leveled ? warp.lanes<float>(op.b)[lane] : 0;
      taps = how.geometry.cube ? taps_of_cube(texture, place.data())
             : how.channel < 0 ? taps_of(texture, place.data(), layer, level)
                               : taps_around(texture, place.data(), layer);
    }
    for (unsigned k = 0; k < taps.count; ++k) {
      const Tap& tap = taps.taps[k];
      if (tap.at == Tap::kOutside) continue;
      if (static_cast<std::uint64_t>(tap.at) + bytes > image.bytes) {
        found.fault(Fault::Kind::kIllegalAddress, lane,
                    "reads through a texture past the end of its memory (" + found.memory() + ")");
      }
      if (tap.weight == 0) continue;
      touched[k][lane] = image.base + static_cast<std::uint64_t>(tap.at);
      touch[k] |= kBit[lane];
    }
    Bits4 result{};
    if (how.channel >= 0) {
      for (unsigned k = 0; k < 4; ++k) {
        result[k] =
            gathered(texture, found.texels(), taps.taps[k], static_cast<unsigned>(how.channel));
      }
    } else if (taps.count) {
      result = filtered(texture, found.texels(), taps);
    }
    for (unsigned c = 0; c < 4; ++c) warp.lanes<std::uint32_t>(slots[c])[lane] = result[c];
  });
  for (unsigned k = 0; k < touch.size(); ++k) {
    tell(warp, op, touch[k], Direction::kLoad, bytes, touched[k], nullptr);
  }
}

void build_read(Builder& b, bool gathers) {
  Reading how;
  const bool level = !gathers && b.take("level");
  if (gathers) {
    how.channel = static_cast<std::int8_t>(b.take("r")   ? 0
                                           : b.take("g") ? 1
                                           : b.take("b") ? 2
                                           : b.take("a") ? 3
                                                         : -1);
    if (how.channel < 0) b.unsupported("this channel");
  }
  how.geometry = take_geometry(b);
  if (gathers && (how.geometry.dimensions != 2 || how.geometry.layered)) {
    b.unsupported("this geometry");
  }
  if (level && how.geometry.cube) b.unsupported("this geometry");
  if (!b.take("v4")) b.unsupported("this number of results");
  const Type result = b.take_type(), coordinate = b.take_type();
  b.finish();
  if (result != Type::kF32 && result != Type::kU32 && result != Type::kS32) {
    b.unsupported("this type of result");
  }
  how.numbered = coordinate == Type::kS32;
  if (how.numbered ? gathers || level || how.geometry.coordinates() != 1
                   : coordinate != Type::kF32) {
    b.unsupported("this type of coordinate");
  }
  b.expect_operands(level ? 3 : 2, level ? 3 : 2);
  const Slot handle = handle_of(b, 1);
  const auto places =
      registers_of(b, b.operand(1).elements.front(), how.geometry.coordinates(), 32, false);
  how.leveled = level;
  const Slot asked = level ? b.source(2, 32) : handle;
  std::vector<std::uint32_t> all = registers_of(b, b.operand(0), 4, 32, true);
  all.insert(all.end(), places.begin(), places.end());
  how.list = b.list(all);
  Op& op = b.emit(&read_texture);
  op.a = handle;
  op.b = asked;
  op.put(how);
}

// --- Surfaces -------------------------------------------------------------------------------

/// a: the handle. In the list: the elements, then the layer if there is one, then coordinates, of
/// which x counts bytes.
struct SurfaceAccess {
  enum class Outside : std::uint8_t { kTrap, kClamp, kZero };
  std::uint32_t list = 0;
  Geometry geometry;
  std::uint8_t elements = 1, bytes = 4;  ///< of one element
  Outside outside = Outside::kTrap;
  bool stores = false;
};
static_assert(sizeof(SurfaceAccess) <= 24);
using Outside = SurfaceAccess::Outside;

std::string described(const Image& image, const std::string& memory, const std::array<I64, 3>& at,
                      unsigned dimensions) {
  constexpr const char* kNames[] = {"x", "y", "z"};
  std::string text;
  for (unsigned k = 0; k < dimensions; ++k) {
    text += (k ? ", " : "") + std::string(kNames[k]) + " = " + std::to_string(at[k]);
    if (k == 0) text += " bytes";
  }
  if (image.layered()) text += ", layer " + std::to_string(at[2]);
  text += " of a surface of " + std::to_string(image.width);
  if (image.dimensions() > 1) text += " × " + std::to_string(image.height);
  if (image.dimensions() > 2) text += " × " + std::to_string(image.depth);
  text += " texels of " + std::to_string(image.format.bytes()) + " bytes";
  if (image.layered()) text += " in " + std::to_string(image.depth) + " layers";
  return text + " (" + memory + ")";
}

template <class T>
void move(void* reg, std::byte* memory, bool stores) {
  T value;
  if (stores) {
    std::memcpy(&value, reg, sizeof value);
    std::memcpy(memory, &value, sizeof value);
  } else {
    std::memcpy(&value, memory, sizeof value);
    std::memcpy(reg, &value, sizeof value);
  }
}

/// One element between a register and memory; null memory reads as zero. Registers have 16 bits at
/// least.
void move_element(Warp& warp, Slot slot, unsigned lane, unsigned bytes, std::byte* memory,
                  bool stores) {
  std::array<std::byte, 8> zero{};
  std::byte* const at = memory ? memory : zero.data();
  switch (bytes) {
    case 1: {
      std::uint16_t& reg = warp.lanes<std::uint16_t>(slot)[lane];
      if (stores) {
        *at = static_cast<std::byte>(reg);
      } else {
        reg = std::to_integer<std::uint16_t>(*at);
      }
      return;
    }
    case 2: return move<std::uint16_t>(&warp.lanes<std::uint16_t>(slot)[lane], at, stores);
    case 4: return move<std::uint32_t>(&warp.lanes<std::uint32_t>(slot)[lane], at, stores);
    default: return move<std::uint64_t>(&warp.lanes<std::uint64_t>(slot)[lane], at, stores);
  }
}

void access_surface(Warp& warp, const Op& op, Mask mask) {
  const auto& how = op.as<SurfaceAccess>();
  const std::uint32_t* const slots = warp.code().lists.data() + how.list;
  const std::uint32_t* const places = slots + how.elements + (how.geometry.layered ? 1 : 0);
  const unsigned size = unsigned{how.elements} * how.bytes;
  const Direction direction = how.stores ? Direction::kStore : Direction::kLoad;
  Found<Image> found(warp, op, "surface");
  std::array<std::uint64_t, kLanes> touched{};
  alignas(16) std::array<std::byte, kLanes * kMostBytes> values{};
  Mask touch = 0;
  std::array<std::byte*, kLanes> memory{};
  for_each_lane(mask, [&](unsigned lane) {
    const Image& image = found.of(warp.lanes<std::uint64_t>(op.a)[lane], lane, how.geometry);
    const I64 row = I64{image.width} * image.format.bytes();
    std::array<I64, 3> at{};
    for (unsigned k = 0; k < how.geometry.dimensions; ++k) {
      at[k] = warp.lanes<std::int32_t>(places[k])[lane];
    }
    // Of a layer's number 16 bits count.
    if (how.geometry.layered) at[2] = warp.lanes<std::uint32_t>(slots[how.elements])[lane] & 0xffff;
    const std::array<I64, 3> last = {row - size, image.height - I64{1}, image.depth - I64{1}};
    bool outside = false;
    std::array<I64, 3> inside = at;  // clamped, to a whole element
    for (unsigned k = 0; k < 3; ++k) {
      outside |= at[k] < 0 || at[k] > last[k];
      inside[k] = std::clamp<I64>(at[k], 0, std::max<I64>(last[k], 0));
    }
    if (inside[0] != at[0]) inside[0] -= inside[0] % size;
    const auto text = [&] {
      return std::string(how.stores ? "writes " : "reads ") + std::to_string(size) + " bytes at " +
             described(image, found.memory(), at, how.geometry.dimensions);
    };
    if (outside && how.outside == Outside::kTrap) {
      const std::string what = text() + ", outside of it";
      if (!warp.block().launch().config.goes_on) {
        found.fault(Fault::Kind::kIllegalAddress, lane, what);
      }
      warp.block().tell([&](BlockObserver& o) { o.illegal(warp, op, lane, what); });
      return;
    }
    if (at[0] % size) {
      found.fault(Fault::Kind::kMisalignedAddress, lane,
                  text() + ": x is not a multiple of " + std::to_string(size));
    }
    if ((outside && how.outside == Outside::kZero) || row < size) return;
    const I64 offset = inside[2] * static_cast<I64>(image.sheet) +
                       inside[1] * static_cast<I64>(image.pitch) + inside[0];
    memory[lane] = found.texels() + offset;
    touched[lane] = image.base + static_cast<std::uint64_t>(offset);
    touch |= kBit[lane];
    for (unsigned k = 0; how.stores && k < how.elements; ++k) {
      move_element(warp, slots[k], lane, how.bytes, values.data() + lane * size + k * how.bytes,
                   true);
    }
  });
  tell(warp, op, touch, direction, size, touched, how.stores ? values.data() : nullptr);
  for_each_lane(how.stores ? touch : mask, [&](unsigned lane) {
    for (unsigned k = 0; k < how.elements; ++k) {
      move_element(warp, slots[k], lane, how.bytes,
                   memory[lane] ? memory[lane] + k * how.bytes : nullptr, how.stores);
    }
  });
}

void build_surface_access(Builder& b, bool stores) {
  SurfaceAccess how;
  how.stores = stores;
  if (!b.take("b")) b.unsupported("this form");
  how.geometry = take_geometry(b);
  if (how.geometry.cube) b.unsupported("this geometry");
  how.elements = b.take("v2") ? 2 : b.take("v4") ? 4 : 1;
  how.outside = b.take("clamp")  ? Outside::kClamp
                : b.take("zero") ? Outside::kZero
                                 : Outside::kTrap;
  b.take("trap");
  const Type type = b.take_type();
  b.finish();
  if (type != Type::kB8 && type != Type::kB16 && type != Type::kB32 && type != Type::kB64) {
    b.unsupported("this type");
  }
  how.bytes = static_cast<std::uint8_t>(width(type) / 8);
  if (unsigned{how.bytes} * how.elements > kMostBytes) b.unsupported("this size");
  b.expect_operands(2, 2);
  const std::size_t surface = stores ? 0 : 1;
  const Slot handle = handle_of(b, surface);
  const auto places =
      registers_of(b, b.operand(surface).elements.front(), how.geometry.coordinates(), 32, false);
  std::vector<std::uint32_t> all =
      registers_of(b, b.operand(1 - surface), how.elements, std::max(16u, width(type)), !stores);
  all.insert(all.end(), places.begin(), places.end());
  how.list = b.list(all);
  Op& op = b.emit(&access_surface);
  op.a = handle;
  op.put(how);
}

constexpr Traits kUses{.flow = Code::Flow::Kind::kUses};
constexpr Row kRows[] = {
    {"tex", [](Builder& b) { build_read(b, false); }, kUses},
    {"tld4", [](Builder& b) { build_read(b, true); }, kUses},
    {"suld", [](Builder& b) { build_surface_access(b, false); }, kUses},
    {"sust", [](Builder& b) { build_surface_access(b, true); }, kUses},
};

}  // namespace

std::span<const Row> image_rows() {
  return kRows;
}

}  // namespace emu
