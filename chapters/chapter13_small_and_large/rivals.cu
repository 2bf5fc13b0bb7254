// Other people's sums of ints in 64 bits and of floats, and ours among them, as functions that
// tools/measuring/rivals.py calls: a library of its own, compiled for that comparison alone, and by
// whatever CCCL the compiler finds first.
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#include "../chapter08_multi_pass/kernels.cuh"
#include "../chapter11_floats/kernels.cuh"
#include "kernels.cuh"

#if CCCL_VERSION >= 3005000
#define HAS_MODES 1
#include <cuda/memory_resource>
#include <cuda/stream_ref>

#else
#define HAS_MODES 0
#endif

namespace rivals {

using chapter13::Sum;

/// Device memory that is there from the start, so that no call allocates any.
unsigned char* memory = nullptr;
constexpr std::size_t kBytes = std::size_t{64} << 20;

#if HAS_MODES
/// That memory, as CUB takes it.
struct Kept {
  void* allocate(cuda::stream_ref, std::size_t, std::size_t) { return memory; }
  void deallocate(cuda::stream_ref, void*, std::size_t, std::size_t) {}
  // What else makes it a resource isn't called.
  void* allocate_sync(std::size_t, std::size_t) { return memory; }
  void deallocate_sync(void*, std::size_t, std::size_t) {}
  bool operator==(const Kept&) const { return true; }
  bool operator!=(const Kept&) const { return false; }
};

/// So many threads per block, with so many elements each, in loads of 16 bytes.
template <int Threads, int Items>
struct Tuned {
  constexpr cub::ReducePolicy operator()(cuda::compute_capability) const {
    const cub::ReducePassPolicy pass{Threads, Items, 4, cub::BLOCK_REDUCE_WARP_REDUCTIONS,
                                     cub::LOAD_LDG};
    return {pass, pass};
  }
};

template <class In, class Out, class... Wishes>
int sum_with(const In* in, Out* out, std::size_t n, Wishes... wishes) {
  namespace execution = cuda::std::execution;
  const Kept kept;
  return cub::DeviceReduce::Sum(
      in, out, n,
      execution::env{execution::prop{cuda::mr::__get_memory_resource_t{}, kept}, wishes...});
}
#endif

/// As many blocks as the device holds at once, and no more than have 16 elements for each thread.
template <class Kernel>
unsigned full_grid(Kernel* kernel, unsigned block, std::size_t shared_bytes, std::size_t n) {
  int device = 0, sms = 0, blocks = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(block),
                                                shared_bytes);
  const std::size_t held = static_cast<unsigned>(sms * blocks);
  const std::size_t useful = (n + 16 * std::size_t{block} - 1) / (16 * std::size_t{block});
  return static_cast<unsigned>(held < useful ? held : useful);
}
/// What our kernels hand over by, all zeros, at the end of the memory.
constexpr std::size_t kOurs = 4096;
unsigned char* ours_in_memory() {
  return memory + kBytes - kOurs;
}

/// Queues chapter 8's whole by blocks of so many threads. An error of CUDA's, or 0.
int whole_by(unsigned block, const int* in, Sum* out, std::size_t n) {
  const auto kernel = chapter08::whole<long long>;
  auto* words = reinterpret_cast<unsigned long long*>(ours_in_memory());
  kernel<<<full_grid(kernel, block, 0, n), block>>>(in, words, out, n);
  return cudaGetLastError();
}

}  // namespace rivals

