// Sums and what isn't one, for tools/emulate --check sum: right ones, the faults that sums have,
// and kernels that do something else. `sums CASE…` runs them, one after another, and says nothing.
// A comment `// @A` names a line for what the test expects of it.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr unsigned kBlock = 128;
constexpr int kN = 1000;

__device__ void add_up(int* tile) {
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
    __syncthreads();
  }
}

enum class Fault { kNone, kTwice, kTree, kLastElement, kSign, kNegative, kOverwritten };

template <Fault F>
__global__ void tree(const int* in, int* partial, int n) {
  __shared__ int tile[kBlock];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  const int end = F == Fault::kLastElement ? n - 1 : n;
  int value = i < end ? in[i] : 0;
  if (F == Fault::kTwice && t == 0 && i + kBlock < n) value += in[i + kBlock];  // @twice
  tile[t] = value;                                                              // @put
  __syncthreads();
  if (F == Fault::kOverwritten) {
    if (t >= 96) tile[t] = 0;  // @overwritten
    __syncthreads();
  }
  if (F == Fault::kTree) {
    for (int half = kBlock / 4; half > 0; half /= 2) {
      if (t < half) tile[t] += tile[t + half];
      __syncthreads();
    }
  } else if (F == Fault::kSign) {
    for (int half = kBlock / 2; half > 1; half /= 2) {
      if (t < half) tile[t] += tile[t + half];
      __syncthreads();
    }
    if (t == 0) tile[0] -= tile[1];  // @sign
  } else {
    add_up(tile);
  }
  if (t == 0) partial[blockIdx.x] = F == Fault::kNegative ? -tile[0] : tile[0];
}

template <int Last>
__global__ void shuffled(const int* in, int* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = i < n ? in[i] : 0;
  for (int offset = 16; offset >= Last; offset /= 2) {
    value += __shfl_down_sync(0xffffffff, value, offset);  // @shuffled
  }
  if (threadIdx.x % 32 == 0) atomicAdd(total, value);
}

template <bool Again>
__global__ void reduced(const int* in, int* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = __reduce_add_sync(0xffffffff, i < n ? in[i] : 0);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(total, sum);
    if (Again && i == 32) atomicAdd(total, sum);  // @again
  }
}

__global__ void in_floats(const float* in, float* partial, int n) {
  __shared__ float tile[kBlock];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = tile[0] / 2;
}

__global__ void gathered(const float* in, float* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);  // @gathered
}

__global__ void narrowed(const double* in, float* total, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += static_cast<float>(in[i]);
  *total = sum;
}

__global__ void of_positive(const int* in, int* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) atomicAdd(total, in[i]);  // @positive
}

__global__ void swapped(const int* in, int* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int seen = 0, old = 0;
  do {
    seen = old;
    old = atomicCAS(total, seen, seen + in[i]);
  } while (old != seen);  // @swapped
}

__global__ void of_rows(const int* in, const int* begin, long long* sums) {
  long long sum = 0;
  for (int i = begin[threadIdx.x]; i < begin[threadIdx.x + 1]; ++i) sum += in[i];
  sums[threadIdx.x] = sum;
}

__global__ void of_bytes(const unsigned* in, unsigned* total, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  const unsigned four = in[i];
  atomicAdd(total, (four & 0xff) + (four >> 8 & 0xff) + (four >> 16 & 0xff) + (four >> 24));
}

__global__ void dotted(const unsigned* in, unsigned* total, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < words) atomicAdd(total, __dp4a(in[i], 0x01010101u, 0u));
}

__global__ void staged(const int* in, int* partial, int n) {
  __shared__ int tile[kBlock];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[i], sizeof(int));
  } else {
    tile[threadIdx.x] = 0;
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  add_up(tile);
  if (threadIdx.x == 0) partial[blockIdx.x] = tile[0];
}

__device__ unsigned in_shared(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void init(unsigned long long* barrier, unsigned arrivals, unsigned bytes) {
  asm volatile(
      "{ .reg .b64 state; mbarrier.init.shared.b64 [%0], %1;"
      " mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %2; }" ::"r"(in_shared(barrier)),
      "r"(arrivals), "r"(bytes)
      : "memory");
}
__device__ void arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(in_shared(barrier)) : "memory");
}
__device__ void wait(unsigned long long* barrier) {
  unsigned over = 0;
  while (!over) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(over)
        : "r"(in_shared(barrier))
        : "memory");
  }
}

/// The upper warps wait for a barrier that the first has passed before it put down its elements.
__global__ void waited(const int* in, int* partial, int n) {
  __shared__ int tile[kBlock];
  __shared__ unsigned long long barrier;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) init(&barrier, 32, 0);
  __syncthreads();
  threadIdx.x < 32 ? arrive(&barrier) : wait(&barrier);
  tile[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  add_up(tile);
  if (threadIdx.x == 0) partial[blockIdx.x] = tile[0];
}

