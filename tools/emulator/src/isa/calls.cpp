// What calls need: arguments, frames of functions that may be active several times over, and the
// functions that the driver has (printf, assert, malloc).
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "isa/calls.hpp"
#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "machine/access.hpp"
#include "machine/block.hpp"

namespace emu {
namespace {

using U64 = std::uint64_t;

std::byte* in_local(Warp& warp, const Op& op, unsigned lane, U64 place, U64 bytes) {
  const U64 size = warp.code().local_bytes + warp.code().stack_bytes;
  if (place > size || bytes > size - place) {
    warp.fault(Fault::Kind::kIllegalAddress, op, lane, "stack overflow");
  }
  return warp.local(lane) + place;
}

/// To who looks on, what a call writes into a thread's own memory is a store, so that loads from it
/// find something written. `place(lane)` is where.
template <class F>
void tell_local(Warp& warp, const Op& op, Mask mask, std::size_t bytes, F place,
                const std::uint64_t* from = nullptr) {
  if (!warp.block().watched()) return;
  std::array<U64, kLanes> address{};
  for_each_lane(mask, [&](unsigned i) { address[i] = place(i); });
  const Access access{.warp = warp,
                      .op = op,
                      .lanes = mask,
                      .space = Space::kLocal,
                      .direction = Direction::kStore,
                      .order = Order::kWeak,
                      .bytes = static_cast<unsigned>(bytes),
                      .address = address.data(),
                      .values = nullptr,
                      .from = from};
  warp.block().tell([&](BlockObserver& o) { o.access(access); });
}

/// Bytes at a generic address, for what the driver's functions read. Null when they aren't there.
const std::byte* readable(Warp& warp, unsigned lane, Address address, std::size_t bytes) {
  const auto inside = [&](Address window, const std::byte* base, U64 size) -> const std::byte* {
    const U64 at = address - window;
    return at <= size && bytes <= size - at ? base + at : nullptr;
  };
  if (address - kLocalWindow < kWindowBytes) {
    return inside(kLocalWindow, warp.local(lane),
                  warp.code().local_bytes + warp.code().stack_bytes);
  }
  if (address - kSharedWindow < kWindowBytes) {
    return inside(kSharedWindow, warp.block().shared(), warp.block().shared_bytes());
  }
  const GlobalMemory* memory = warp.block().launch().config.memory;
  const Allocation* a = memory ? memory->find(address, bytes) : nullptr;
  return a ? a->host + (address - a->base) : nullptr;
}

/// A string up to its zero; false when it runs out of memory that there is.
bool read_text(Warp& warp, unsigned lane, Address address, std::string& out, std::size_t most) {
  while (out.size() < most) {
    const std::byte* c = readable(warp, lane, address++, 1);
    if (!c) return false;
    if (*c == std::byte{0}) return true;
    out += static_cast<char>(*c);
  }
  return true;
}

/// The value of one of a call's .param variables.
U64 argument(Warp& warp, const Op& op, unsigned lane, unsigned n, unsigned bytes) {
  const U64 place = warp.lanes<U64>(warp.code().lists[op.as<BuiltinCall>().list + n])[lane];
  U64 value = 0;
  std::memcpy(&value, in_local(warp, op, lane, place, bytes), bytes);
  return value;
}
void give(Warp& warp, const Op& op, unsigned lane, unsigned n, U64 value, unsigned bytes) {
  const U64 place = warp.lanes<U64>(warp.code().lists[op.as<BuiltinCall>().list + n])[lane];
  std::memcpy(in_local(warp, op, lane, place, bytes), &value, bytes);
  tell_local(warp, op, kBit[lane], bytes, [&](unsigned) { return place; });
}

// --- printf ---------------------------------------------------------------------------------

/// Reads printf's arguments, which lie one after another, each at a multiple of its size.
class Arguments {
 public:
  Arguments(Warp& warp, const Op& op, unsigned lane, Address at)
      : warp_(warp), op_(op), lane_(lane), at_(at) {}

  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    const std::byte* from = readable(warp_, lane_, at_, sizeof(T));
    if (!from) {
      warp_.fault(Fault::Kind::kIllegalAddress, op_, lane_,
                  "printf has fewer arguments than its format asks for");
    }
    std::memcpy(&value, from, sizeof(T));
    at_ += sizeof(T);
    ++count_;
    return value;
  }
  int count() const { return count_; }

