/// \file
/// C++ in kernels.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cassert>
#include <cmath>

#include "case.cuh"

namespace features::language {

template <class T, class F>
__global__ void apply(T* out, F f) {
  out[threadIdx.x] = f(static_cast<T>(threadIdx.x));
}
struct Cube {
  __device__ int operator()(int x) const { return x * x * x; }
};
FEATURE("language", templates, "templates, and function objects as arguments") {
  Values<int> out(32);
  apply<<<1, 32>>>(out.get(), Cube{});
  launched();
  return out[3] == 27 && out[31] == 31 * 31 * 31;
}

__device__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recurse(int* out) {
  out[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x));
}
FEATURE("language", recursion, "recursion, with a stack per thread") {
  Values<int> out(13);
  recurse<<<1, 13>>>(out.get());
  launched();
  return out[12] == 144;
}

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int corners() const = 0;
};
struct Triangle : Shape {
  __device__ int corners() const override { return 3; }
};
struct Square : Shape {
  __device__ int corners() const override { return 4; }
};
__global__ void virtual_calls(int* out) {
  Triangle triangle;
  Square square;
  const Shape* shape = &square;
  if (threadIdx.x % 2 == 0) shape = &triangle;
  out[threadIdx.x] = shape->corners();
}
FEATURE("language", virtuals, "virtual functions and function pointers") {
  Values<int> out(32);
  virtual_calls<<<1, 32>>>(out.get());
  launched();
  return out[0] == 3 && out[31] == 4;
}

__global__ void allocate(int* out) {
  int* mine = new int[threadIdx.x + 1];
  for (unsigned i = 0; i <= threadIdx.x; ++i) mine[i] = static_cast<int>(i);
  int sum = 0;
  for (unsigned i = 0; i <= threadIdx.x; ++i) sum += mine[i];
  out[threadIdx.x] = sum;
  delete[] mine;
}
FEATURE("language", heap, "malloc, new and delete in a kernel") {
  Values<int> out(32);
  allocate<<<1, 32>>>(out.get());
  launched();
  return out[31] == 31 * 32 / 2;
}

__global__ void say(int* out) {
  *out = printf("lane %d of %s\n", 7, "one warp");
}
FEATURE("language", print, "printf in a kernel") {
  Values<int> out(1);
  say<<<1, 1>>>(out.get());
  launched();
  return out[0] == 2;
}

__global__ void claim(const int* value) {
  assert(*value == 1);
}
FEATURE("language", assertions, "assert in a kernel") {
  Values<int> one(1, 1);
  claim<<<1, 1>>>(one.get());
  launched();
  Values<int> two(1, 2);
  claim<<<1, 1>>>(two.get());
  return cudaDeviceSynchronize() == cudaErrorAssert;
}

__constant__ int table[4];
__device__ int counter;
__global__ void variables(int* out) {
  out[threadIdx.x] = table[threadIdx.x] + 1;
  atomicAdd(&counter, 1);
}
FEATURE("language", variables_of_modules, "__constant__ and __device__ variables") {
  const int values[4] = {5, 6, 7, 8};
  cuda(cudaMemcpyToSymbol(table, values, sizeof values));
  Values<int> out(4);
  variables<<<1, 4>>>(out.get());
  launched();
  int counted = 0;
  cuda(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
  return out[3] == 9 && counted == 4;
}

__managed__ int managed_value = 1;
__global__ void add_managed() {
  managed_value += 41;
}
FEATURE("language", managed_variables, "__managed__ variables") {
  add_managed<<<1, 1>>>();
  launched();
  return managed_value == 42;
}

__global__ void wide(unsigned long long* out, unsigned long long a) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * a;
  out[0] = static_cast<unsigned long long>(product >> 64);
  out[1] = static_cast<unsigned long long>(product % 1000003u);
}
FEATURE("language", wide_integers, "64- and 128-bit integers") {
  const unsigned long long a = 0xfedcba9876543210ull;
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * a;
  Values<unsigned long long> out(2);
  wide<<<1, 1>>>(out.get(), a);
  launched();
  return out[0] == static_cast<unsigned long long>(product >> 64) &&
         out[1] == static_cast<unsigned long long>(product % 1000003u);
}

