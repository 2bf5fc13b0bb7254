// Small host functions in pairs, one with exactly one race between two streams, or a stream and the
// host, and its clean twin, to see what a checker finds.
//
// streams --list          all cases, as JSON
// streams NAME...         runs these; a name ends in .faulty or .clean
//
// It is a plain CUDA program, for hardware too: nvcc -std=c++20 -arch=sm_90 -lineinfo streams.cu
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "defaults.cuh"
#include "events.cuh"
#include "graphs.cuh"
#include "memory.cuh"

namespace {

using streams::Case;
using streams::kBytes;

const std::span<const Case> kAll[] = {streams::kEvents, streams::kDefaults, streams::kMemory,
                                      streams::kGraphs};

void list() {
  const char* comma = "[\n";
  for (const auto& part : kAll) {
    for (const Case& c : part) {
      for (const bool planted : {true, false}) {
        std::printf(
            "%s{\"name\": \"%s.%s\", \"kernel\": \"%s\", \"class\": \"%s\", \"scope\": \"device\", "
            "\"space\": \"streams\", \"planted\": %s, \"fault\": \"%s\", \"first\": \"%s\", "
            "\"second\": \"%s\"}",
            comma, c.name, planted ? "faulty" : "clean", c.name, c.kind, planted ? "true" : "false",
            planted ? c.fault : "", c.first, c.second);
        comma = ",\n";
      }
    }
  }
  std::printf("\n]\n");
}

bool right(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return true;
  std::fprintf(stderr, "streams: %s: %s\n", what, cudaGetErrorString(error));
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "streams: --list or the names of cases\n");
    return 2;
  }
  if (std::strcmp(arguments[1], "--list") == 0) {
    list();
    return 0;
  }
  std::vector<int> pageable(streams::kWords);
  streams::World w{};
  w.pageable = pageable.data();
  bool ok = right(cudaMallocHost(&w.pinned, kBytes), "pinned memory") &&
            right(cudaMallocManaged(&w.managed, kBytes), "managed memory") &&
            right(cudaMalloc(&w.a, 2 * kBytes), "memory") &&
            right(cudaMalloc(&w.b, 2 * kBytes), "memory");
  for (cudaStream_t* stream : {&w.one, &w.two, &w.three}) cudaStreamCreate(stream);
  for (cudaStream_t* stream : {&w.free_one, &w.free_two}) {
    cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
  }
  for (int i = 1; ok && i < count; ++i) {
    bool known = false;
    for (const auto& part : kAll) {
      for (const Case& c : part) {
        for (const bool faulty : {true, false}) {
          if (std::string(c.name) + (faulty ? ".faulty" : ".clean") != arguments[i]) continue;
          known = true;
          // Events that no case before this one has recorded.
          for (cudaEvent_t* event : {&w.event, &w.other}) {
            cudaEventCreateWithFlags(event, cudaEventDisableTiming);
          }
          for (int* device : {w.a, w.b}) cudaMemset(device, 0, 2 * kBytes);
          std::memset(w.pinned, 0, kBytes);
          std::memset(w.managed, 0, kBytes);
          ok = right(cudaDeviceSynchronize(), arguments[i]);
          (faulty ? c.faulty : c.clean)(w);
          ok = ok && right(cudaGetLastError(), arguments[i]) &&
               right(cudaDeviceSynchronize(), arguments[i]);
          for (cudaEvent_t event : {w.event, w.other}) cudaEventDestroy(event);
        }
      }
    }
    if (known) continue;
    std::fprintf(stderr, "streams: no such case; --list names them all\n");
    return 2;
  }
  for (int* device : {w.a, w.b, w.managed}) cudaFree(device);
  cudaFreeHost(w.pinned);
  return ok ? 0 : 1;
}
