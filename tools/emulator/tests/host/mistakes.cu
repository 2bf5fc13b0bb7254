// What host code gets wrong, a form per name; `mistakes FORM fixed` does it right. A comment
// `// @FORM` names the line that a finding has to name.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

__global__ void sum(const int* in, int* out, int n) {
  extern __shared__ int tile[];
  const int t = threadIdx.x;
  tile[t] = t < n ? in[t] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t == 0) *out = tile[0];
}

__device__ int total;

namespace {

constexpr int kN = 64;
constexpr size_t kBytes = kN * sizeof(int);
bool fixed = false;
int *in, *out;

// The program asks after each call whose failure is not what a form is about.
void must(cudaError_t status) {
  if (status != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(status));
    std::exit(3);
  }
}

int result() {
  int value = 0;
  must(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

void launched() {
  must(cudaGetLastError());
  must(cudaDeviceSynchronize());
}

int too_many_threads() {
  const int threads = fixed ? kN : 2048;
  sum<<<1, threads, kBytes>>>(in, out, kN);  // @too_many_threads
  return result();
}
int too_much_shared() {
  const size_t bytes = fixed ? kBytes : 65536;
  sum<<<1, kN, bytes>>>(in, out, kN);  // @too_much_shared
  return result();
}
int no_blocks() {
  sum<<<fixed ? 1 : 0, kN, kBytes>>>(in, out, kN);  // @no_blocks
  return result();
}
int no_shared() {
  sum<<<1, kN, fixed ? kBytes : 0>>>(in, out, kN);
  return result();
}
int wrong_way() {
  int value = 0;
  sum<<<1, kN, kBytes>>>(in, out, kN);
  launched();
  const cudaMemcpyKind kind = fixed ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
  cudaMemcpy(&value, out, sizeof value, kind);  // @wrong_way
  return value;
}
int copied_past() {
  int* small = nullptr;
  must(cudaMalloc(&small, fixed ? kBytes : kN));
  std::vector<int> ones(kN, 1);
  cudaMemcpy(small, ones.data(), kBytes, cudaMemcpyHostToDevice);  // @copied_past
  sum<<<1, kN, kBytes>>>(fixed ? small : in, out, kN);
  must(cudaDeviceSynchronize());
  must(cudaFree(small));
  return result();
}
int set_past() {
  cudaMemset(out, 0, fixed ? sizeof(int) : kBytes);  // @set_past
  sum<<<1, kN, kBytes>>>(in, out, kN);
  must(cudaDeviceSynchronize());
  return result();
}
int asked_and_ended() {
  std::vector<int> ones(kN, 1);
  const cudaError_t status =
      cudaMemcpy(in, ones.data(), fixed ? kBytes : 2 * kBytes, cudaMemcpyHostToDevice);
  must(status);
  return kN;
}
int host_reads() {
  sum<<<1, kN, kBytes>>>(in, out, kN);
  launched();
  return fixed ? result() : *out;  // @host_reads
}
int host_writes() {
  if (fixed) {
    must(cudaMemset(out, 0, sizeof *out));
  } else {
    *out = 0;  // @host_writes
  }
  return kN;
}
int host_pointer() {
  std::vector<int> ones(kN, 1);
  sum<<<1, kN, kBytes>>>(fixed ? in : ones.data(), out, kN);
  return result();
}
int host_symbol() {
  void* at = &total;
  if (fixed) must(cudaGetSymbolAddress(&at, total));
  sum<<<1, kN, kBytes>>>(in, static_cast<int*>(at), kN);
  int value = 0;
  must(cudaMemcpyFromSymbol(&value, total, sizeof value));
  return value;
}
int read_too_soon() {
  int* there = nullptr;
  must(cudaMallocHost(&there, sizeof *there));
  *there = 0;
  cudaStream_t stream = nullptr;
  must(cudaStreamCreate(&stream));
  sum<<<1, kN, kBytes, stream>>>(in, out, kN);
  must(cudaMemcpyAsync(there, out, sizeof *there, cudaMemcpyDeviceToHost, stream));
  if (fixed) must(cudaStreamSynchronize(stream));
  const int value = *there;  // @read_too_soon
  must(cudaStreamSynchronize(stream));
  must(cudaStreamDestroy(stream));
  must(cudaFreeHost(there));
  return value;
}
int written_too_soon() {
  int* there = nullptr;
  must(cudaMallocHost(&there, kBytes));
  for (int i = 0; i < kN; ++i) there[i] = 1;
  must(cudaMemcpyAsync(in, there, kBytes, cudaMemcpyHostToDevice));
  if (fixed) must(cudaDeviceSynchronize());
  there[7] = 2;  // @written_too_soon
  must(cudaDeviceSynchronize());
  must(cudaFreeHost(there));
  return kN;
}
int managed_too_soon() {
  int* there = nullptr;
  must(cudaMallocManaged(&there, sizeof *there));
  sum<<<1, kN, kBytes>>>(in, there, kN);
  if (fixed) launched();
  const int value = *there;  // @managed_too_soon
  launched();
  must(cudaFree(there));
  return value;
}
int never_launched() {
  must(cudaMemset(out, 0, sizeof *out));
  if (fixed) sum<<<1, kN, kBytes>>>(in, out, kN);
  return result();  // what stands there is cudaMemset's
}
int not_recorded() {
  cudaEvent_t begin = nullptr, end = nullptr;
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  if (fixed) must(cudaEventRecord(begin));
  sum<<<1, kN, kBytes>>>(in, out, kN);
  must(cudaEventRecord(end));
  must(cudaEventSynchronize(end));
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);  // @not_recorded
  must(cudaEventDestroy(begin));
  must(cudaEventDestroy(end));
  return result();
}
int freed_twice() {
  int* small = nullptr;
  must(cudaMalloc(&small, kBytes));
  must(cudaFree(small));
  if (!fixed) cudaFree(small);  // @freed_twice
  return kN;
}
int never_freed() {
  int* small = nullptr;
  must(cudaMalloc(&small, 12));  // @never_freed
  if (fixed) must(cudaFree(small));
  return kN;
}
int ends_too_soon() {
  sum<<<1, kN, kBytes>>>(in, out, kN);
  must(cudaGetLastError());
  if (fixed) must(cudaDeviceSynchronize());
  std::printf("right\n");
  std::exit(0);
}
// What is right, and looks like one of these: no finding in either form.
int asked_for_less() {
  void* all = nullptr;
  size_t bytes = fixed ? kBytes : size_t{1} << 45;
  while (cudaMalloc(&all, bytes) != cudaSuccess) bytes /= 2;
  must(cudaFree(all));
  return kN;
}
int tried_and_asked() {
  sum<<<1, fixed ? kN : 2048, kBytes>>>(in, out, kN);
  if (cudaGetLastError() != cudaSuccess) sum<<<1, kN, kBytes>>>(in, out, kN);
  return result();
}
int set_and_read() {  // a count that stays 0, and data for later
  int count = 1;
  must(cudaMemset(out, 0, sizeof *out));
  sum<<<1, kN, kBytes>>>(in, out, 0);
  must(cudaMemcpy(&count, out, sizeof count, cudaMemcpyDeviceToHost));
  return kN + count;
}

}  // namespace

