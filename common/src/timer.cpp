#include "book/timer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>

#include "book/buffer.hpp"
#include "book/check.hpp"
#include "book/stats.hpp"
#include "kernels.hpp"

namespace book {
namespace {

using internal::Latch;

constexpr unsigned long long kHoldTimeoutNs = 2'000'000'000;

using SteadyClock = std::chrono::steady_clock;

double microseconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double, std::micro>(SteadyClock::now() - start).count();
}

/// Samples and their order statistics as they come in.
class Samples {
 public:
  void add(double us) {
    in_order_.push_back(us);
    ascending_.insert(std::upper_bound(ascending_.begin(), ascending_.end(), us), us);
  }
  std::size_t size() const { return in_order_.size(); }
  std::vector<double> take() { return std::move(in_order_); }

  /// Whether the median's 95 % interval lies within `relative` of the median on either side.
  bool settled(double relative) const {
    const auto ranks = median_interval_ranks(ascending_.size(), 0.95);
    if (!ranks) return false;
    const double median = quantile(ascending_, 0.5);
    return ascending_[ranks->second] - median <= relative * median &&
           median - ascending_[ranks->first] <= relative * median;
  }

 private:
  std::vector<double> in_order_, ascending_;
};

}  // namespace

std::string_view to_string(StoppedBy rule) {
  switch (rule) {
    case StoppedBy::kInterval: return "interval";
    case StoppedBy::kSeconds: return "seconds";
    case StoppedBy::kSamples: return "samples";
    case StoppedBy::kOnce: return "once";
  }
  return "";
}

std::string_view to_string(Cache cache) {
  switch (cache) {
    case Cache::kCold: return "cold";
    case Cache::kDirty: return "dirty";
    case Cache::kWarm: return "warm";
  }
  return "";
}

std::string_view to_string(Clock clock) {
  return clock == Clock::kEvents ? "events" : "host";
}

struct Timer::State {
  explicit State(const Device& device) : clean(device.l2_bytes, device.sm_count) {
    BOOK_CUDA(cudaEventCreate(&start));
    BOOK_CUDA(cudaEventCreate(&stop));
    void* mapped = nullptr;
    BOOK_CUDA(cudaHostAlloc(&mapped, sizeof(Latch), cudaHostAllocMapped));
    latch = new (mapped) Latch{};
    BOOK_CUDA(cudaHostGetDevicePointer(&mapped, latch, 0));
    latch_on_device = static_cast<Latch*>(mapped);
    // The device idles at a fraction of its clock: reading for a while wakes it.
    const auto begin = SteadyClock::now();
    while (microseconds_since(begin) < 50'000) {
      clean.read();
      BOOK_CUDA(cudaDeviceSynchronize());
    }
  }
  ~State() {
    // Errors here would hide the one that is on its way out.
    static_cast<void>(cudaEventDestroy(start));
    static_cast<void>(cudaEventDestroy(stop));
    static_cast<void>(cudaFreeHost(latch));
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void put_cache_into(Cache state) {
    switch (state) {
      case Cache::kWarm: return;
      case Cache::kCold: return clean.read();
      case Cache::kDirty:
        // A buffer of its own: lines of `clean` that were written would not be clean again.
        if (dirty.size() == 0) dirty = Buffer<int4>(clean.size());
        BOOK_CUDA(cudaMemsetAsync(dirty.data(), 1, dirty.bytes()));
        return;
    }
  }

  /// \param get_ready  queues what comes before the next sample: the device does it while the host
  ///                   is told of this one
  double by_events(const std::function<void()>& launch, const std::function<void()>& get_ready,
                   const Others& others) {
    std::atomic_ref<int> released(latch->released);
    released.store(0);
    std::atomic_ref<int>(latch->timed_out).store(0);
    internal::hold(latch_on_device, kHoldTimeoutNs);
    if (others.align) others.align();
    BOOK_CUDA(cudaEventRecord(start));
    launch();
    BOOK_CUDA(cudaGetLastError());
    BOOK_CUDA(cudaEventRecord(stop));
    get_ready();
    if (others.meet) others.meet();
    released.store(1);
    if (others.wait_for) {
      others.wait_for(stop);
    } else {
      BOOK_CUDA(cudaEventSynchronize(stop));
    }
    if (std::atomic_ref<int>(latch->timed_out).load() != 0) {
      throw Error(
          ExitCode::kCudaError,
          "the held stream timed out: the timed launch, or what restores its data, waits for "
          "the device");
    }
    float milliseconds = 0;
    BOOK_CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
    return milliseconds * 1e3;
  }

  static double by_host(const std::function<void()>& launch) {
    BOOK_CUDA(cudaDeviceSynchronize());
    const auto begin = SteadyClock::now();
    launch();
    BOOK_CUDA(cudaDeviceSynchronize());
    const double us = microseconds_since(begin);
    BOOK_CUDA(cudaGetLastError());
    return us;
  }

  CleanBuffer clean;
  Buffer<int4> dirty;
  cudaEvent_t start = nullptr, stop = nullptr;
  Latch* latch = nullptr;
  Latch* latch_on_device = nullptr;
};

CleanBuffer::CleanBuffer(std::size_t l2_bytes, int sm_count)
    : data_(std::max<std::size_t>(2 * l2_bytes / sizeof(int4), 1)),
      never_(1),
      blocks_(static_cast<unsigned>(4 * sm_count)) {
  BOOK_CUDA(cudaMemset(data_.data(), 0, data_.bytes()));
}

void CleanBuffer::read(cudaStream_t stream) const {
  internal::read_all(blocks_, data_.data(), data_.size(), never_.data(), stream);
}

Timer::Timer(const Device& device) : state_(std::make_unique<State>(device)) {}
Timer::~Timer() = default;

Measurement Timer::measure(const Timing& timing, const Sampling& sampling,
                           const std::function<void()>& restore,
                           const std::function<void()>& launch, const Others& others) {
  const auto get_ready = [&] {
    if (restore) restore();
    state_->put_cache_into(timing.cache);
  };
  const auto of_all = [&](double value) { return others.of_all ? others.of_all(value) : value; };
  const auto sample = [&] {
    if (timing.clock == Clock::kEvents) {
      return of_all(state_->by_events(launch, get_ready, others));
    }
    get_ready();
    return of_all(State::by_host(launch));
  };
  if (timing.clock == Clock::kEvents) get_ready();
  if (timing.first_launch) return {{sample()}, StoppedBy::kOnce};

  constexpr int kWarmUps = 3;
  for (int i = 0; i < kWarmUps; ++i) static_cast<void>(sample());

  Samples samples;
  const auto begin = SteadyClock::now();
  while (true) {
    samples.add(sample());
    if (samples.size() >= sampling.max_samples) return {samples.take(), StoppedBy::kSamples};
    if (samples.size() < sampling.min_samples) continue;
    if (samples.settled(sampling.relative_interval)) return {samples.take(), StoppedBy::kInterval};
    if (of_all(microseconds_since(begin)) > sampling.max_seconds * 1e6) {
      return {samples.take(), StoppedBy::kSeconds};
    }
  }
}

}  // namespace book
