// More questions to the runtime, as runtime_probe.cu asks them: limits, pools, volumes, streams,
// cooperative launches, functions, devices, pointers and printf. None passes null where a value is
// asked for as cudaGetSymbolAddress, cudaMemPoolSetAttribute and cudaLaunchKernelExC do: there
// NVIDIA's runtime ends the program.
//
//   runtime_probe2              names the sections
//   runtime_probe2 SECTION      asks one; runtime_h200/SECTION.txt is what an H200 answered
//
// To record them all, on a machine with that GPU:
//   nvcc -std=c++20 -arch=sm_90 -o probe2 runtime_probe2.cu
//   for s in $(./probe2); do ./probe2 "$s" > runtime_h200/"$s".txt; done
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

__device__ int table[16];
__constant__ int weights[8];
__managed__ int managed_value = 5;

__global__ void nothing() {}
struct Mixed {
  char c;
  double d;
};
__global__ void parameters(char, short, Mixed, int*, const float) {}
__global__ void fixed_shared(int* to) {
  __shared__ int s[1000];
  s[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (to != nullptr) to[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void dynamic_shared(int* to) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  if (to != nullptr) to[threadIdx.x] = s[threadIdx.x];
}
__global__ void grid_barrier(int* to) {
  const auto grid = cooperative_groups::this_grid();
  grid.sync();
  if (to != nullptr && grid.thread_rank() == 0) *to = static_cast<int>(grid.size());
}
__global__ void is_valid(int* to) {
  *to = cooperative_groups::this_grid().is_valid() ? 1 : 0;
}
__global__ void print(int value) {
  printf("device says %d\n", value);
}

void host_function() {}
void CUDART_CB host_callback(cudaStream_t, cudaError_t, void*) {}

void say(const char* what, cudaError_t status) {
  std::printf("%s -> %d %s\n", what, static_cast<int>(status), cudaGetErrorName(status));
}

#define ASK(call)                                           \
  do {                                                      \
    say(#call, call);                                       \
    const cudaError_t after = cudaGetLastError();           \
    if (after != cudaSuccess) say("    last error", after); \
  } while (false)
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

void more_limits() {
  const auto show = [] {
    for (int which = 0; which < 9; ++which) {
      std::size_t value = 0;
      const auto status = cudaDeviceGetLimit(&value, static_cast<cudaLimit>(which));
      std::printf("limit %d: %zu, error %d\n", which, value, static_cast<int>(status));
      static_cast<void>(cudaGetLastError());
    }
  };
  show();
  ASK(cudaDeviceSetLimit(cudaLimitStackSize, 2048));
  ASK(cudaDeviceSetLimit(cudaLimitStackSize, 1000));
  ASK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 3 << 20));
  ASK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  ASK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 128));
  ASK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20));
  ASK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
  ASK(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 3));
  ASK(cudaDeviceSetLimit(static_cast<cudaLimit>(42), 1));
  ASK(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
  show();
  LAUNCH(print<<<1, 1>>>(1));
  ASK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 5 << 20));
  ASK(cudaDeviceSetLimit(cudaLimitStackSize, std::size_t{1} << 40));
  show();
}

void more_pools() {
  char *p = nullptr, *q = nullptr;
  ASK(cudaMallocAsync(&p, 0, nullptr));
  ASK(cudaMallocAsync(static_cast<void**>(nullptr), 4, nullptr));
  ASK(cudaMallocAsync(&p, 1000, nullptr));
  ASK(cudaMalloc(&q, 1000));
  ASK(cudaFreeAsync(q, nullptr));
  ASK(cudaFree(p));
  ASK(cudaMallocAsync(&p, 1000, nullptr));
  ASK(cudaFreeAsync(p + 256, nullptr));
  ASK(cudaFreeAsync(nullptr, nullptr));
  ASK(cudaFreeAsync(p, nullptr));
  ASK(cudaFreeAsync(p, nullptr));
  ASK(cudaDeviceSynchronize());
  cudaMemPool_t pool = nullptr, now = nullptr;
  ASK(cudaDeviceGetDefaultMemPool(&pool, 0));
  ASK(cudaDeviceGetDefaultMemPool(&pool, 99));
  ASK(cudaDeviceGetDefaultMemPool(nullptr, 0));
  ASK(cudaDeviceGetMemPool(&now, 0));
  std::printf("the default is the current %d\n", now == pool);
  const auto show = [](cudaMemPool_t of) {
    for (int which = 0; which < 10; ++which) {
      // Reserved bytes are the driver's own affair.
      if (which == cudaMemPoolAttrReservedMemCurrent || which == cudaMemPoolAttrReservedMemHigh) {
        continue;
      }
      unsigned long long value = 0;
      const auto status = cudaMemPoolGetAttribute(of, static_cast<cudaMemPoolAttr>(which), &value);
      std::printf("attribute %d: %llu, error %d\n", which, value, static_cast<int>(status));
      static_cast<void>(cudaGetLastError());
    }
  };
  show(pool);
  ASK(cudaMallocAsync(&p, 1000, nullptr));
  ASK(cudaMallocAsync(&q, 3'000'000, nullptr));
  show(pool);
  ASK(cudaFreeAsync(p, nullptr));
  ASK(cudaDeviceSynchronize());
  show(pool);
  unsigned long long bytes = 77;
  int flag = 0;
  ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
  bytes = 0;
  ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
  ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes));
  ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &flag));
}

