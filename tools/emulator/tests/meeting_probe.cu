// What lanes get from one .sync operation that they reach by different instructions: one line a
// question, its name and what each of the 32 lanes got; all questions, or the one that is named.
// meeting_h200.txt is what an H200 answered. By hand:
//   nvcc -arch=sm_90 -o meeting_probe meeting_probe.cu && timeout 60 ./meeting_probe
// The two halves of the warp branch apart, and each half has instructions of its own (volatile asm,
// with different code around it, so that the compiler can't make one of the two).
#include <cstdio>
#include <cstring>

__device__ unsigned noise;  // keeps the halves different

#define APART(name, low_code, high_code) \
  __global__ void name(unsigned* out) {  \
    const unsigned t = threadIdx.x;      \
    unsigned d = 0xdead, x = 100 + t;    \
    if (t < 16) {                        \
      low_code;                          \
      atomicAdd(&noise, 1);              \
    } else {                             \
      x += 1000;                         \
      atomicXor(&noise, x);              \
      high_code;                         \
    }                                    \
    out[t] = d;                          \
  }

#define SHFL(mode, by, clamp)                                       \
  asm volatile("shfl.sync." mode ".b32 %0, %1, %2, %3, 0xffffffff;" \
               : "=r"(d)                                            \
               : "r"(x), "r"(by), "r"(clamp))
#define BALLOT(p)                                                                              \
  asm volatile("{.reg .pred q; setp.ne.u32 q, %1, 0; vote.sync.ballot.b32 %0, q, 0xffffffff;}" \
               : "=r"(d)                                                                       \
               : "r"(p))
#define MATCH(v) asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(d) : "r"(v))
#define REDUX(v) asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(d) : "r"(v))
#define ELECT() \
  asm volatile("{.reg .pred q; elect.sync %0|q, 0xffffffff; @q add.u32 %0, %0, 1000;}" : "=r"(d))

APART(shfl_bfly_16, SHFL("bfly", 16u, 31u), SHFL("bfly", 16u, 31u))
APART(shfl_bfly_1, SHFL("bfly", 1u, 31u), SHFL("bfly", 1u, 31u))
APART(shfl_idx_20, SHFL("idx", 20u, 31u), SHFL("idx", 20u, 31u))
APART(shfl_idx_3_and_20, SHFL("idx", 20u, 31u), SHFL("idx", 3u, 31u))
APART(ballot, BALLOT(t & 1), BALLOT(t % 3 == 0 ? 1u : 0u))
APART(match_any, MATCH(t & 3), MATCH(t & 3))
APART(redux_add, REDUX(t), REDUX(t))
APART(elect, ELECT(), ELECT())
// Qualifiers that differ: the ISA leaves it undefined. Last, since they may hang.
APART(mixed_modes, SHFL("bfly", 16u, 31u), SHFL("idx", 3u, 31u))
APART(mixed_kinds, SHFL("bfly", 16u, 31u), BALLOT(t & 1))
APART(mixed_with_syncwarp, SHFL("bfly", 16u, 31u), __syncwarp())

int main(int argc, char** argv) {
  unsigned *out, host[32];
  cudaMalloc(&out, sizeof host);
#define ASK(name)                                                                     \
  if (argc < 2 || !strcmp(argv[1], #name)) {                                          \
    cudaMemset(out, 0xff, sizeof host);                                               \
    name<<<1, 32>>>(out);                                                             \
    const cudaError_t status = cudaMemcpy(host, out, sizeof host, cudaMemcpyDefault); \
    printf("%s:", #name);                                                             \
    if (status != cudaSuccess)                                                        \
      printf(" %s", cudaGetErrorName(status));                                        \
    else                                                                              \
      for (unsigned v : host) printf(" %x", v);                                       \
    printf("\n");                                                                     \
    fflush(stdout);                                                                   \
  }
  ASK(shfl_bfly_16)
  ASK(shfl_bfly_1)
  ASK(shfl_idx_20)
  ASK(shfl_idx_3_and_20)
  ASK(ballot)
  ASK(match_any)
  ASK(redux_add)
  ASK(elect)
  ASK(mixed_modes)
  ASK(mixed_kinds)
  ASK(mixed_with_syncwarp)
}
