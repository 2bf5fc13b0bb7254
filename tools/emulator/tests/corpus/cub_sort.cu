// CUB's device-wide scan, radix sort and selection.
#include <cub/cub.cuh>

#include <algorithm>
#include <numeric>

#include "check.cuh"

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

struct IsOdd {
  __host__ __device__ bool operator()(int v) const { return v % 2 != 0; }
};

int main() {
  for (const int n : {1, 31, 33, 4097, 60'001}) {
    const auto values = numbers(n, 1'000'000);
    Buffer<int> in(values), out(n), count(1);
    run([&](void* room, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveSum(room, bytes, in.get(), out.get(), n);
    });
    std::vector<int> expected(n);
    std::partial_sum(values.begin(), values.end(), expected.begin(),
                     [](int a, int b) { return static_cast<int>(unsigned(a) + unsigned(b)); });
    CHECK(out.host() == expected);

    run([&](void* room, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortKeys(room, bytes, in.get(), out.get(), n);
    });
    expected = values;
    std::sort(expected.begin(), expected.end());
    CHECK(out.host() == expected);

    run([&](void* room, std::size_t& bytes) {
      return cub::DeviceSelect::If(room, bytes, in.get(), out.get(), count.get(), n, IsOdd{});
    });
    expected.clear();
    std::copy_if(values.begin(), values.end(), std::back_inserter(expected), IsOdd{});
    CHECK(count.host()[0] == static_cast<int>(expected.size()));
    auto got = out.host();
    got.resize(expected.size());
    CHECK(got == expected);
  }
  return done();
}
