// 128-bit integers: division mixes carries and borrows, whatever the operands.
#include "check.cuh"

using Wide = unsigned __int128;

__global__ void divide(const Wide* a, const Wide* b, Wide* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  out[4 * i] = a[i] / b[i];
  out[4 * i + 1] = a[i] % b[i];
  out[4 * i + 2] = a[i] * b[i];
  out[4 * i + 3] = static_cast<Wide>(static_cast<__int128>(a[i]) / static_cast<__int128>(b[i]));
}

int main() {
  constexpr int kPairs = 512;
  const std::vector<int> random = numbers(8 * kPairs, 1 << 24);
  std::vector<Wide> a(kPairs), b(kPairs);
  for (int i = 0; i < 8 * kPairs; ++i) {
    Wide& to = i % 8 < 4 ? a[i / 8] : b[i / 8];
    to = to << 32 | static_cast<unsigned>(random[i]) * 2654435761u;
  }
  for (int i = 0; i < kPairs; ++i) {  // of all lengths
    a[i] >>= i % 3 * 20;
    b[i] = (b[i] >> i * 7 % 127) | 1;
  }
  const Wide all = ~Wide{0};
  const Wide edges[][2] = {{0, 1},          {all, 1},       {all, all},
                           {all, all - 1},  {all >> 1, 3},  {Wide{1} << 64, (Wide{1} << 64) - 1},
                           {all, 1u << 31}, {all - 1, all}, {Wide{1} << 96, Wide{1} << 32}};
  for (std::size_t i = 0; i < std::size(edges); ++i) {
    a[i] = edges[i][0];
    b[i] = edges[i][1];
  }
  Buffer<Wide> da(a), db(b), out(4 * kPairs);
  divide<<<1, kPairs>>>(da.get(), db.get(), out.get(), kPairs);
  LAUNCHED();
  const std::vector<Wide> got = out.host();
  for (int i = 0; i < kPairs; ++i) {
    CHECK(got[4 * i] == a[i] / b[i]);
    CHECK(got[4 * i + 1] == a[i] % b[i]);
    CHECK(got[4 * i + 2] == a[i] * b[i]);
    CHECK(got[4 * i + 3] ==
          static_cast<Wide>(static_cast<__int128>(a[i]) / static_cast<__int128>(b[i])));
  }
  return done();
}
