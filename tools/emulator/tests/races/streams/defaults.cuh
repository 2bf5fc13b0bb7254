/// \file
/// The default streams, and what they don't wait for.
#pragma once
#include "case.cuh"

namespace streams {

template <bool Faulty>
void default_then_non_blocking(const World& w) {
  fill<<<1, kWords>>>(w.a);
  copy<<<1, kWords, 0, Faulty ? w.free_one : w.one>>>(w.b, w.a);
}
template <bool Faulty>
void non_blocking_then_default(const World& w) {
  fill<<<1, kWords, 0, Faulty ? w.free_one : w.one>>>(w.a);
  copy<<<1, kWords>>>(w.b, w.a);
}
template <bool Faulty>
void default_between_two(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  nothing<<<1, 1, 0, Faulty ? w.free_one : cudaStreamLegacy>>>();
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
}
template <bool Faulty>
void default_of_the_thread(const World& w) {
  fill<<<1, kWords, 0, cudaStreamPerThread>>>(w.a);
  copy<<<1, kWords, 0, Faulty ? w.one : cudaStreamLegacy>>>(w.b, w.a);
}
template <bool Faulty>
void default_of_the_thread_not_waited_for(const World& w) {
  fill<<<1, kWords, 0, cudaStreamPerThread>>>(w.a);
  cudaStreamSynchronize(Faulty ? w.free_one : cudaStreamPerThread);
  copy<<<1, kWords, 0, w.one>>>(w.b, w.a);
}
template <bool Faulty>
void set_then_non_blocking(const World& w) {
  cudaMemset(w.a, 0, kBytes);
  if (!Faulty) cudaStreamSynchronize(cudaStreamLegacy);
  copy<<<1, kWords, 0, w.free_one>>>(w.b, w.a);
}
template <bool Faulty>
void device_copy_then_non_blocking(const World& w) {
  cudaMemcpy(w.a, w.b, kBytes, cudaMemcpyDeviceToDevice);
  if (!Faulty) cudaDeviceSynchronize();
  fill<<<1, kWords, 0, w.free_one>>>(w.b);
}
template <bool Faulty>
void pageable_copy_then_non_blocking(const World& w) {
  cudaMemcpy(w.a, Faulty ? w.pageable : w.pinned, kBytes, cudaMemcpyHostToDevice);
  copy<<<1, kWords, 0, w.free_one>>>(w.b, w.a);
}
template <bool Faulty>
void event_of_the_default_stream(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  cudaEventRecord(w.event, Faulty ? w.free_one : cudaStreamLegacy);
  cudaStreamWaitEvent(w.free_two, w.event);
  copy<<<1, kWords, 0, w.free_two>>>(w.b, w.a);
}

inline const Case kDefaults[] = {
    STREAMS_CASE("defaults", default_then_non_blocking, "kernel streams::fill",
                 "kernel streams::copy", "a non-blocking stream"),
    STREAMS_CASE("defaults", non_blocking_then_default, "kernel streams::fill",
                 "kernel streams::copy", "a non-blocking stream"),
    STREAMS_CASE("defaults", default_between_two, "kernel streams::fill", "kernel streams::copy",
                 "nothing in the default stream between them"),
    STREAMS_CASE("defaults", default_of_the_thread, "kernel streams::fill", "kernel streams::copy",
                 "the thread's default stream and another blocking one"),
    STREAMS_CASE("defaults", default_of_the_thread_not_waited_for, "kernel streams::fill",
                 "kernel streams::copy", "waits for another stream"),
    STREAMS_CASE("defaults", set_then_non_blocking, "cudaMemset", "kernel streams::copy",
                 "cudaMemset, which isn't waited for"),
    STREAMS_CASE("defaults", device_copy_then_non_blocking, "cudaMemcpy", "kernel streams::fill",
                 "cudaMemcpy within the device, which isn't waited for"),
    STREAMS_CASE("defaults", pageable_copy_then_non_blocking, "cudaMemcpy", "kernel streams::copy",
                 "cudaMemcpy from pageable memory, which is staged"),
    STREAMS_CASE("defaults", event_of_the_default_stream, "kernel streams::fill",
                 "kernel streams::copy", "an event of a non-blocking stream"),
};

}  // namespace streams