void more_volumes() {
  cudaPitchedPtr v{}, w{};
  ASK(cudaMalloc3D(nullptr, make_cudaExtent(1, 1, 1)));
  ASK(cudaMalloc3D(&v, make_cudaExtent(0, 4, 4)));
  std::printf("null %d, pitch %zu, %zu x %zu\n", v.ptr == nullptr, v.pitch, v.xsize, v.ysize);
  ASK(cudaMalloc3D(&v, make_cudaExtent(100, 10, 4)));
  std::printf("pitch %zu, %zu x %zu\n", v.pitch, v.xsize, v.ysize);
  ASK(cudaMalloc3D(&w, make_cudaExtent(600, 10, 4)));
  std::printf("pitch %zu, %zu x %zu\n", w.pitch, w.xsize, w.ysize);
  void* rows = nullptr;
  std::size_t pitch = 1;
  ASK(cudaMallocPitch(&rows, &pitch, 0, 10));
  std::printf("null %d, pitch %zu\n", rows == nullptr, pitch);
  ASK(cudaMallocPitch(&rows, &pitch, 1025, 0));
  std::printf("null %d, pitch %zu\n", rows == nullptr, pitch);
  ASK(cudaMallocPitch(&rows, &pitch, std::size_t{1} << 33, 1));
  ASK(cudaMemset3D(v, 0, make_cudaExtent(100, 10, 4)));
  ASK(cudaMemset3D(v, 0, make_cudaExtent(101, 10, 4)));
  ASK(cudaMemset3D(v, 0, make_cudaExtent(512, 10, 4)));
  ASK(cudaMemset3D(v, 0, make_cudaExtent(513, 10, 4)));
  ASK(cudaMemset3D(v, 0, make_cudaExtent(100, 11, 4)));
  ASK(cudaMemset3D(v, 0, make_cudaExtent(0, 10, 4)));
  std::vector<char> host(100 * 10 * 4);
  cudaMemcpy3DParms p{};
  ASK(cudaMemcpy3D(&p));
  ASK(cudaMemcpy3D(nullptr));
  p.srcPtr = v;
  p.dstPtr = make_cudaPitchedPtr(host.data(), 100, 100, 10);
  p.extent = make_cudaExtent(100, 10, 4);
  p.kind = cudaMemcpyDeviceToHost;
  ASK(cudaMemcpy3D(&p));
  p.kind = cudaMemcpyDefault;
  ASK(cudaMemcpy3D(&p));
  p.kind = cudaMemcpyHostToDevice;
  ASK(cudaMemcpy3D(&p));
  p.kind = static_cast<cudaMemcpyKind>(9);
  ASK(cudaMemcpy3D(&p));
  p.kind = cudaMemcpyDeviceToHost;
  p.srcPos = make_cudaPos(5, 0, 0);
  ASK(cudaMemcpy3D(&p));
  p.extent.width = 95;
  ASK(cudaMemcpy3D(&p));
  p.srcPos = make_cudaPos(0, 5, 0);
  ASK(cudaMemcpy3D(&p));
  p.srcPos = make_cudaPos(0, 0, 0);
  p.extent.width = 101;
  ASK(cudaMemcpy3D(&p));
  p.extent = make_cudaExtent(100, 11, 1);
  ASK(cudaMemcpy3D(&p));
  p.extent = make_cudaExtent(100, 0, 1);
  ASK(cudaMemcpy3D(&p));
  p.extent = make_cudaExtent(100, 10, 1);
  p.srcPtr.ptr = nullptr;
  ASK(cudaMemcpy3D(&p));
  ASK(cudaMemset2D(v.ptr, 512, 1, 513, 2));
  ASK(cudaMemset2D(v.ptr, 512, 1, 512, 0));
  ASK(cudaMemset2D(nullptr, 512, 1, 0, 4));
  ASK(cudaMemset2D(v.ptr, 4, 1, 5, 1));
  ASK(cudaMemcpy2D(host.data(), 4, v.ptr, 4, 5, 1, cudaMemcpyDeviceToHost));
  ASK(cudaMemcpy2D(host.data(), 100, v.ptr, 512, 0, 4, cudaMemcpyDeviceToHost));
}

