// What the device in a page is compared by: kernels of many kinds, right ones and wrong ones, and a
// program that does with them what a file says, as a page's request would have it done.
//
//     kernels SCRIPT OUT    runs the script; OUT takes the bytes that it reads back
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

__device__ int table[4] = {3, 1, 4, 1};
__device__ int* pointer = table + 2;
__constant__ float scale = 1.5f;
__device__ unsigned counter;

extern "C" {

__global__ void tree(const int* in, int* out, std::uint64_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + t;
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0 && t + s < blockDim.x) tile[t] += tile[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = tile[0];
}

__global__ void strided(const int* in, int* out, unsigned stride) {
  extern __shared__ int rows[];
  const unsigned at = threadIdx.x * stride;
  rows[at] = in[at];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = rows[(threadIdx.x ^ 1) * stride];
}

__global__ void no_barrier(const int* in, int* out) {
  __shared__ int tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = tile[(threadIdx.x + 37) % blockDim.x];
}

__global__ void never_written(int* out) {
  __shared__ int tile[64];
  if (threadIdx.x < 10) tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void apart_barriers(int* out) {
  if (threadIdx.x % 2) {
    __syncthreads();
    out[threadIdx.x] = 1;
  } else {
    __syncthreads();
    out[threadIdx.x] = 2;
  }
}

__global__ void past_the_end(int* out, int by) {
  out[blockIdx.x * blockDim.x + threadIdx.x + by] = 1;
}

__global__ void misaligned(char* out) {
  *reinterpret_cast<int*>(out + threadIdx.x) = 1;
}

__global__ void waits_for_ever(int* out) {
  if (threadIdx.x == 0) asm volatile("barrier.sync 1, 64;");
  out[threadIdx.x] = 1;
}

// It counts: a loop whose state comes again is known to wait for ever, and ended.
__global__ void loops_for_ever(volatile int* out) {
  int turns = 0;
  while (out[0] == 0) ++turns;
  out[1] = turns;
}

__global__ void asserts(const int* in) {
  assert(in[threadIdx.x] < 40);
}

__global__ void traps(const int* in) {
  if (in[threadIdx.x] == 3) asm volatile("trap;");
}

__global__ void prints(const int* in) {
  if (threadIdx.x % 16 == 0) {
    std::printf("block %u thread %u: %d %08x %s|%5.2f %e %g %llu %c%%\n", blockIdx.x, threadIdx.x,
                in[threadIdx.x], in[threadIdx.x] * 77u, "text", in[threadIdx.x] / 3.0,
                in[threadIdx.x] * 1e100, 1e-7 * in[threadIdx.x], ~0ull, 'x');
  }
}

__global__ void variables(int* out) {
  out[threadIdx.x] = table[threadIdx.x % 4] * 100 + *pointer * 10 + static_cast<int>(scale * 2);
  if (threadIdx.x == 0) table[1] += 1;
  atomicInc(&counter, 1000);
  if (threadIdx.x == 1) *pointer = 5;
}

__global__ void floats(const float* in, float* out, double* doubles, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  const float kinds[] = {
      sinf(x),       cosf(x),     expf(x),   logf(x),           sqrtf(x),           __sinf(x),
      __expf(x),     __logf(x),   rsqrtf(x), powf(x, 1.7f),     __fdividef(1.f, x), x / 3.f,
      fmaf(x, x, x), tanhf(x),    truncf(x), __fadd_rz(x, .1f), __fmul_ru(x, .1f),  cbrtf(x),
      erff(x),       __frcp_rd(x)};
  float sum = 0;
  for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    out[i * 20 + k] = kinds[k];
    sum += kinds[k];
  }
  const double d = x;
  doubles[i * 8 + 0] = sin(d);
  doubles[i * 8 + 1] = exp(d / 10);
  doubles[i * 8 + 2] = log(fabs(d) + 1e-300);
  doubles[i * 8 + 3] = sqrt(fabs(d));
  doubles[i * 8 + 4] = __ddiv_ru(d, 3) + isnan(sum);
  doubles[i * 8 + 5] = fma(d, d, 1e-20);
  doubles[i * 8 + 6] = __dadd_rd(d, 1e-30);
  doubles[i * 8 + 7] = static_cast<double>(__float2ll_rn(x * 1e6f));
}

__global__ void halves(const float* in, float* out) {
  const __half2 h = __floats2half2_rn(in[threadIdx.x], in[threadIdx.x] * 3);
  const __half2 sum = __hfma2(h, h, h);
  out[threadIdx.x] = __low2float(sum) + __high2float(__hmul2(h, sum));
}

__global__ void warps(const int* in, int* out) {
  int v = in[threadIdx.x];
  for (int off = 16; off > 0; off /= 2) v += __shfl_down_sync(~0u, v, off);
  const unsigned votes = __ballot_sync(~0u, in[threadIdx.x] & 1);
  out[threadIdx.x] = v + __popc(votes) + __reduce_max_sync(~0u, in[threadIdx.x]) +
                     __match_any_sync(~0u, in[threadIdx.x] % 5) % 1000;
}

__global__ void from_outside(const int* in, int* out) {
  int v = 0;
  if (threadIdx.x < 20) v = __shfl_sync(0xfffff, in[threadIdx.x], 25);
  out[threadIdx.x] = v;
}

__global__ void atomics(int* out, float* sums, std::uint64_t* wide) {
  atomicAdd(&out[threadIdx.x % 7], threadIdx.x);
  atomicMax(&out[7], static_cast<int>(blockIdx.x * 31 % 17));
  atomicCAS(&out[8], 0, 5);
  atomicAdd(&sums[0], 1.f);
  atomicAdd(reinterpret_cast<unsigned long long*>(wide), 1ull << 33);
  atomicAnd(&out[9], ~(1 << threadIdx.x % 32));
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recursion(int* out) {
  out[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x % 9));
}

__global__ void heap(int* out) {
  int* mine = static_cast<int*>(malloc(64));
  if (mine == nullptr) return;
  for (int i = 0; i < 16; ++i) mine[i] = i * static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += mine[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  free(mine);
}

__global__ void copies(const int4* in, int4* out) {
  __shared__ int4 stage[128];
  __pipeline_memcpy_async(&stage[threadIdx.x], in + threadIdx.x, sizeof(int4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = stage[127 - threadIdx.x];
}

__global__ void grid_wide(int* data, int rounds) {
  const auto grid = cg::this_grid();
  const unsigned n = gridDim.x * blockDim.x;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    const int left = data[(i + n - 1) % n];
    grid.sync();
    data[i] += left;
    grid.sync();
  }
}

__global__ void integers(const std::uint64_t* in, std::uint64_t* out) {
  const std::uint64_t a = in[threadIdx.x], b = in[threadIdx.x ^ 1];
  out[threadIdx.x * 4] = __umul64hi(a, b) + a / (b | 1);
  out[threadIdx.x * 4 + 1] =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> 7) % (b | 3);
  out[threadIdx.x * 4 + 2] = __brevll(a) ^ __popcll(b) ^ __clzll(static_cast<long long>(a));
  out[threadIdx.x * 4 + 3] =
      __funnelshift_l(static_cast<unsigned>(a), static_cast<unsigned>(b), 9) +
      __vadd4(static_cast<unsigned>(a), static_cast<unsigned>(b >> 32));
}

__global__ void takes_struct(int* out, int3 three, char one, double two) {
  out[threadIdx.x] = three.x + three.y * 10 + three.z * 100 + one + static_cast<int>(two);
}

}  // extern "C"

namespace {

#define KERNEL(name) \
  { #name, reinterpret_cast < const void*>(&name) }
const std::map<std::string, const void*> kKernels = {
    KERNEL(tree),           KERNEL(strided),      KERNEL(no_barrier), KERNEL(never_written),
    KERNEL(apart_barriers), KERNEL(past_the_end), KERNEL(misaligned), KERNEL(waits_for_ever),
    KERNEL(loops_for_ever), KERNEL(asserts),      KERNEL(traps),      KERNEL(prints),
    KERNEL(variables),      KERNEL(floats),       KERNEL(halves),     KERNEL(warps),
    KERNEL(from_outside),   KERNEL(atomics),      KERNEL(recursion),  KERNEL(heap),
    KERNEL(copies),         KERNEL(grid_wide),    KERNEL(integers),   KERNEL(takes_struct)};

void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(3);
}

std::vector<char> bytes_of(const std::string& hexadecimal) {
  std::vector<char> bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

}  // namespace

int main(int, char** argv) {
  std::ifstream script(argv[1]);
  std::ofstream out(argv[2], std::ios::binary);
  std::vector<char*> buffers;
  for (std::string line, word; std::getline(script, line);) {
    std::istringstream words(line);
    std::size_t buffer = 0, offset = 0, bytes = 0;
    words >> word;
    if (word == "buffer") {
      words >> bytes >> word;
      void* at = nullptr;
      must(cudaMalloc(&at, bytes));
      buffers.push_back(static_cast<char*>(at));
      if (word != "-") {
        std::ifstream file(word, std::ios::binary);
        std::vector<char> data(bytes);
        file.read(data.data(), static_cast<std::streamsize>(bytes));
        must(cudaMemcpy(at, data.data(), static_cast<std::size_t>(file.gcount()),
                        cudaMemcpyHostToDevice));
      }
    } else if (word == "set") {
      int value = 0;
      words >> buffer >> offset >> bytes >> value;
      must(cudaMemset(buffers[buffer] + offset, value, bytes));
    } else if (word == "read") {
      words >> buffer >> offset >> bytes;
      std::vector<char> data(bytes);
      must(cudaMemcpy(data.data(), buffers[buffer] + offset, bytes, cudaMemcpyDeviceToHost));
      out.write(data.data(), static_cast<std::streamsize>(bytes));
    } else {  // launch
      dim3 grid, block;
      std::size_t shared = 0;
      bool cooperative = false;
      std::string name;
      words >> name >> grid.x >> grid.y >> grid.z >> block.x >> block.y >> block.z >> shared >>
          cooperative;
      std::vector<std::vector<char>> arguments;
      while (words >> word) {
        if (word == "buffer") {
          words >> buffer >> offset;
          char* const at = buffers[buffer] + offset;
          arguments.emplace_back(reinterpret_cast<const char*>(&at),
                                 reinterpret_cast<const char*>(&at) + sizeof at);
        } else {
          arguments.push_back(bytes_of(word));
        }
      }
      std::vector<void*> pointers;
      for (auto& argument : arguments) pointers.push_back(argument.data());
      const void* const kernel = kKernels.at(name);
      if (shared > 48 << 10) {
        must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared)));
      }
      must(cooperative ? cudaLaunchCooperativeKernel(kernel, grid, block, pointers.data(), shared)
                       : cudaLaunchKernel(kernel, grid, block, pointers.data(), shared));
      must(cudaDeviceSynchronize());
    }
  }
  for (char* buffer : buffers) must(cudaFree(buffer));
}