 private:
  Warp& warp_;
  const Op& op_;
  unsigned lane_;
  Address at_;
  int count_ = 0;
};

template <class T>
void put(std::string& out, const std::string& conversion, T value) {
  char text[512];
  const int n = std::snprintf(text, sizeof text, conversion.c_str(), value);
  if (n < 0) return;
  if (static_cast<std::size_t>(n) < sizeof text) {
    out.append(text, static_cast<std::size_t>(n));
    return;
  }
  std::string large(static_cast<std::size_t>(n) + 1, '\0');
  std::snprintf(large.data(), large.size(), conversion.c_str(), value);
  out.append(large, 0, static_cast<std::size_t>(n));
}

/// One conversion, `%` to its letter at `i`; false for one that printf has not.
bool convert(Warp& warp, unsigned lane, const std::string& format, std::size_t& i,
             Arguments& arguments, std::string& out) {
  constexpr int kMostWidth = 4096;
  std::string spec = "%";
  const auto digits = [&] {
    int n = 0;
    if (i < format.size() && format[i] == '*') {
      ++i;
      n = std::clamp(arguments.next<int>(), -kMostWidth, kMostWidth);
    } else {
      for (; i < format.size() && format[i] >= '0' && format[i] <= '9'; ++i) {
        n = std::min(n * 10 + (format[i] - '0'), kMostWidth);
      }
    }
    return n;
  };
  while (i < format.size() && std::string_view("-+ #0").find(format[i]) != std::string_view::npos) {
    spec += format[i++];
  }
  if (const int width = digits()) {
    if (width < 0) spec += '-';
    spec += std::to_string(width < 0 ? -width : width);
  }
  if (i < format.size() && format[i] == '.') {
    ++i;
    const int precision = digits();
    if (precision >= 0) spec += '.' + std::to_string(precision);
  }
  bool wide = false;
  std::string shorter;
  for (; i < format.size() && std::string_view("hlLjzt").find(format[i]) != std::string_view::npos;
       ++i) {
    if (format[i] == 'h') {
      shorter += 'h';
    } else {
      wide = true;
    }
  }
  if (i >= format.size()) return false;
  const char letter = format[i++];
  switch (letter) {
    case '%': out += '%'; return true;
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      if (wide) {
        put(out, spec + "ll" + letter, arguments.next<long long>());
      } else {
        put(out, spec + (shorter.size() > 2 ? "" : shorter) + letter, arguments.next<int>());
      }
      return true;
    case 'c': put(out, spec + 'c', arguments.next<int>()); return true;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': put(out, spec + letter, arguments.next<double>()); return true;
    case 'p': put(out, spec + 'p', reinterpret_cast<void*>(arguments.next<U64>())); return true;
    case 's': {
      const Address address = arguments.next<U64>();
      std::string text;
      if (address == 0) {
        text = "(null)";
      } else if (!read_text(warp, lane, address, text, 1 << 20)) {
        return false;
      }
      put(out, spec + 's', text.c_str());
      return true;
    }
    default: return false;
  }
}

}  // namespace

void handle_print(Warp& warp, const Op& op, Mask mask) {
  std::string out;
  for_each_lane(mask, [&](unsigned lane) {
    const Address at = argument(warp, op, lane, 0, 8);
    std::string format;
    if (at == 0 || !read_text(warp, lane, at, format, 1 << 20)) {
      give(warp, op, lane, 2, ~U64{0}, 4);
      return;
    }
    Arguments arguments(warp, op, lane, argument(warp, op, lane, 1, 8));
    for (std::size_t i = 0; i < format.size();) {
      if (format[i] != '%') {
        out += format[i++];
        continue;
      }
      const std::size_t begin = i++;
      // What is not a conversion is printed as it stands.
      if (!convert(warp, lane, format, i, arguments, out)) out.append(format, begin, i - begin);
    }
    give(warp, op, lane, 2, static_cast<U64>(arguments.count()), 4);
  });
  warp.block().print(out);
}

/// Arguments: message, file, line, function. A line for each thread, as CUDA writes it.
void handle_assert(Warp& warp, const Op& op, Mask mask) {
  std::string out;
  for_each_lane(mask, [&](unsigned lane) {
    const auto text = [&](unsigned n) {
      std::string s;
      return read_text(warp, lane, argument(warp, op, lane, n, 8), s, 1000) ? s : "?";
    };
    const auto triple = [](Dim3 d) {
      return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) +
             "]";
    };
    if (!out.empty()) out += '\n';
    out += text(1) + ":" + std::to_string(argument(warp, op, lane, 2, 4)) + ": " + text(3) +
           ": block: " + triple(warp.block().index()) +
           ", thread: " + triple(warp.block().thread_index(warp.number(), lane)) + " Assertion `" +
           text(0) + "` failed.";
  });
  throw StopLaunch{{Fault::Kind::kAssert, out}};
}

void handle_malloc(Warp& warp, const Op& op, Mask mask) {
  GlobalMemory* memory = warp.block().launch().config.memory;
  for_each_lane(mask, [&](unsigned lane) {
    const U64 bytes = argument(warp, op, lane, 0, 8);
    const Address address = memory ? memory->heap().allocate(bytes) : 0;
    if (address != 0) {
      warp.block().tell([&](BlockObserver& o) { o.given(warp, op, lane, address, bytes); });
    }
    give(warp, op, lane, 1, address, 8);
  });
}

