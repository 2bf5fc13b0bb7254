/// \file
/// Which instructions of its own the host has for many lanes at once. What runs often is compiled
/// once for each kind of host, all of the same meaning to the bit, and chosen by the one that it
/// runs on: a library that is built here runs on any host of its architecture.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "decode/op.hpp"

#if defined(EMU_SANITIZED)
// One of each: what sanitizers look for is in the body.
#elif defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define EMU_AVX2 [[gnu::flatten, gnu::target("avx2,fma,bmi,bmi2,popcnt")]]
#define EMU_AVX512                                                                             \
  [[gnu::flatten, gnu::target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2," \
                              "popcnt,prefer-vector-width=512")]]
#elif defined(__x86_64__) && defined(__clang__)
#define EMU_AVX2 [[gnu::flatten, gnu::target("avx2,fma,bmi,bmi2,popcnt")]]
#define EMU_AVX512 \
  [[gnu::flatten,  \
    gnu::target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2,popcnt")]]
#endif

namespace emu {

enum class Host : std::uint8_t { kPlain, kAvx2, kAvx512 };

/// What this host can do at most.
Host best_host();
/// What is chosen for: the best, unless less was asked for.
Host host();
/// Kernels decoded from now on run as on such a host; false where this one is less.
bool use_host(Host host);
/// plain, avx2, avx512
std::optional<Host> host_named(std::string_view name);

/// One handler, compiled for each kind of host.
struct Forms {
  Handler plain, avx2, avx512;
  operator Handler() const {
    switch (host()) {
      case Host::kAvx512: return avx512;
      case Host::kAvx2: return avx2;
      case Host::kPlain: break;
    }
    return plain;
  }
};

#ifdef EMU_AVX2
namespace detail {
/// Everything that the body calls, and that is seen here, is compiled into it.
template <Handler Body>
EMU_AVX2 void on_avx2(Warp& warp, const Op& op, Mask mask) {
  Body(warp, op, mask);
}
template <Handler Body>
EMU_AVX512 void on_avx512(Warp& warp, const Op& op, Mask mask) {
  Body(warp, op, mask);
}
}  // namespace detail
template <Handler Body>
inline constexpr Forms kForms{Body, &detail::on_avx2<Body>, &detail::on_avx512<Body>};
#else
template <Handler Body>
inline constexpr Forms kForms{Body, Body, Body};
#endif

}  // namespace emu
