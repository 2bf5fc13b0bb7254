/// \file
/// Moves of up to 16 bytes that threads of the host see whole or not at all.
///
/// PTX has a vector access be several, of its elements, in any order. Hardware makes one of it, and
/// programs count on that: CUB's scans hand on a flag and its value by `st.relaxed.gpu.v2.u64`. So
/// an access that is strong is done at once here. Weak ones may not meet others in mid-course: that
/// would be a race.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace emu {

#if !defined(__wasm__)  // which has one thread
namespace detail {
/// Held for a piece of memory by a host that has no moves of its size.
inline std::atomic_flag& lock_of(const void* place) {
  static std::atomic_flag locks[64];
  return locks[reinterpret_cast<std::uintptr_t>(place) / 16 % 64];
}
inline bool moves_16_bytes() {
#if defined(__x86_64__)
  // What Intel's and AMD's manuals promise of aligned SSE moves, for processors with AVX.
  static const bool has_avx = __builtin_cpu_supports("avx");
  return has_avx;
#else
  return false;
#endif
}
}  // namespace detail
#endif

/// Copies `bytes` (a power of two), of which `shared` is the end that other threads look at.
inline void move_whole(std::byte* to, const std::byte* from,
                       [[maybe_unused]] const std::byte* shared, unsigned bytes) {
#if !defined(__wasm__)
  const auto place = reinterpret_cast<std::uintptr_t>(shared);
  const auto move = [&]<class T>(T) {
    T value = __atomic_load_n(reinterpret_cast<const T*>(from), __ATOMIC_RELAXED);
    __atomic_store_n(reinterpret_cast<T*>(to), value, __ATOMIC_RELAXED);
  };
  if (place % bytes == 0) {  // else it lies where no other thread looks
    if (bytes == 4) return move(std::uint32_t{});
    if (bytes == 8 && sizeof(void*) >= 8) return move(std::uint64_t{});
#if defined(__x86_64__)
    if (bytes == 16 && detail::moves_16_bytes()) {
      using Both __attribute__((vector_size(16))) = std::uint64_t;
      Both value;
      // Both ends are aligned; in assembly, since no compiler has to make one move of it.
      asm volatile("movdqa %1, %0"
                   : "=x"(value)
                   : "m"(*reinterpret_cast<const Both*>(from))
                   : "memory");
      asm volatile("movdqa %1, %0" : "=m"(*reinterpret_cast<Both*>(to)) : "x"(value) : "memory");
      return;
    }
#endif
    if (bytes >= 8) {
      std::atomic_flag& lock = detail::lock_of(shared);
      while (lock.test_and_set(std::memory_order_acquire)) {
      }
      std::memcpy(to, from, bytes);
      lock.clear(std::memory_order_release);
      return;
    }
  }
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace emu
