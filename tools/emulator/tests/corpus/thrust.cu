// Thrust: reduce, scan, sort, transform_reduce and a few more.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

#include <algorithm>
#include <numeric>

#include "check.cuh"

struct Square {
  __host__ __device__ long long operator()(int v) const { return static_cast<long long>(v) * v; }
};

int main() {
  for (const int n : {0, 1, 33, 5000, 70'001}) {
    const auto values = numbers(n, 10'000);
    thrust::device_vector<int> in(values.begin(), values.end());
    CHECK(thrust::reduce(in.begin(), in.end()) == std::accumulate(values.begin(), values.end(), 0));
    long long squares = 0;
    for (const int v : values) squares += static_cast<long long>(v) * v;
    CHECK(thrust::transform_reduce(in.begin(), in.end(), Square{}, 0LL,
                                   cuda::std::plus<long long>{}) == squares);
    thrust::device_vector<int> out(n);
    thrust::inclusive_scan(in.begin(), in.end(), out.begin());
    std::vector<int> expected(n), got(n);
    std::partial_sum(values.begin(), values.end(), expected.begin());
    thrust::copy(out.begin(), out.end(), got.begin());
    CHECK(got == expected);
    thrust::sequence(out.begin(), out.end());
    thrust::sort_by_key(in.begin(), in.end(), out.begin());
    thrust::copy(out.begin(), out.end(), got.begin());
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return values[a] < values[b]; });
    CHECK(got == order);
  }
  return done();
}
