// What hardware answers of clusters: numbers of blocks and clusters, shared memory of other blocks,
// barriers, launches that are refused, and how many clusters fit.
//
// By hand, on a machine with an H200:
//   nvcc -std=c++17 -arch=sm_90 -o probe clusters.cu
//   ./probe; for m in 1 2 3 4 5 6 7 8; do timeout 20 ./probe $m || echo "$m: status $?"; done
// clusters.h200.txt is what that printed, after a line with the GPU and the driver. What may hang
// or break the device is asked in a process of its own.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

namespace cg = cooperative_groups;

#define ASK(call)                                                                            \
  do {                                                                                       \
    const cudaError_t status = (call);                                                       \
    std::printf("%s -> %d %s\n", #call, static_cast<int>(status), cudaGetErrorName(status)); \
    cudaGetLastError();                                                                      \
  } while (false)

constexpr int kWords = 4096;
unsigned* results;

void show(const char* name, cudaError_t launched, int words) {
  const cudaError_t last = cudaGetLastError();
  const cudaError_t status = cudaDeviceSynchronize();
  static unsigned got[kWords];
  cudaMemcpy(got, results, sizeof got, cudaMemcpyDefault);
  std::printf("%s: %d %d %d", name, static_cast<int>(launched), static_cast<int>(last),
              static_cast<int>(status));
  for (int i = 0; i < words; ++i) std::printf(" %x", got[i]);
  std::printf("\n");
  cudaMemset(results, 0, sizeof got);
  cudaGetLastError();
}

struct Launch {
  dim3 grid, block, cluster;
  unsigned shared = 0;
  int more =
      0;  // 1: cooperative too; 2: the cluster's attribute twice; 3: spread; 4: load balancing
};

template <class... Parameters, class... Arguments>
cudaError_t launch(const Launch& l, void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attributes[3] = {};
  config.gridDim = l.grid, config.blockDim = l.block, config.dynamicSmemBytes = l.shared;
  config.attrs = attributes;
  if (l.cluster.x || l.cluster.y) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim = {l.cluster.x, l.cluster.y, l.cluster.z};
  }
  if (l.more == 1) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeCooperative;
    a.val.cooperative = 1;
  }
  if (l.more >= 3) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
    a.val.clusterSchedulingPolicyPreference =
        l.more == 3 ? cudaClusterSchedulingPolicySpread : cudaClusterSchedulingPolicyLoadBalancing;
  }
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

#define SREG(to, name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(to))

// All that a block can ask of its cluster.
__global__ void numbers(unsigned* to) {
  unsigned v[20];
  SREG(v[0], "clusterid.x");
  SREG(v[1], "clusterid.y");
  SREG(v[2], "clusterid.z");
  SREG(v[3], "nclusterid.x");
  SREG(v[4], "nclusterid.y");
  SREG(v[5], "nclusterid.z");
  SREG(v[6], "cluster_ctaid.x");
  SREG(v[7], "cluster_ctaid.y");
  SREG(v[8], "cluster_ctaid.z");
  SREG(v[9], "cluster_nctaid.x");
  SREG(v[10], "cluster_nctaid.y");
  SREG(v[11], "cluster_nctaid.z");
  SREG(v[12], "cluster_ctarank");
  SREG(v[13], "cluster_nctarank");
  asm volatile("{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p;}"
               : "=r"(v[14]));
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 15; ++i) to[block * 15 + i] = v[i];
  }
}
__global__ void __cluster_dims__(2, 2, 1) fixed(unsigned* to) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned rank;
  SREG(rank, "cluster_ctarank");
  if (threadIdx.x == 0) to[block] = rank | cg::this_cluster().num_blocks() << 8;
}
// The group's own numbers.
__global__ void grouped(unsigned* to) {
  cg::cluster_group c = cg::this_cluster();
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  if (threadIdx.x == 1 && threadIdx.y == 1) {
    const dim3 b = c.block_index(), t = c.thread_index(), n = c.dim_blocks(), m = c.dim_threads();
    const unsigned v[] = {b.x,
                          b.y,
                          b.z,
                          t.x,
                          t.y,
                          t.z,
                          n.x,
                          n.y,
                          n.z,
                          m.x,
                          m.y,
                          m.z,
                          c.block_rank(),
                          c.thread_rank(),
                          c.num_blocks(),
                          c.num_threads()};
    for (int i = 0; i < 16; ++i) to[block * 16 + i] = v[i];
  }
}

