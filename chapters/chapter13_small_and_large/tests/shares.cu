// Does it matter where a ring's stages begin, and which block takes which piece? Rings of one to 13
// stages whose blocks take their pieces in turn, as block_ring's do, or by tickets, whoever is
// free; four of them at each place that a bulk copy can write to. A GPU's own answers are in
// ../transcripts/nvidia-h200/shares.txt.
#include <cuda_runtime.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "../kernels.cuh"

namespace {

using chapter13::Barrier;
using chapter13::Sum;

constexpr unsigned kBytes = 16384, kThreads = 288, kPerTicket = 4, kNoPiece = ~0u;
constexpr unsigned kLine = 128;  // bytes in a line of shared memory: one of each bank

/// What a block says of itself.
struct Share {
  long long cycles;  ///< from its start to its end
  unsigned pieces;
};

template <unsigned Stages, bool Tickets>
__global__ void ring(const int* in, unsigned long long* words, Sum* out, std::size_t n,
                     unsigned past, unsigned* ticket, Share* shares) {
  extern __shared__ __align__(kLine) int4 lines[];
  int4* stages = lines + past / sizeof(int4);
  __shared__ Barrier full[Stages], empty[Stages];
  __shared__ unsigned piece_in[Stages];
  const long long begin = clock64();
  const chapter08::Vectors<std::size_t> vectors(in, n);
  const chapter13::Pieces<kBytes> pieces(vectors);
  const unsigned count = static_cast<unsigned>(pieces.count);
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < Stages; ++s) {
      chapter13::init(full + s, 1);
      chapter13::init(empty + s, blockDim.x / 32 - 1);
    }
    chapter13::show_barriers();
  }
  __syncthreads();

  Sum sum = 0;
  chapter13::Turn<Stages> turn;
  unsigned taken = 0;
  if (threadIdx.x == 0) {
    const auto take = [&](unsigned piece) {
      chapter13::wait(empty + turn.stage, turn.parity ^ 1);
      piece_in[turn.stage] = piece;
      if (piece == kNoPiece) {
        chapter13::arrive(full + turn.stage);
        return;
      }
      pieces.fetch_to(stages + turn.stage * pieces.kVectors, piece, full + turn.stage);
      turn.next();
      ++taken;
    };
    if constexpr (Tickets) {
      unsigned next = atomicAdd(ticket, kPerTicket);
      while (next < count) {
        const unsigned first = next;
        next = atomicAdd(ticket, kPerTicket);  // on its way while these pieces are fetched
        for (unsigned p = first; p < min(first + kPerTicket, count); ++p) take(p);
      }
    } else {
      for (unsigned p = blockIdx.x; p < count; p += gridDim.x) take(p);
    }
    take(kNoPiece);
  } else if (threadIdx.x >= 32) {
    while (true) {
      chapter13::wait(full + turn.stage, turn.parity);
      const unsigned piece = piece_in[turn.stage];
      if (piece == kNoPiece) break;
      sum += chapter13::share_of_piece(stages + turn.stage * pieces.kVectors, pieces.length(piece),
                                       threadIdx.x - 32, blockDim.x - 32);
      __syncwarp();
      if (threadIdx.x % 32 == 0) chapter13::arrive(empty + turn.stage);
      turn.next();
    }
  }
  sum += vectors.single(std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  sum = chapter08::sum_by_warps(sum);
  if (threadIdx.x == 0) {
    shares[blockIdx.x] = {clock64() - begin, taken};
    chapter08::hand_in(sum, words, out);
  }
}

void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(3);
}

std::size_t n;
long samples;
Sum expected;
int sms;
int *in, *other;
constexpr std::size_t kOther = std::size_t{1} << 28;  // bytes, for the L2 to hold
unsigned long long* words;
Sum* out;
unsigned* ticket;
Share* shares;

