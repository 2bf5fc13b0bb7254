// The same floats by other blocks and other grids: the bits of the exact sum, which must be those
// of the host's every time, and of the plain one. A line for each kind of data, size, block and
// grid. What GPUs answered is in ../transcripts/<set>/same_bits.txt, and test_same_bits.py holds
// the embedded device to it. Ends with status 1 where an exact sum isn't the host's.
#include <cuda_runtime.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../grids.cuh"
#include "../kernels.cuh"
#include "../problem.cuh"

namespace {

using namespace chapter11;

constexpr std::size_t kSizes[] = {1, 33, 1023, 4097, 16385, 65537, 100'001};
constexpr unsigned kGrids[] = {1, 2, 7, 33, 132, 264};
constexpr std::uint64_t kSeed = 2018;

void want(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(2);
}

template <class T>
T* zeros(std::size_t count) {
  T* data = nullptr;
  want(cudaMalloc(&data, count * sizeof(T)));
  want(cudaMemset(data, 0, count * sizeof(T)));
  return data;
}

/// The bits of a sum that a launch leaves in a word.
template <class Launch>
std::uint32_t bits_by(float* out, const Launch& launch) {
  std::uint32_t bits = 0;
  want(cudaMemset(out, 0xff, sizeof *out));
  launch();
  want(cudaGetLastError());
  want(cudaMemcpy(&bits, out, sizeof bits, cudaMemcpyDeviceToHost));
  return bits;
}

/// Memory of all launches, and what is left from one to the next.
struct Memory {
  float* in = zeros<float>(kSizes[std::size(kSizes) - 1]);
  float* out = zeros<float>(1);
  Exact* state = zeros<Exact>(1);
  Plain* partial = zeros<Plain>(kGrids[std::size(kGrids) - 1]);
  unsigned* ticket = zeros<unsigned>(1);
};

/// Every grid of one block. \return whether each exact sum was the host's
template <unsigned Block>
bool grids(const Memory& m, Data data, std::size_t n, std::uint32_t right) {
  const auto kernel = exact<Block, kLoads>;
  const std::size_t bytes = bins_of(Block);
  want(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            static_cast<int>(bytes)));
  bool same = true;
  for (const unsigned grid : kGrids) {
    const std::uint32_t found =
        bits_by(m.out, [&] { kernel<<<grid, Block, bytes>>>(m.in, m.out, m.state, n); });
    const std::uint32_t plain = bits_by(
        m.out, [&] { sum<Plain, kLoads><<<grid, Block>>>(m.in, m.out, m.partial, m.ticket, n); });
    std::printf("%-8s %7zu %6u %5u   %08x   %08x\n", word(data), n, Block, grid, found, plain);
    same = same && found == right;
  }
  return same;
}

template <Data D>
bool data(const Memory& m) {
  bool same = true;
  for (const std::size_t n : kSizes) {
    std::vector<float> elements(n);
    ExactSum host;
    for (std::size_t i = 0; i < n; ++i) host.add(elements[i] = float_at<D>(kSeed, i));
    want(cudaMemcpy(m.in, elements.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    const auto right = std::bit_cast<std::uint32_t>(host.nearest());
    same &= grids<32>(m, D, n, right);
    same &= grids<64>(m, D, n, right);
    same &= grids<128>(m, D, n, right);
    same &= grids<256>(m, D, n, right);
    same &= grids<512>(m, D, n, right);
    same &= grids<1024>(m, D, n, right);
  }
  return same;
}

}  // namespace

int main() {
  std::printf("%-8s %7s %6s %5s   %-8s   %s\n", "data", "n", "block", "grid", "exact", "plain");
  const Memory memory;
  bool same = data<Data::kUniform>(memory);
  same &= data<Data::kMixed>(memory);
  same &= data<Data::kIll>(memory);
  same &= data<Data::kWide>(memory);
  return same ? 0 : 1;
}
