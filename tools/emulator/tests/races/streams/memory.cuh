/// \file
/// Pinned, pageable and managed memory, and memory that is given and freed.
#pragma once
#include "case.cuh"

namespace streams {

template <bool Faulty>
void pinned_filled_while_read(const World& w) {
  cudaMemcpyAsync(w.a, w.pinned, kBytes, cudaMemcpyHostToDevice, w.one);
  cudaMemcpyAsync(w.pinned, w.b, kBytes, cudaMemcpyDeviceToHost, Faulty ? w.two : w.one);
}
template <bool Faulty>
void pinned_read_too_early(const World& w) {
  cudaMemcpyAsync(w.pinned, w.a, kBytes, cudaMemcpyDeviceToHost, w.free_one);
  if (!Faulty) cudaStreamSynchronize(w.free_one);
  cudaMemcpy(w.b, w.pinned, kBytes, cudaMemcpyHostToDevice);
}
template <bool Faulty>
void pinned_used_by_a_kernel(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.pinned);
  cudaMemcpyAsync(w.a, w.pinned, kBytes, cudaMemcpyHostToDevice, Faulty ? w.two : w.one);
}
template <bool Faulty>
void pinned_copied_by_the_host(const World& w) {
  cudaMemcpyAsync(w.pinned, w.a, kBytes, cudaMemcpyDeviceToHost, w.free_one);
  if (!Faulty) cudaStreamSynchronize(w.free_one);
  cudaMemcpy(w.pageable, w.pinned, kBytes, cudaMemcpyHostToHost);
}
template <bool Faulty>
void pageable_read_too_early(const World& w) {
  cudaMemcpyAsync(w.pageable, w.a, kBytes, cudaMemcpyDeviceToHost, w.free_one);
  if (!Faulty) cudaStreamSynchronize(w.free_one);
  cudaMemcpy(w.b, w.pageable, kBytes, cudaMemcpyHostToDevice);
}
template <bool Faulty>
void managed_by_two_kernels(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.managed);
  copy<<<1, kWords, 0, Faulty ? w.two : w.one>>>(w.a, w.managed);
}
template <bool Faulty>
void managed_copied_meanwhile(const World& w) {
  fill<<<1, kWords, 0, w.free_one>>>(w.managed);
  if (!Faulty) cudaStreamSynchronize(w.free_one);
  cudaMemcpy(w.managed, w.pageable, kBytes, cudaMemcpyDefault);
}
template <bool Faulty>
void managed_set_meanwhile(const World& w) {
  Faulty ? cudaMemsetAsync(w.managed, 0, kBytes, w.free_one) : cudaMemset(w.managed, 0, kBytes);
  copy<<<1, kWords, 0, w.free_two>>>(w.a, w.managed);
}
template <bool Faulty>
void pinned_freed_too_early(const World& w) {
  int* memory = nullptr;
  cudaMallocHost(&memory, kBytes);
  cudaMemcpyAsync(w.a, memory, kBytes, cudaMemcpyHostToDevice, w.one);
  if (!Faulty) cudaStreamSynchronize(w.one);
  cudaFreeHost(memory);
}
template <bool Faulty>
void pool_memory_used_too_early(const World& w) {
  int* memory = nullptr;
  cudaMallocAsync(&memory, kBytes, w.one);
  cudaEventRecord(w.event, w.one);
  if (!Faulty) cudaStreamWaitEvent(w.two, w.event);
  fill<<<1, kWords, 0, w.two>>>(memory);
  cudaFreeAsync(memory, w.two);
}
template <bool Faulty>
void pool_memory_freed_too_early(const World& w) {
  int* memory = nullptr;
  cudaMallocAsync(&memory, kBytes, w.one);
  fill<<<1, kWords, 0, w.one>>>(memory);
  cudaFreeAsync(memory, Faulty ? w.two : w.one);
}
template <bool Faulty>
void pool_memory_freed_by_the_host(const World& w) {
  int* memory = nullptr;
  cudaMallocAsync(&memory, kBytes, w.one);
  fill<<<1, kWords, 0, w.one>>>(memory);
  if (!Faulty) cudaStreamSynchronize(w.one);
  cudaFree(memory);
}

inline const Case kMemory[] = {
    STREAMS_CASE("host", pinned_filled_while_read, "cudaMemcpyAsync", "cudaMemcpyAsync",
                 "two copies, two streams"),
    STREAMS_CASE("host", pinned_read_too_early, "cudaMemcpyAsync", "cudaMemcpy",
                 "no wait for the copy to the host"),
    STREAMS_CASE("host", pinned_used_by_a_kernel, "kernel streams::fill", "cudaMemcpyAsync",
                 "a copy in another stream than the kernel"),
    STREAMS_CASE("host", pinned_copied_by_the_host, "cudaMemcpyAsync", "cudaMemcpy",
                 "no wait for the copy to the host"),
    STREAMS_CASE("host", pageable_read_too_early, "cudaMemcpyAsync", "cudaMemcpy",
                 "no wait for the copy to the host"),
    STREAMS_CASE("host", managed_by_two_kernels, "kernel streams::fill", "kernel streams::copy",
                 "two streams"),
    STREAMS_CASE("host", managed_copied_meanwhile, "kernel streams::fill", "cudaMemcpy",
                 "no wait for the kernel"),
    STREAMS_CASE("host", managed_set_meanwhile, "cudaMemsetAsync", "kernel streams::copy",
                 "a set that isn't waited for"),
    STREAMS_CASE("frees", pinned_freed_too_early, "cudaMemcpyAsync", "cudaFreeHost",
                 "no wait for the copy"),
    STREAMS_CASE("frees", pool_memory_used_too_early, "cudaMallocAsync", "kernel streams::fill",
                 "no event from the stream that allocates"),
    STREAMS_CASE("frees", pool_memory_freed_too_early, "kernel streams::fill", "cudaFreeAsync",
                 "freed in another stream"),
    STREAMS_CASE("frees", pool_memory_freed_by_the_host, "kernel streams::fill", "cudaFree",
                 "no wait for the kernel"),
};

}  // namespace streams