// Addresses of shared memory: one's own, a neighbour's, and what the queries say of each.
__global__ void addresses(unsigned* to) {
  __shared__ alignas(16) unsigned tile[32];
  cg::cluster_group c = cg::this_cluster();
  const unsigned rank = c.block_rank(), next = (rank + 1) % c.num_blocks();
  tile[threadIdx.x] = rank * 100 + threadIdx.x;
  c.sync();
  if (threadIdx.x == 0) {
    const auto own = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    unsigned there, back, of, of_own, mapped_own;
    std::uint64_t generic, own_generic = reinterpret_cast<std::uint64_t>(tile), same;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(next));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped_own) : "r"(own), "r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(back) : "r"(there), "r"(rank));
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(own_generic), "r"(next));
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(same) : "l"(own_generic), "r"(rank));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of) : "r"(there));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of_own) : "r"(own));
    unsigned of_generic, is_shared, is_shared_cluster, is_own_shared, is_global;
    asm volatile("getctarank.u64 %0, %1;" : "=r"(of_generic) : "l"(generic));
    const auto* p = reinterpret_cast<const void*>(generic);
    is_shared = __isShared(p), is_shared_cluster = __isClusterShared(p),
    is_own_shared = __isClusterShared(tile), is_global = __isGlobal(p);
    std::uint64_t far;
    asm volatile("cvta.to.shared::cluster.u64 %0, %1;" : "=l"(far) : "l"(generic));
    unsigned loaded, by_own, from_u32;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(loaded) : "r"(there + 4) : "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(by_own) : "r"(own + 4) : "memory");
    from_u32 = *reinterpret_cast<volatile const unsigned*>(generic + 8);
    unsigned* mapped = c.map_shared_rank(tile, static_cast<int>(next));
    const unsigned v[] = {
        own,
        there,
        mapped_own,
        back,
        of,
        of_own,
        of_generic,
        static_cast<unsigned>(generic - (own_generic & ~std::uint64_t{0xffffffff})),
        static_cast<unsigned>(generic >> 32) == static_cast<unsigned>(own_generic >> 32),
        same == own_generic,
        is_shared,
        is_shared_cluster,
        is_own_shared,
        is_global,
        static_cast<unsigned>(far),
        loaded,
        by_own,
        from_u32,
        mapped[3],
        c.query_shared_rank(mapped),
        same - own_generic > 0xffffffff ? 1u : static_cast<unsigned>(same - own_generic)};
    for (int i = 0; i < 21; ++i) to[rank * 21 + i] = v[i];
  }
  c.sync();
}

// Every block adds to, and stores in, every other's shared memory.
__global__ void remote(unsigned* to) {
  __shared__ unsigned sum, low, bits, swapped, stored[16], wide[64];
  cg::cluster_group c = cg::this_cluster();
  const unsigned rank = c.block_rank(), n = c.num_blocks();
  if (threadIdx.x == 0) sum = 0, low = 1000, bits = 0, swapped = 7;
  c.sync();
  for (unsigned r = 0; r < n; ++r) {
    atomicAdd(c.map_shared_rank(&sum, r), rank + threadIdx.x);
    atomicMin(c.map_shared_rank(&low, r), 100 + rank);
    atomicOr(c.map_shared_rank(&bits, r), 1u << rank);
    if (threadIdx.x == 0) c.map_shared_rank(stored, r)[rank] = rank * 16 + r;
    if (threadIdx.x == 0 && r == (rank + 1) % n)
      atomicCAS(c.map_shared_rank(&swapped, r), 7u, rank);
    if (threadIdx.x < 2) {
      reinterpret_cast<uint4*>(c.map_shared_rank(wide, r))[(threadIdx.x * n + rank) % 16] =
          make_uint4(rank, r, threadIdx.x, 9);
    }
  }
  c.sync();
  if (threadIdx.x == 0) {
    unsigned* at = to + rank * (4 + 16 + 64);
    at[0] = sum, at[1] = low, at[2] = bits, at[3] = swapped;
    for (unsigned i = 0; i < 16; ++i) at[4 + i] = i < n ? stored[i] : 0;
    for (unsigned i = 0; i < 64; ++i) at[20 + i] = i < 8 * n ? wide[i] : 0;
  }
}