extern "C" {

using namespace rivals;

/// CCCL's version as one number; and what it takes to begin. An error of CUDA's, or 0.
int rivals_version() {
  return CCCL_VERSION;
}
int rivals_begin() {
  if (const cudaError_t error = cudaMalloc(&memory, kBytes)) return error;
  return cudaMemset(memory, 0, kBytes);
}

/// Each queues a sum on the default stream. An error of CUDA's, or 0.
int ours(const int* in, Sum* out, std::size_t n) {
  return whole_by(256, in, out, n);
}
int ours_by_512(const int* in, Sum* out, std::size_t n) {
  return whole_by(512, in, out, n);
}
/// \pre enough pieces for every ring
int ours_by_rings(const int* in, Sum* out, std::size_t n) {
  constexpr unsigned kBytes = 8192, kStages = 2, kBlock = 128;
  constexpr std::size_t kShared = std::size_t{kBytes} * kStages * (kBlock / 32);
  const auto kernel = chapter13::warp_rings<kBytes, kStages>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(kShared));
  auto* words = reinterpret_cast<unsigned long long*>(ours_in_memory());
  kernel<<<full_grid(kernel, kBlock, kShared, n), kBlock, kShared>>>(in, words, out, n);
  return cudaGetLastError();
}
int ours_one_warp(const int* in, Sum* out, std::size_t n) {
  chapter13::one_warp<<<1, 32>>>(in, out, n);
  return cudaGetLastError();
}
int ours_one_block(const int* in, Sum* out, std::size_t n) {
  chapter13::one_block<<<1, 256>>>(in, out, n);
  return cudaGetLastError();
}
/// \pre no more blocks than a word can count
int ours_few_blocks(const int* in, Sum* out, std::size_t n) {
  constexpr unsigned kBlock = 256;
  const auto grid = static_cast<unsigned>((n + 4 * kBlock - 1) / (4 * kBlock));
  auto* word = reinterpret_cast<unsigned long long*>(ours_in_memory());
  chapter13::few_blocks<<<grid, kBlock>>>(in, word, out, n);
  return cudaGetLastError();
}
int cub_plain(const int* in, Sum* out, std::size_t n) {
  std::size_t bytes = kBytes - kOurs;
  return cub::DeviceReduce::Sum(memory, bytes, in, out, n);
}
int thrust_into_host(const int* in, Sum* out, std::size_t n) {
  const auto first = thrust::device_pointer_cast(in);
  const Sum sum = thrust::reduce(thrust::device, first, first + n, Sum{0});
  return cudaMemcpyAsync(out, &sum, sizeof sum, cudaMemcpyHostToDevice);
}
/// The same of floats; the plain and the exact sum with their chapter's blocks.
int ours_plain_floats(const float* in, float* out, std::size_t n) {
  using chapter11::Plain;
  constexpr unsigned kBlock = 256;
  const auto kernel = chapter11::sum<Plain, 4>;
  auto* partial = reinterpret_cast<Plain*>(memory);
  auto* ticket = reinterpret_cast<unsigned*>(ours_in_memory());
  kernel<<<full_grid(kernel, kBlock, 0, n), kBlock>>>(in, out, partial, ticket, n);
  return cudaGetLastError();
}
int ours_exact_floats(const float* in, float* out, std::size_t n) {
  constexpr unsigned kBlock = 512;
  constexpr std::size_t kShared = sizeof(long long) * chapter11::kBins * kBlock;
  const auto kernel = chapter11::exact<kBlock, 4>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(kShared));
  auto* state = reinterpret_cast<chapter11::Exact*>(ours_in_memory());
  kernel<<<full_grid(kernel, kBlock, kShared, n), kBlock, kShared>>>(in, out, state, n);
  return cudaGetLastError();
}
#if HAS_MODES
int cub_floats_not_guaranteed(const float* in, float* out, std::size_t n) {
  namespace execution = cuda::execution;
  return sum_with(in, out, n, execution::require(execution::determinism::not_guaranteed));
}
int cub_floats_run_to_run(const float* in, float* out, std::size_t n) {
  namespace execution = cuda::execution;
  return sum_with(in, out, n, execution::require(execution::determinism::run_to_run));
}
int cub_floats_gpu_to_gpu(const float* in, float* out, std::size_t n) {
  namespace execution = cuda::execution;
  return sum_with(in, out, n, execution::require(execution::determinism::gpu_to_gpu));
}
int cub_atomic(const int* in, Sum* out, std::size_t n) {
  namespace execution = cuda::execution;
  return sum_with(in, out, n, execution::require(execution::determinism::not_guaranteed));
}
int cub_tuned_256(const int* in, Sum* out, std::size_t n) {
  return sum_with(in, out, n, cuda::execution::tune(Tuned<256, 16>{}));
}
int cub_atomic_512(const int* in, Sum* out, std::size_t n) {
  namespace execution = cuda::execution;
  return sum_with(in, out, n, execution::require(execution::determinism::not_guaranteed),
                  execution::tune(Tuned<512, 32>{}));
}
int cub_tuned_512(const int* in, Sum* out, std::size_t n) {
  return sum_with(in, out, n, cuda::execution::tune(Tuned<512, 32>{}));
}
#endif

}  // extern "C"
