// Several devices, as a program sees them: what each has of its own, what the others reach of it,
// and what orders work of two. The first argument says which; without one, what each has.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                \
  do {                                                                             \
    const cudaError_t status = (call);                                             \
    if (status != cudaSuccess) {                                                   \
      std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(status)); \
      std::exit(3);                                                                \
    }                                                                              \
  } while (false)
#define WANT(condition)                                       \
  do {                                                        \
    if (!(condition)) {                                       \
      std::printf("line %d: not %s\n", __LINE__, #condition); \
      std::exit(1);                                           \
    }                                                         \
  } while (false)

namespace {

__device__ int own = 7;
__managed__ int everyones = 1;

__global__ void add_to_own(int more) {
  own += more;
}
__global__ void add_to_everyones() {
  everyones += 1;
}
__global__ void write(int* at, int value) {
  *at = value;
}
__global__ void needs_shared(int* at) {
  extern __shared__ int words[];
  words[threadIdx.x] = 1;
  *at = words[threadIdx.x];
}

__global__ void send(int* slot, unsigned* flag, bool far) {
  *slot = 5;
  if (far) {
    __threadfence_system();
  } else {
    __threadfence();
  }
  *static_cast<volatile unsigned*>(flag) = 1;
}
__global__ void receive(const int* slot, unsigned* flag, int* out, bool far) {
  while (*static_cast<volatile unsigned*>(flag) == 0) {
  }
  if (far) {
    __threadfence_system();
  } else {
    __threadfence();
  }
  *out = *slot;
}
__global__ void add(unsigned* word) {
  atomicAdd(word, 1u);
}
__global__ void add_far(unsigned* word) {
  atomicAdd_system(word, 1u);
}

/// Memory of a device.
template <class T>
T* on(int device, std::size_t count = 1) {
  T* at = nullptr;
  CHECK(cudaSetDevice(device));
  CHECK(cudaMalloc(&at, count * sizeof(T)));
  CHECK(cudaMemset(at, 0, count * sizeof(T)));
  CHECK(cudaDeviceSynchronize());
  return at;
}

void each_has_its_own() {
  int count = 0, device = -1, can = -1;
  CHECK(cudaGetDeviceCount(&count));
  WANT(count == 3);
  WANT(cudaSetDevice(3) == cudaErrorInvalidDevice && cudaSetDevice(-1) == cudaErrorInvalidDevice);
  static_cast<void>(cudaGetLastError());
  CHECK(cudaSetDevice(2));
  CHECK(cudaGetDevice(&device));
  WANT(device == 2);
  CHECK(cudaDeviceCanAccessPeer(&can, 0, 2));
  WANT(can == 1);
  CHECK(cudaDeviceCanAccessPeer(&can, 2, 2));
  WANT(can == 0);

  cudaDeviceProp first{}, last{};
  CHECK(cudaGetDeviceProperties(&first, 0));
  CHECK(cudaGetDeviceProperties(&last, 2));
  WANT(std::strcmp(first.name, last.name) == 0 && first.pciBusID != last.pciBusID);
  char bus[32] = {};
  CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 2));
  CHECK(cudaDeviceGetByPCIBusId(&device, bus));
  WANT(device == 2);

  // Memory.
  std::size_t free_before = 0, free_after = 0, all = 0;
  CHECK(cudaSetDevice(1));
  CHECK(cudaMemGetInfo(&free_before, &all));
  int* const there = on<int>(2, 1024);
  CHECK(cudaSetDevice(1));
  CHECK(cudaMemGetInfo(&free_after, &all));
  WANT(free_before == free_after);
  cudaPointerAttributes facts{};
  CHECK(cudaPointerGetAttributes(&facts, there));
  WANT(facts.device == 2 && facts.type == cudaMemoryTypeDevice);

  // Variables, and what was set for a kernel.
  for (int d = 0; d < count; ++d) {
    CHECK(cudaSetDevice(d));
    add_to_own<<<1, 1>>>(d);
    add_to_everyones<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
  }
  for (int d = 0; d < count; ++d) {
    int value = 0;
    CHECK(cudaSetDevice(d));
    CHECK(cudaMemcpyFromSymbol(&value, own, sizeof value));
    WANT(value == 7 + d);
  }
  WANT(everyones == 1 + count);
  CHECK(cudaSetDevice(0));
  CHECK(cudaFuncSetAttribute(needs_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  needs_shared<<<1, 32, 64 << 10>>>(on<int>(0));
  CHECK(cudaGetLastError());
  needs_shared<<<1, 32, 64 << 10>>>(on<int>(1));
  WANT(cudaGetLastError() == cudaErrorInvalidValue);

  // Streams and events.
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr, other = nullptr;
  CHECK(cudaSetDevice(1));
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&event));
  CHECK(cudaStreamGetDevice(stream, &device));
  WANT(device == 1);
  CHECK(cudaEventRecord(event, stream));
  CHECK(cudaSetDevice(0));
  CHECK(cudaEventCreate(&other));
  add_to_own<<<1, 1, 0, stream>>>(1);
  WANT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  WANT(cudaEventRecord(other, stream) == cudaErrorInvalidResourceHandle);
  WANT(cudaEventRecord(event, nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamWaitEvent(nullptr, event, 0));
  CHECK(cudaEventRecord(other, nullptr));
  float ms = 0;
  WANT(cudaEventElapsedTime(&ms, event, other) == cudaErrorInvalidResourceHandle);
  static_cast<void>(cudaGetLastError());

  // Copies need no access.
  int value = 11;
  int* const here = on<int>(0);
  CHECK(cudaMemcpy(there, &value, sizeof value, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyPeer(here, 0, there, 2, sizeof value));
  WANT(cudaMemcpyPeer(here, 0, there, 3, sizeof value) == cudaErrorInvalidDevice);
  CHECK(cudaMemcpy(&value, here, sizeof value, cudaMemcpyDeviceToHost));
  WANT(value == 11);

  // Access.
  CHECK(cudaSetDevice(1));
  WANT(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
  CHECK(cudaDeviceEnablePeerAccess(0, 0));
  WANT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
  write<<<1, 1>>>(here, 12);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&value, here, sizeof value, cudaMemcpyDeviceToHost));
  WANT(value == 12);
  static_cast<void>(cudaGetLastError());
}

/// Device 1 has no access to device 0's memory: it has it the other way round.
void no_access() {
  int* const here = on<int>(0);
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK(cudaSetDevice(1));
  write<<<1, 1>>>(here, 12);
  WANT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

void hand_over(bool far) {
  int* const slot = on<int>(0);
  unsigned* const flag = on<unsigned>(0);
  int* const out = on<int>(0);
  cudaStream_t stream = nullptr;
  CHECK(cudaSetDevice(1));
  CHECK(cudaDeviceEnablePeerAccess(0, 0));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  send<<<1, 1, 0, stream>>>(slot, flag, far);
  CHECK(cudaSetDevice(0));
  receive<<<1, 1>>>(slot, flag, out, far);
  CHECK(cudaDeviceSynchronize());
  int value = 0;
  CHECK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
  WANT(value == 5);
}

void count(bool far) {
  unsigned* const word = on<unsigned>(0);
  for (int d = 1; d < 3; ++d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    far ? add_far<<<1, 32>>>(word) : add<<<1, 32>>>(word);
  }
  for (int d = 1; d < 3; ++d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaDeviceSynchronize());
  }
  unsigned value = 0;
  CHECK(cudaMemcpy(&value, word, sizeof value, cudaMemcpyDeviceToHost));
  WANT(value == 64);
}

/// Device 0's default stream waits for nothing of device 1's, unless an event says so.
void default_streams(bool waits) {
  int* const there = on<int>(1);
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK(cudaSetDevice(1));
  write<<<1, 1>>>(there, 1);
  cudaEvent_t event = nullptr;
  CHECK(cudaEventCreate(&event));
  CHECK(cudaEventRecord(event, nullptr));
  CHECK(cudaSetDevice(0));
  if (waits) CHECK(cudaStreamWaitEvent(nullptr, event, 0));
  write<<<1, 1>>>(there, 2);
  CHECK(cudaDeviceSynchronize());
}

}  // namespace

int main(int argc, char** argv) {
  const auto is = [&](const char* name) { return argc > 1 && std::strcmp(argv[1], name) == 0; };
  if (argc == 1) each_has_its_own();
  if (is("no-access")) no_access();
  if (is("flag")) hand_over(true);
  if (is("flag-near")) hand_over(false);
  if (is("count")) count(true);
  if (is("count-near")) count(false);
  if (is("waits")) default_streams(true);
  if (is("waits-not")) default_streams(false);
  std::printf("done\n");
}