// The barriers as PTX has them: arrive and wait apart, by some lanes.
__global__ void barriers(unsigned* to) {
  __shared__ unsigned word;
  cg::cluster_group c = cg::this_cluster();
  const unsigned rank = c.block_rank(), next = (rank + 1) % c.num_blocks();
  word = rank + 1;
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
  const unsigned a = *c.map_shared_rank(&word, next);
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0) word = 50 + rank;
  __threadfence();
  auto token = c.barrier_arrive();
  c.barrier_wait(std::move(token));
  const unsigned b = *c.map_shared_rank(&word, next);
  if (threadIdx.x < 16)
    asm volatile("barrier.cluster.arrive;" ::: "memory");
  else
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");
  if (threadIdx.x == 0) to[rank * 2] = a, to[rank * 2 + 1] = b;
}
// A warp that has exited is not waited for.
__global__ void leavers(unsigned* to) {
  cg::cluster_group c = cg::this_cluster();
  if (threadIdx.x >= 32) return;
  c.sync();
  if (threadIdx.x == 0) to[c.block_rank()] = 1 + c.block_rank();
}
// Nor a whole block.
__global__ void block_leaves(unsigned* to) {
  cg::cluster_group c = cg::this_cluster();
  if (c.block_rank() == 1) return;
  c.sync();
  if (threadIdx.x == 0) to[c.block_rank()] = 1 + c.block_rank();
}

// A barrier in a neighbour's shared memory: remote arrival, st.async, and a bulk copy to all.
__global__ void messages(unsigned* to, const uint4* from) {
  __shared__ alignas(16) uint4 tile[32];
  __shared__ alignas(8) std::uint64_t bar, other;
  __shared__ alignas(8) unsigned words[8];
  cg::cluster_group c = cg::this_cluster();
  const unsigned rank = c.block_rank(), n = c.num_blocks(), next = (rank + 1) % n;
  const auto own = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  const auto arrivals = static_cast<unsigned>(__cvta_generic_to_shared(&other));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(own) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(arrivals), "r"(n) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int i = 0; i < 8; ++i) words[i] = 0;
  }
  c.sync();
  const auto wait = [](unsigned at, unsigned phase) {
    unsigned done = 0;
    while (!done) {
      asm volatile(
          "{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; "
          "selp.u32 %0, 1, 0, p;}"
          : "=r"(done)
          : "r"(at), "r"(phase)
          : "memory");
    }
  };
  unsigned there, place;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(next));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(place)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(words))), "r"(next));
  // st.async: 4 + 8 + 16 bytes into the neighbour, which counts them.
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 28;" ::"r"(own) : "memory");
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(place),
        "r"(rank + 1), "r"(there)
        : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];" ::"r"(
                     place + 8),
                 "l"(std::uint64_t{rank} << 32 | 5), "r"(there)
                 : "memory");
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1,%2,%3,%4}, [%5];" ::
            "r"(place + 16),
        "r"(rank), "r"(rank + 20), "r"(rank + 30), "r"(rank + 40), "r"(there)
        : "memory");
  }
  wait(own, 0);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 8; ++i) to[rank * 20 + i] = words[i];
  }
  // Arrivals from all blocks of the cluster.
  if (threadIdx.x == 0) {
    for (unsigned r = 0; r < n; ++r) {
      unsigned at;
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(arrivals), "r"(r));
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at)
                   : "memory");
    }
  }
  wait(arrivals, 0);
  // One copy from global memory to all blocks, told to each one's barrier.
  if (threadIdx.x == 0)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(own) : "memory");
  c.sync();
  if (threadIdx.x == 0 && rank == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], 512, [%2], %3;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(tile))),
        "l"(from), "r"(own), "h"(static_cast<unsigned short>((1u << n) - 1))
        : "memory");
  }
  wait(own, 1);
  unsigned sum = 0;
  for (int i = 0; i < 32; ++i) sum += tile[i].x + tile[i].w;
  // And one from shared memory to the neighbour's.
  c.sync();
  tile[threadIdx.x] = make_uint4(rank, threadIdx.x, 0, 0);
  asm volatile("fence.proxy.async;" ::: "memory");
  c.sync();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 64;" ::"r"(own) : "memory");
    unsigned to_tile;
    const auto from_tile = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(to_tile)
                 : "r"(from_tile + 256), "r"(next));
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 64, "
        "[%2];" ::"r"(to_tile),
        "r"(from_tile), "r"(there)
        : "memory");
  }
  wait(own, 0);
  if (threadIdx.x == 0) {
    to[rank * 20 + 8] = sum;
    to[rank * 20 + 9] = tile[16].x, to[rank * 20 + 10] = tile[19].y,
                   to[rank * 20 + 11] = tile[20].x;
  }
  c.sync();
}

