// Cooperative groups' tiles of several warps, whose barriers lie in shared memory that the driver
// keeps.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.cuh"

namespace cg = cooperative_groups;

template <int kSize>
__global__ void wide_tiles(const int* in, int* out) {
  __shared__ cg::block_tile_memory<256> room;
  const auto block = cg::this_thread_block(room);
  const auto tile = cg::tiled_partition<kSize>(block);
  out[block.thread_rank()] = cg::reduce(tile, in[block.thread_rank()], cg::plus<int>());
}

int main() {
  constexpr int kThreads = 256;
  const auto values = numbers(kThreads, 100);
  Buffer<int> in(values), out(kThreads);
  wide_tiles<128><<<1, kThreads>>>(in.get(), out.get());
  LAUNCHED();
  const auto got = out.host();
  for (int half : {0, 1}) {
    int sum = 0;
    for (int j = 0; j < 128; ++j) sum += values[half * 128 + j];
    for (int j = 0; j < 128; ++j) CHECK(got[half * 128 + j] == sum);
  }
  return done();
}