int main(int arguments, char** argument) {
  const std::string form = arguments > 1 ? argument[1] : "";
  fixed = arguments > 2 && std::strcmp(argument[2], "fixed") == 0;
  must(cudaMalloc(&in, kBytes));
  must(cudaMalloc(&out, sizeof(int)));
  const std::vector<int> ones(kN, 1);
  must(cudaMemcpy(in, ones.data(), kBytes, cudaMemcpyHostToDevice));
  int got = -1;
#define TRY(name) \
  if (form == #name) got = name();
  TRY(too_many_threads)
  TRY(too_much_shared)
  TRY(no_blocks)
  TRY(no_shared)
  TRY(wrong_way)
  TRY(copied_past)
  TRY(set_past)
  TRY(asked_and_ended)
  TRY(host_reads)
  TRY(host_writes)
  TRY(host_pointer)
  TRY(host_symbol)
  TRY(read_too_soon)
  TRY(written_too_soon)
  TRY(managed_too_soon)
  TRY(never_launched)
  TRY(not_recorded)
  TRY(ends_too_soon)
  TRY(freed_twice)
  TRY(never_freed)
  TRY(asked_for_less)
  TRY(tried_and_asked)
  TRY(set_and_read)
  must(cudaFree(in));
  must(cudaFree(out));
  std::printf("%s\n", got == kN ? "right" : "wrong");
  return 0;
}