// ---- what may hang or break ----

__global__ void rank_outside(unsigned* to) {
  __shared__ unsigned tile[4];
  tile[threadIdx.x % 4] = 5;
  cg::this_cluster().sync();
  const auto own = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  unsigned there, got = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(7));
  to[blockIdx.x * 4] = there;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(there) : "memory");
  to[blockIdx.x * 4 + 1] = got;
  cg::this_cluster().sync();
}
__global__ void exited(unsigned* to) {
  __shared__ unsigned tile[4];
  cg::cluster_group c = cg::this_cluster();
  tile[threadIdx.x % 4] = 5 + c.block_rank();
  c.sync();
  if (c.block_rank() == 1) return;
  const long long from = clock64();
  while (clock64() - from < 1000000) {
  }
  if (threadIdx.x == 0) to[0] = *c.map_shared_rank(tile, 1);
}
__global__ void past_the_end(unsigned* to) {
  __shared__ unsigned tile[4];
  cg::cluster_group c = cg::this_cluster();
  tile[threadIdx.x % 4] = 5;
  c.sync();
  if (threadIdx.x == 0 && c.block_rank() == 0) to[0] = c.map_shared_rank(tile, 1)[64 * 1024];
  c.sync();
}
__global__ void wait_only(unsigned* to) {
  asm volatile("barrier.cluster.wait;" ::: "memory");
  to[blockIdx.x] = 1;
}
__global__ void arrive_twice(unsigned* to) {
  asm volatile("barrier.cluster.arrive;" ::: "memory");
  asm volatile("barrier.cluster.arrive;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");
  to[blockIdx.x] = 1;
}
__global__ void one_misses(unsigned* to) {  // block 1 waits for a flag that comes after the barrier
  if (blockIdx.x == 1) {
    while (atomicAdd(to + 100, 0) == 0) {
    }
  }
  asm volatile("barrier.cluster.arrive;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");
  if (blockIdx.x == 0) atomicAdd(to + 100, 1);
  to[blockIdx.x] = 1;
}
__global__ void arrive_and_leave(unsigned* to) {
  to[blockIdx.x] = 3;
  asm volatile("barrier.cluster.arrive;" ::: "memory");
}

__global__ void plain(unsigned* to) {
  if (threadIdx.x == 0 && blockIdx.x < 16) to[blockIdx.x] = 1;
}
__global__ void __cluster_dims__(3, 1, 1) three(unsigned* to) {
  to[blockIdx.x] = 1;
}
__global__ void __cluster_dims__(16, 1, 1) sixteen(unsigned* to) {
  to[blockIdx.x] = 1;
}

