// The order in which the timer queues its work, on a runtime that only writes it down. What the
// times are worth is timer_gpu_test.cu's question.
#include "book/timer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace {

using testing::ElementsAre;

std::vector<std::string> queued;      // what was called, in order
std::vector<float> milliseconds;      // what the events will say, from the last to the first
std::array<int, 2> latch{};           // "released" and "timed out"
bool held_stream_was_waited_for;      // which would never end
constexpr std::uintptr_t kStart = 1;  // the event that is created first
std::uintptr_t events = 0;

cudaError_t note(const char* what) {
  queued.emplace_back(what);
  return cudaSuccess;
}

bool held = false;  // until the host says so, the stream does nothing

cudaError_t noted_launch(dim3 grid) {
  if (grid.x == 1) {  // of the library's kernels one has a single block
    held = true;
    return note("hold");
  }
  return note(latch[0] == 0 ? "empty" : "empty once released");
}

void no_held_stream() {
  if (latch[0] == 0) held_stream_was_waited_for = true;
}

}  // namespace

// In the place of the runtime's, which would want a device.
extern "C" {
cudaError_t cudaMalloc(void** data, std::size_t /*bytes*/) {
  *data = &latch;  // any address: no kernel runs
  return cudaSuccess;
}
cudaError_t cudaFree(void* /*data*/) {
  return cudaSuccess;
}
cudaError_t cudaMemset(void* /*data*/, int /*value*/, std::size_t /*bytes*/) {
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/, cudaMemcpyKind) {
  if (held && latch[0] == 0) latch[1] = 1;  // it waits until the stream gives up being held
  return note("copy and wait");
}
cudaError_t cudaMemsetAsync(void* /*data*/, int /*value*/, std::size_t /*bytes*/, cudaStream_t) {
  return note("write");
}
cudaError_t cudaHostAlloc(void** data, std::size_t /*bytes*/, unsigned /*flags*/) {
  *data = latch.data();
  return cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned /*flags*/) {
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* /*data*/) {
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  return note("synchronise");
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(++events);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return note(event == reinterpret_cast<cudaEvent_t>(kStart) ? "start" : "stop");
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  no_held_stream();
  return note("wait");
}
cudaError_t cudaEventElapsedTime(float* elapsed, cudaEvent_t, cudaEvent_t) {
  *elapsed = milliseconds.back();
  if (milliseconds.size() > 1) milliseconds.pop_back();
  return cudaSuccess;
}
// What <<<>>> calls, of CUDA 13 and of those before.
cudaError_t cudaLaunchKernel(const void*, dim3 grid, dim3, void**, std::size_t, cudaStream_t) {
  return noted_launch(grid);
}
cudaError_t __cudaGetKernel(void** kernel, const void*) {
  *kernel = nullptr;
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(void*, dim3 grid, dim3, void**, std::size_t, cudaStream_t) {
  return noted_launch(grid);
}
}

namespace {

class Timing : public testing::Test {
 protected:
  void SetUp() override {
    events = 0;
    latch = {};
    held_stream_was_waited_for = held = false;
    milliseconds = {1};
    book::Device device;
    device.l2_bytes = 1 << 20;
    device.sm_count = 2;
    timer.emplace(device);
    queued.clear();
  }
  void TearDown() override {
    EXPECT_FALSE(held_stream_was_waited_for) << "a stream that nobody had released";
  }

  book::Measurement measure(const book::Timing& timing, const book::Sampling& sampling) {
    return timer->measure(
        timing, sampling, [] { note("restore"); }, [] { note("launch"); });
  }
  /// What was called from one launch to the next; the same between any two.
  static std::vector<std::string> between_launches() {
    std::vector<std::vector<std::string>> all{{}};
    for (const std::string& each : queued) {
      all.back().push_back(each);
      if (each == "launch") all.emplace_back();
    }
    for (std::size_t i = 2; i + 1 < all.size(); ++i) EXPECT_EQ(all[i], all[1]) << i;
    return all.size() > 2 ? all[1] : std::vector<std::string>{};
  }

  std::optional<book::Timer> timer;
};

constexpr book::Sampling kSeven{.min_samples = 7, .max_samples = 7};

TEST_F(Timing, EmptiesTheCacheBehindEachTimedRegionBeforeItIsReleased) {
  const book::Measurement m = measure({}, kSeven);
  EXPECT_EQ(m.samples_us.size(), 7u);
  EXPECT_THAT(between_launches(), ElementsAre("stop", "restore", "empty", "wait",  //
                                              "hold", "start", "launch"));
}

TEST_F(Timing, GetsReadyBeforeTheFirstSampleToo) {
  measure({}, kSeven);
  ASSERT_GE(queued.size(), 5u);
  EXPECT_THAT(std::vector(queued.begin(), queued.begin() + 5),
              ElementsAre("restore", "empty", "hold", "start", "launch"));
  EXPECT_EQ(std::ranges::count(queued, "launch"), 10);  // three of them warm up
}

TEST_F(Timing, LeavesAWarmCacheAloneAndWritesForADirtyOne) {
  measure({.cache = book::Cache::kWarm}, kSeven);
  EXPECT_THAT(between_launches(),
              ElementsAre("stop", "restore", "wait", "hold", "start", "launch"));
  queued.clear();
  measure({.cache = book::Cache::kDirty}, kSeven);
  EXPECT_THAT(between_launches(),
              ElementsAre("stop", "restore", "write", "wait", "hold", "start", "launch"));
}

TEST_F(Timing, MeetsOthersBeforeTheReleaseAndTakesTheirTimes) {
  int asked = 0;
  const book::Others others{.align = [] { note("align"); },
                            .meet = [] { note("meet"); },
                            .wait_for =
                                [](cudaEvent_t event) {
                                  note("wait for it");
                                  cudaEventSynchronize(event);
                                },
                            .of_all =
                                [&asked](double value) {
                                  ++asked;
                                  return value + 500;
                                }};
  const book::Measurement m = timer->measure(
      {}, kSeven, [] { note("restore"); }, [] { note("launch"); }, others);
  EXPECT_THAT(between_launches(), ElementsAre("stop", "restore", "empty", "meet", "wait for it",
                                              "wait", "hold", "align", "start", "launch"));
  EXPECT_THAT(m.samples_us, testing::Each(1500));
  EXPECT_EQ(asked, 10);  // of each sample, and of those that warm up
}

TEST_F(Timing, RefusesARestoreThatWaitsForTheStreamItHolds) {
  int word = 0;
  const auto measure = [&](const book::Timing& timing) {
    timer->measure(
        timing, kSeven, [&] { cudaMemcpy(&word, &word, 4, cudaMemcpyHostToDevice); },
        [] { note("launch"); });
  };
  try {
    measure({});
    ADD_FAILURE() << "measured all the same";
  } catch (const book::Error& error) {
    EXPECT_EQ(error.code(), book::ExitCode::kCudaError);
    EXPECT_THAT(error.what(), testing::HasSubstr("the held stream timed out"));
    EXPECT_THAT(error.what(), testing::HasSubstr("restores its data"));
  }
  held = false;
  EXPECT_NO_THROW(measure({.clock = book::Clock::kHost}));  // which holds no stream
}

TEST_F(Timing, HasTheHostsClockWaitForAllThatComesBefore) {
  measure({.clock = book::Clock::kHost}, kSeven);
  EXPECT_THAT(between_launches(),
              ElementsAre("synchronise", "restore", "empty", "synchronise", "launch"));
}

TEST_F(Timing, TakesTheFirstLaunchAlone) {
  const book::Measurement m = measure({.first_launch = true}, {});
  EXPECT_EQ(m.stopped_by, book::StoppedBy::kOnce);
  EXPECT_EQ(m.samples_us.size(), 1u);
  EXPECT_EQ(std::ranges::count(queued, "launch"), 1);
}

TEST_F(Timing, KeepsEverySampleInOrderAndStopsByTheFirstThatSettles) {
  // Three to warm up, 19 that are alike, then one far off: it doesn't move the median's interval.
  milliseconds = std::vector<float>(40, 2);
  for (std::size_t i = 0; i < 3; ++i) milliseconds[39 - i] = 100;
  milliseconds[39 - 3 - 19] = 50;
  const book::Measurement m = measure({}, {});
  EXPECT_EQ(m.stopped_by, book::StoppedBy::kInterval);
  ASSERT_EQ(m.samples_us.size(), 20u);
  EXPECT_EQ(m.samples_us[18], 2000);
  EXPECT_EQ(m.samples_us[19], 50'000);
}

TEST_F(Timing, GoesOnWhileTheIntervalIsWide) {
  milliseconds.clear();  // 1 and 2 in turn: 50 of each don't settle
  for (int i = 0; i < 200; ++i) milliseconds.push_back(i % 2 == 0 ? 1.0f : 2.0f);
  const book::Measurement m = measure({}, {.max_samples = 100});
  EXPECT_EQ(m.stopped_by, book::StoppedBy::kSamples);
  EXPECT_EQ(m.samples_us.size(), 100u);
}

}  // namespace
