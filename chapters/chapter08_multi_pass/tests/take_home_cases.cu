// take_home.cuh where it could go wrong: every pair of types, edges of every kind, addresses that
// are no multiple of 16, one workspace for all of it, two streams, and arguments that are refused.
// Exits 1 after the first that is wrong, which it names. Compiled with the header's folder in -I,
// so that a test can put a faulty copy in its place.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../../../common/include/book/input.hpp"
#include "take_home.cuh"

namespace {

void stop(const std::string& what) {
  std::printf("wrong: %s\n", what.c_str());
  std::exit(1);
}

void must(cudaError_t status, const char* what) {
  if (status != cudaSuccess) stop(std::string(what) + ": " + cudaGetErrorString(status));
}

/// Device memory, freed at the end.
template <class T>
struct Memory {
  T* data = nullptr;
  explicit Memory(std::size_t size) { must(cudaMalloc(&data, size * sizeof(T) + 1), "cudaMalloc"); }
  Memory(const Memory&) = delete;
  ~Memory() { cudaFree(data); }
};

/// 64 bits that differ from position to position.
std::uint64_t bits_at(std::uint64_t position) {
  return book::input_bits(0, position);
}

struct Workspace {
  std::size_t bytes = 0;
  void* memory = nullptr;
  explicit Workspace(cudaStream_t stream = nullptr) {
    must(take_home::workspace_bytes(&bytes), "workspace_bytes");
    must(cudaMalloc(&memory, bytes), "cudaMalloc");
    must(take_home::clear_workspace(memory, bytes, stream), "clear_workspace");
  }
  Workspace(const Workspace&) = delete;
  ~Workspace() { cudaFree(memory); }
  /// Partial sums that are left over must not make a sum right.
  void spoil() {
    constexpr std::size_t kFirst = take_home::kWords * sizeof(unsigned long long);
    must(cudaMemset(static_cast<char*>(memory) + kFirst, 0xff, bytes - kFirst), "cudaMemset");
  }
};

int checks = 0;

/// The sum of values[skip ...], twice with the same workspace; the results have the same bits.
template <class In, class Sum>
Sum sum_of(const Memory<In>& in, std::size_t n, std::size_t skip, Workspace& workspace,
           const std::string& what) {
  Memory<Sum> out(1);
  Sum found[2];
  for (Sum& each : found) {
    workspace.spoil();
    must(cudaMemset(out.data, 0xa5, sizeof(Sum)), "cudaMemset");
    must(take_home::sum(in.data + skip, n, out.data, workspace.memory, workspace.bytes),
         what.c_str());
    must(cudaMemcpy(&each, out.data, sizeof(Sum), cudaMemcpyDeviceToHost), what.c_str());
  }
  if (std::memcmp(&found[0], &found[1], sizeof(Sum)) != 0) stop(what + ", launched again");
  ++checks;
  return found[0];
}

constexpr std::size_t kMost = (std::size_t{1} << 20) + 3;
/// Around a warp, a power of two, a block's tile of 4 or 8 bytes per element, two of them.
const std::vector<std::size_t> kSizes = {0,    1,    2,    3,    5,     7,     31,   32,   33,
                                         255,  257,  1023, 1025, 2047,  2048,  2049, 4093, 4095,
                                         4096, 4097, 8191, 8193, 65535, 65537, kMost};

/// Sums that have to be exact: of any integers, modulo two to the bits of the sum, and of floats
/// that are small whole numbers of either sign.
template <class In, class Sum>
void exact(const char* types, Workspace& workspace) {
  constexpr std::size_t kSkips = 4;
  std::vector<In> host(kMost + kSkips);
  for (std::size_t i = 0; i < host.size(); ++i) {
    const std::uint64_t bits = bits_at(i);
    if constexpr (std::is_floating_point_v<In>) {
      const int size = 1 + static_cast<int>(bits & 7);
      host[i] = static_cast<In>((bits & 8) != 0 ? -size : size);
    } else {
      host[i] = static_cast<In>(bits);  // all bits: sums of 32 wrap, and of 64, too
    }
  }
  Memory<In> in(host.size());
  must(cudaMemcpy(in.data, host.data(), host.size() * sizeof(In), cudaMemcpyHostToDevice), types);
  for (const std::size_t n : kSizes) {
    for (std::size_t skip = 0; skip < kSkips; ++skip) {
      Sum expected = 0;
      if constexpr (std::is_floating_point_v<Sum>) {
        for (std::size_t i = 0; i < n; ++i) expected += static_cast<Sum>(host[skip + i]);
      } else {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += static_cast<std::uint64_t>(host[skip + i]);
        expected = static_cast<Sum>(sum);
      }
      const std::string what = std::string(types) + ", n = " + std::to_string(n) +
                               ", from element " + std::to_string(skip);
      if (sum_of<In, Sum>(in, n, skip, workspace, what) != expected) stop(what);
    }
  }
}

/// The most additions that one element goes through, as the kernel is written: 16 bytes per load
/// and 4 loads into one piece; one more per turn of the block and one for a single element; 5 for a
/// warp and 5 for the block's 8 slots; and, among the partial sums, one per turn of the last
/// block's 256 threads and 10 again.
template <class In>
double additions(std::size_t n) {
  unsigned blocks = 0;
  must(take_home::grid_for<In>(n, &blocks), "grid_for");
  const double tile = 4.0 * 256.0 * (16.0 / sizeof(In));
  const double turns = std::ceil(static_cast<double>(n) / tile / blocks);
  return 4 * 16.0 / sizeof(In) + (turns + 1) + 10 + std::ceil(blocks / 256.0) + 10;
}

/// Sums that round. With u = 2^-24 (float) or 2^-53 (double) and at most d additions per element,
/// the error is at most d u / (1 - d u) times the sum of the elements' sizes (Higham, Accuracy and
/// Stability of Numerical Algorithms, 2nd edition, 2002, section 4.2). Elements are multiples of u
/// in [0, 1), so the host's sum of whole numbers is exact.
template <class T>
void rounded(const char* types, Workspace& workspace) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  const double u = std::ldexp(1.0, -kDigits);
  std::vector<T> host(kMost);
  for (std::size_t i = 0; i < host.size(); ++i) {
    host[i] =
        static_cast<T>(std::ldexp(static_cast<double>(bits_at(i) >> (64 - kDigits)), -kDigits));
  }
  Memory<T> in(host.size());
  must(cudaMemcpy(in.data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), types);
  for (const std::size_t n : kSizes) {
    unsigned __int128 whole = 0;
    for (std::size_t i = 0; i < n; ++i) whole += bits_at(i) >> (64 - kDigits);
    const long double expected = std::ldexp(static_cast<long double>(whole), -kDigits);
    const std::string what = std::string(types) + " that round, n = " + std::to_string(n);
    const long double found = sum_of<T, T>(in, n, 0, workspace, what);
    const double d = additions<T>(n);
    if (std::fabs(found - expected) > d * u / (1 - d * u) * expected) {
      stop(what + ": off by " + std::to_string(static_cast<double>(found - expected)));
    }
  }
}

