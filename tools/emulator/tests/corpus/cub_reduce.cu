// CUB's device-wide reductions (of whole arrays, by key, by segment) and histograms.
#include <cub/cub.cuh>

#include <algorithm>
#include <map>
#include <numeric>

#include "check.cuh"

// Calls a device-wide algorithm twice, as they want: for the size of its memory, then to run.
template <class Call>
void run(const Call& call) {
  std::size_t bytes = 0;
  CUDA(call(nullptr, bytes));
  void* room = nullptr;
  CUDA(cudaMalloc(&room, bytes + 1));
  CUDA(call(room, bytes));
  LAUNCHED();
  CUDA(cudaFree(room));
}

void whole(int n) {
  const auto values = numbers(n, 1000);
  Buffer<int> in(values), out(1);
  run([&](void* room, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(room, bytes, in.get(), out.get(), n);
  });
  CHECK(out.host()[0] == std::accumulate(values.begin(), values.end(), 0));
  if (n == 0) return;
  run([&](void* room, std::size_t& bytes) {
    return cub::DeviceReduce::Min(room, bytes, in.get(), out.get(), n);
  });
  CHECK(out.host()[0] == *std::min_element(values.begin(), values.end()));
  Buffer<long long> where(1);
  run([&](void* room, std::size_t& bytes) {
    return cub::DeviceReduce::ArgMin(room, bytes, in.get(), out.get(), where.get(), n);
  });
  CHECK(where.host()[0] == std::min_element(values.begin(), values.end()) - values.begin());
}

void by_key(int n) {
  auto keys = numbers(n, 50, 3);
  std::sort(keys.begin(), keys.end());
  const auto values = numbers(n, 100, 4);
  std::map<int, int> sums;
  for (int i = 0; i < n; ++i) sums[keys[i]] += values[i];
  Buffer<int> in_keys(keys), in(values), out_keys(n), out(n), runs(1);
  run([&](void* room, std::size_t& bytes) {
    return cub::DeviceReduce::ReduceByKey(room, bytes, in_keys.get(), out_keys.get(), in.get(),
                                          out.get(), runs.get(), cuda::std::plus<>{}, n);
  });
  CHECK(runs.host()[0] == static_cast<int>(sums.size()));
  const auto got_keys = out_keys.host(), got = out.host();
  int i = 0;
  for (const auto& [key, sum] : sums) {
    CHECK(got_keys[i] == key);
    CHECK(got[i] == sum);
    ++i;
  }
}

void histogram(int n) {
  const auto values = numbers(n, 256, 5);
  Buffer<int> in(values), out(16);
  run([&](void* room, std::size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(room, bytes, in.get(), out.get(), 17, 0, 256, n);
  });
  std::vector<int> expected(16);
  for (const int v : values) ++expected[v / 16];
  CHECK(out.host() == expected);
}

int main() {
  for (const int n : {0, 1, 31, 33, 1000, 100'003}) whole(n);
  for (const int n : {1, 32, 5000}) by_key(n);
  for (const int n : {1, 33, 20'000}) histogram(n);
  return done();
}