/// Of two blocks the second begins at its place, but both go on to the end.
template <class T>
__global__ void without_the_grid(const T* in, T* total, int n, T share) {
  T sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  atomicAdd(total, sum * share);
}

enum class Term { kProduct, kSquare, kAbsolute };
template <Term T>
__global__ void of_terms(const float* in, const float* other, float* total, int n, int but) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || i == but) return;
  const float x = in[i];
  atomicAdd(total, T == Term::kProduct  ? x * other[i]  // @term
                   : T == Term::kSquare ? x * x
                                        : fabsf(x - 5));
}

template <class In, class Out>
__global__ void all_but_one(const In* in, Out* total, int n) {
  Out sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (i != 501) sum += static_cast<Out>(in[i]);
  }
  atomicAdd(total, sum);
}

__global__ void in_bytes(const unsigned char* in, unsigned* total, int n) {
  unsigned char sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *total = sum;  // @narrows
}

/// The second block of a cluster sends its elements into the first one's shared memory.
template <bool Waits>
__global__ void __cluster_dims__(2) sent(const int* in, int* partial, int n) {
  __shared__ int tile[2 * kBlock];
  __shared__ unsigned long long barrier;
  const auto cluster = cooperative_groups::this_cluster();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    init(&barrier, 1, kBlock * sizeof(int));
    arrive(&barrier);
  }
  tile[kBlock + threadIdx.x] = 0;
  cluster.sync();
  const int value = i < n ? in[i] : 0;  // @sent
  if (cluster.block_rank() == 1) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                     in_shared(cluster.map_shared_rank(&tile[kBlock + threadIdx.x], 0))),
                 "r"(value), "r"(in_shared(cluster.map_shared_rank(&barrier, 0)))
                 : "memory");
    return;
  }
  if (Waits) wait(&barrier);
  tile[threadIdx.x] = value + tile[kBlock + threadIdx.x];
  __syncthreads();
  add_up(tile);
  if (threadIdx.x == 0) partial[blockIdx.x / 2] = tile[0];
}

__global__ void last_block(const int4* in, int* partial, unsigned* ticket, int* total, int n) {
  __shared__ int tile[kBlock];
  __shared__ bool last;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int4 four = i < n / 4 ? in[i] : make_int4(0, 0, 0, 0);
  tile[threadIdx.x] = four.x + four.y + four.z + four.w;
  __syncthreads();
  add_up(tile);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = tile[0];
    __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;  // @last
    __threadfence();
  }
  __syncthreads();
  if (!last || threadIdx.x > 0) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += partial[k];
  *total = sum;
}

/// The same with volatile accesses, and with a fence or without.
template <bool Fence>
__global__ void last_by_volatile(const int* in, volatile int* partial, unsigned* ticket, int* total,
                                 int n) {
  __shared__ int tile[kBlock];
  __shared__ bool last;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  add_up(tile);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = tile[0];  // @late
    if (Fence) __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x > 0) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += partial[k];  // @early
  *total = sum;
}

__global__ void made_there(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i * i % 7;
}

__global__ void copied(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[n - 1 - i];
}

__global__ void stencil(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i + 1 < n) out[i] = in[i - 1] + in[i] + in[i + 1];
}

__global__ void weighted(const int* in, int* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, (i % 50 + 1) * in[i]);
}

/// What the shuffle gives where a lane's partner isn't there is compared, and not taken: nvcc makes
/// both conditions into one predicate of a select.
__global__ void least_of_few(const int* in, int* out) {
  int low = in[threadIdx.x];
  const unsigned all = __activemask();
  for (unsigned away = 16; away > 0; away /= 2) {
    const int other = __shfl_down_sync(all, low, away);
    if (threadIdx.x + away < blockDim.x) low = min(low, other);
  }
  if (threadIdx.x == 0) *out = low;
}

__global__ void largest(const int* in, int* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(total, in[i]);
}

__global__ void scanned(const int* in, int* out, int n) {
  __shared__ int tile[2][kBlock];
  const int t = threadIdx.x;
  int now = 0;
  tile[0][t] = t < n ? in[t] : 0;
  __syncthreads();
  for (int by = 1; by < kBlock; by *= 2, now ^= 1) {
    tile[now ^ 1][t] = tile[now][t] + (t >= by ? tile[now][t - by] : 0);
    __syncthreads();
  }
  if (t < n) out[t] = tile[now][t];
}

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