/// One of three blocks hands in a sum; what the two others have done, the words say already.
__global__ void one_of_three(unsigned long long sum, unsigned long long* words,
                             unsigned long long* out) {
  if (blockIdx.x == 0 && take_home::hand_in(sum, words)) *out = sum;
}

/// The rare case of hand_in, made on purpose: another block is last at one half than at the other.
void halves_apart(bool low_first) {
  constexpr unsigned long long kLow = 0x180000001, kHigh = 0xfffffffb;  // totals of two blocks
  constexpr unsigned long long kFirst = 0xfffff9a2'30112233, kSecond = 0x7fff'ffff'ffff;
  const unsigned long long before[3] = {(kLow << 16) + (low_first ? 2 : 1),
                                        (kHigh << 16) + (low_first ? 1 : 2), 0};
  Memory<unsigned long long> words(3), out(1);
  must(cudaMemcpy(words.data, before, sizeof before, cudaMemcpyHostToDevice), "words");
  must(cudaMemset(out.data, 0xa5, sizeof *out.data), "out");
  one_of_three<<<3, 1>>>(kFirst, words.data, out.data);
  one_of_three<<<3, 1>>>(kSecond, words.data, out.data);
  unsigned long long after[3], found = 0;
  must(cudaMemcpy(after, words.data, sizeof after, cudaMemcpyDeviceToHost), "words");
  must(cudaMemcpy(&found, out.data, sizeof found, cudaMemcpyDeviceToHost), "out");
  const auto low = [](unsigned long long sum) { return sum & 0xffffffff; };
  const auto high = [](unsigned long long sum) { return sum >> 32; };
  const unsigned long long lows = kLow + low(kFirst) + (low_first ? 0 : low(kSecond));
  const unsigned long long highs = kHigh + high(kFirst) + (low_first ? high(kSecond) : 0);
  const bool cleared = after[low_first ? 1 : 0] == 0 && after[2] == 0;
  if (found != lows + (highs << 32) || !cleared) stop("halves that end in different blocks");
  ++checks;
}