void handle_free(Warp& warp, const Op& op, Mask mask) {
  GlobalMemory* memory = warp.block().launch().config.memory;
  for_each_lane(mask, [&](unsigned lane) {
    const Address address = argument(warp, op, lane, 0, 8);
    if (address == 0) return;
    const bool freed = memory && memory->heap().free(address);
    warp.block().tell([&](BlockObserver& o) { o.taken(warp, op, lane, address, freed); });
    if (!freed && !warp.block().launch().config.goes_on) {
      warp.fault(Fault::Kind::kIllegalInstruction, op, lane,
                 "free of what malloc didn't give, or of what is free already");
    }
  });
}

// --- arguments and frames -------------------------------------------------------------------

void handle_copy_local(Warp& warp, const Op& op, Mask mask) {
  const auto bytes = static_cast<std::size_t>(op.as<CopyLocal>().bytes);
  tell_local(
      warp, op, mask, bytes, [&](unsigned i) { return warp.lanes<U64>(op.a)[i]; },
      warp.lanes<U64>(op.b));
  for_each_lane(mask, [&](unsigned i) {
    std::memcpy(in_local(warp, op, i, warp.lanes<U64>(op.a)[i], bytes),
                in_local(warp, op, i, warp.lanes<U64>(op.b)[i], bytes), bytes);
  });
}

void handle_argument(Warp& warp, const Op& op, Mask mask) {
  const auto& argument = op.as<Argument>();
  tell_local(warp, op, mask, argument.bytes, [&](unsigned) { return argument.place; });
  for_each_lane(mask, [&](unsigned i) {
    std::memcpy(warp.local(i) + argument.place, warp.lanes<std::byte>(op.a) + i * argument.bytes,
                argument.bytes);
  });
}

void handle_result(Warp& warp, const Op& op, Mask mask) {
  const auto& result = op.as<Argument>();
  for_each_lane(mask, [&](unsigned i) {
    std::memcpy(warp.lanes<std::byte>(op.a) + i * result.bytes, warp.local(i) + result.place,
                result.bytes);
  });
}

void handle_place(Warp& warp, const Op& op, Mask mask) {
  const auto& frame = op.as<FramePlace>();
  for_each_lane(mask, [&](unsigned i) {
    const U64 place = warp.lanes<U64>(op.a)[i] + static_cast<U64>(frame.offset);
    if (frame.wide) {
      warp.lanes<U64>(op.d)[i] = place;
    } else {
      warp.lanes<std::uint32_t>(op.d)[i] = static_cast<std::uint32_t>(place);
    }
  });
}

/// Bytes of registers that a thread's calls may put aside: eight times the largest stack that a GPU
/// gives a thread, as PTX has more registers than a GPU.
constexpr std::size_t kMostSaved = std::size_t{4} << 20;

/// Puts the registers of the function aside, which may be those of an outer call of it, and makes
/// a frame.
void handle_enter(Warp& warp, const Op& op, Mask mask) {
  const auto& frame = op.as<FrameChange>();
  const auto& registers = warp.code().frames[frame.registers];
  const std::uint32_t* moved = warp.code().lists.data() + frame.list;
  std::size_t bytes = 0;
  for (const auto& [slot, width] : registers) bytes += (width + 7) / 8;
  for_each_lane(mask, [&](unsigned i) {
    std::vector<std::byte>& saved = warp.saved(i);
    const std::size_t before = saved.size();
    if (before + bytes > kMostSaved) {
      warp.fault(Fault::Kind::kIllegalAddress, op, i,
                 "stack overflow, by registers that calls put aside");
    }
    saved.resize(before + bytes);
    std::byte* to = saved.data() + before;
    for (const auto& [slot, width] : registers) {
      if (width == 1) {
        *to++ = std::byte(warp.predicate(slot) >> i & 1);
      } else {
        std::memcpy(to, warp.lanes<std::byte>(slot) + std::size_t{i} * (width / 8), width / 8);
        to += width / 8;
      }
    }
    U64& end = warp.lanes<U64>(op.a)[i];
    const U64 base = (end + frame.align - 1) / frame.align * frame.align;
    std::memset(in_local(warp, op, i, base, frame.bytes), 0, frame.bytes);
    warp.lanes<U64>(op.b)[i] = base;
    end = base + frame.bytes;
    for (unsigned k = 0; k < frame.moved; ++k) {
      std::memcpy(warp.local(i) + base + moved[3 * k + 1], warp.local(i) + moved[3 * k],
                  moved[3 * k + 2]);
    }
  });
  for (unsigned k = 0; k < frame.moved; ++k) {
    tell_local(warp, op, mask, moved[3 * k + 2],
               [&](unsigned i) { return warp.lanes<U64>(op.b)[i] + moved[3 * k + 1]; });
  }
}

