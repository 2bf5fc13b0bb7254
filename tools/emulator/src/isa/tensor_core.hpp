/// \file
/// Products of matrices as an H200's tensor cores make them, bit for bit.
///
/// Floats of 8 to 19 bits: the products of one step and what they are added to are aligned to the
/// largest exponent among them (a product's is the sum of its factors', whatever its fraction), cut
/// off below 2^-25 of that, and added exactly. The sum is cut off to 32 bits, or rounded to 16.
/// Doubles: one fma after another. Integers: exact, then wrapped or saturated.
///
/// tests/probes/matrices.h200.txt is what the hardware answered.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "isa/floats.hpp"

namespace emu {

enum class Number : std::uint8_t {
  kF16,
  kBf16,
  kTf32,
  kE4m3,
  kE5m2,
  kF32,
  kF64,
  kS8,
  kU8,
  kS4,
  kU4,
  kB1,
  kS32
};
std::optional<Number> number_named(std::string_view name);
unsigned bits_of(Number number);
bool is_whole(Number number);  ///< an integer

/// D = A B + C.
struct Product {
  std::uint8_t m = 0, n = 0;
  std::uint16_t k = 0;  ///< of single bits: words of 32
  Number a = Number::kF16, b = Number::kF16;
  Number sum = Number::kF32;  ///< of C and D
  std::uint8_t step = 0;      ///< of k, that is added at once
  Rounding rounding = Rounding::kNearest;
  bool saturates = false;
  bool exclusive = false;  ///< of single bits: xor, else and
};

/// Elements by rows, each in the low bits of a word.
void multiply(const Product& product, const std::uint64_t* a, const std::uint64_t* b,
              const std::uint64_t* c, std::uint64_t* d);

}  // namespace emu
