// What a block sees of other blocks' sums with and without fences: chapter 8's hand-over by tickets
// and nothing else, launched again and again with other sums. A GPU's own answers are in
// ../transcripts/nvidia-h200/fences.txt.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "../kernels.cuh"

namespace {

enum : int { kAddTo = 1, kRelease = 2, kAcquire = 4, kBusy = 8 };

/// Each block leaves `stamp`, or adds it to 0, and the last block adds up what it sees.
__global__ void hand_over(int mode, long long* partial, unsigned* ticket, unsigned* wrong,
                          long long stamp, long long* junk) {
  __shared__ bool last;
  if (mode & kBusy) {  // other stores on their way
    for (int j = 0; j < 8; ++j) {
      junk[(std::size_t(j) * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = stamp;
    }
  }
  if (threadIdx.x == 0) {
    if (mode & kAddTo) {
      partial[blockIdx.x] += stamp;
    } else {
      partial[blockIdx.x] = stamp;
    }
    if (mode & kRelease) __threadfence();
    const unsigned before = atomicInc(ticket, gridDim.x - 1);
    if (mode & kAcquire) __threadfence();
    last = before == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;

  long long rest = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) rest += partial[b];
  rest = chapter08::sum_by_warps(rest);
  if (threadIdx.x == 0 && rest != stamp * gridDim.x) atomicAdd(wrong, 1u);
}

__global__ void clear(long long* partial, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) partial[i] = 0;
}

void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr unsigned kBlock = 256, kMostBlocks = 1056;
  const int launches = argc > 1 ? std::atoi(argv[1]) : 5000;
  long long *partial, *junk;
  unsigned *ticket, *wrong;
  must(cudaMalloc(&partial, kMostBlocks * sizeof *partial));
  must(cudaMalloc(&junk, std::size_t{8} * kMostBlocks * kBlock * sizeof *junk));
  must(cudaMalloc(&ticket, sizeof *ticket));
  must(cudaMalloc(&wrong, sizeof *wrong));
  for (const int mode : {0, 2, 4, 6, 8, 10, 14, 1, 3, 5, 7, 9, 11, 15}) {
    for (const unsigned grid : {132u, kMostBlocks}) {
      must(cudaMemset(wrong, 0, sizeof *wrong));
      must(cudaMemset(ticket, 0, sizeof *ticket));
      for (int stamp = 1; stamp <= launches; ++stamp) {
        if (mode & kAddTo) clear<<<(grid + kBlock - 1) / kBlock, kBlock>>>(partial, grid);
        hand_over<<<grid, kBlock>>>(mode, partial, ticket, wrong, stamp, junk);
      }
      unsigned bad = 0;
      must(cudaMemcpy(&bad, wrong, sizeof bad, cudaMemcpyDeviceToHost));
      std::printf("litmus%s%s%s%s grid %u: %u of %d wrong\n", mode & kAddTo ? " +=" : "",
                  mode & kRelease ? " release" : "", mode & kAcquire ? " acquire" : "",
                  mode & kBusy ? " busy" : "", grid, bad, launches);
    }
  }
  return 0;
}