__global__ void functions(double* out, double x) {
  out[0] = sin(x) * sin(x) + cos(x) * cos(x);
  out[1] = exp(log(x));
  out[2] = pow(x, 3.0);
  out[3] = erf(x) + erfc(x);
  out[4] = static_cast<double>(sqrtf(static_cast<float>(x)) * rsqrtf(static_cast<float>(x)));
}
FEATURE("language", mathematics, "the math functions, float and double") {
  const double x = 2.5;
  Values<double> out(5);
  functions<<<1, 1>>>(out.get(), x);
  launched();
  return std::abs(out[0] - 1) < 1e-14 && std::abs(out[1] - x) < 1e-14 &&
         std::abs(out[2] - x * x * x) < 1e-12 && std::abs(out[3] - 1) < 1e-14 &&
         std::abs(out[4] - 1) < 1e-6;
}

__global__ void fast(float* out, float x) {
  out[0] = __sinf(x) * __sinf(x) + __cosf(x) * __cosf(x);
  out[1] = __expf(__logf(x));
}
FEATURE("language", fast_mathematics, "their fast forms (__sinf, __expf, …)") {
  Values<float> out(2);
  fast<<<1, 1>>>(out.get(), 1.5f);
  launched();
  return std::abs(out[0] - 1) < 1e-5f && std::abs(out[1] - 1.5f) < 1e-5f;
}

__global__ void halves(float* out) {
  const __half2 a = __floats2half2_rn(1.5f, -2.0f);
  const __half2 sum = __hfma2(a, a, __float2half2_rn(0.25f));
  out[0] = __low2float(sum);
  out[1] = __high2float(sum);
  out[2] = __bfloat162float(__hadd(__float2bfloat16(3.0f), __float2bfloat16(0.125f)));
}
FEATURE("language", half_precision, "half and bfloat16") {
  Values<float> out(3);
  halves<<<1, 1>>>(out.get());
  launched();
  return out[0] == 2.5f && out[1] == 4.25f && out[2] == 3.125f;
}

__global__ void eighths(float* out) {
  out[0] = static_cast<float>(__nv_fp8_e4m3(1.0625f));
  out[1] = static_cast<float>(__nv_fp8_e5m2(-3.0f));
}
FEATURE("language", fp8, "conversions to and from 8-bit floats") {
  Values<float> out(2);
  eighths<<<1, 1>>>(out.get());
  launched();
  return out[0] == 1.0f && out[1] == -3.0f;
}

__global__ void in_line(unsigned* out) {
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("{ .reg .pred p; setp.gt.u32 p, %1, 15; selp.u32 %0, 1, 0, p; }"
      : "=r"(out[lane])
      : "r"(lane));
}
FEATURE("language", inline_ptx, "inline PTX (asm)") {
  Values<unsigned> out(32);
  in_line<<<1, 32>>>(out.get());
  launched();
  return out[15] == 0 && out[16] == 1;
}

__global__ void take_time(long long* out) {
  const long long start = clock64();
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  __nanosleep(100);
  out[0] = clock64() - start;
  out[1] = static_cast<long long>(t);
}
FEATURE("language", clocks, "clock64(), the global timer and __nanosleep") {
  Values<long long> out(2);
  take_time<<<1, 1>>>(out.get());
  launched();
  return out[0] > 0 && out[1] > 0;
}

__global__ void child(int* out) {
  out[threadIdx.x] = 1;
}
__global__ void parent(int* out) {
#ifdef __CUDACC_RDC__
  child<<<1, 32>>>(out);
#else
  out[0] = 2;
#endif
}
FEATURE("language", dynamic_parallelism, "kernels that launch kernels (dynamic parallelism)") {
  Values<int> out(32);
  parent<<<1, 1>>>(out.get());
  launched();
  return out[31] == 1;
}

__global__ void trap_if(const int* value) {
  if (*value == 1) __trap();
}
FEATURE("language", traps, "__trap()") {
  Values<int> one(1, 1);
  trap_if<<<1, 1>>>(one.get());
  return cudaDeviceSynchronize() != cudaSuccess;
}

}  // namespace features::language
