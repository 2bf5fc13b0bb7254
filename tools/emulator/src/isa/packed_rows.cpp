// Integers packed into a register: pairs of 16 bits (.u16x2, .s16x2), and the video instructions on
// two or four parts (vadd4 …).
#include <algorithm>
#include <bit>

#include "isa/rows.hpp"
#include "isa/table.hpp"

namespace emu {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using S16 = std::int16_t;

template <class F, class T>
struct Pair {
  static U32 apply(U32 a, U32 b) {
    const auto part = [](U32 v, unsigned k) { return static_cast<T>(v >> 16 * k); };
    const auto one = [&](unsigned k) {
      return U32{static_cast<U16>(F::apply(int{part(a, k)}, int{part(b, k)}))};
    };
    return one(0) | one(1) << 16;
  }
};
struct Add {
  static int apply(int a, int b) { return a + b; }
};
struct Min {
  static int apply(int a, int b) { return std::min(a, b); }
};
struct Max {
  static int apply(int a, int b) { return std::max(a, b); }
};
template <class F>
struct Relu {
  static int apply(int a, int b) { return std::max(F::apply(a, b), 0); }
};

template <class F>
void build_pair(Builder& b) {
  const bool relu = !std::is_same_v<F, Add> && b.take("relu");
  const Type t = b.take_type();
  Handler handler =
      t == Type::kS16x2 ? kMap<Pair<F, S16>, U32, U32, U32> : kMap<Pair<F, U16>, U32, U32, U32>;
  if (relu)
    handler = t == Type::kS16x2 ? Handler{kMap<Pair<Relu<F>, S16>, U32, U32, U32>} : nullptr;
  emit_plain(b, handler, 32, {t, t});
}

constexpr Row kPairs[] = {
    {"add", build_pair<Add>}, {"min", build_pair<Min>}, {"max", build_pair<Max>}};

// --- video ----------------------------------------------------------------------------------

enum class Video : std::uint8_t { kAdd, kSub, kAverage, kDifference, kMin, kMax, kSet };

struct Form {
  Video what;
  unsigned parts;
  bool signed_result, signed_a, signed_b, sat, accumulate;
  unsigned relation;  // of kSet: 1 for less, 2 for equal, 4 for greater
};

int video_part(const Form& f, int a, int b) {
  switch (f.what) {
    case Video::kAdd: return a + b;
    case Video::kSub: return a - b;
    case Video::kAverage: return (a + b + (a + b >= 0)) >> 1;
    case Video::kDifference: return a > b ? a - b : b - a;
    case Video::kMin: return std::min(a, b);
    case Video::kMax: return std::max(a, b);
    case Video::kSet: return (f.relation & (a < b ? 1u : a == b ? 2u : 4u)) != 0;
  }
  return 0;
}

void video(Warp& warp, const Op& op, Mask mask) {
  const Form f = op.as<Form>();
  const unsigned bits = 32 / f.parts;
  const U32 ones = (U32{1} << bits) - 1;
  const auto part = [&](U32 v, unsigned k, bool s) {
    const auto field = static_cast<int>(v >> bits * k & ones);
    return s && (field >> (bits - 1) & 1) ? field - (1 << bits) : field;
  };
  for_each_lane(mask, [&](unsigned i) {
    const U32 a = warp.lanes<U32>(op.a)[i], b = warp.lanes<U32>(op.b)[i];
    U32 packed = 0, sum = warp.lanes<U32>(op.c)[i];
    for (unsigned k = 0; k < f.parts; ++k) {
      int v = video_part(f, part(a, k, f.signed_a), part(b, k, f.signed_b));
      if (f.sat) {
        const int most = f.signed_result ? (1 << (bits - 1)) - 1 : static_cast<int>(ones);
        v = std::clamp(v, f.signed_result ? -most - 1 : 0, most);
      }
      packed |= (static_cast<U32>(v) & ones) << bits * k;
      sum += static_cast<U32>(v);
    }
    warp.lanes<U32>(op.d)[i] = f.accumulate ? sum : packed;
  });
}

template <Video What, unsigned Parts>
void build_video(Builder& b) {
  Form f{What, Parts, false, false, false, false, false, 0};
  const auto is_signed_part = [&] {
    const Type t = b.take_type();
    if (t != Type::kU32 && t != Type::kS32) b.unsupported("this type");
    return t == Type::kS32;
  };
  if constexpr (What == Video::kSet) {
    const std::pair<const char*, unsigned> kRelations[] = {{"eq", 2}, {"ne", 5}, {"lt", 1},
                                                           {"le", 3}, {"gt", 4}, {"ge", 6}};
    for (const auto& [name, relation] : kRelations) {
      if (b.take(name)) f.relation = relation;
    }
    if (!f.relation) b.unsupported("this comparison");
  } else {
    f.signed_result = is_signed_part();
    f.sat = b.take("sat");
  }
  f.signed_a = is_signed_part();
  f.signed_b = is_signed_part();
  f.accumulate = b.take("add");
  if (f.sat && f.accumulate) b.unsupported(".sat with .add");
  // An operand with a selection of parts ("%r1.b3210") is not a register here and is refused so.
  emit_plain(b, &video, 32, {Type::kB32, Type::kB32, Type::kB32}).put(f);
}

constexpr Row kVideo[] = {
    {"vadd2", build_video<Video::kAdd, 2>},
    {"vadd4", build_video<Video::kAdd, 4>},
    {"vsub2", build_video<Video::kSub, 2>},
    {"vsub4", build_video<Video::kSub, 4>},
    {"vavrg2", build_video<Video::kAverage, 2>},
    {"vavrg4", build_video<Video::kAverage, 4>},
    {"vabsdiff2", build_video<Video::kDifference, 2>},
    {"vabsdiff4", build_video<Video::kDifference, 4>},
    {"vmin2", build_video<Video::kMin, 2>},
    {"vmin4", build_video<Video::kMin, 4>},
    {"vmax2", build_video<Video::kMax, 2>},
    {"vmax4", build_video<Video::kMax, 4>},
    {"vset2", build_video<Video::kSet, 2>},
    {"vset4", build_video<Video::kSet, 4>},
};

}  // namespace

std::span<const Row> packed_rows() {
  return kPairs;
}
std::span<const Row> video_rows() {
  return kVideo;
}

}  // namespace emu
