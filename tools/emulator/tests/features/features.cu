// What a CUDA program may want of a device, feature by feature, each checking its own result.
//
// features --list    all, as JSON
// features NAME      runs one: prints "right" (status 0), "wrong" (1), or the error that CUDA
//                    answered (3)
//
// It is a plain CUDA program, for hardware too:
// nvcc -std=c++20 -arch=sm_90 -rdc=true features.cu
#include <cstdio>
#include <cstring>

#include "atomics.cuh"
#include "cooperation.cuh"
#include "images.cuh"
#include "language.cuh"
#include "matrices.cuh"
#include "memory.cuh"
#include "queries.cuh"
#include "shared.cuh"
#include "streams.cuh"
#include "warps.cuh"

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "--list") == 0) {
    const char* comma = "[\n";
    for (const auto& each : features::all()) {
      std::printf("%s{\"group\": \"%s\", \"name\": \"%s\", \"title\": \"%s\"}", comma, each.group,
                  each.name, each.title);
      comma = ",\n";
    }
    std::printf("\n]\n");
    return 0;
  }
  for (const auto& each : features::all()) {
    if (count == 2 && std::strcmp(arguments[1], each.name) == 0) {
      const bool right = each.right();
      std::printf("%s\n", right ? "right" : "wrong");
      return right ? 0 : 1;
    }
  }
  std::fprintf(stderr, "features: --list or the name of a feature\n");
  return 2;
}
