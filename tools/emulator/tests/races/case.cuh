/// \file
/// What the cases share: where they work, how they wait, and how a case is listed.
///
/// A case is a kernel with a parameter `Faulty`. Its faulty and its clean twin differ in the one
/// line that names `Faulty`. `// @A` and `// @B` mark the two accesses that race in the faulty one,
/// `// @AB` a line that races with itself. Nothing waits for ever: a wait gives up after kTries.
#pragma once
#include <cuda_runtime.h>

namespace races {

constexpr int kTries = 1 << 20;
constexpr int kWords = 8192;  ///< of each of the places

/// All zero when a kernel begins.
struct Places {
  int* data;
  int* out;
  int* flag;
  int* host;  ///< pinned, which the host could read at any time
};

struct Case {
  const char *kind, *scope, *space, *name, *fault;
  void (*faulty)(Places);
  void (*clean)(Places);
  int blocks, threads;
  bool cooperative;
};

#define RACES_CASE(kind, scope, space, name, blocks, threads, fault) \
  { kind, scope, space, #name, fault, &name<true>, &name<false>, blocks, threads, false }
#define RACES_GRID_CASE(kind, scope, space, name, blocks, threads, fault) \
  { kind, scope, space, #name, fault, &name<true>, &name<false>, blocks, threads, true }

__device__ inline void raise(int* flag, int value = 1) {
  *static_cast<volatile int*>(flag) = value;
}
__device__ inline bool seen(const int* flag, int value = 1) {
  for (int i = 0; i < kTries; ++i) {
    if (*static_cast<const volatile int*>(flag) == value) return true;
  }
  return false;
}
__device__ inline bool locked(int* lock) {
  for (int i = 0; i < kTries; ++i) {
    if (atomicCAS(lock, 0, 1) == 0) return true;
  }
  return false;
}

}  // namespace races
