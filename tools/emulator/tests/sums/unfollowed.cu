// Sums that the sum check doesn't follow, each right and with its last element left out: nothing is
// proved of them, and none is accused. `unfollowed CASE [short]` runs one, and prints its result.
#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace {

constexpr int kN = 64;

/// 64 bits in two halves, the carry from one to the other.
__global__ void carry(const int* in, unsigned long long* out, int n) {
  unsigned low = 0, high = 0;
  for (int i = 0; i < n; ++i) {
    asm("add.cc.u32 %0, %0, %2; addc.u32 %1, %1, 0;" : "+r"(low), "+r"(high) : "r"(in[i]));
  }
  *out = static_cast<unsigned long long>(high) << 32 | low;
}

__global__ void half_precision(const int* in, unsigned long long* out, int n) {
  __half sum = __float2half(0);
  for (int i = 0; i < n; ++i) sum = __hadd(sum, __int2half_rn(in[i]));
  *out = static_cast<unsigned long long>(__half2int_rn(sum));
}

__device__ __noinline__ int sum_of(const int* in, int n) {
  if (n <= 1) return n ? in[0] : 0;
  return sum_of(in, n / 2) + sum_of(in + n / 2, n - n / 2);
}
__global__ void recursion(const int* in, unsigned long long* out, int n) {
  *out = static_cast<unsigned long long>(sum_of(in, n));
}

using Step = int (*)(int, int);
__device__ __noinline__ int plus(int a, int b) {
  return a + b;
}
__device__ __noinline__ int times(int a, int b) {
  return a * b;
}
__device__ Step steps[]{plus, times};
__global__ void pointer(const int* in, unsigned long long* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum = steps[n / 1000](sum, in[i]);
  *out = static_cast<unsigned long long>(sum);
}

/// The second block of a cluster has elements copied into the first one's shared memory.
__global__ void __cluster_dims__(2) cluster(const int* in, unsigned long long* out, int n) {
  __shared__ alignas(16) int tile[kN];
  __shared__ unsigned long long bar;
  const auto all = cooperative_groups::this_cluster();
  const unsigned i = all.block_rank() * blockDim.x + threadIdx.x;
  const unsigned arrived = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  if (i == 0) {
    asm volatile(
        "{ .reg .b64 state; mbarrier.init.shared.b64 [%0], 1;"
        " mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" ::"r"(arrived),
        "r"(kN / 2 * 4)
        : "memory");
  }
  all.sync();
  if (i == kN / 2) {
    asm volatile(
        "{ .reg .b32 to, at; mapa.shared::cluster.u32 to, %0, 0; mapa.shared::cluster.u32 at, %1, "
        "0;"
        " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [%2], %3, [at]; "
        "}" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&tile[i]))),
        "r"(arrived), "l"(in + i), "r"(kN / 2 * 4)
        : "memory");
  } else if (all.block_rank() == 0) {
    tile[i] = in[i];
    asm volatile(
        "{ .reg .pred over;\n"
        "AGAIN: mbarrier.try_wait.parity.shared.b64 over, [%0], 0; @!over bra AGAIN; }" ::"r"(
            arrived)
        : "memory");
  }
  all.sync();
  if (i != 0) return;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += tile[k];
  *out = static_cast<unsigned long long>(sum);
}

}  // namespace

int main(int count, char** arguments) {
  const int n = count > 2 ? kN - 1 : kN;
  const char* const name = arguments[1];
  std::vector<int> values(kN);
  std::iota(values.begin(), values.end(), 1);
  int* in = nullptr;
  unsigned long long *out = nullptr, sum = 0;
  cudaMalloc(&in, kN * sizeof(int));
  cudaMalloc(&out, sizeof sum);
  cudaMemcpy(in, values.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  if (!std::strcmp(name, "carry")) carry<<<1, 1>>>(in, out, n);
  if (!std::strcmp(name, "half_precision")) half_precision<<<1, 1>>>(in, out, n);
  if (!std::strcmp(name, "recursion")) recursion<<<1, 1>>>(in, out, n);
  if (!std::strcmp(name, "pointer")) pointer<<<1, 1>>>(in, out, n);
  if (!std::strcmp(name, "cluster")) cluster<<<2, kN / 2>>>(in, out, n);
  const cudaError_t status = cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
  std::printf("%llu\n", sum);
  return status == cudaSuccess ? 0 : 3;
}