/// Input and output of a case, which it sees poisoned or cleared.
template <class In, class Out = In>
struct Data {
  In* in = nullptr;
  Out* out = nullptr;
  std::size_t outputs;
  Data(std::size_t n, std::size_t outputs_, bool clear, bool room = false) : outputs(outputs_) {
    std::vector<In> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<In>(static_cast<int>(i % 11 + 1));
    check(cudaMalloc(&in, n * sizeof(In) + (room ? 4096 : 0)));
    check(cudaMalloc(&out, outputs * sizeof(Out)));
    check(cudaMemcpy(in, values.data(), n * sizeof(In), cudaMemcpyHostToDevice));
    check(cudaMemset(out, clear ? 0 : 0xcd, outputs * sizeof(Out)));
  }
  ~Data() {
    std::vector<Out> result(outputs);
    check(cudaMemcpy(result.data(), out, outputs * sizeof(Out), cudaMemcpyDeviceToHost));
    check(cudaFree(in));
    check(cudaFree(out));
  }
};

constexpr int kGrid = (kN + kBlock - 1) / kBlock;

/// What blocks leave for the last of them.
struct Tickets {
  int* partial = nullptr;
  unsigned* ticket = nullptr;
  Tickets() {
    check(cudaMalloc(&partial, kGrid * sizeof(int)));
    check(cudaMalloc(&ticket, sizeof(unsigned)));
    check(cudaMemset(ticket, 0, sizeof(unsigned)));
  }
  ~Tickets() {
    check(cudaFree(partial));
    check(cudaFree(ticket));
  }
};

template <class In, class Out>
void without_one() {
  const Data<In, Out> d(kN, 1, true);
  all_but_one<<<1, kBlock>>>(d.in, d.out, kN);
}
template <class T>
void doubled(T share) {
  const Data<T> d(kN, 1, true);
  without_the_grid<<<2, kBlock>>>(d.in, d.out, kN, share);
}

template <Term T>
void terms(int but = -1) {
  const Data<float> d(kN, 1, true), other(kN, 1, true);
  of_terms<T><<<kGrid, kBlock>>>(d.in, other.in, d.out, kN, but);
}

template <Fault F>
void tree_of(int grid = kGrid) {
  const Data<int> d(kN, static_cast<std::size_t>(grid), false);
  tree<F><<<grid, kBlock>>>(d.in, d.out, kN);
}

