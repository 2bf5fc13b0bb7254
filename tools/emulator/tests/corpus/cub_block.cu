// CUB's primitives for blocks and warps.
#include <cub/cub.cuh>

#include <algorithm>
#include <numeric>

#include "check.cuh"

constexpr int kThreads = 128, kEach = 4, kTile = kThreads * kEach;

__global__ void block(const int* in, int* sorted, int* scanned, int* sum) {
  using Load = cub::BlockLoad<int, kThreads, kEach, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kEach, cub::BLOCK_STORE_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, kThreads, kEach>;
  using Scan = cub::BlockScan<int, kThreads>;
  using Reduce = cub::BlockReduce<int, kThreads>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
  } room;
  int items[kEach], prefix[kEach];
  Load(room.load).Load(in, items);
  __syncthreads();
  Scan(room.scan).ExclusiveSum(items, prefix);
  __syncthreads();
  Store(room.store).Store(scanned, prefix);
  __syncthreads();
  const int total = Reduce(room.reduce).Sum(items);
  if (threadIdx.x == 0) *sum = total;
  __syncthreads();
  Sort(room.sort).Sort(items);
  __syncthreads();
  Store(room.store).Store(sorted, items);
}

__global__ void warps(const int* in, int* sums, int* scans, int* best) {
  using Reduce = cub::WarpReduce<int>;
  using Scan = cub::WarpScan<int>;
  using Half = cub::WarpReduce<int, 16>;
  __shared__ typename Reduce::TempStorage reduce[kThreads / 32];
  __shared__ typename Scan::TempStorage scan[kThreads / 32];
  __shared__ typename Half::TempStorage half[kThreads / 16];
  const int i = threadIdx.x, warp = i / 32;
  const int sum = Reduce(reduce[warp]).Sum(in[i]);
  if (i % 32 == 0) sums[warp] = sum;
  int prefix = 0;
  Scan(scan[warp]).InclusiveSum(in[i], prefix);
  scans[i] = prefix;
  const int most = Half(half[i / 16]).Reduce(in[i], cuda::maximum<>{});
  if (i % 16 == 0) best[i / 16] = most;
}

int main() {
  const auto values = numbers(kTile, 10'000);
  Buffer<int> in(values), sorted(kTile), scanned(kTile), sum(1);
  block<<<1, kThreads>>>(in.get(), sorted.get(), scanned.get(), sum.get());
  LAUNCHED();
  auto expected = values;
  CHECK(sum.host()[0] == std::accumulate(values.begin(), values.end(), 0));
  std::exclusive_scan(values.begin(), values.end(), expected.begin(), 0);
  CHECK(scanned.host() == expected);
  expected = values;
  std::sort(expected.begin(), expected.end());
  CHECK(sorted.host() == expected);

  Buffer<int> sums(kThreads / 32), scans(kThreads), best(kThreads / 16);
  warps<<<1, kThreads>>>(in.get(), sums.get(), scans.get(), best.get());
  LAUNCHED();
  for (int w = 0; w < kThreads / 32; ++w) {
    const auto begin = values.begin() + w * 32;
    CHECK(sums.host()[w] == std::accumulate(begin, begin + 32, 0));
    std::vector<int> scan(32);
    std::partial_sum(begin, begin + 32, scan.begin());
    const auto got = scans.host();
    CHECK(std::equal(scan.begin(), scan.end(), got.begin() + w * 32));
  }
  for (int h = 0; h < kThreads / 16; ++h) {
    CHECK(best.host()[h] ==
          *std::max_element(values.begin() + h * 16, values.begin() + h * 16 + 16));
  }
  return done();
}
