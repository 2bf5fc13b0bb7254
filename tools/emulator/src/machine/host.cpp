#include "machine/host.hpp"

#include <atomic>

namespace emu {
namespace {

constexpr int kNotAsked = -1;
std::atomic<int> chosen{kNotAsked};

}  // namespace

Host best_host() {
#ifdef EMU_AVX2
  const auto has = [](auto... there) { return (there && ...); };
  if (!has(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma"),
           __builtin_cpu_supports("bmi"), __builtin_cpu_supports("bmi2"),
           __builtin_cpu_supports("popcnt"))) {
    return Host::kPlain;
  }
  return has(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512bw"),
             __builtin_cpu_supports("avx512cd"), __builtin_cpu_supports("avx512dq"),
             __builtin_cpu_supports("avx512vl"))
             ? Host::kAvx512
             : Host::kAvx2;
#else
  return Host::kPlain;
#endif
}

Host host() {
  int now = chosen.load(std::memory_order_relaxed);
  if (now == kNotAsked) {
    now = static_cast<int>(best_host());
    chosen.store(now, std::memory_order_relaxed);
  }
  return static_cast<Host>(now);
}

bool use_host(Host host) {
  if (host > best_host()) return false;
  chosen.store(static_cast<int>(host), std::memory_order_relaxed);
  return true;
}

std::optional<Host> host_named(std::string_view name) {
  if (name == "plain") return Host::kPlain;
  if (name == "avx2") return Host::kAvx2;
  if (name == "avx512") return Host::kAvx512;
  return std::nullopt;
}

}  // namespace emu