void more_streams() {
  cudaStream_t s = nullptr, t = nullptr;
  ASK(cudaStreamCreate(nullptr));
  ASK(cudaStreamCreateWithFlags(&s, 2));
  ASK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, -99));
  ASK(cudaStreamCreateWithPriority(&t, cudaStreamDefault, 99));
  int priority = 7, device = 7;
  unsigned flags = 7;
  for (const cudaStream_t one : {s, t, cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread}) {
    ASK(cudaStreamGetPriority(one, &priority));
    ASK(cudaStreamGetFlags(one, &flags));
    ASK(cudaStreamGetDevice(one, &device));
    std::printf("priority %d, flags %u, device %d\n", priority, flags, device);
  }
  unsigned long long id = 0, ids[3] = {};
  ASK(cudaStreamGetId(nullptr, &id));
  ASK(cudaStreamGetId(cudaStreamLegacy, &ids[0]));
  ASK(cudaStreamGetId(s, &ids[1]));
  ASK(cudaStreamGetId(t, &ids[2]));
  ASK(cudaStreamGetId(s, nullptr));
  std::printf("default is legacy %d, differ %d, in order %d\n", id == ids[0], ids[1] != ids[2],
              ids[1] < ids[2]);
  ASK(cudaStreamGetPriority(s, nullptr));
  cudaStreamCaptureStatus capture{};
  ASK(cudaStreamIsCapturing(s, &capture));
  ASK(cudaStreamIsCapturing(nullptr, &capture));
  ASK(cudaStreamGetCaptureInfo(s, &capture, &id, nullptr, nullptr, nullptr, nullptr));
  std::printf("capture %d\n", static_cast<int>(capture));
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  ASK(cudaThreadExchangeStreamCaptureMode(&mode));
  std::printf("mode %d\n", static_cast<int>(mode));
  ASK(cudaStreamAddCallback(s, host_callback, nullptr, 1));
  cudaEvent_t e = nullptr, f = nullptr;
  ASK(cudaEventCreateWithFlags(&e, 64));
  ASK(cudaEventCreateWithFlags(&e, cudaEventInterprocess));
  ASK(cudaEventCreateWithFlags(&e, cudaEventBlockingSync));
  ASK(cudaEventCreate(nullptr));
  ASK(cudaEventCreate(&f));
  ASK(cudaStreamWaitEvent(s, e));
  ASK(cudaStreamWaitEvent(s, nullptr));
  ASK(cudaStreamWaitEvent(s, e, 8));
  ASK(cudaEventRecordWithFlags(e, s, 8));
  ASK(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
  ASK(cudaEventRecord(e, s));
  float ms = 0;
  ASK(cudaEventElapsedTime(&ms, e, f));
  ASK(cudaEventElapsedTime(nullptr, e, e));
  ASK(cudaStreamSynchronize(s));
  cudaStreamAttrValue value{};
  ASK(cudaStreamGetAttribute(s, cudaStreamAttributePriority, &value));
  std::printf("priority %d\n", value.priority);
  ASK(cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &value));
  std::printf("policy %d\n", static_cast<int>(value.syncPolicy));
  value.syncPolicy = cudaSyncPolicyYield;
  ASK(cudaStreamSetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &value));
  ASK(cudaStreamCopyAttributes(t, s));
  ASK(cudaStreamGetAttribute(t, cudaStreamAttributeSynchronizationPolicy, &value));
  std::printf("policy %d\n", static_cast<int>(value.syncPolicy));
  ASK(cudaStreamDestroy(s));
  ASK(cudaStreamDestroy(t));
  ASK(cudaStreamDestroy(cudaStreamLegacy));
  ASK(cudaEventDestroy(e));
  // Last, in case it is too much for a driver.
  ASK(cudaStreamAddCallback(nullptr, nullptr, nullptr, 0));
  ASK(cudaLaunchHostFunc(nullptr, nullptr, nullptr));
}

