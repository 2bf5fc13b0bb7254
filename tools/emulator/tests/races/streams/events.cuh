/// \file
/// Two streams, and what should order them: events, waiting, one stream instead.
#pragma once
#include "case.cuh"

namespace streams {

template <bool Faulty>
void two_streams_write(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  fill<<<1, kWords, 0, Faulty ? w.two : w.one>>>(w.a);
}
template <bool Faulty>
void event_not_waited_for(const World& w) {
  cudaMemcpyAsync(w.a, w.pinned, kBytes, cudaMemcpyHostToDevice, w.one);
  cudaEventRecord(w.event, w.one);
  if (!Faulty) cudaStreamWaitEvent(w.two, w.event);
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
}
template <bool Faulty>
void event_recorded_too_early(const World& w) {
  cudaEventRecord(w.other, w.one);
  fill<<<1, kWords, 0, w.one>>>(w.a);
  cudaEventRecord(w.event, w.one);
  cudaStreamWaitEvent(w.two, Faulty ? w.other : w.event);
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
}
template <bool Faulty>
void event_of_another_stream(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  cudaEventRecord(w.event, Faulty ? w.three : w.one);
  cudaStreamWaitEvent(w.two, w.event);
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
}
template <bool Faulty>
void event_never_recorded(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  if (!Faulty) cudaEventRecord(w.event, w.one);
  cudaStreamWaitEvent(w.two, w.event);
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
}
template <bool Faulty>
void event_stands_for_the_first_round(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  cudaEventRecord(w.event, w.one);
  fill<<<1, kWords, 0, w.one>>>(w.a);
  if (!Faulty) cudaEventRecord(w.event, w.one);
  cudaStreamWaitEvent(w.two, w.event);
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
}
template <bool Faulty>
void event_relayed(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  cudaEventRecord(w.event, w.one);
  if (!Faulty) cudaStreamWaitEvent(w.three, w.event);
  cudaEventRecord(w.other, w.three);
  cudaStreamWaitEvent(w.two, w.other);
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
}
template <bool Faulty>
void slot_reused(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  cudaEventRecord(w.event, w.one);
  cudaStreamWaitEvent(w.two, w.event);
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
  cudaEventRecord(w.other, w.two);
  if (!Faulty) cudaStreamWaitEvent(w.one, w.other);
  cudaMemsetAsync(w.a, 0, kBytes, w.one);
}
template <bool Faulty>
void host_waits_for_another_stream(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  cudaStreamSynchronize(Faulty ? w.three : w.one);
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
}
template <bool Faulty>
void host_does_not_wait(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  cudaEventRecord(w.event, w.one);
  if (!Faulty) cudaEventSynchronize(w.event);
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
}
template <bool Faulty>
void host_asks_another_stream(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  while (cudaStreamQuery(Faulty ? w.three : w.one) == cudaErrorNotReady) {
  }
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
}
template <bool Faulty>
void device_not_waited_for(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  if (!Faulty) cudaDeviceSynchronize();
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
}
template <bool Faulty>
void parts_overlap(const World& w) {
  fill<<<1, kWords, 0, w.one>>>(w.a);
  fill<<<1, kWords, 0, w.two>>>(w.a + (Faulty ? kWords - 1 : kWords));
}
template <bool Faulty>
void bytes_overlap(const World& w) {
  cudaMemsetAsync(w.a, 0, 101, w.one);
  cudaMemsetAsync(reinterpret_cast<char*>(w.a) + (Faulty ? 100 : 101), 0, 27, w.two);
}
template <bool Faulty>
void counted_by_two_kernels(const World& w) {
  add_atomically<<<1, 1, 0, w.one>>>(w.a);
  (Faulty ? add : add_atomically)<<<1, 1, 0, w.two>>>(w.a);
}
template <bool Faulty>
void variable_set_meanwhile(const World& w) {
  copy_variable<<<1, kWords, 0, w.one>>>(w.a);
  cudaStream_t stream = Faulty ? w.two : w.one;
  cudaMemcpyToSymbolAsync(variable, w.pinned, kBytes, 0, cudaMemcpyHostToDevice, stream);
}

inline const Case kEvents[] = {
    STREAMS_CASE("events", two_streams_write, "kernel streams::fill", "kernel streams::fill",
                 "two streams"),
    STREAMS_CASE("events", event_not_waited_for, "cudaMemcpyAsync", "kernel streams::copy",
                 "no wait for the event"),
    STREAMS_CASE("events", event_recorded_too_early, "kernel streams::fill", "kernel streams::copy",
                 "the event is recorded before the kernel"),
    STREAMS_CASE("events", event_of_another_stream, "kernel streams::fill", "kernel streams::copy",
                 "the event is another stream's"),
    STREAMS_CASE("events", event_never_recorded, "kernel streams::fill", "kernel streams::copy",
                 "nothing records the event"),
    STREAMS_CASE("events", event_stands_for_the_first_round, "kernel streams::fill",
                 "kernel streams::copy", "the event isn't recorded again"),
    STREAMS_CASE("events", event_relayed, "kernel streams::fill", "kernel streams::copy",
                 "the stream between doesn't wait"),
    STREAMS_CASE("events", slot_reused, "kernel streams::copy", "cudaMemsetAsync",
                 "no event back from the reader"),
    STREAMS_CASE("events", host_waits_for_another_stream, "kernel streams::fill",
                 "kernel streams::copy", "cudaStreamSynchronize of another stream"),
    STREAMS_CASE("events", host_does_not_wait, "kernel streams::fill", "kernel streams::copy",
                 "no cudaEventSynchronize"),
    STREAMS_CASE("events", host_asks_another_stream, "kernel streams::fill", "kernel streams::copy",
                 "cudaStreamQuery of another stream"),
    STREAMS_CASE("events", device_not_waited_for, "kernel streams::fill", "kernel streams::copy",
                 "no cudaDeviceSynchronize"),
    STREAMS_CASE("events", parts_overlap, "kernel streams::fill", "kernel streams::fill",
                 "parts that overlap by one int"),
    STREAMS_CASE("events", bytes_overlap, "cudaMemsetAsync", "cudaMemsetAsync",
                 "parts that overlap by one byte"),
    STREAMS_CASE("events", counted_by_two_kernels, "kernel streams::add_atomically",
                 "kernel streams::add", "one adds without an atomic"),
    STREAMS_CASE("events", variable_set_meanwhile, "kernel streams::copy_variable",
                 "cudaMemcpyToSymbolAsync", "a variable is set in another stream"),
};

}  // namespace streams