const std::map<std::string, void (*)()> kCases{
    {"right", [] { tree_of<Fault::kNone>(); }},
    {"lost_tail", [] { tree_of<Fault::kNone>(kN / kBlock); }},
    {"twice", [] { tree_of<Fault::kTwice>(); }},
    {"wrong_tree", [] { tree_of<Fault::kTree>(); }},
    {"last_element", [] { tree_of<Fault::kLastElement>(); }},
    {"sign", [] { tree_of<Fault::kSign>(); }},
    {"negative", [] { tree_of<Fault::kNegative>(); }},
    {"overwritten", [] { tree_of<Fault::kOverwritten>(); }},
    {"shuffled",
     [] {
       const Data<int> d(kN, 1, true);
       shuffled<1><<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"shuffled_short",
     [] {
       const Data<int> d(64, 1, true);
       shuffled<2><<<1, 64>>>(d.in, d.out, 64);
     }},
    {"reduced",
     [] {
       const Data<int> d(kN, 1, true);
       reduced<false><<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"reduced_again",
     [] {
       const Data<int> d(kN, 1, true);
       reduced<true><<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"floats",
     [] {
       const Data<float> d(kN, kGrid, false);
       in_floats<<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"gathered",
     [] {
       const Data<float> d(kN, 1, true);
       gathered<<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"narrowed",
     [] {
       const Data<double, float> d(kN, 1, false);
       narrowed<<<1, 1>>>(d.in, d.out, kN);
     }},
    {"positive",
     [] {
       const Data<int> d(kN, 1, true);
       of_positive<<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"swapped",
     [] {
       const Data<int> d(kN, 1, true);
       swapped<<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"rows",
     [] {
       const Data<int, long long> d(kN, 4, false);
       const std::vector<int> begin{0, 17, 17, 640, kN};
       int* there = nullptr;
       check(cudaMalloc(&there, begin.size() * sizeof(int)));
       check(cudaMemcpy(there, begin.data(), begin.size() * sizeof(int), cudaMemcpyHostToDevice));
       of_rows<<<1, 4>>>(d.in, there, d.out);
       check(cudaFree(there));
     }},
    {"bytes",
     [] {
       const Data<unsigned char, unsigned> d(4 * kN, 1, true);
       of_bytes<<<kGrid, kBlock>>>(reinterpret_cast<unsigned*>(d.in), d.out, kN);
     }},
    {"dotted",
     [] {
       const Data<unsigned char, unsigned> d(4 * kN, 1, true);
       dotted<<<kGrid, kBlock>>>(reinterpret_cast<unsigned*>(d.in), d.out, kN);
     }},
    {"staged",
     [] {
       const Data<int> d(kN, kGrid, false);
       staged<<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"waited",
     [] {
       const Data<int> d(kN, kGrid, false);
       waited<<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"sent",
     [] {
       const Data<int> d(kN, kGrid / 2, false);
       sent<true><<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"sent_unawaited",
     [] {
       const Data<int> d(kN, kGrid / 2, false);
       sent<false><<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"last_block",
     [] {
       const Data<int> d(4 * kN, 1, false);
       const Tickets t;
       last_block<<<kGrid, kBlock>>>(reinterpret_cast<int4*>(d.in), t.partial, t.ticket, d.out,
                                     4 * kN);
     }},
    {"fence_and_volatile",
     [] {
       const Data<int> d(kN, 1, false);
       const Tickets t;
       last_by_volatile<true><<<kGrid, kBlock>>>(d.in, t.partial, t.ticket, d.out, kN);
     }},
    {"volatile",
     [] {
       const Data<int> d(kN, 1, false);
       const Tickets t;
       last_by_volatile<false><<<kGrid, kBlock>>>(d.in, t.partial, t.ticket, d.out, kN);
     }},
    {"made_there",
     [] {
       const Data<int> d(kN, kGrid, false);
       made_there<<<kGrid, kBlock>>>(d.in, kN);
       tree<Fault::kNone><<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"doubled", [] { doubled<int>(1); }},
    {"doubled_mean", [] { doubled<float>(1.0f / kN); }},
    {"without_a_byte", [] { without_one<unsigned char, unsigned>(); }},
    {"without_a_short", [] { without_one<short, int>(); }},
    {"without_a_half", [] { without_one<__half, float>(); }},
    {"in_bytes",
     [] {
       const Data<unsigned char, unsigned> d(kN, 1, true);
       in_bytes<<<1, 1>>>(d.in, d.out, kN);
     }},
    {"products", [] { terms<Term::kProduct>(); }},
    {"squares", [] { terms<Term::kSquare>(); }},
    {"absolute_values", [] { terms<Term::kAbsolute>(); }},
    {"products_short", [] { terms<Term::kProduct>(501); }},
    {"squares_short", [] { terms<Term::kSquare>(501); }},
    {"managed",
     [] {
       int *in = nullptr, *out = nullptr;
       check(cudaMallocManaged(&in, kN * sizeof(int)));
       check(cudaMallocManaged(&out, kGrid * sizeof(int)));
       std::iota(in, in + kN, 1);
       tree<Fault::kNone><<<kGrid, kBlock>>>(in, out, kN);
       check(cudaDeviceSynchronize());
       const volatile int sum = std::accumulate(out, out + kGrid, 0);
       static_cast<void>(sum);
       check(cudaFree(in));
       check(cudaFree(out));
     }},
    {"copied_first",
     [] {
       const Data<int> d(kN, kGrid, false);
       int* other = nullptr;
       check(cudaMalloc(&other, kN * sizeof(int)));
       check(cudaMemcpy(other, d.in, kN * sizeof(int), cudaMemcpyDeviceToDevice));
       tree<Fault::kNone><<<kGrid, kBlock>>>(other, d.out, kN);
       check(cudaFree(other));
     }},
    {"room_behind",
     [] {
       const Data<int> d(kN, kGrid, false, true);
       tree<Fault::kNone><<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"fewer",  // the kernel is told to add up less than there is
     [] {
       const Data<int> d(kN, 3, false);
       tree<Fault::kNone><<<3, kBlock>>>(d.in, d.out, 300);
     }},
    {"copy",
     [] {
       const Data<int> d(kN, kN, false);
       copied<<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"stencil",
     [] {
       const Data<int> d(kN, kN, false);
       stencil<<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"weighted",
     [] {
       const Data<int> d(kN, 1, true);
       weighted<<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"largest",
     [] {
       const Data<int> d(kN, 1, true);
       largest<<<kGrid, kBlock>>>(d.in, d.out, kN);
     }},
    {"least_of_17",
     [] {
       const Data<int> d(17, 1, true);
       least_of_few<<<1, 17>>>(d.in, d.out);
     }},
    {"scanned",
     [] {
       const Data<int> d(kBlock, kBlock, false);
       scanned<<<1, kBlock>>>(d.in, d.out, kBlock);
     }},
};

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) kCases.at(arguments[i])();
  for (const auto& [name, run] : kCases) {
    if (count > 1) break;
    std::printf("%s\n", name.c_str());
  }
  return 0;
}