void more_cooperative() {
  int* p = nullptr;
  ASK(cudaMalloc(&p, 64));
  int sms = 0, per_sm = 0, result = 0;
  ASK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, grid_barrier, 64, 0));
  std::printf("blocks of an SM %d\n", per_sm);
  void* arguments[] = {&p};
  const auto launch = [&](const char* what, dim3 grid, dim3 block, std::size_t shared) {
    say(what, cudaLaunchCooperativeKernel(address(grid_barrier), grid, block, arguments, shared,
                                          nullptr));
    const cudaError_t after = cudaGetLastError();
    if (after != cudaSuccess) say("    last error", after);
    say("    synchronise", cudaDeviceSynchronize());
  };
  launch("one", 1, 1, 0);
  launch("all", sms * per_sm, 64, 0);
  launch("one more", sms * per_sm + 1, 64, 0);
  launch("three dimensions", dim3(3, 4, 5), dim3(4, 4, 4), 0);
  launch("large blocks", sms * 2, 1024, 0);
  launch("too many large blocks", sms * 2 + 1, 1024, 0);
  launch("no block", 0, 64, 0);
  launch("no thread", 1, 0, 0);
  launch("too many threads", 1, 1025, 0);
  launch("shared memory", sms * 4, 64, 48 * 1024);
  launch("shared memory, one more", sms * 4 + 1, 64, 48 * 1024);
  launch("too much shared memory", 1, 64, 48 * 1024 + 1);
  ASK(cudaLaunchCooperativeKernel(address(host_function), 1, 1, arguments, 0, nullptr));
  ASK(cudaLaunchCooperativeKernel(nullptr, 1, 1, arguments, 0, nullptr));
  ASK(cudaMemcpy(&result, p, 4, cudaMemcpyDeviceToHost));
  std::printf("threads %d\n", result);
  is_valid<<<2, 2>>>(p);
  ASK(cudaMemcpy(&result, p, 4, cudaMemcpyDeviceToHost));
  std::printf("an ordinary grid is valid %d\n", result);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(2);
  config.blockDim = dim3(2);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  ASK(cudaLaunchKernelEx(&config, is_valid, p));
  ASK(cudaMemcpy(&result, p, 4, cudaMemcpyDeviceToHost));
  std::printf("a cooperative one %d\n", result);
  attribute.val.cooperative = 0;
  ASK(cudaLaunchKernelEx(&config, is_valid, p));
  ASK(cudaMemcpy(&result, p, 4, cudaMemcpyDeviceToHost));
  std::printf("one that isn't %d\n", result);
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  ASK(cudaLaunchKernelEx(&config, is_valid, p));
}

void more_functions() {
  std::size_t offset = 0, size = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    offset = size = 0;
    const auto status = cudaFuncGetParamInfo(address(parameters), i, &offset, &size);
    std::printf("parameter %zu: offset %zu, size %zu, error %d\n", i, offset, size,
                static_cast<int>(status));
    static_cast<void>(cudaGetLastError());
  }
  ASK(cudaFuncGetParamInfo(address(parameters), 0, nullptr, &size));
  ASK(cudaFuncGetParamInfo(address(parameters), 0, &offset, nullptr));
  ASK(cudaFuncGetParamInfo(address(host_function), 0, &offset, &size));
  const char* name = nullptr;
  ASK(cudaFuncGetName(nullptr, address(nothing)));
  ASK(cudaFuncGetName(&name, nullptr));
  ASK(cudaFuncGetName(&name, address(host_function)));
  cudaFunction_t function = nullptr;
  ASK(cudaGetFuncBySymbol(&function, address(nothing)));
  ASK(cudaGetFuncBySymbol(&function, address(host_function)));
  ASK(cudaGetFuncBySymbol(&function, nullptr));
  ASK(cudaGetFuncBySymbol(nullptr, address(nothing)));
  cudaKernel_t kernel = nullptr;
  ASK(cudaGetKernel(&kernel, address(nothing)));
  ASK(cudaGetKernel(&kernel, address(host_function)));
  ASK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100, 0));
  ASK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100, 9));
  ASK(cudaFuncSetCacheConfig(address(nothing), cudaFuncCachePreferL1));
  ASK(cudaFuncSetCacheConfig(address(host_function), cudaFuncCachePreferL1));
  ASK(cudaFuncGetAttributes(nullptr, nothing));
  ASK(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  ASK(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, -2));
  ASK(cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  for (const int blocks : {1, 2, 3, 8, 16, 32, 33, 0, -1}) {
    for (const int threads : {32, 64, 1024, 1025, 0}) {
      size = 0;
      const auto status =
          cudaOccupancyAvailableDynamicSMemPerBlock(&size, fixed_shared, blocks, threads);
      std::printf("%d blocks of %d: %zu bytes, error %d\n", blocks, threads, size,
                  static_cast<int>(status));
      static_cast<void>(cudaGetLastError());
    }
  }
  int grid = 0, block = 0;
  ASK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, dynamic_shared, 40'000));
  std::printf("potential %d %d\n", grid, block);
  ASK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing, 0, 200));
  std::printf("potential %d %d\n", grid, block);
  ASK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, dynamic_shared,
                                                     [](int threads) { return threads * 100; }));
  std::printf("potential %d %d\n", grid, block);
  int count = 0;
  ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&count, nothing, 64, 0,
                                                             cudaOccupancyDisableCachingOverride));
  ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&count, nothing, 64, 0, 77));
  ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, nothing, 64, 0));
  ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, host_function, 64, 0));
}

