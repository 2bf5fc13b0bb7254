// What hardware answers to questions that the documentation leaves open, one line each:
//
//   cudaMemcpyToSymbol and cudaMemcpyFromSymbol with a device pointer on the host's side, for each
//   kind: the error, and what the symbol holds afterwards;
//   cudaDeviceGetSharedMemConfig before and after cudaDeviceSetSharedMemConfig;
//   what can't be captured into a graph, and what becomes of the capture;
//   __syncwarp, __ballot_sync and __shfl_sync by lanes that their mask leaves out: the error, and
//   what lanes got. Each of these in a process of its own, since it may hang or break the device.
//
// By hand, on a machine with an H200:
//   nvcc -arch=sm_90 -o probe symbols_and_masks.cu
//   ./probe; for m in syncwarp ballot shfl; do timeout 20 ./probe $m || echo "$m: status $?"; done
// symbols_and_masks.h200.txt is what that printed, after a line with the GPU and the driver. The
// embedded device is compared with it (test_emulate.py).
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

__device__ int table[4];
__constant__ int weights[4];

__global__ void fill(int* to, int value) {
  to[threadIdx.x] = value + static_cast<int>(threadIdx.x);
}

// Lane 0 names all lanes but itself.
__global__ void syncwarp(unsigned* to) {
  __syncwarp(0xfffffffe);
  to[threadIdx.x] = 1;
}
__global__ void ballot(unsigned* to) {
  to[threadIdx.x] = __ballot_sync(0xfffffffe, threadIdx.x % 2 == 0);
}
__global__ void shfl(unsigned* to) {
  to[threadIdx.x] = __shfl_sync(0xfffffffe, 100 + threadIdx.x, 3);
}

namespace {

constexpr struct {
  cudaMemcpyKind kind;
  const char* name;
} kKinds[] = {{cudaMemcpyHostToHost, "HostToHost"},
              {cudaMemcpyHostToDevice, "HostToDevice"},
              {cudaMemcpyDeviceToHost, "DeviceToHost"},
              {cudaMemcpyDeviceToDevice, "DeviceToDevice"},
              {cudaMemcpyDefault, "Default"}};

void say(const char* what, const char* kind, cudaError_t status, const int* now) {
  std::printf("%s(%s) -> %d %s, then", what, kind, static_cast<int>(status),
              cudaGetErrorName(status));
  for (int i = 0; i < 4; ++i) std::printf(" %d", now[i]);
  std::printf("; last error %d\n", static_cast<int>(cudaGetLastError()));
}

void symbols() {
  int* device = nullptr;
  int zeros[4] = {}, now[4] = {};
  cudaMalloc(&device, sizeof now);
  for (const auto& [kind, name] : kKinds) {
    fill<<<1, 4>>>(device, 10);
    cudaMemcpyToSymbol(table, zeros, sizeof zeros);
    const cudaError_t to = cudaMemcpyToSymbol(table, device, sizeof now, 0, kind);
    cudaMemcpyFromSymbol(now, table, sizeof now);
    say("cudaMemcpyToSymbol(table, device pointer)", name, to, now);

    cudaMemcpyToSymbol(weights, zeros, sizeof zeros);
    const cudaError_t constant = cudaMemcpyToSymbol(weights, device, sizeof now, 0, kind);
    cudaMemcpyFromSymbol(now, weights, sizeof now);
    say("cudaMemcpyToSymbol(weights, device pointer)", name, constant, now);

    const cudaError_t async = cudaMemcpyToSymbolAsync(table, device, sizeof now, 0, kind, nullptr);
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(now, table, sizeof now);
    say("cudaMemcpyToSymbolAsync(table, device pointer)", name, async, now);

    const int seven[4] = {7, 8, 9, 10};
    cudaMemcpyToSymbol(table, seven, sizeof seven);
    const cudaError_t from = cudaMemcpyFromSymbol(device, table, sizeof now, 0, kind);
    cudaMemcpy(now, device, sizeof now, cudaMemcpyDefault);
    say("cudaMemcpyFromSymbol(device pointer, table)", name, from, now);

    // A host pointer where the kind says device.
    const cudaError_t host = cudaMemcpyToSymbol(table, zeros, sizeof zeros, 0, kind);
    cudaMemcpyFromSymbol(now, table, sizeof now);
    say("cudaMemcpyToSymbol(table, host pointer)", name, host, now);

    // And without a symbol.
    int* other = nullptr;
    cudaMalloc(&other, sizeof now);
    fill<<<1, 4>>>(device, 30);
    cudaMemset(other, 0, sizeof now);
    const cudaError_t plain = cudaMemcpy(other, device, sizeof now, kind);
    cudaMemcpy(now, other, sizeof now, cudaMemcpyDefault);
    say("cudaMemcpy(device pointer, device pointer)", name, plain, now);
    cudaFree(other);
  }
}

void banks() {
  auto config = static_cast<cudaSharedMemConfig>(77);
  cudaError_t status = cudaDeviceGetSharedMemConfig(&config);
  std::printf("cudaDeviceGetSharedMemConfig -> %d, %d\n", static_cast<int>(status), config);
  for (const int wanted : {2, 1, 0, 9}) {
    status = cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(wanted));
    std::printf("cudaDeviceSetSharedMemConfig(%d) -> %d", wanted, static_cast<int>(status));
    status = cudaDeviceGetSharedMemConfig(&config);
    std::printf(", then %d, %d\n", static_cast<int>(status), config);
  }
}

