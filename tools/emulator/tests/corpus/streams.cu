// Streams and events: priorities, waits, callbacks, asynchronous copies, pool allocations.
#include <cmath>
#include <cstring>
#include <string>

#include "check.cuh"

__global__ void add(int* to, int more, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += more;
}

void CUDART_CB note(void* text) {
  static_cast<std::string*>(text)->append("f");
}
void CUDART_CB called(cudaStream_t, cudaError_t status, void* text) {
  static_cast<std::string*>(text)->append(status == cudaSuccess ? "c" : "!");
}

int main() {
  constexpr int kN = 10'000;
  int least = 0, greatest = 0;
  CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(least >= greatest);
  cudaStream_t one, two;
  CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithPriority(&two, cudaStreamNonBlocking, greatest));
  unsigned flags = 0;
  int priority = 0;
  CUDA(cudaStreamGetFlags(one, &flags));
  CHECK(flags == cudaStreamNonBlocking);
  CUDA(cudaStreamGetPriority(two, &priority));
  CHECK(priority == greatest);
  unsigned long long id_one = 0, id_two = 0;
  CUDA(cudaStreamGetId(one, &id_one));
  CUDA(cudaStreamGetId(two, &id_two));
  CHECK(id_one != id_two);

  int *host = nullptr, *a = nullptr, *b = nullptr;
  CUDA(cudaMallocHost(&host, kN * sizeof(int)));
  for (int i = 0; i < kN; ++i) host[i] = i;
  CUDA(cudaMallocAsync(&a, kN * sizeof(int), one));
  CUDA(cudaMalloc(&b, kN * sizeof(int)));
  cudaEvent_t begun, copied, ended;
  CUDA(cudaEventCreate(&begun));
  CUDA(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
  CUDA(cudaEventCreate(&ended));
  std::string text;
  CUDA(cudaEventRecord(begun, one));
  CUDA(cudaMemcpyAsync(a, host, kN * sizeof(int), cudaMemcpyHostToDevice, one));
  add<<<(kN + 127) / 128, 128, 0, one>>>(a, 5, kN);
  CUDA(cudaEventRecord(copied, one));
  CUDA(cudaStreamWaitEvent(two, copied, 0));
  CUDA(cudaMemsetAsync(b, 0xff, kN * sizeof(int), two));
  CUDA(cudaMemcpyAsync(b, a, kN / 2 * sizeof(int), cudaMemcpyDeviceToDevice, two));
  add<<<(kN + 127) / 128, 128, 0, two>>>(b, 7, kN);
  CUDA(cudaLaunchHostFunc(two, note, &text));
  CUDA(cudaStreamAddCallback(two, called, &text, 0));
  CUDA(cudaMemcpyAsync(host, b, kN * sizeof(int), cudaMemcpyDeviceToHost, two));
  CUDA(cudaEventRecord(ended, two));
  CUDA(cudaEventSynchronize(ended));
  CUDA(cudaEventQuery(ended));
  CUDA(cudaStreamQuery(two));
  CUDA(cudaStreamSynchronize(one));
  for (int i = 0; i < kN; ++i) CHECK(host[i] == (i < kN / 2 ? i + 12 : 6));
  CHECK(text == "fc");
  float ms = 0;
  CUDA(cudaEventElapsedTime(&ms, begun, ended));
  // No time where there is no GPU; on one, a time.
  CHECK(std::isnan(ms) || ms >= 0);

  cudaMemPool_t pool;
  CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long keep = ~0ull;
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  keep = 0;
  CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  CHECK(keep == ~0ull);
  int* c = nullptr;
  CUDA(cudaMallocFromPoolAsync(&c, 1024, pool, one));
  CUDA(cudaMemsetAsync(c, 0, 1024, one));
  CUDA(cudaFreeAsync(c, one));
  CUDA(cudaMemPoolTrimTo(pool, 0));

  CUDA(cudaFreeAsync(a, one));
  CUDA(cudaFree(b));
  CUDA(cudaFreeHost(host));
  for (const cudaEvent_t e : {begun, copied, ended}) CUDA(cudaEventDestroy(e));
  CUDA(cudaStreamDestroy(one));
  CUDA(cudaStreamDestroy(two));
  return done();
}
