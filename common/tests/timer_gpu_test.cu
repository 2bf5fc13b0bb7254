// The timer against kernels whose duration is known, on a real GPU. Exits 77 without one.
#include <cmath>
#include <cstdio>

#include "book/check.hpp"
#include "book/stats.hpp"
#include "book/timer.hpp"

namespace {

/// Spins until the device's own clock says that `ns` have passed.
__global__ void spin(unsigned long long ns) {
  unsigned long long start;
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < ns);
}

int failures = 0;

void expect(bool right, const char* what, double found) {
  std::printf("%s  %s (%.2f us)\n", right ? "ok  " : "FAIL", what, found);
  failures += !right;
}

}  // namespace

int main() {
  try {
    const book::Device device =
        book::choose_device({.kind = book::DeviceRequest::Kind::kGpu, .index = {}});
    book::Timer timer(device);

    const auto median = [&](unsigned long long ns, book::Timing timing) {
      const auto launch = [ns] { spin<<<1, 1>>>(ns); };
      launch();  // loads the kernel: loading waits for the device, which a held stream never frees
      BOOK_CUDA(cudaDeviceSynchronize());
      return book::summarize(timer.measure(timing, {}, {}, launch).samples_us).median;
    };

    // The global timer ticks every microsecond or less, and a launch costs a few: both are far
    // below what a broken timer (cold first launch, host gaps, wrong unit) would add.
    for (const double us : {100.0, 1000.0, 5000.0}) {
      const double found = median(static_cast<unsigned long long>(us * 1000), {});
      expect(found >= us && found < us + 10, "a kernel of known duration", found);
    }
    const double twice = [&] {
      const auto launch = [] {
        spin<<<1, 1>>>(200'000);
        spin<<<1, 1>>>(200'000);
      };
      return book::summarize(timer.measure({}, {}, {}, launch).samples_us).median;
    }();
    expect(twice >= 400 && twice < 415, "two launches in one timed region", twice);

    int restored = 0;
    const book::Sampling seven{.min_samples = 7, .max_samples = 7};
    const book::Measurement m = timer.measure(
        {}, seven, [&] { ++restored; }, [] { spin<<<1, 1>>>(1000); });
    expect(m.samples_us.size() == 7 && m.stopped_by == book::StoppedBy::kSamples,
           "exactly as many samples as asked", m.samples_us[0]);
    expect(restored >= 7, "the input is restored before every sample", restored);

    const double host = median(1'000'000, {.clock = book::Clock::kHost});
    expect(host >= 1000 && host < 1200, "the host's clock", host);

    bool refused = false;
    try {
      const auto synchronises = [] {
        spin<<<1, 1>>>(1000);
        static_cast<void>(cudaDeviceSynchronize());
      };
      static_cast<void>(timer.measure({}, {.min_samples = 1, .max_samples = 1}, {}, synchronises));
    } catch (const book::Error&) {
      refused = true;
    }
    expect(refused, "a launch that synchronises is refused, not hung", 0);
  } catch (const book::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
  return failures == 0 ? 0 : 1;
}