void more_symbols() {
  int values[16] = {};
  void* where = nullptr;
  ASK(cudaGetSymbolAddress(&where, values));
}

void more_devices() {
  char text[64] = {};
  int device = 7, can = 7, value = 7;
  unsigned flags = 7;
  ASK(cudaDeviceGetPCIBusId(text, sizeof text, 0));
  std::printf("characters %zu\n", std::strlen(text));
  ASK(cudaDeviceGetByPCIBusId(&device, text));
  std::printf("device %d\n", device);
  ASK(cudaDeviceGetPCIBusId(text, 5, 0));
  ASK(cudaDeviceGetPCIBusId(text, sizeof text, 99));
  ASK(cudaDeviceGetPCIBusId(nullptr, 13, 0));
  ASK(cudaDeviceGetByPCIBusId(&device, "nonsense"));
  ASK(cudaDeviceGetByPCIBusId(&device, "ffff:ff:1f.0"));
  ASK(cudaDeviceCanAccessPeer(&can, 0, 0));
  ASK(cudaDeviceCanAccessPeer(&can, 0, 99));
  ASK(cudaDeviceEnablePeerAccess(0, 0));
  ASK(cudaDeviceEnablePeerAccess(99, 0));
  ASK(cudaDeviceDisablePeerAccess(0));
  ASK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
  ASK(cudaInitDevice(99, 0, 0));
  ASK(cudaInitDevice(0, 0, 0));
  ASK(cudaGetDeviceFlags(&flags));
  std::printf("flags %u\n", flags);
  ASK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
  ASK(cudaGetDeviceFlags(&flags));
  std::printf("flags %u\n", flags);
  ASK(cudaSetDeviceFlags(0xff00));
  ASK(cudaSetDeviceFlags(3));
  cudaFuncCache cache{};
  ASK(cudaDeviceGetCacheConfig(&cache));
  ASK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  ASK(cudaDeviceGetCacheConfig(&cache));
  std::printf("cache %d\n", static_cast<int>(cache));
  cudaDeviceProp properties{};
  properties.major = 9;
  ASK(cudaChooseDevice(&device, &properties));
  ASK(cudaSetValidDevices(&device, 1));
  void* function = &device;
  cudaDriverEntryPointQueryResult found{};
  ASK(cudaGetDriverEntryPointByVersion("noSuchFunction", &function, 12000, cudaEnableDefault,
                                       &found));
  std::printf("found %d, null %d\n", static_cast<int>(found), function == nullptr);
  ASK(cudaCtxResetPersistingL2Cache());
  std::size_t free = 0;
  ASK(cudaMemGetInfo(&free, nullptr));
  ASK(cudaMemGetInfo(nullptr, nullptr));
}

