// Launches whose memory counters settle how hardware counts: recorded on a GPU by ncu, repeated on
// the embedded device, compared row by row (tests/test_probes.py): one row per launch, in file
// order.
//
// Every index comes from an argument, and each kernel makes one access of the kind it is about, so
// that the assembler has nothing to merge: what is counted is what is written.
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace {

constexpr unsigned kElements = 1u << 16;

struct Three {
  int x, y, z;
};
struct Four {
  int x, y, z, w;
};
struct alignas(16) FourAligned {
  int x, y, z, w;
};

__device__ unsigned thread_in_grid() {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return block * blockDim.x * blockDim.y * blockDim.z + thread;
}

__device__ unsigned thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__device__ unsigned scatter(unsigned i) {
  i ^= i >> 7;
  i *= 0x9e3779b9u;
  return i ^ (i >> 15);
}

// ------------------------------------------------------------------------------ global memory

template <class T>
__global__ void global_load(const T* in, T* out, unsigned stride, unsigned offset) {
  const unsigned i = thread_in_grid();
  out[i] = in[(i * stride + offset) % kElements];
}

template <class T>
__global__ void global_store(T* out, unsigned stride, unsigned offset, T value) {
  out[(thread_in_grid() * stride + offset) % kElements] = value;
}

template <class T>
__global__ void global_gather(const T* in, T* out, unsigned range) {
  const unsigned i = thread_in_grid();
  out[i] = in[scatter(i) % range];
}

__global__ void global_guarded(const int* in, int* out, unsigned n) {
  const unsigned i = thread_in_grid();
  if (i < n) out[i] = in[i];
}

/// Lanes whose bit is not set in the mask leave before the access.
__global__ void global_masked(const int* in, int* out, unsigned mask) {
  const unsigned i = thread_in_grid();
  if ((mask >> (i % 32) & 1) == 0) return;
  out[i] = in[i];
}

/// Two sides of a branch, each with a load of its own.
__global__ void global_divergent(const int* in, int* out, unsigned modulus, unsigned far) {
  const unsigned i = thread_in_grid();
  int value;
  if (i % modulus == 0) {
    value = in[i];
    out[i] = value;
  } else {
    value = in[(i + far) % kElements];
    out[i] = value + 1;
  }
}

__global__ void global_volatile(const volatile int* in, int* out, unsigned stride) {
  const unsigned i = thread_in_grid();
  out[i] = in[(i * stride) % kElements];
}

__global__ void global_read_only(const int* __restrict__ in, int* out, unsigned stride) {
  const unsigned i = thread_in_grid();
  out[i] = __ldg(in + (i * stride) % kElements);
}

/// Atomics, one with its result unused; neither is a load or a store.
__global__ void global_atomics(int* counts, int* out, unsigned bins) {
  const unsigned i = thread_in_grid();
  atomicAdd(&counts[i % bins], 1);
  out[i] = atomicMax(&counts[bins + i % bins], 7);
}

// ------------------------------------------------------------------------------ shared memory

/// What a thread's slot is, from its number: the patterns of the shared probes.
enum class Slot { kStride, kShift, kXor, kScatter };

__device__ unsigned slot_of(Slot kind, unsigned i, unsigned k, unsigned slots) {
  switch (kind) {
    case Slot::kStride: return i * k % slots;
    case Slot::kShift: return (i >> k) % slots;
    case Slot::kXor: return (i ^ k) % slots;
    case Slot::kScatter: return scatter(i + k) % slots;
  }
  return 0;
}

template <class T>
__global__ void shared_load(T* out, Slot kind, unsigned k, unsigned slots, unsigned mask) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* tile = reinterpret_cast<T*>(bytes);
  const unsigned i = thread_in_block();
  if ((mask >> (i % 32) & 1) != 0) out[thread_in_grid()] = tile[slot_of(kind, i, k, slots)];
}

template <class T>
__global__ void shared_store(T value, Slot kind, unsigned k, unsigned slots, unsigned mask) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* tile = reinterpret_cast<T*>(bytes);
  const unsigned i = thread_in_block();
  if ((mask >> (i % 32) & 1) != 0) tile[slot_of(kind, i, k, slots)] = value;
}