/// Sums in two streams at once, each with its own workspace, float and 64-bit in turn. The streams
/// don't wait for the null stream, so each workspace has to be cleared in its own.
void two_streams() {
  const std::size_t n = 100003;
  cudaStream_t streams[2];
  for (auto& stream : streams) {
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  const Workspace workspaces[2] = {Workspace(streams[0]), Workspace(streams[1])};
  Memory<float> floats(n);
  Memory<int> ints(n);
  Memory<float> float_out(8);
  Memory<long long> int_out(8);
  const std::vector<float> ones(n, 1.0f);
  const std::vector<int> threes(n, -3);
  must(cudaMemcpy(floats.data, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice), "floats");
  must(cudaMemcpy(ints.data, threes.data(), n * sizeof(int), cudaMemcpyHostToDevice), "ints");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // the copies above
  for (int k = 0; k < 8; ++k) {
    const Workspace& w = workspaces[k % 2];
    must(take_home::sum(floats.data + k, n - k, float_out.data + k, w.memory, w.bytes,
                        streams[k % 2]),
         "a sum of floats in a stream");
    must(take_home::sum(ints.data + k, n - k, int_out.data + k, w.memory, w.bytes, streams[k % 2]),
         "a sum of ints in a stream");
  }
  for (auto& stream : streams) must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  float float_sums[8];
  long long int_sums[8];
  must(cudaMemcpy(float_sums, float_out.data, sizeof float_sums, cudaMemcpyDeviceToHost), "sums");
  must(cudaMemcpy(int_sums, int_out.data, sizeof int_sums, cudaMemcpyDeviceToHost), "sums");
  for (int k = 0; k < 8; ++k) {
    const auto left = static_cast<long long>(n) - k;
    if (float_sums[k] != static_cast<float>(left)) stop("floats in two streams");
    if (int_sums[k] != -3 * left) stop("ints in two streams");
    ++checks;
  }
  for (auto& stream : streams) must(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

/// What can't be is refused, and nothing is written.
void refused() {
  Workspace good;
  Memory<int> in(8);
  Memory<long long> out(2);
  const long long before = -77;
  must(cudaMemcpy(out.data, &before, sizeof before, cudaMemcpyHostToDevice), "out");
  const auto expect = [&](cudaError_t wanted, cudaError_t found, const char* what) {
    if (found != wanted) stop(std::string(what) + ": " + cudaGetErrorString(found));
    long long left = 0;
    must(cudaMemcpy(&left, out.data, sizeof left, cudaMemcpyDeviceToHost), what);
    if (wanted != cudaSuccess && left != before) stop(std::string(what) + " wrote a sum");
    ++checks;
  };
  const auto moved = [](auto* address, std::ptrdiff_t bytes) {
    return reinterpret_cast<decltype(address)>(reinterpret_cast<char*>(address) + bytes);
  };
  constexpr cudaError_t kNo = cudaErrorInvalidValue;
  using take_home::sum;
  auto* const w = static_cast<char*>(good.memory);
  expect(kNo, sum(in.data, 8, out.data, w, good.bytes - 1), "a workspace that is too small");
  expect(kNo, sum(in.data, 8, out.data, w, 0), "a workspace of no bytes");
  expect(kNo, sum(in.data, 8, out.data, nullptr, good.bytes), "no workspace");
  expect(kNo, sum(in.data, 4, out.data, w + 4, good.bytes), "a workspace that is not aligned");
  expect(kNo, sum(in.data, 8, static_cast<long long*>(nullptr), w, good.bytes), "no output");
  expect(kNo, sum(in.data, 8, moved(out.data, 4), w, good.bytes), "an output that is not aligned");
  expect(kNo, sum(static_cast<int*>(nullptr), 8, out.data, w, good.bytes), "no input");
  expect(kNo, sum(moved(in.data, 2), 4, out.data, w, good.bytes), "half an element");

  // An error that something else has left is neither handed on nor cleared.
  void* never = nullptr;
  if (cudaMalloc(&never, ~std::size_t{0} / 2) == cudaSuccess) stop("an allocation of 2^63 bytes");
  expect(cudaSuccess, sum(static_cast<int*>(nullptr), 0, out.data, w, good.bytes), "n = 0");
  if (cudaGetLastError() == cudaSuccess) stop("an earlier error was cleared");
  long long zero = -1;
  must(cudaMemcpy(&zero, out.data, sizeof zero, cudaMemcpyDeviceToHost), "out");
  if (zero != 0) stop("the sum of nothing");
}

static_assert(std::is_same_v<take_home::sum_t<int>, long long>);
static_assert(std::is_same_v<take_home::sum_t<unsigned>, unsigned long long>);
static_assert(std::is_same_v<take_home::sum_t<float>, float>);
static_assert(std::is_same_v<take_home::sum_t<double>, double>);

}  // namespace

int main() {
  Workspace workspace;  // one for all types and sizes
  exact<int, int>("ints", workspace);
  exact<int, long long>("ints in 64 bits", workspace);
  exact<unsigned, unsigned long long>("unsigned in 64 bits", workspace);
  exact<long long, long long>("long long", workspace);
  exact<float, float>("floats", workspace);
  exact<float, double>("floats as double", workspace);
  exact<double, double>("doubles", workspace);
  rounded<float>("floats", workspace);
  rounded<double>("doubles", workspace);
  halves_apart(true);
  halves_apart(false);
  two_streams();
  refused();
  std::printf("%d checks, all right\n", checks);
  return 0;
}