#define ASK(call)                                                                            \
  do {                                                                                       \
    const cudaError_t status = (call);                                                       \
    std::printf("%s -> %d %s\n", #call, static_cast<int>(status), cudaGetErrorName(status)); \
    cudaGetLastError();                                                                      \
  } while (false)

// What can't be captured, and what becomes of the capture.
void graphs() {
  cudaStream_t stream, side;
  cudaEvent_t event;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  void* p = nullptr;
  cudaStreamCaptureStatus state;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&side);
  cudaEventCreate(&event);
  ASK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  ASK(cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(9)));
  ASK(cudaStreamEndCapture(stream, &graph));
  ASK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASK(cudaStreamSynchronize(stream));
  ASK(cudaStreamIsCapturing(stream, &state));
  std::printf("state %d\n", static_cast<int>(state));
  ASK(cudaMemsetAsync(p, 0, 0, stream));
  ASK(cudaStreamEndCapture(stream, &graph));
  std::printf("graph %d\n", graph != nullptr);
  ASK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASK(cudaStreamQuery(stream));
  ASK(cudaStreamEndCapture(stream, &graph));
  ASK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASK(cudaMalloc(&p, 16));
  ASK(cudaDeviceSynchronize());
  ASK(cudaStreamEndCapture(stream, &graph));
  ASK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  ASK(cudaEventRecord(event, stream));
  ASK(cudaStreamWaitEvent(side, event, 0));
  ASK(cudaStreamIsCapturing(side, &state));
  std::printf("state %d\n", static_cast<int>(state));
  fill<<<1, 1, 0, side>>>(static_cast<int*>(p), 1);
  ASK(cudaStreamEndCapture(side, &graph));
  ASK(cudaStreamEndCapture(stream, &graph));
  ASK(cudaGraphCreate(&graph, 1));
  ASK(cudaGraphCreate(&graph, 0));
  ASK(cudaGraphInstantiate(&exec, graph, 0));
  ASK(cudaGraphUpload(exec, stream));
  ASK(cudaGraphLaunch(exec, stream));
  ASK(cudaGraphLaunch(nullptr, stream));
  ASK(cudaGraphInstantiate(&exec, nullptr, 0));
  ASK(cudaGraphDestroy(graph));
  ASK(cudaGraphDestroy(nullptr));
  ASK(cudaGraphExecDestroy(exec));
}

void mask(const char* name, void (*kernel)(unsigned*)) {
  unsigned* to = nullptr;
  unsigned got[32] = {};
  cudaMalloc(&to, sizeof got);
  cudaMemset(to, 0, sizeof got);
  kernel<<<1, 32>>>(to);
  const cudaError_t status = cudaMemcpy(got, to, sizeof got, cudaMemcpyDefault);
  std::printf("%s -> %d %s;", name, static_cast<int>(status), cudaGetErrorName(status));
  for (const unsigned value : got) std::printf(" %x", value);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const char* wanted = argc > 1 ? argv[1] : "";
  if (argc < 2) {
    symbols();
    banks();
    graphs();
  }
  if (!std::strcmp(wanted, "syncwarp")) mask(wanted, syncwarp);
  if (!std::strcmp(wanted, "ballot")) mask(wanted, ballot);
  if (!std::strcmp(wanted, "shfl")) mask(wanted, shfl);
  return 0;
}