/// A 32×32 tile turned: rows in, columns out, with rows of `pitch` words.
__global__ void shared_turn(const int* in, int* out, unsigned pitch) {
  extern __shared__ __align__(16) unsigned char bytes[];
  int* tile = reinterpret_cast<int*>(bytes);
  const unsigned x = threadIdx.x, y = threadIdx.y;
  tile[y * pitch + x] = in[y * 32 + x];
  __syncthreads();
  out[y * 32 + x] = tile[x * pitch + y];
}

// ----------------------------------------------------------------------------------- matrices

/// Rows of 8×8 matrices of 16 bits, whose addresses come from the lanes.
template <unsigned Matrices>
__global__ void matrix_load(unsigned* out, Slot kind, unsigned k, unsigned slots) {
  extern __shared__ __align__(16) unsigned char bytes[];
  const auto tile = static_cast<unsigned>(__cvta_generic_to_shared(bytes));
  const unsigned at = tile + 16 * slot_of(kind, thread_in_block(), k, slots);
  unsigned a, b = 0, c = 0, d = 0;
  if constexpr (Matrices == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at));
  } else if constexpr (Matrices == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "r"(at));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(at));
  }
  out[thread_in_grid()] = a ^ b ^ c ^ d;
}

template <unsigned Matrices>
__global__ void matrix_store(unsigned value, Slot kind, unsigned k, unsigned slots) {
  extern __shared__ __align__(16) unsigned char bytes[];
  const auto tile = static_cast<unsigned>(__cvta_generic_to_shared(bytes));
  const unsigned at = tile + 16 * slot_of(kind, thread_in_block(), k, slots);
  if constexpr (Matrices == 1) {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at), "r"(value));
  } else if constexpr (Matrices == 2) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %1};" ::"r"(at),
                 "r"(value));
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(at),
                 "r"(value));
  }
}

template <class Use, class T, class Layout>
__global__ void fragment_load(T* out, unsigned pitch) {
  extern __shared__ __align__(16) unsigned char bytes[];
  nvcuda::wmma::fragment<Use, 16, 16, 16, T, Layout> all;
  nvcuda::wmma::load_matrix_sync(all, reinterpret_cast<const T*>(bytes), pitch);
  T* to = out + thread_in_grid() * all.num_elements;
  for (int i = 0; i < all.num_elements; ++i) to[i] = all.x[i];
}

template <class T>
__global__ void sums_load(T* out, unsigned pitch, nvcuda::wmma::layout_t layout) {
  extern __shared__ __align__(16) unsigned char bytes[];
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, T> all;
  nvcuda::wmma::load_matrix_sync(all, reinterpret_cast<const T*>(bytes), pitch, layout);
  T* to = out + thread_in_grid() * all.num_elements;
  for (int i = 0; i < all.num_elements; ++i) to[i] = all.x[i];
}

template <class T>
__global__ void sums_store(T value, unsigned pitch, nvcuda::wmma::layout_t layout) {
  extern __shared__ __align__(16) unsigned char bytes[];
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, T> all;
  nvcuda::wmma::fill_fragment(all, value);
  nvcuda::wmma::store_matrix_sync(reinterpret_cast<T*>(bytes), all, pitch, layout);
}

// ------------------------------------------------------------------------------ the list

int row = 0;

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "row %d: %s\n", row, cudaGetErrorString(status));
  std::exit(3);
}

/// After each launch: its row and what it was.
void done(const char* format, unsigned a = 0, unsigned b = 0, unsigned c = 0, unsigned d = 0) {
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  std::printf("%d ", row++);
  std::printf(format, a, b, c, d);
  std::printf("\n");
}

void* in = nullptr;
void* out = nullptr;
constexpr std::size_t kBytes = std::size_t{kElements} * 32;

