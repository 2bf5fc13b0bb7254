/// \file
/// Numbers by chance that are the same on every host and in every run: Steele, Lea and Flood's
/// SplitMix64.
#pragma once
#include <cstdint>

namespace emu {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e37'79b9'7f4a'7c15;
    z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
    return z ^ z >> 31;
  }
  /// 0 … n − 1, n being small and not 0.
  unsigned below(unsigned n) { return static_cast<unsigned>((next() >> 32) * n >> 32); }
  /// 1 … 2^most, mostly few: now and then one gets far ahead of the others.
  unsigned stretch(unsigned most) { return 1 + below(1u << below(most + 1)); }

  /// A generator of its own for each number, whatever was drawn from this one.
  Random of(std::uint64_t number) const { return Random(Random(state_ ^ ~number).next() + number); }

 private:
  std::uint64_t state_;
};

}  // namespace emu