void handle_leave(Warp& warp, const Op& op, Mask mask) {
  const auto& frame = op.as<FrameChange>();
  const auto& registers = warp.code().frames[frame.registers];
  const std::uint32_t* moved = warp.code().lists.data() + frame.list;
  for (unsigned k = 0; k < frame.moved; ++k) {
    tell_local(warp, op, mask, moved[3 * k + 2], [&](unsigned) { return moved[3 * k]; });
  }
  for_each_lane(mask, [&](unsigned i) {
    const U64 base = warp.lanes<U64>(op.b)[i];
    for (unsigned k = 0; k < frame.moved; ++k) {
      std::memcpy(warp.local(i) + moved[3 * k], warp.local(i) + base + moved[3 * k + 1],
                  moved[3 * k + 2]);
    }
    warp.lanes<U64>(op.a)[i] = base;
    std::vector<std::byte>& saved = warp.saved(i);
    for (auto it = registers.rbegin(); it != registers.rend(); ++it) {
      const auto& [slot, width] = *it;
      if (width == 1) {
        Mask& p = warp.predicate(slot);
        p = saved.back() == std::byte{0} ? p & ~kBit[i] : p | kBit[i];
        saved.pop_back();
      } else {
        const std::size_t bytes = width / 8;
        const auto value = saved.end() - static_cast<std::ptrdiff_t>(bytes);
        std::memcpy(warp.lanes<std::byte>(slot) + i * bytes, &*value, bytes);
        saved.erase(value, saved.end());
      }
    }
  });
}

// --- memory on the stack --------------------------------------------------------------------

namespace {

/// a: register with the stack's end; b: bytes; d: register for the place.
struct StackMove {
  U64 align = 1;
  bool wide = false;  ///< registers of 64 bits
};

void allocate_on_stack(Warp& warp, const Op& op, Mask mask) {
  const auto& move = op.as<StackMove>();
  for_each_lane(mask, [&](unsigned i) {
    U64& end = warp.lanes<U64>(op.a)[i];
    const U64 bytes = move.wide ? warp.lanes<U64>(op.b)[i] : warp.lanes<std::uint32_t>(op.b)[i];
    const U64 at = (end + move.align - 1) / move.align * move.align;
    in_local(warp, op, i, at, bytes);
    end = at + bytes;
    if (move.wide) {
      warp.lanes<U64>(op.d)[i] = at;
    } else {
      warp.lanes<std::uint32_t>(op.d)[i] = static_cast<std::uint32_t>(at);
    }
  });
}

template <bool Save>
void move_stack(Warp& warp, const Op& op, Mask mask) {
  for_each_lane(mask, [&](unsigned i) {
    U64& end = warp.lanes<U64>(op.a)[i];
    if (op.as<StackMove>().wide) {
      (Save ? warp.lanes<U64>(op.d)[i] : end) = Save ? end : warp.lanes<U64>(op.d)[i];
    } else if (Save) {
      warp.lanes<std::uint32_t>(op.d)[i] = static_cast<std::uint32_t>(end);
    } else {
      end = warp.lanes<std::uint32_t>(op.d)[i];
    }
  });
}

unsigned take_size(Builder& b) {
  const Type t = b.take_type();
  b.finish();
  if (t != Type::kU32 && t != Type::kU64 && t != Type::kB32 && t != Type::kB64) {
    b.unsupported("this type");
  }
  return width(t);
}

void build_alloca(Builder& b) {
  const unsigned bits = take_size(b);
  b.expect_operands(2, 3);
  U64 align = 8;
  if (b.operands() == 3) {
    align = b.operand(2).bits;
    if (b.operand(2).kind != Operand::Kind::kInteger || align < 1 || align > 4096 ||
        (align & (align - 1)) != 0) {
      b.unsupported("this alignment");
    }
  }
  const Slot d = b.result(0, bits), bytes = b.source(1, bits), stack = b.stack();
  Op& op = b.emit(&allocate_on_stack);
  op.d = d;
  op.a = stack;
  op.b = bytes;
  op.put(StackMove{align, bits == 64});
}

template <bool Save>
void build_stack(Builder& b) {
  const unsigned bits = take_size(b);
  b.expect_operands(1, 1);
  const Slot d = Save ? b.result(0, bits) : b.source(0, bits), stack = b.stack();
  Op& op = b.emit(&move_stack<Save>);
  op.d = d;
  op.a = stack;
  op.put(StackMove{.wide = bits == 64});
}

constexpr Row kRows[] = {{"alloca", build_alloca},
                         {"stacksave", build_stack<true>},
                         {"stackrestore", build_stack<false>}};

}  // namespace

std::span<const Row> stack_rows() {
  return kRows;
}

}  // namespace emu
