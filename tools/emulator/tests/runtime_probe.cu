// A plain CUDA program that asks the runtime the same questions anywhere and prints the answers.
// What it printed on an H200 is kept in runtime_h200/; the embedded device must print the same.
//
//   runtime_probe SECTION...   each section in a process of its own: some leave the device broken
#include <cuda_runtime.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

__device__ int table[16];
__device__ int scalar = 7;
__constant__ float weights[8];
__managed__ int managed_value = 5;

__global__ void nothing() {}
__global__ void store(int* to, int value) {
  *to = value;
}
__global__ void fixed_shared(int* to) {
  __shared__ int s[1024];
  s[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  to[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void dynamic_shared(int* to) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  if (to != nullptr) to[threadIdx.x] = s[threadIdx.x];
}
__global__ void __launch_bounds__(128) bounded(int* to) {
  if (to != nullptr) *to = 1;
}
__global__ void give_up() {
  __trap();
}
__global__ void claim(int value) {
  assert(value == 42);
}
__global__ void copy_symbols(int* to) {
  to[threadIdx.x] = table[threadIdx.x] + scalar;
}
__global__ void add_managed(int more) {
  managed_value += more;
}

void host_function() {}

void say(const char* what, cudaError_t status) {
  std::printf("%s -> %d %s\n", what, static_cast<int>(status), cudaGetErrorName(status));
}

// Prints what a call returns, and what the last error is after it.
#define ASK(call)                                           \
  do {                                                      \
    say(#call, call);                                       \
    const cudaError_t after = cudaGetLastError();           \
    if (after != cudaSuccess) say("    last error", after); \
  } while (false)
// Launches and prints the last error, then waits.
#define LAUNCH(...)                                          \
  do {                                                       \
    __VA_ARGS__;                                             \
    say(#__VA_ARGS__, cudaGetLastError());                   \
    const cudaError_t ended = cudaDeviceSynchronize();       \
    if (ended != cudaSuccess) say("    synchronise", ended); \
  } while (false)

template <class T>
const void* address(T* function) {
  return reinterpret_cast<const void*>(function);
}

void attributes() {
  for (int which = 1; which < static_cast<int>(cudaDevAttrMax); ++which) {
    int value = 0;
    const auto status = cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(which), 0);
    if (status != cudaSuccess) {
      std::printf("attribute %d -> %d\n", which, static_cast<int>(status));
      static_cast<void>(cudaGetLastError());
    } else {
      std::printf("attribute %d = %d\n", which, value);
    }
  }
  cudaDeviceProp p{};
  ASK(cudaGetDeviceProperties(&p, 0));
  std::printf("name %s, total %zu, constant %zu\n", p.name, p.totalGlobalMem, p.totalConstMem);
  std::printf("shared %zu, per SM %zu, opt-in %zu, reserved %zu\n", p.sharedMemPerBlock,
              p.sharedMemPerMultiprocessor, p.sharedMemPerBlockOptin, p.reservedSharedMemPerBlock);
  std::printf("pitch %zu, texture %zu %zu, surface %zu\n", p.memPitch, p.textureAlignment,
              p.texturePitchAlignment, p.surfaceAlignment);
}

void limits() {
  say("at the start", cudaPeekAtLastError());
  int* p = nullptr;
  ASK(cudaMalloc(&p, 4096));
  LAUNCH(nothing<<<1, 1>>>());
  LAUNCH(nothing<<<1, 1024>>>());
  LAUNCH(nothing<<<1, 0>>>());
  LAUNCH(nothing<<<0, 1>>>());
  LAUNCH(nothing<<<1, 1025>>>());
  LAUNCH(nothing<<<1, dim3(1, 1024, 1)>>>());
  LAUNCH(nothing<<<1, dim3(1, 1, 64)>>>());
  LAUNCH(nothing<<<1, dim3(1, 1, 65)>>>());
  LAUNCH(nothing<<<1, dim3(1024, 2, 1)>>>());
  LAUNCH(nothing<<<dim3(1, 65535, 1), 1>>>());
  LAUNCH(nothing<<<dim3(1, 65536, 1), 1>>>());
  LAUNCH(nothing<<<dim3(1, 1, 65536), 1>>>());
  LAUNCH(nothing<<<0x80000000u, 1>>>());
  LAUNCH(dynamic_shared<<<1, 32, 49152>>>(p));
  LAUNCH(dynamic_shared<<<1, 32, 49153>>>(p));
  LAUNCH(dynamic_shared<<<1, 32, 1 << 30>>>(p));
  LAUNCH(fixed_shared<<<1, 32, 49152 - 4096>>>(p));
  LAUNCH(fixed_shared<<<1, 32, 49152 - 4095>>>(p));
  ASK(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
  LAUNCH(dynamic_shared<<<1, 32, 60000>>>(p));
  LAUNCH(dynamic_shared<<<1, 32, 60001>>>(p));
  ASK(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
  ASK(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
  ASK(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100));
  LAUNCH(dynamic_shared<<<1, 32, 101>>>(p));
  ASK(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  ASK(cudaFuncSetAttribute(dynamic_shared, static_cast<cudaFuncAttribute>(99), 1));
  ASK(cudaFuncSetAttribute(host_function, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  LAUNCH(bounded<<<1, 128>>>(p));
  LAUNCH(bounded<<<1, 129>>>(p));
  int value = 3;
  void* arguments[] = {&p, &value};
  ASK(cudaLaunchKernel(address(store), dim3(1), dim3(1), arguments, 0, nullptr));
  ASK(cudaLaunchKernel(nullptr, dim3(1), dim3(1), arguments, 0, nullptr));
  ASK(cudaLaunchKernel(address(host_function), dim3(1), dim3(1), arguments, 0, nullptr));
  // An error stays until it is asked for, whatever succeeds after it.
  nothing<<<1, 2000>>>();
  say("a good call after a bad launch", cudaDeviceSynchronize());
  say("peek", cudaPeekAtLastError());
  say("get", cudaGetLastError());
  say("get again", cudaGetLastError());
  // A second error takes the place of the first.
  static_cast<void>(cudaSetDevice(99));
  nothing<<<1, 2000>>>();
  say("two errors", cudaGetLastError());
}

void memory() {
  char* p = nullptr;
  char* zero = reinterpret_cast<char*>(8);
  ASK(cudaMalloc(&p, 1000));
  std::printf("aligned to 256: %d\n", reinterpret_cast<std::uintptr_t>(p) % 256 == 0);
  ASK(cudaMalloc(&zero, 0));
  std::printf("nothing asked for: null %d\n", zero == nullptr);
  zero = reinterpret_cast<char*>(8);
  ASK(cudaMalloc(&zero, std::size_t{1} << 50));
  std::printf("too much asked for: pointer left alone %d\n", zero == reinterpret_cast<char*>(8));
  ASK(cudaMalloc(static_cast<void**>(nullptr), 4));
  ASK(cudaFree(nullptr));
  ASK(cudaFree(reinterpret_cast<void*>(0x1234)));
  ASK(cudaFree(p + 256));
  ASK(cudaFree(p));
  ASK(cudaFree(p));

  char host[1000] = {};
  ASK(cudaMalloc(&p, 1 << 21));  // alone in its page
  ASK(cudaMemcpy(p, host, 1000, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy(host, p, 1000, cudaMemcpyDefault));
  ASK(cudaMemcpy(host, p, 1000, static_cast<cudaMemcpyKind>(7)));
  ASK(cudaMemcpy(nullptr, p, 0, cudaMemcpyDeviceToHost));
  ASK(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy(host, nullptr, 4, cudaMemcpyDeviceToHost));
  ASK(cudaMemcpy(host, host + 10, 4, cudaMemcpyHostToHost));
  ASK(cudaMemcpy(host, host + 10, 4, cudaMemcpyDeviceToDevice));
  ASK(cudaMemcpy(host, host + 10, 4, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy(p + 100, p, 100, cudaMemcpyDeviceToDevice));
  ASK(cudaMemset(p, 1, 1000));
  ASK(cudaMemset(nullptr, 1, 4));
  ASK(cudaMemset(nullptr, 1, 0));
  ASK(cudaMemset(host, 1, 4));
  ASK(cudaMemset(reinterpret_cast<void*>(0x1234), 1, 4));
  ASK(cudaMemcpy2D(host, 10, p, 20, 5, 4, cudaMemcpyDeviceToHost));
  ASK(cudaMemcpy2D(host, 4, p, 20, 5, 4, cudaMemcpyDeviceToHost));
  std::size_t pitch = 0;
  char* rows = nullptr;
  ASK(cudaMallocPitch(&rows, &pitch, 100, 10));
  std::printf("pitch %zu\n", pitch);

  int* pinned = nullptr;
  int* seen = nullptr;
  ASK(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped));
  ASK(cudaHostGetDevicePointer(&seen, pinned, 0));
  std::printf("one pointer on both sides: %d\n", pinned == seen);
  LAUNCH(store<<<1, 1>>>(pinned, 11));
  std::printf("stored %d\n", *pinned);
  ASK(cudaHostGetDevicePointer(&seen, host, 0));
  ASK(cudaFreeHost(host));
  ASK(cudaFreeHost(nullptr));
  ASK(cudaFree(pinned));
  ASK(cudaMallocManaged(&seen, 64));
  *seen = 1;
  LAUNCH(store<<<1, 1>>>(seen, 12));
  std::printf("stored %d\n", *seen);
  cudaPointerAttributes at{};
  ASK(cudaPointerGetAttributes(&at, host));
  std::printf("type %d\n", static_cast<int>(at.type));
  ASK(cudaPointerGetAttributes(&at, p + 5));
  std::printf("type %d same %d\n", static_cast<int>(at.type), at.devicePointer == p + 5);
  ASK(cudaPointerGetAttributes(&at, pinned));
  std::printf("type %d\n", static_cast<int>(at.type));
  ASK(cudaPointerGetAttributes(&at, seen));
  std::printf("type %d\n", static_cast<int>(at.type));
  ASK(cudaFree(seen));
  ASK(cudaFreeHost(pinned));
  std::vector<char> mine(8192);
  ASK(cudaHostRegister(mine.data(), mine.size(), cudaHostRegisterDefault));
  ASK(cudaHostRegister(mine.data(), mine.size(), cudaHostRegisterDefault));
  ASK(cudaHostUnregister(mine.data()));
  ASK(cudaHostUnregister(mine.data()));

  int values[16] = {};
  for (int i = 0; i < 16; ++i) values[i] = i;
  ASK(cudaMemcpyToSymbol(table, values, sizeof values));
  ASK(cudaMemcpyToSymbol(table, values, sizeof values, 4));
  ASK(cudaMemcpyToSymbol(host, values, 4));
  ASK(cudaMemcpyFromSymbol(values, scalar, 4));
  std::printf("scalar %d\n", values[0]);
  std::size_t size = 0;
  void* where = nullptr;
  ASK(cudaGetSymbolSize(&size, weights));
  std::printf("size %zu\n", size);
  ASK(cudaGetSymbolAddress(&where, table));
  ASK(cudaMemcpy(values, where, sizeof values, cudaMemcpyDeviceToHost));
  std::printf("table[15] %d\n", values[15]);
  LAUNCH(copy_symbols<<<1, 16>>>(reinterpret_cast<int*>(p)));
  ASK(cudaMemcpy(values, p, sizeof values, cudaMemcpyDeviceToHost));
  std::printf("table[15] + scalar %d\n", values[15]);
  LAUNCH(add_managed<<<1, 1>>>(6));
  std::printf("managed %d\n", managed_value);
}

void queries() {
  int count = 0;
  ASK(cudaSetDevice(99));
  ASK(cudaSetDevice(-1));
  ASK(cudaGetDevice(&count));
  ASK(cudaGetDevice(nullptr));
  cudaDeviceProp properties{};
  ASK(cudaGetDeviceProperties(&properties, 99));
  ASK(cudaDeviceGetAttribute(&count, static_cast<cudaDeviceAttr>(9999), 0));
  ASK(cudaDeviceGetAttribute(&count, cudaDevAttrWarpSize, 99));

  cudaFuncAttributes a{};
  ASK(cudaFuncGetAttributes(&a, host_function));
  const auto show = [&](const char* name) {
    std::printf("%s: shared %zu, constant %zu, local %zu, threads %d, dynamic %d, carve-out %d\n",
                name, a.sharedSizeBytes, a.constSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock,
                a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout);
  };
  ASK(cudaFuncGetAttributes(&a, nothing));
  show("nothing");
  ASK(cudaFuncGetAttributes(&a, fixed_shared));
  show("fixed_shared");
  ASK(cudaFuncGetAttributes(&a, bounded));
  show("bounded");
  ASK(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
  ASK(cudaFuncGetAttributes(&a, dynamic_shared));
  show("dynamic_shared");

  cudaEvent_t e = nullptr;
  cudaEvent_t f = nullptr;
  float ms = 0;
  ASK(cudaEventCreate(&e));
  ASK(cudaEventCreate(&f));
  ASK(cudaEventQuery(e));
  ASK(cudaEventSynchronize(e));
  ASK(cudaEventElapsedTime(&ms, e, f));
  ASK(cudaEventRecord(e));
  ASK(cudaEventRecord(f));
  ASK(cudaEventSynchronize(f));
  ASK(cudaEventElapsedTime(&ms, e, f));
  ASK(cudaEventDestroy(f));
  ASK(cudaEventCreateWithFlags(&f, cudaEventDisableTiming));
  ASK(cudaEventRecord(f));
  ASK(cudaEventSynchronize(f));
  ASK(cudaEventElapsedTime(&ms, e, f));
  ASK(cudaEventDestroy(nullptr));
  ASK(cudaEventRecord(nullptr));
  cudaStream_t s = nullptr;
  ASK(cudaStreamCreate(&s));
  ASK(cudaStreamQuery(s));
  ASK(cudaStreamSynchronize(s));
  ASK(cudaStreamWaitEvent(s, e));
  ASK(cudaStreamDestroy(s));
  ASK(cudaStreamDestroy(nullptr));
  ASK(cudaStreamSynchronize(nullptr));
  int low = 0;
  int high = 0;
  ASK(cudaDeviceGetStreamPriorityRange(&low, &high));
  std::printf("priorities %d %d\n", low, high);

  for (const int block : {1, 32, 33, 64, 100, 128, 256, 512, 768, 1023, 1024, 1025, 0}) {
    const auto status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, nothing, block, 0);
    std::printf("occupancy, block %d: %d, error %d\n", block, count, static_cast<int>(status));
  }
  for (const std::size_t shared : {0, 1, 128, 1000, 10000, 48000, 60000, 70000, 300000}) {
    const auto status =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, dynamic_shared, 64, shared);
    std::printf("occupancy, shared %zu: %d, error %d\n", shared, count, static_cast<int>(status));
  }
  static_cast<void>(cudaGetLastError());
  int grid = 0;
  int block = 0;
  ASK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing));
  std::printf("potential %d %d\n", grid, block);
  for (int code = 0; code < 1000; ++code) {
    const auto error = static_cast<cudaError_t>(code);
    if (std::strcmp(cudaGetErrorName(error), "unrecognized error code") == 0) continue;
    std::printf("error %d %s: %s\n", code, cudaGetErrorName(error), cudaGetErrorString(error));
  }
  std::printf("error 998 %s: %s\n", cudaGetErrorName(static_cast<cudaError_t>(998)),
              cudaGetErrorString(static_cast<cudaError_t>(998)));
}

// What every call says once a kernel has broken the device.
void broken() {
  int* p = nullptr;
  int value = 0;
  std::size_t free = 0;
  std::size_t total = 0;
  say("synchronise", cudaDeviceSynchronize());
  say("get", cudaGetLastError());
  say("get again", cudaGetLastError());
  say("malloc", cudaMalloc(&p, 4));
  nothing<<<1, 1>>>();
  say("launch", cudaPeekAtLastError());
  say("free", cudaFree(nullptr));
  say("copy", cudaMemcpy(&value, &free, 4, cudaMemcpyHostToHost));
  say("device", cudaGetDevice(&value));
  say("set device", cudaSetDevice(0));
  say("count", cudaGetDeviceCount(&value));
  say("attribute", cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  say("memory", cudaMemGetInfo(&free, &total));
  say("version", cudaRuntimeGetVersion(&value));
  say("reset", cudaDeviceReset());
  say("get after the reset", cudaGetLastError());
  say("malloc after the reset", cudaMalloc(&p, 4));
  say("get at the end", cudaGetLastError());
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string section = argv[i];
    int* null = nullptr;
    if (section == "attributes") attributes();
    if (section == "limits") limits();
    if (section == "memory") memory();
    if (section == "queries") queries();
    if (section == "null") {
      store<<<1, 1>>>(null, 1);
      broken();
    }
    if (section == "wild") {
      store<<<1, 1>>>(reinterpret_cast<int*>(0x10), 1);
      broken();
    }
    if (section == "misaligned") {
      char* p = nullptr;
      ASK(cudaMalloc(&p, 64));
      store<<<1, 1>>>(reinterpret_cast<int*>(p + 1), 1);
      broken();
    }
    if (section == "trap") {
      give_up<<<1, 1>>>();
      broken();
    }
    if (section == "assert") {
      claim<<<1, 1>>>(42);
      say("claim holds", cudaDeviceSynchronize());
      claim<<<1, 1>>>(41);
      broken();
    }
  }
  return 0;
}
