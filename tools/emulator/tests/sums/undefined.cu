// Sums that a value enters which nothing has made, or that something else keeps from being proved,
// for tools/emulate --check sum: one of each kind, and beside it the same without the fault.
// `undefined CASE [clean]` runs one. A comment `// @A` names a line for what the test expects of
// it.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int kN = 256, kBlock = 128, kGrid = kN / kBlock;

__device__ void add_up(int* tile, int* out) {
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}
__device__ int global_id() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ unsigned in_shared(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// --- Memory that nothing has written ---------------------------------------------------------

template <bool Clean>
__global__ void shared_memory(const int* in, int* out) {
  __shared__ int tile[kBlock + 32];
  if (Clean && threadIdx.x < 32) tile[kBlock + threadIdx.x] = 0;
  tile[threadIdx.x] = in[global_id()];
  __syncthreads();
  if (threadIdx.x < 32) tile[threadIdx.x] += tile[kBlock + threadIdx.x];  // @shared
  add_up(tile, out);
}

template <bool Clean>
__global__ void dynamic_shared(const int* in, int* out) {
  extern __shared__ int room[];
  if (Clean) room[threadIdx.x] = 0;
  const int value = in[global_id()];
  __syncthreads();
  room[kBlock + threadIdx.x] = value + room[kBlock - 1 - threadIdx.x];  // @dynamic
  add_up(room + kBlock, out);
}

/// Every second byte.
template <bool Clean>
__global__ void bytes_of_words(const int* in, int* out) {
  __shared__ int tile[kBlock];
  __shared__ unsigned char bytes[2 * kBlock];
  bytes[2 * threadIdx.x] = 0;  // @bytes
  if (Clean) bytes[2 * threadIdx.x + 1] = 0;
  __syncthreads();
  tile[threadIdx.x] = in[global_id()] + bytes[threadIdx.x];
  add_up(tile, out);
}

template <bool Clean>
__global__ void local_memory(const int* in, int* out) {
  __shared__ int tile[kBlock];
  int four[4];
  const int t = threadIdx.x;
  for (int k = 0; k < 3 + Clean; ++k) four[k + (t & in[0] & 0)] = k == 0 ? in[global_id()] : 0;
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < 4; ++k) sum += four[(k + t) % 4];  // @local
  tile[t] = sum;
  add_up(tile, out);
}

template <bool Clean>
__global__ void a_register(const int* in, int* out) {
  __shared__ int tile[kBlock];
  int sum = in[global_id()];
  if (Clean) {
    asm volatile("{ .reg .s32 none; mov.s32 none, 0; add.s32 %0, %0, none; }" : "+r"(sum));
  } else {
    asm volatile("{ .reg .s32 none; add.s32 %0, %0, none; }" : "+r"(sum));  // @register
  }
  tile[threadIdx.x] = sum;
  add_up(tile, out);
}

/// With something in memory that may not have been written.
__global__ void with_another(const int* in, const int* other, int* out) {
  __shared__ int tile[kBlock];
  tile[threadIdx.x] = in[global_id()] + other[global_id()];  // @another
  add_up(tile, out);
}

__global__ void copy_words(const int* from, int* to) {
  to[global_id()] = from[global_id()];
}

__global__ void with_copied(const int* in, const int* other, int* out) {
  __shared__ int tile[kBlock], room[kBlock];
  __pipeline_memcpy_async(&room[threadIdx.x], &other[global_id()], sizeof(int));  // @copied
  __pipeline_commit();
  __pipeline_wait_prior(0);
  tile[threadIdx.x] = in[global_id()] + room[threadIdx.x];
  add_up(tile, out);
}