void sizes() {
  const struct {
    const char* name;
    Launch l;
  } launches[] = {{"1", {8, 32, 1}},
                  {"2", {8, 32, 2}},
                  {"3 of 9", {9, 32, 3}},
                  {"3 of 8", {8, 32, 3}},
                  {"5 of 10", {10, 32, 5}},
                  {"6 of 12", {12, 32, 6}},
                  {"7 of 14", {14, 32, 7}},
                  {"8 of 16", {16, 32, 8}},
                  {"8 of 12", {12, 32, 8}},
                  {"9 of 18", {18, 32, 9}},
                  {"16 of 16", {16, 32, 16}},
                  {"0 1 1", {8, 32, {0, 1, 1}}},
                  {"2 0 1", {8, 32, {2, 0, 1}}},
                  {"2 2 2", {{2, 2, 2}, 32, {2, 2, 2}}},
                  {"2 2 2 of 2 2 3", {{2, 2, 3}, 32, {2, 2, 2}}},
                  {"4 of 2", {2, 32, 4}},
                  {"2, 1024 threads", {4, 1024, 2}},
                  {"2, 1025 threads", {4, 1025, 2}},
                  {"2, cooperative", {4, 32, 2, 0, 1}},
                  {"2, spread", {4, 32, 2, 0, 3}},
                  {"2, balancing", {4, 32, 2, 0, 4}},
                  {"8, 48 kB", {8, 32, 8, 49152}},
                  {"8, 49 kB", {8, 32, 8, 50176}},
                  {"none, cooperative", {4, 32, {0, 0, 0}, 0, 1}}};
  for (const auto& [name, l] : launches)
    show((std::string("size ") + name).c_str(), launch(l, plain, results), 16);
  for (const unsigned n : {2u, 3u, 4u, 6u}) {
    show(("fixed 2 2 of " + std::to_string(n) + " 2").c_str(),
         launch({{n, 2, 1}, 32, {0, 0, 0}}, fixed, results), 12);
  }
  show("fixed 2 2 with 2 2", launch({{4, 2, 1}, 32, {2, 2, 1}}, fixed, results), 8);
  show("fixed 2 2 with 2 1", launch({{4, 2, 1}, 32, {2, 1, 1}}, fixed, results), 8);
  fixed<<<dim3(4, 2), 32>>>(results);
  show("fixed 2 2, <<<>>>", cudaSuccess, 8);
  fixed<<<dim3(3, 2), 32>>>(results);
  show("fixed 2 2 of 3 2, <<<>>>", cudaSuccess, 8);
  three<<<9, 32>>>(results);
  show("fixed 3, <<<>>>", cudaSuccess, 9);
  sixteen<<<16, 32>>>(results);
  show("fixed 16, <<<>>>", cudaSuccess, 16);
  ASK(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  ASK(cudaFuncSetAttribute(sixteen, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  show("16 of 16, allowed", launch({16, 32, 16}, plain, results), 16);
  show("17 of 17, allowed", launch({17, 32, 17}, plain, results), 16);
  show("9 of 18, allowed", launch({18, 32, 9}, plain, results), 16);
  show("12 of 12, allowed", launch({12, 32, 12}, plain, results), 16);
  show("15 of 15, allowed", launch({15, 32, 15}, plain, results), 16);
  show("16, 1024 threads, allowed", launch({16, 1024, 16}, plain, results), 16);
  sixteen<<<16, 32>>>(results);
  show("fixed 16, allowed, <<<>>>", cudaSuccess, 16);
  ASK(cudaFuncSetAttribute(plain, cudaFuncAttributeRequiredClusterWidth, 2));
  ASK(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 2));
  ASK(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 0));
  cudaFuncAttributes a;
  for (const auto& [name, kernel] : {std::pair{"plain", plain}, std::pair{"fixed", fixed},
                                     std::pair{"sixteen", sixteen}, std::pair{"three", three}}) {
    cudaFuncGetAttributes(&a, kernel);
    std::printf("%s: must be set %d, width %d %d %d, policy %d, non portable %d\n", name,
                a.clusterDimMustBeSet, a.requiredClusterWidth, a.requiredClusterHeight,
                a.requiredClusterDepth, a.clusterSchedulingPolicyPreference,
                a.nonPortableClusterSizeAllowed);
  }
  int value = 0;
  ASK(cudaDeviceGetAttribute(&value, cudaDevAttrClusterLaunch, 0));
  std::printf("%d\n", value);
}

void occupancy() {
  cudaFuncSetAttribute(numbers, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024);
  for (const int allowed : {0, 1}) {
    cudaFuncSetAttribute(numbers, cudaFuncAttributeNonPortableClusterSizeAllowed, allowed);
    for (const unsigned threads : {32u, 256u, 1024u}) {
      for (const unsigned shared : {0u, 48u * 1024, 100u * 1024, 227u * 1024}) {
        cudaLaunchConfig_t config = {};
        cudaLaunchAttribute a = {};
        config.gridDim = 16 * 132, config.blockDim = threads, config.dynamicSmemBytes = shared;
        int size = -1;
        const cudaError_t most = cudaOccupancyMaxPotentialClusterSize(&size, numbers, &config);
        std::printf("allowed %d, %u threads, %u bytes: potential %d %d;", allowed, threads, shared,
                    static_cast<int>(most), size);
        config.attrs = &a, config.numAttrs = 1;
        a.id = cudaLaunchAttributeClusterDimension;
        for (const unsigned width : {1u, 2u, 3u, 4u, 8u, 9u, 16u}) {
          a.val.clusterDim = {width, 1, 1};
          int clusters = -1;
          const cudaError_t status = cudaOccupancyMaxActiveClusters(&clusters, numbers, &config);
          std::printf(" %u: %d %d;", width, static_cast<int>(status), clusters);
          cudaGetLastError();
        }
        std::printf("\n");
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  cudaMalloc(&results, kWords * 4);
  cudaMemset(results, 0, kWords * 4);
  if (argc > 1) {
    const Launch two = {2, 32, 2};
    switch (std::atoi(argv[1])) {
      case 1: show("rank outside", launch(two, rank_outside, results), 8); break;
      case 2: show("exited", launch(two, exited, results), 2); break;
      case 3: show("past the end", launch(two, past_the_end, results), 2); break;
      case 4: show("wait only", launch(two, wait_only, results), 2); break;
      case 5: show("arrive twice", launch(two, arrive_twice, results), 2); break;
      case 6: show("one misses", launch(two, one_misses, results), 2); break;
      case 7: show("arrive and leave", launch(two, arrive_and_leave, results), 2); break;
      case 8: show("block leaves", launch({4, 64, 4}, block_leaves, results), 4); break;
    }
    return 0;
  }
  show("numbers, plain", launch({{2, 2, 2}, 32, {0, 0, 0}}, numbers, results), 8 * 15);
  show("numbers, 1", launch({2, 32, 1}, numbers, results), 2 * 15);
  show("numbers, 2 1 1 of 4 2 1", launch({{4, 2, 1}, 32, {2, 1, 1}}, numbers, results), 8 * 15);
  show("numbers, 1 2 2 of 2 4 2", launch({{2, 4, 2}, 32, {1, 2, 2}}, numbers, results), 16 * 15);
  show("numbers, 3 of 6", launch({6, 32, 3}, numbers, results), 6 * 15);
  show("grouped, 2 2 1 of 4 2 1", launch({{4, 2, 1}, {4, 4, 2}, {2, 2, 1}}, grouped, results),
       8 * 16);
  show("grouped, plain", launch({2, {4, 4, 1}, {0, 0, 0}}, grouped, results), 2 * 16);
  show("addresses, 2", launch({2, 32, 2}, addresses, results), 42);
  show("addresses, 4", launch({4, 32, 4}, addresses, results), 84);
  show("addresses, plain", launch({1, 32, {0, 0, 0}}, addresses, results), 21);
  for (const unsigned n : {1u, 2u, 4u, 8u})
    show(("remote, " + std::to_string(n)).c_str(), launch({n, 64, n}, remote, results),
         static_cast<int>(n) * 84);
  show("barriers, 4", launch({4, 64, 4}, barriers, results), 8);
  show("barriers, plain", launch({2, 64, {0, 0, 0}}, barriers, results), 8);
  show("leavers, 4", launch({4, 128, 4}, leavers, results), 4);
  uint4 host[32], *from;
  for (unsigned i = 0; i < 32; ++i) host[i] = {i, 0, 0, 1000 * i};
  cudaMalloc(&from, sizeof host);
  cudaMemcpy(from, host, sizeof host, cudaMemcpyDefault);
  for (const unsigned n : {1u, 2u, 4u})
    show(("messages, " + std::to_string(n)).c_str(),
         launch({n, 32, n}, messages, results, static_cast<const uint4*>(from)),
         static_cast<int>(n) * 20);
  sizes();
  occupancy();
}
