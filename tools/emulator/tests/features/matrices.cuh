/// \file
/// Matrix instructions, of one warp: 16 × 16 × 16 or what comes nearest.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "case.cuh"

namespace features::matrices {

namespace wmma = nvcuda::wmma;

/// a (m × k, by rows) times b (k × n, by columns), of small integers: exact in every type.
template <class In, class Kind, class Out, int M, int N, int K>
__global__ void product(const In* a, const In* b, Out* c) {
  wmma::fragment<wmma::matrix_a, M, N, K, Kind, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, M, N, K, Kind, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, M, N, K, Out> sum;
  wmma::fill_fragment(sum, Out(1));
  wmma::load_matrix_sync(left, a, K);
  wmma::load_matrix_sync(right, b, K);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, N, wmma::mem_row_major);
}

template <class In, class Kind, class Out, int M, int N, int K>
bool is_right() {
  std::vector<In> a(M * K), b(K * N);
  std::vector<int> left(M * K), right(K * N);
  for (int i = 0; i < M * K; ++i) left[i] = i % 7 - 3, a[i] = In(static_cast<float>(left[i]));
  for (int i = 0; i < K * N; ++i) right[i] = i % 5 - 2, b[i] = In(static_cast<float>(right[i]));
  Values<In> from(a), with(b);
  Values<Out> to(M * N);
  product<In, Kind, Out, M, N, K><<<1, 32>>>(from.get(), with.get(), to.get());
  launched();
  const auto c = to.host();
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      int sum = 1;
      for (int k = 0; k < K; ++k) sum += left[i * K + k] * right[j * K + k];
      if (c[i * N + j] != Out(sum)) return false;
    }
  }
  return true;
}

FEATURE("matrices", wmma_half, "wmma: half, added in float") {
  return is_right<__half, __half, float, 16, 16, 16>();
}
FEATURE("matrices", wmma_bfloat16, "wmma: bfloat16, added in float") {
  return is_right<__nv_bfloat16, __nv_bfloat16, float, 16, 16, 16>();
}
FEATURE("matrices", wmma_tf32, "wmma: TF32, added in float") {
  return is_right<float, wmma::precision::tf32, float, 16, 16, 8>();
}
FEATURE("matrices", wmma_int8, "wmma: 8-bit integers") {
  return is_right<signed char, signed char, int, 16, 16, 16>();
}
FEATURE("matrices", wmma_double, "wmma: double") {
  return is_right<double, double, double, 8, 8, 4>();
}

__global__ void turned(unsigned* out) {
  __shared__ alignas(16) __half tile[8][8];
  for (unsigned i = threadIdx.x; i < 64; i += 32)
    tile[i / 8][i % 8] = __float2half(static_cast<float>(i));
  __syncwarp();
  unsigned value;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x % 8][0]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(value)
               : "r"(at));
  out[threadIdx.x] = value;
}
FEATURE("matrices", ldmatrix, "ldmatrix: a tile from shared memory") {
  Values<unsigned> out(32);
  turned<<<1, 32>>>(out.get());
  launched();
  const unsigned pair = out[1];  // lane 1: column 0, rows 2 and 3
  const __half low = __ushort_as_half(static_cast<unsigned short>(pair & 0xffff));
  const __half high = __ushort_as_half(static_cast<unsigned short>(pair >> 16));
  return __half2float(low) == 16 && __half2float(high) == 24;
}

__global__ void mma(float* out) {
  const unsigned one = 0x3c003c00u;  // two halves, 1 and 1
  float d0, d1, d2, d3;
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
      "{%5,%5,%5,%5};"
      : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
      : "r"(one), "f"(0.5f));
  out[threadIdx.x] = d0 + d1 + d2 + d3;
}
FEATURE("matrices", mma_sync, "mma.sync in PTX") {
  Values<float> out(32);
  mma<<<1, 32>>>(out.get());
  launched();
  return out[31] == 66.0f;
}

}  // namespace features::matrices