/// The ring's time, `past` bytes from a multiple of kLine.
template <unsigned Stages, bool Tickets>
void measure(unsigned past) {
  const auto kernel = ring<Stages, Tickets>;
  const unsigned shared = Stages * kBytes + past;
  must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            static_cast<int>(shared)));
  cudaEvent_t before, after;
  must(cudaEventCreate(&before));
  must(cudaEventCreate(&after));
  std::vector<float> times;
  for (long k = 0; k < samples; ++k) {
    must(cudaMemsetAsync(ticket, 0, sizeof *ticket));
    if (samples > 1) must(cudaMemsetAsync(other, static_cast<int>(k), kOther));
    must(cudaEventRecord(before));
    kernel<<<sms, kThreads, shared>>>(in, words, out, n, past, ticket, shares);
    must(cudaGetLastError());
    must(cudaEventRecord(after));
    must(cudaEventSynchronize(after));
    float ms = 0;
    must(cudaEventElapsedTime(&ms, before, after));
    times.push_back(1000 * ms);
    Sum sum = 0;
    must(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
    if (sum != expected) {
      std::fprintf(stderr, "%u stages: a wrong sum\n", Stages);
      std::exit(1);
    }
  }
  std::vector<Share> of(sms);
  must(cudaMemcpy(of.data(), shares, sms * sizeof(Share), cudaMemcpyDeviceToHost));
  std::vector<long long> cycles;
  std::vector<unsigned> pieces;
  for (const Share& one : of) {
    cycles.push_back(one.cycles);
    pieces.push_back(one.pieces);
  }
  std::sort(times.begin(), times.end());
  std::sort(cycles.begin(), cycles.end());
  std::sort(pieces.begin(), pieces.end());
  std::printf(
      "%2u stages, %3u bytes past, %s: %8.1f us, blocks end after %4.0f to 100 %%, "
      "with %u to %u pieces\n",
      Stages, past, Tickets ? "tickets" : "turns  ", times[times.size() / 2],
      100.0 * cycles.front() / cycles.back(), pieces.front(), pieces.back());
}

template <unsigned... Less>
void measure_all(std::integer_sequence<unsigned, Less...>) {
  ((measure<Less + 1, false>(0), measure<Less + 1, true>(0)), ...);
}

/// One ring at all places but the first, which it has been at.
template <unsigned Stages>
void measure_elsewhere() {
  for (unsigned past = sizeof(int4); past < kLine; past += sizeof(int4)) {
    measure<Stages, false>(past);
  }
}

/// An argument that is a whole number from `least` to `most`; ends the program where it isn't.
long long number(const char* text, long long least, long long most) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text, &end, 10);
  if (*text == '\0' || *end != '\0' || errno != 0 || value < least || value > most) {
    std::fprintf(stderr, "'%s' is no number from %lld to %lld; usage: shares [N [SAMPLES]]\n", text,
                 least, most);
    std::exit(2);
  }
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  n = argc > 1 ? static_cast<std::size_t>(number(argv[1], 0, 1LL << 34)) : std::size_t{1} << 28;
  samples = argc > 2 ? static_cast<long>(number(argv[2], 1, 100'000)) : 25;
  must(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  must(cudaMalloc(&in, n * sizeof *in));
  must(cudaMalloc(&other, kOther));
  must(cudaMalloc(&words, 3 * sizeof *words));
  must(cudaMalloc(&out, sizeof *out));
  must(cudaMalloc(&ticket, sizeof *ticket));
  must(cudaMalloc(&shares, sms * sizeof *shares));
  must(cudaMemset(words, 0, 3 * sizeof *words));
  must(cudaMemset(shares, 0, sms * sizeof *shares));
  // No two pieces are alike: one that is read twice, or too early, shows.
  std::vector<int> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = static_cast<int>(static_cast<unsigned>(i) * 2654435761u);
    expected += values[i];
  }
  must(cudaMemcpy(in, values.data(), n * sizeof *in, cudaMemcpyHostToDevice));
  measure_all(std::make_integer_sequence<unsigned, 13>());
  measure_elsewhere<2>();
  measure_elsewhere<4>();
  measure_elsewhere<8>();
  measure_elsewhere<12>();
  for (void* each :
       {static_cast<void*>(in), static_cast<void*>(other), static_cast<void*>(words),
        static_cast<void*>(out), static_cast<void*>(ticket), static_cast<void*>(shares)}) {
    must(cudaFree(each));
  }
}
