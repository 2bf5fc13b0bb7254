// Small kernels in pairs, one with exactly one race and its clean twin, to see what a checker
// finds.
//
// races --list          all cases, as JSON
// races NAME...         runs these; a name ends in .faulty or .clean
// races --all           runs all, one after another
//
// It is a plain CUDA program, for hardware too: nvcc -std=c++20 -arch=sm_90 -lineinfo races.cu
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include "atomics.cuh"
#include "barriers.cuh"
#include "blocks.cuh"
#include "copies.cuh"
#include "flags.cuh"
#include "groups.cuh"
#include "locks.cuh"

namespace {

using races::Case;
using races::Places;

const std::span<const Case> kAll[] = {races::kBlocks,  races::kFlags,    races::kLocks,
                                      races::kAtomics, races::kBarriers, races::kGroups,
                                      races::kCopies};

void list() {
  const char* comma = "[\n";
  for (const auto& part : kAll) {
    for (const Case& c : part) {
      for (const bool planted : {true, false}) {
        std::printf(
            "%s{\"name\": \"%s.%s\", \"kernel\": \"%s\", \"class\": \"%s\", \"scope\": \"%s\", "
            "\"space\": \"%s\", \"planted\": %s, \"fault\": \"%s\"}",
            comma, c.name, planted ? "faulty" : "clean", c.name, c.kind, c.scope, c.space,
            planted ? "true" : "false", planted ? c.fault : "");
        comma = ",\n";
      }
    }
  }
  std::printf("\n]\n");
}

bool right(cudaError_t error, const std::string& name) {
  if (error == cudaSuccess) return true;
  std::fprintf(stderr, "races: %s: %s\n", name.c_str(), cudaGetErrorString(error));
  return false;
}

bool run(const Case& c, bool faulty, const Places& places) {
  const std::string name = std::string(c.name) + (faulty ? ".faulty" : ".clean");
  constexpr std::size_t kBytes = races::kWords * sizeof(int);
  for (int* device : {places.data, places.out, places.flag}) {
    if (!right(cudaMemset(device, 0, kBytes), name)) return false;
  }
  if (!right(cudaDeviceSynchronize(), name)) return false;
  std::memset(places.host, 0, kBytes);
  Places arguments = places;
  void* list[] = {&arguments};
  const auto kernel = reinterpret_cast<const void*>(faulty ? c.faulty : c.clean);
  const dim3 grid(static_cast<unsigned>(c.blocks)), block(static_cast<unsigned>(c.threads));
  const cudaError_t launched =
      c.cooperative ? cudaLaunchCooperativeKernel(kernel, grid, block, list, 0, nullptr)
                    : cudaLaunchKernel(kernel, grid, block, list, 0, nullptr);
  return right(launched, name) && right(cudaDeviceSynchronize(), name);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "races: --list, --all or the names of cases\n");
    return 2;
  }
  if (std::strcmp(arguments[1], "--list") == 0) {
    list();
    return 0;
  }
  constexpr std::size_t kBytes = races::kWords * sizeof(int);
  Places places{};
  bool ok = right(cudaMallocHost(&places.host, kBytes), "pinned memory");
  for (int** device : {&places.data, &places.out, &places.flag}) {
    ok = ok && right(cudaMalloc(device, kBytes), "memory");
  }
  if (!ok) return 1;
  const bool all = std::strcmp(arguments[1], "--all") == 0;
  int ran = 0;
  for (const auto& part : kAll) {
    for (const Case& c : part) {
      for (const bool faulty : {true, false}) {
        const std::string name = std::string(c.name) + (faulty ? ".faulty" : ".clean");
        bool wanted = all;
        for (int i = 1; i < count; ++i) wanted |= name == arguments[i];
        if (!wanted) continue;
        ok &= run(c, faulty, places);
        ++ran;
      }
    }
  }
  if (!all && ran != count - 1) {
    std::fprintf(stderr, "races: no such case; --list names them all\n");
    return 2;
  }
  for (int* device : {places.data, places.out, places.flag}) cudaFree(device);
  cudaFreeHost(places.host);
  return ok ? 0 : 1;
}