__global__ void with_bulk(const int* in, const int* other, int* out) {
  __shared__ int tile[kBlock];
  __shared__ alignas(16) int room[kBlock];
  __shared__ unsigned long long barrier;
  if (threadIdx.x == 0) {
    asm volatile(
        "{ .reg .b64 state; mbarrier.init.shared.b64 [%0], 1;"
        " fence.proxy.async;"
        " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2], 512, [%0];"
        " mbarrier.arrive.expect_tx.shared.b64 state, [%0], 512; }" ::"r"(in_shared(&barrier)),
        "r"(in_shared(room)), "l"(other + blockIdx.x * kBlock)
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{ .reg .pred over;\n"
      "AGAIN: mbarrier.try_wait.parity.shared.b64 over, [%0], 0; @!over bra AGAIN; }" ::"r"(
          in_shared(&barrier))
      : "memory");
  tile[threadIdx.x] = in[global_id()] + room[threadIdx.x];
  add_up(tile, out);
}

__global__ void with_texture(const int* in, cudaTextureObject_t other, int* out) {
  __shared__ int tile[kBlock];
  tile[threadIdx.x] = in[global_id()] + tex1Dfetch<int>(other, global_id());
  add_up(tile, out);
}

template <bool Clean>
__global__ void with_matrix(const int* in, int* out) {
  __shared__ int tile[kBlock];
  __shared__ alignas(16) int room[kBlock];
  if (Clean) room[threadIdx.x] = 0;
  __syncthreads();
  unsigned four = 0;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(four)
               : "r"(in_shared(room + threadIdx.x % 8 * 4)));
  tile[threadIdx.x] = in[global_id()] + static_cast<int>(four);
  add_up(tile, out);
}

template <bool Clean>
__global__ void __cluster_dims__(2) of_the_cluster(const int* in, int* out) {
  __shared__ int tile[kBlock], slot[kBlock];
  const auto cluster = cooperative_groups::this_cluster();
  if (Clean) slot[threadIdx.x] = 0;
  cluster.sync();
  const int theirs = cluster.map_shared_rank(slot, cluster.block_rank() ^ 1)[threadIdx.x];
  cluster.sync();
  tile[threadIdx.x] = in[global_id()] + theirs;
  add_up(tile, out);
}

template <bool Clean>
__global__ void from_the_heap(const int* in, int* out) {
  __shared__ int tile[kBlock];
  int* const piece = static_cast<int*>(malloc(sizeof(int)));
  if (Clean) *piece = 0;
  tile[threadIdx.x] = in[global_id()] + *static_cast<volatile int*>(piece);
  free(piece);
  add_up(tile, out);
}

__global__ void into_one(const int* in, int* total) {
  atomicAdd(total, in[global_id()]);
}

template <bool Clean>
__global__ void into_shared(const int* in, int* out) {
  __shared__ int total;
  if (Clean && threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, in[global_id()]);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

__global__ void only_if(const int* in, const int* other, int* out) {
  __shared__ int tile[kBlock];
  tile[threadIdx.x] = 0;
  if (other[blockIdx.x] < 1000) tile[threadIdx.x] = in[global_id()];  // @decides
  add_up(tile, out);
}

// --- What lanes do together ------------------------------------------------------------------

template <bool Clean>
__global__ void lanes_outside_the_mask(const int* in, int* out) {
  if (threadIdx.x >= 4) return;
  int sum = 0;
  for (int i = threadIdx.x; i < 32; i += 4) sum += in[i];
  for (int by = Clean ? 2 : 4; by > 0; by /= 2) sum += __shfl_down_sync(0xf, sum, by);  // @mask
  if (threadIdx.x == 0) *out = sum;
}

template <bool Clean>
__global__ void lanes_that_have_left(const int* in, int* out) {
  if (threadIdx.x >= 16) return;
  int sum = in[threadIdx.x];
  for (int by = Clean ? 8 : 16; by > 0; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
  if (threadIdx.x == 0) *out = sum;
}

template <bool Clean>
__global__ void redux_without_its_lane(const int* in, int* total) {
  const unsigned mask = !Clean || threadIdx.x < 16 ? 0xffff : 0xffff0000;
  const int sum = __reduce_add_sync(mask, in[threadIdx.x]);
  if (threadIdx.x % 16 == 0) atomicAdd(total, sum);
}

template <bool Clean>
__global__ void vote_without_its_lane(const int* in, int* total) {
  const unsigned mask = !Clean || threadIdx.x < 16 ? 0xffff : 0xffff0000;
  const unsigned all = __ballot_sync(mask, threadIdx.x < 32);
  atomicAdd(total, in[threadIdx.x] + __popc(all) - 16);
}

template <bool Clean>
__global__ void match_of_nothing(const int* in, int* total) {
  __shared__ int tile[32];
  if (Clean) tile[threadIdx.x] = 0;
  __syncwarp();
  const unsigned same = __match_any_sync(~0u, tile[threadIdx.x]);
  atomicAdd(total, in[threadIdx.x] + __popc(same) - 32);
}

// --- What else keeps a sum from being proved -------------------------------------------------

template <bool Clean>
__global__ void with_a_race(const int* in, int* out) {
  __shared__ int tile[kBlock];
  tile[threadIdx.x] = in[global_id()];
  if (Clean) __syncthreads();
  if (threadIdx.x != kBlock - 1) return;
  int sum = 0;
  for (int i = 0; i < kBlock; ++i) sum += tile[i];
  out[blockIdx.x] = sum;
}

template <bool Clean>
__global__ void past_the_end(const int* in, int* out) {
  __shared__ int tile[kBlock];
  tile[threadIdx.x] = in[global_id()] + (Clean ? 0 : in[kN + global_id()]);
  add_up(tile, out);
}

template <bool Clean>
__global__ void from_infinity(const float* in, float* out) {
  float sum = Clean ? 0 : -INFINITY;
  for (int i = 0; i < kN; ++i) sum += in[i];
  *out = sum;
}

template <bool Clean>
__global__ void by_the_clock(const int* in, int* out) {
  __shared__ int tile[kBlock];
  tile[threadIdx.x] = in[global_id()];
  if (!Clean && clock64() < 0) tile[threadIdx.x] = 0;  // @clock
  add_up(tile, out);
}

template <bool Clean>
__global__ void stopped(const int* in, int* out) {
  __shared__ int tile[kBlock];
  tile[threadIdx.x] = in[global_id()];
  add_up(tile, out);
  if (!Clean) __trap();
}

/// Values that go through a call keep their places.
__device__ __noinline__ int difference(int a, int b) {
  return a - b;
}
template <bool Clean>
__global__ void through_a_call(const int* in, int* out) {
  __shared__ int tile[kBlock];
  const int value = in[global_id()];
  tile[threadIdx.x] = Clean ? difference(value, 0) : difference(0, value);
  add_up(tile, out);
}

// --- The host --------------------------------------------------------------------------------

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(3);
}

template <class T>
T* filled(int times = 1) {
  std::vector<T> values(kN);
  for (int i = 0; i < kN; ++i) values[i] = static_cast<T>(i % 11 + times);
  T* there = nullptr;
  check(cudaMalloc(&there, kN * sizeof(T)));
  check(cudaMemcpy(there, values.data(), kN * sizeof(T), cudaMemcpyHostToDevice));
  return there;
}
int* unwritten(int count, bool clean) {
  int* there = nullptr;
  check(cudaMalloc(&there, count * sizeof(int)));
  if (clean) check(cudaMemset(there, 0, count * sizeof(int)));
  return there;
}
template <class T>
void read_back(const T* from, int count) {
  std::vector<T> result(count);
  check(cudaMemcpy(result.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
}

using Kernel = void (*)(const int*, int*);
/// One kernel or the other, whose results are all that is read.
std::function<void(bool)> either(Kernel faulty, Kernel clean, int grid = kGrid, int block = kBlock,
                                 int outputs = kGrid) {
  return [=](bool is_clean) {
    int *in = filled<int>(), *out = unwritten(kGrid, true);
    (is_clean ? clean : faulty)<<<grid, block, 2 * kBlock * sizeof(int)>>>(in, out);
    read_back(out, outputs);
  };
}
std::function<void(bool)> of_a_warp(Kernel faulty, Kernel clean) {
  return either(faulty, clean, 1, 32, 1);
}

using Pair = void (*)(const int*, const int*, int*);
std::function<void(bool)> beside(Pair kernel) {
  return [=](bool clean) {
    int *in = filled<int>(), *out = unwritten(kGrid, true);
    kernel<<<kGrid, kBlock>>>(in, unwritten(kN, clean), out);
    read_back(out, kGrid);
  };
}

void copied_by(const std::function<void(int*, const int*)>& copy, bool clean) {
  int *in = filled<int>(), *out = unwritten(kGrid, true), *copied = unwritten(kN, true);
  copy(copied, unwritten(kN, clean));
  with_another<<<kGrid, kBlock>>>(in, copied, out);
  read_back(out, kGrid);
}

void from_a_pool(bool clean) {
  int *in = filled<int>(), *out = unwritten(kGrid, true), *other = nullptr;
  check(cudaMallocAsync(&other, kN * sizeof(int), 0));
  if (clean) check(cudaMemsetAsync(other, 0, kN * sizeof(int), 0));
  with_another<<<kGrid, kBlock>>>(in, other, out);
  read_back(out, kGrid);
}

void through_a_texture(bool clean) {
  int *in = filled<int>(), *out = unwritten(kGrid, true);
  cudaResourceDesc memory{};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear.devPtr = unwritten(kN, clean);
  memory.res.linear.desc = cudaCreateChannelDesc<int>();
  memory.res.linear.sizeInBytes = kN * sizeof(int);
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  check(cudaCreateTextureObject(&texture, &memory, &how, nullptr));
  with_texture<<<kGrid, kBlock>>>(in, texture, out);
  read_back(out, kGrid);
}

/// The first half of some data, and the second half of others.
void other_data(bool clean) {
  int *in = filled<int>(), *total = unwritten(1, true);
  into_one<<<1, kN / 2>>>(in, total);
  if (!clean) {
    const std::vector<int> others(kN, 5);
    check(cudaMemcpy(in, others.data(), kN * sizeof(int), cudaMemcpyHostToDevice));
  }
  into_one<<<1, kN / 2>>>(in + kN / 2, total);
  read_back(total, 1);
}

void stops(bool clean) {
  int *in = filled<int>(), *out = unwritten(kGrid, true);
  (clean ? stopped<true> : stopped<false>)<<<kGrid, kBlock>>>(in, out);
  std::vector<int> result(kGrid);
  static_cast<void>(cudaMemcpy(result.data(), out, kGrid * sizeof(int), cudaMemcpyDeviceToHost));
}

const std::map<std::string, std::function<void(bool)>> kCases{
    {"shared_memory", either(shared_memory<false>, shared_memory<true>)},
    {"dynamic_shared", either(dynamic_shared<false>, dynamic_shared<true>)},
    {"bytes_of_words", either(bytes_of_words<false>, bytes_of_words<true>)},
    {"local_memory", either(local_memory<false>, local_memory<true>)},
    {"a_register", either(a_register<false>, a_register<true>)},
    {"global_memory", beside(with_another)},
    {"from_a_pool", from_a_pool},
    {"copied_by_the_host",
     [](bool clean) {
       copied_by(
           [](int* to, const int* from) {
             check(cudaMemcpy(to, from, kN * sizeof(int), cudaMemcpyDeviceToDevice));
           },
           clean);
     }},
    {"copied_by_a_kernel",
     [](bool clean) {
       copied_by([](int* to, const int* from) { copy_words<<<kGrid, kBlock>>>(from, to); }, clean);
     }},
    {"copied_aside", beside(with_copied)},
    {"copied_in_bulk", beside(with_bulk)},
    {"a_texture", through_a_texture},
    {"a_matrix", either(with_matrix<false>, with_matrix<true>)},
    {"of_the_cluster", either(of_the_cluster<false>, of_the_cluster<true>)},
    {"the_heap", either(from_the_heap<false>, from_the_heap<true>)},
    {"an_accumulator",
     [](bool clean) {
       int* const total = unwritten(1, clean);
       into_one<<<kGrid, kBlock>>>(filled<int>(), total);
       read_back(total, 1);
     }},
    {"a_shared_accumulator", either(into_shared<false>, into_shared<true>)},
    {"results_beside",
     [](bool clean) {
       int* const out = unwritten(kGrid + 1, clean);
       with_a_race<true><<<kGrid, kBlock>>>(filled<int>(), out);
       read_back(out, kGrid + 1);
     }},
    {"a_decision", beside(only_if)},
    {"lanes_outside_the_mask",
     of_a_warp(lanes_outside_the_mask<false>, lanes_outside_the_mask<true>)},
    {"lanes_that_have_left", of_a_warp(lanes_that_have_left<false>, lanes_that_have_left<true>)},
    {"redux_without_its_lane",
     of_a_warp(redux_without_its_lane<false>, redux_without_its_lane<true>)},
    {"vote_without_its_lane", of_a_warp(vote_without_its_lane<false>, vote_without_its_lane<true>)},
    {"match_of_nothing", of_a_warp(match_of_nothing<false>, match_of_nothing<true>)},
    {"a_race", either(with_a_race<false>, with_a_race<true>)},
    {"past_the_end", either(past_the_end<false>, past_the_end<true>)},
    {"from_infinity",
     [](bool clean) {
       float *in = filled<float>(), *out = nullptr;
       check(cudaMalloc(&out, sizeof(float)));
       (clean ? from_infinity<true> : from_infinity<false>)<<<1, 1>>>(in, out);
       read_back(out, 1);
     }},
    {"the_clock", either(by_the_clock<false>, by_the_clock<true>)},
    {"a_call", either(through_a_call<false>, through_a_call<true>)},
    {"other_data", other_data},
    {"stopped", stops},
};

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) {
    kCases.at(arguments[1])(count > 2);
    return 0;
  }
  for (const auto& [name, run] : kCases) std::printf("%s\n", name.c_str());
  return 0;
}