template <class T>
void global_width() {
  const auto* from = static_cast<const T*>(in);
  auto* to = static_cast<T*>(out);
  for (const unsigned stride : {1u, 2u, 3u, 4u, 7u, 8u, 16u, 31u, 32u, 33u}) {
    global_load<T><<<3, 128>>>(from, to, stride, 0);
    done("global load, width %u, stride %u", sizeof(T), stride);
    global_store<T><<<3, 128>>>(to, stride, 0, T{});
    done("global store, width %u, stride %u", sizeof(T), stride);
  }
  for (const unsigned offset : {1u, 3u, 8u, 31u}) {
    global_load<T><<<3, 128>>>(from, to, 1, offset);
    done("global load, width %u, offset %u", sizeof(T), offset);
  }
  for (const unsigned range : {1u, 8u, 100u, 5000u}) {
    global_gather<T><<<2, 96>>>(from, to, range);
    done("global gather, width %u, of %u", sizeof(T), range);
  }
}

template <class T>
void shared_width() {
  auto* to = static_cast<T*>(out);
  constexpr unsigned kAll = 0xffffffffu;
  constexpr unsigned kSlots = 2048 / sizeof(T) * 8;
  constexpr std::size_t kTile = kSlots * sizeof(T);
  const auto both = [&](Slot kind, unsigned k, unsigned slots, unsigned mask, unsigned block) {
    shared_load<T><<<2, block, kTile>>>(to, kind, k, slots, mask);
    done("shared load, width %u, pattern %u of %u, block %u", sizeof(T),
         static_cast<unsigned>(kind), k, block);
    shared_store<T><<<2, block, kTile>>>(T{}, kind, k, slots, mask);
    done("shared store, width %u, pattern %u of %u, block %u", sizeof(T),
         static_cast<unsigned>(kind), k, block);
  };
  for (const unsigned stride : {0u, 1u, 2u, 3u, 4u, 5u, 8u, 16u, 17u, 32u, 33u}) {
    both(Slot::kStride, stride, kSlots, kAll, 64);
  }
  for (const unsigned shift : {1u, 2u, 3u, 4u}) both(Slot::kShift, shift, kSlots, kAll, 96);
  for (const unsigned flip : {1u, 2u, 5u, 16u}) both(Slot::kXor, flip, kSlots, kAll, 64);
  for (const unsigned slots : {8u, 32u, 64u, 1000u}) both(Slot::kScatter, slots, slots, kAll, 64);
  for (const unsigned mask : {0x55555555u, 0x33333333u, 0x0000ffffu, 0x80000001u, 0x0f0f0f0fu}) {
    both(Slot::kStride, 1, kSlots, mask, 64);
    both(Slot::kStride, 4, kSlots, mask, 64);
    both(Slot::kScatter, 3, 64, mask, 64);
  }
  both(Slot::kStride, 2, kSlots, kAll, 45);  // a last warp of 13 lanes
}

template <unsigned Matrices>
void matrices() {
  constexpr unsigned kSlots = 1024;
  const auto both = [&](Slot kind, unsigned k, unsigned slots) {
    matrix_load<Matrices><<<2, 64, 16 * kSlots>>>(static_cast<unsigned*>(out), kind, k, slots);
    done("ldmatrix, x%u, pattern %u of %u, %u rows", Matrices, static_cast<unsigned>(kind), k,
         slots);
    matrix_store<Matrices><<<2, 64, 16 * kSlots>>>(7, kind, k, slots);
    done("stmatrix, x%u, pattern %u of %u, %u rows", Matrices, static_cast<unsigned>(kind), k,
         slots);
  };
  for (const unsigned stride : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 8u, 9u}) {
    both(Slot::kStride, stride, kSlots);
  }
  for (const unsigned shift : {1u, 2u, 3u, 4u}) both(Slot::kShift, shift, kSlots);
  for (const unsigned flip : {1u, 5u}) both(Slot::kXor, flip, kSlots);
  for (const unsigned slots : {8u, 16u, 100u, 1000u}) both(Slot::kScatter, slots, slots);
}