void more_pointers() {
  char *p = nullptr, *seen = nullptr;
  unsigned flags = 7;
  ASK(cudaHostAlloc(&p, 0, 0));
  ASK(cudaHostAlloc(&p, 64, 0xff));
  ASK(cudaHostAlloc(&p, 64, cudaHostAllocPortable));
  ASK(cudaHostGetFlags(&flags, p));
  std::printf("flags %u\n", flags);
  ASK(cudaHostGetFlags(&flags, p + 8));
  ASK(cudaHostGetFlags(&flags, &flags));
  ASK(cudaHostGetDevicePointer(&seen, p + 8, 0));
  std::printf("offset %td\n", seen - p);
  ASK(cudaHostGetDevicePointer(&seen, p, 1));
  ASK(cudaFreeHost(p + 8));
  ASK(cudaFreeHost(p));
  ASK(cudaMallocHost(&p, 64));
  ASK(cudaHostGetFlags(&flags, p));
  std::printf("flags %u\n", flags);
  ASK(cudaFreeHost(p));
  ASK(cudaMallocManaged(&p, 0));
  ASK(cudaMallocManaged(&p, 64, 77));
  ASK(cudaMallocManaged(&p, 64, cudaMemAttachHost));
  ASK(cudaHostGetDevicePointer(&seen, p, 0));
  ASK(cudaFreeHost(p));
  ASK(cudaFree(p));
  std::vector<char> mine(1 << 16);
  ASK(cudaHostRegister(nullptr, 10, 0));
  ASK(cudaHostRegister(mine.data(), 0, 0));
  ASK(cudaHostRegister(mine.data(), mine.size(), 0x80));
  ASK(cudaHostRegister(mine.data(), mine.size(), cudaHostRegisterMapped));
  ASK(cudaHostRegister(mine.data() + 4096, 4096, 0));
  ASK(cudaHostGetFlags(&flags, mine.data()));
  ASK(cudaHostUnregister(mine.data() + 64));
  ASK(cudaHostUnregister(mine.data()));
  cudaPointerAttributes at{};
  ASK(cudaPointerGetAttributes(&at, nullptr));
  std::printf("type %d, device %d\n", static_cast<int>(at.type), at.device);
  ASK(cudaPointerGetAttributes(nullptr, &at));
  ASK(cudaMalloc(&p, 100));
  ASK(cudaPointerGetAttributes(&at, p + 100));
  std::printf("type %d, device %d\n", static_cast<int>(at.type), at.device);
  const cudaMemLocation here{cudaMemLocationTypeDevice, 0};
  ASK(cudaMemPrefetchAsync(p, 100, here, 0, nullptr));
  ASK(cudaMemAdvise(p, 100, cudaMemAdviseSetReadMostly, here));
}

void more_print() {
  std::printf("host first\n");
  print<<<1, 1>>>(1);
  std::printf("host after the launch\n");
  ASK(cudaDeviceSynchronize());
  print<<<1, 1>>>(2);
  cudaStream_t s = nullptr;
  ASK(cudaStreamCreate(&s));
  std::printf("host before the stream\n");
  ASK(cudaStreamSynchronize(s));
  print<<<1, 1>>>(3);
  int value = 0;
  void* where = nullptr;
  ASK(cudaGetSymbolAddress(&where, table));
  std::printf("host before the copy\n");
  ASK(cudaMemcpy(&value, where, 4, cudaMemcpyDeviceToHost));
  cudaEvent_t e = nullptr;
  ASK(cudaEventCreate(&e));
  print<<<1, 1>>>(4);
  ASK(cudaEventRecord(e));
  std::printf("host before the event\n");
  ASK(cudaEventSynchronize(e));
  print<<<1, 1>>>(5);
  std::printf("host before the last\n");
  ASK(cudaDeviceSynchronize());
  print<<<1, 1>>>(6);  // never waited for
}

// What a kernel that prints more than fits has left is no answer to compare: the host takes out
// records while it waits, so that it is chance. Of 100,000 lines by one thread an H200 gave 27,304,
// in runs of the newest 2,048 at a time (256 bytes of the FIFO each): the older ones are lost.
void more_print_much() {
  ASK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 16));
  std::size_t size = 0;
  ASK(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
  std::printf("fifo %zu\n", size);
}

}  // namespace

int main(int argc, char** argv) {
  const std::pair<const char*, void (*)()> sections[] = {
      {"more_limits", more_limits},           {"more_pools", more_pools},
      {"more_volumes", more_volumes},         {"more_streams", more_streams},
      {"more_cooperative", more_cooperative}, {"more_functions", more_functions},
      {"more_symbols", more_symbols},         {"more_devices", more_devices},
      {"more_pointers", more_pointers},       {"more_print", more_print},
      {"more_print_much", more_print_much},
  };
  for (const auto& [name, ask] : sections) {
    if (argc < 2) std::printf("%s\n", name);
    if (argc < 2 || std::string(argv[1]) != name) continue;
    // What was answered is kept if the next question is too much; but where printf is asked about,
    // all is left as it is for any program.
    if (ask != more_print) std::setvbuf(stdout, nullptr, _IOLBF, 0);
    ask();
  }
  return 0;
}
