/// \file
/// The scalar types of PTX.
#pragma once
#include <optional>
#include <string_view>

namespace emu {

enum class Type {
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kU16x2,
  kS16x2,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kF32,
  kF64
};

/// Bits of a value of the type; 1 for a predicate.
constexpr unsigned width(Type type) {
  switch (type) {
    case Type::kPred: return 1;
    case Type::kB8:
    case Type::kU8:
    case Type::kS8: return 8;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBf16: return 16;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64: return 64;
    case Type::kB128: return 128;
    default: return 32;
  }
}

constexpr bool is_signed(Type type) {
  return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64;
}
constexpr bool is_float(Type type) {
  return type >= Type::kF16;
}
constexpr bool is_half(Type type) {  // of 16 bits, alone or in a pair
  return type >= Type::kF16 && type <= Type::kBf16x2;
}
constexpr bool is_pair(Type type) {
  return type == Type::kU16x2 || type == Type::kS16x2 || type == Type::kF16x2 ||
         type == Type::kBf16x2;
}

/// "u32" or ".u32" to its type.
std::optional<Type> type_named(std::string_view name);

}  // namespace emu
