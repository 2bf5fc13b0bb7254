/// \file
/// How long a launch takes, measured so that two times can be compared.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "book/buffer.hpp"
#include "book/device.hpp"

namespace book {

/// What the L2 cache holds when the timed region begins.
enum class Cache {
  kCold,   ///< clean lines of another buffer: emptied by reading twice its size
  kDirty,  ///< modified lines of another buffer: emptied by writing (to show what that costs)
  kWarm    ///< whatever the previous sample left
};

/// Whose clock is read.
enum class Clock {
  kEvents,  ///< CUDA events around the launches, on a stream held until all are queued
  kHost     ///< the host's steady clock around the launch and a synchronisation
};

/// How a variant is to be timed. The defaults are what the book means by "time".
struct Timing {
  Cache cache = Cache::kCold;
  Clock clock = Clock::kEvents;
  /// Time only the first launch in this process: one sample, no warm-up. Its result is checked
  /// afterwards, since a check beforehand would itself be the first launch.
  bool first_launch = false;
};

/// When to stop sampling.
struct Sampling {
  std::size_t min_samples = 20;
  std::size_t max_samples = 100000;
  double max_seconds = 0.5;         ///< of samples and what surrounds them
  double relative_interval = 0.01;  ///< either end of the median's interval, from the median
};

/// Which rule ended the sampling.
enum class StoppedBy { kInterval, kSeconds, kSamples, kOnce };
std::string_view to_string(StoppedBy rule);  ///< "interval", "seconds", "samples", "once"
std::string_view to_string(Cache cache);     ///< "cold", "dirty", "warm"
std::string_view to_string(Clock clock);     ///< "events", "host"

/// Every sample taken, in order, in microseconds.
struct Measurement {
  std::vector<double> samples_us;
  StoppedBy stopped_by = StoppedBy::kInterval;
};

/// A buffer of twice a device's L2, which is emptied by reading it.
class CleanBuffer {
 public:
  /// On the current device.
  CleanBuffer(std::size_t l2_bytes, int sm_count);
  /// Queues the reading on a stream of that device, which must be the current one.
  void read(cudaStream_t stream = nullptr) const;
  std::size_t size() const { return data_.size(); }  ///< in elements of 16 bytes

 private:
  Buffer<int4> data_;
  Buffer<int> never_;
  unsigned blocks_;
};

/// What launches need that other devices or processes take part in. What is left empty does
/// nothing.
struct Others {
  std::function<void()> align = {};                ///< queues what ends on all processes at once
  std::function<void()> meet = {};                 ///< on the host, before the stream is released
  std::function<void(cudaEvent_t)> wait_for = {};  ///< instead of cudaEventSynchronize
  std::function<double(double)> of_all = {};  ///< makes one of what all processes have measured
};

/// Times launches on the default stream of the current device.
class Timer {
 public:
  /// Allocates a buffer of twice the device's L2 to empty it with, and the events.
  explicit Timer(const Device& device);
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();

  /// Samples `launch` until `sampling` is satisfied.
  ///
  /// For each sample: `restore` (outside the timed region), then the L2 is put into the state that
  /// `timing` names, then the stream is held by a spinning kernel until the start event, whatever
  /// `launch` queues and the stop event are all in it, then released: the gap between launch calls
  /// on the host is not in the time. `restore` and the L2's state of the next sample are queued
  /// behind the stop event before the release, so that the device doesn't wait for the host between
  /// samples; after the last sample that was for nothing.
  /// \param restore  queues what puts back what the previous sample destroyed; may be empty
  /// \param launch   queues work on the default stream; must not synchronise
  /// \param others   several processes align between the hold and the start event, meet before the
  ///                 release, and stop sampling by the same times
  Measurement measure(const Timing& timing, const Sampling& sampling,
                      const std::function<void()>& restore, const std::function<void()>& launch,
                      const Others& others = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace book