template <class T>
void sums() {
  using namespace nvcuda::wmma;
  auto* to = static_cast<T*>(out);
  for (const unsigned pitch : {16u, 24u, 40u, 64u}) {
    for (const layout_t layout : {mem_row_major, mem_col_major}) {
      sums_load<T><<<2, 32, 64 * 64 * sizeof(T)>>>(to, pitch, layout);
      done("wmma load of sums, width %u, layout %u, pitch %u", sizeof(T), layout, pitch);
      sums_store<T><<<2, 32, 64 * 64 * sizeof(T)>>>(T{}, pitch, layout);
      done("wmma store of sums, width %u, layout %u, pitch %u", sizeof(T), layout, pitch);
    }
  }
}

void fragments() {
  using namespace nvcuda::wmma;
  auto* to = static_cast<half*>(out);
  for (const unsigned pitch : {16u, 24u, 40u, 64u}) {
    fragment_load<matrix_a, half, row_major><<<2, 32, 8192>>>(to, pitch);
    done("wmma load of a, rows, pitch %u", pitch);
    fragment_load<matrix_a, half, col_major><<<2, 32, 8192>>>(to, pitch);
    done("wmma load of a, columns, pitch %u", pitch);
    fragment_load<matrix_b, half, row_major><<<2, 32, 8192>>>(to, pitch);
    done("wmma load of b, rows, pitch %u", pitch);
    fragment_load<matrix_b, half, col_major><<<2, 32, 8192>>>(to, pitch);
    done("wmma load of b, columns, pitch %u", pitch);
  }
  sums<half>();
  sums<float>();
}

}  // namespace

int main() {
  check(cudaMalloc(&in, kBytes));
  check(cudaMalloc(&out, kBytes));
  check(cudaMemset(in, 0, kBytes));
  check(cudaMemset(out, 0, kBytes));
  const auto* ints = static_cast<const int*>(in);
  auto* to = static_cast<int*>(out);

  global_width<char>();
  global_width<short>();
  global_width<int>();
  global_width<int2>();
  global_width<int4>();
  global_width<Three>();
  global_width<Four>();
  global_width<FourAligned>();

  for (const unsigned n : {0u, 1u, 31u, 32u, 33u, 100u, 127u, 128u}) {
    global_guarded<<<2, 64>>>(ints, to, n);
    done("guarded copy of %u", n);
  }
  for (const unsigned mask : {0u, 1u, 0x80000000u, 0x55555555u, 0x00ff00ffu, 0x7fffffffu}) {
    global_masked<<<2, 64>>>(ints, to, mask);
    done("lanes of mask %x", mask);
  }
  for (const unsigned modulus : {1u, 2u, 3u, 32u, 64u}) {
    global_divergent<<<2, 128>>>(ints, to, modulus, 1000);
    done("divergent, every %u-th", modulus);
  }
  for (const unsigned stride : {1u, 2u, 9u}) {
    global_volatile<<<2, 64>>>(ints, to, stride);
    done("volatile load, stride %u", stride);
    global_read_only<<<2, 64>>>(ints, to, stride);
    done("read-only load, stride %u", stride);
  }
  for (const unsigned bins : {1u, 7u, 1024u}) {
    global_atomics<<<2, 64>>>(to, to + 4096, bins);
    done("atomics on %u", bins);
  }
  for (const dim3 block : {dim3(5, 3, 7), dim3(33, 1, 1), dim3(3, 11, 2), dim3(1, 1, 64), dim3(1),
                           dim3(31), dim3(16, 16), dim3(1024)}) {
    global_load<int><<<dim3(2, 3, 2), block>>>(ints, to, 3, 1);
    done("block of %u x %u x %u", block.x, block.y, block.z);
  }

  shared_width<char>();
  shared_width<short>();
  shared_width<int>();
  shared_width<int2>();
  shared_width<int4>();
  for (const unsigned pitch : {32u, 33u, 34u, 36u, 40u}) {
    shared_turn<<<1, dim3(32, 32), 32 * pitch * sizeof(int)>>>(ints, to, pitch);
    done("turned tile, rows of %u", pitch);
  }
  matrices<1>();
  matrices<2>();
  matrices<4>();
  fragments();
  return 0;
}
