// How fast the device carries out what other people's programs are made of: per kernel the warp
// instructions that a thread of the host gets through in a second of the processor's time, the best
// of several launches. Each result is compared with the host's.
//
//     programs [LAUNCHES [KERNEL]]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <dlfcn.h>

#include "emu/counters.h"

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// Memory of the device.
template <class T>
class Array {
 public:
  explicit Array(std::size_t n) : n_(n) { check(cudaMalloc(&data_, n * sizeof(T))); }
  explicit Array(const std::vector<T>& from) : Array(from.size()) {
    check(cudaMemcpy(data_, from.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  Array(const Array&) = delete;
  ~Array() { cudaFree(data_); }
  T* data() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> out(n_);
    check(cudaMemcpy(out.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }
  void clear() { check(cudaMemset(data_, 0, n_ * sizeof(T))); }

 private:
  T* data_ = nullptr;
  std::size_t n_;
};

__host__ __device__ std::uint32_t xorshift(std::uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

std::vector<float> some_floats(std::size_t n, float least = -1, float most = 1) {
  std::vector<float> out(n);
  std::uint32_t state = 12345;
  for (float& v : out)
    v = least + (most - least) * static_cast<float>(xorshift(state) >> 8) * 0x1p-24f;
  return out;
}

bool near(const std::vector<float>& got, const std::vector<float>& expected, float tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const float allowed = tolerance * std::max(1.0f, std::fabs(expected[i]));
    if (!(std::fabs(got[i] - expected[i]) <= allowed)) return false;
  }
  return got.size() == expected.size();
}

using Repeat = std::function<void(const std::function<void()>&)>;

// --- a product of matrices, straight and by tiles
// -------------------------------------------------

constexpr int kMatrix = 160;

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

constexpr int kTile = 16;

__global__ void multiply_tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int first = 0; first < n; first += kTile) {
    left[threadIdx.y][threadIdx.x] = a[y * n + first + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

bool matrix(const Repeat& repeat, bool tiles) {
  constexpr int n = kMatrix;
  const auto a = some_floats(n * n), b = some_floats(n * n, 0, 2);
  const Array<float> device_a(a), device_b(b), device_c(n * n);
  const dim3 block(kTile, kTile), grid(n / kTile, n / kTile);
  repeat([&] {
    const auto kernel = tiles ? multiply_tiles : multiply;
    kernel<<<grid, block>>>(device_a.data(), device_b.data(), device_c.data(), n);
  });
  std::vector<float> expected(n * n);
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum = std::fma(a[y * n + k], b[k * n + x], sum);
      expected[y * n + x] = sum;
    }
  }
  return device_c.host() == expected;
}

// --- a stencil of five points, several steps of it
// ------------------------------------------------

__global__ void diffuse(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int at = y * width + x;
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
    out[at] = in[at];
    return;
  }
  out[at] =
      in[at] + 0.2f * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width] - 4 * in[at]);
}

bool stencil(const Repeat& repeat) {
  constexpr int width = 1000, height = 600;
  const auto in = some_floats(width * height);
  const Array<float> device_in(in), device_out(width * height);
  const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
  repeat([&] { diffuse<<<grid, block>>>(device_in.data(), device_out.data(), width, height); });
  std::vector<float> expected = in;
  for (int y = 1; y < height - 1; ++y) {
    for (int x = 1; x < width - 1; ++x) {
      const float* p = &in[y * width + x];
      expected[y * width + x] = p[0] + 0.2f * (p[-1] + p[1] + p[-width] + p[width] - 4 * p[0]);
    }
  }
  return near(device_out.host(), expected, 1e-6f);
}

// --- a bitonic network in shared memory
// -----------------------------------------------------------

constexpr int kSorted = 1024;

__global__ void sort_pieces(int* values) {
  __shared__ int piece[kSorted];
  for (int i = threadIdx.x; i < kSorted; i += blockDim.x)
    piece[i] = values[blockIdx.x * kSorted + i];
  for (int size = 2; size <= kSorted; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int t = threadIdx.x; t < kSorted / 2; t += blockDim.x) {
        const int i = 2 * t - (t & (stride - 1)), j = i + stride;
        const bool up = (i & size) == 0;
        if ((piece[i] > piece[j]) == up) {
          const int old = piece[i];
          piece[i] = piece[j];
          piece[j] = old;
        }
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kSorted; i += blockDim.x)
    values[blockIdx.x * kSorted + i] = piece[i];
}

bool bitonic(const Repeat& repeat) {
  constexpr int pieces = 48;
  std::vector<int> values(pieces * kSorted);
  std::uint32_t state = 99;
  for (int& v : values) v = static_cast<int>(xorshift(state));
  const Array<int> in(values), device(values);
  repeat([&] {
    check(cudaMemcpy(device.data(), in.data(), values.size() * 4, cudaMemcpyDeviceToDevice));
    sort_pieces<<<pieces, 256>>>(device.data());
  });
  for (int p = 0; p < pieces; ++p) {
    std::sort(values.begin() + p * kSorted, values.begin() + (p + 1) * kSorted);
  }
  return device.host() == values;
}

// --- bodies that attract each other
// ---------------------------------------------------------------

__global__ void attract(const float4* bodies, float4* forces, int n) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float4 self = bodies[i];
  float x = 0, y = 0, z = 0;
  for (int first = 0; first < n; first += 128) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 128; ++k) {
      const float4 other = tile[k];
      const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      const float s = other.w * inverse * inverse * inverse;
      x = fmaf(dx, s, x);
      y = fmaf(dy, s, y);
      z = fmaf(dz, s, z);
    }
    __syncthreads();
  }
  forces[i] = make_float4(x, y, z, 0);
}

bool bodies(const Repeat& repeat) {
  constexpr int n = 1280;
  const auto numbers = some_floats(4 * n);
  std::vector<float4> all(n);
  std::memcpy(all.data(), numbers.data(), n * sizeof(float4));
  const Array<float4> device(all), forces(n);
  repeat([&] { attract<<<n / 128, 128>>>(device.data(), forces.data(), n); });
  std::vector<float> expected(4 * n), got(4 * n);
  for (int i = 0; i < n; ++i) {
    double x = 0, y = 0, z = 0;
    for (const float4& other : all) {
      const double dx = other.x - all[i].x, dy = other.y - all[i].y, dz = other.z - all[i].z;
      const double inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01f);
      const double s = other.w * inverse * inverse * inverse;
      x += dx * s;
      y += dy * s;
      z += dz * s;
    }
    expected[4 * i] = static_cast<float>(x);
    expected[4 * i + 1] = static_cast<float>(y);
    expected[4 * i + 2] = static_cast<float>(z);
  }
  const auto out = forces.host();
  std::memcpy(got.data(), out.data(), n * sizeof(float4));
  return near(got, expected, 1e-3f);
}

// --- a histogram by atomics in shared memory
// ------------------------------------------------------

__global__ void count_bytes(const unsigned* words, unsigned* bins, int n) {
  __shared__ unsigned own[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned word = words[i];
    atomicAdd(&own[word & 255], 1);
    atomicAdd(&own[word >> 8 & 255], 1);
    atomicAdd(&own[word >> 16 & 255], 1);
    atomicAdd(&own[word >> 24], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}

bool histogram(const Repeat& repeat) {
  constexpr int n = 1 << 20;
  std::vector<unsigned> words(n), expected(256);
  std::uint32_t state = 7;
  for (unsigned& word : words) word = xorshift(state) & xorshift(state);
  Array<unsigned> device(words), bins(256);
  repeat([&] {
    bins.clear();
    count_bytes<<<32, 256>>>(device.data(), bins.data(), n);
  });
  for (const unsigned word : words) {
    for (int k = 0; k < 32; k += 8) ++expected[word >> k & 255];
  }
  return bins.host() == expected;
}

// --- the price of options
// -------------------------------------------------------------------------

__device__ float normal(float d) {
  const float k = 1 / (1 + 0.2316419f * fabsf(d));
  const float tail =
      0.39894228f * expf(-0.5f * d * d) *
      (k * (0.31938153f +
            k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - tail : tail;
}

__global__ void price(const float* stock, const float* strike, const float* years, float* call,
                      float* put, int n) {
  constexpr float kRate = 0.02f, kVolatility = 0.3f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float s = stock[i], x = strike[i], t = years[i];
    const float root = sqrtf(t);
    const float d1 =
        (logf(s / x) + (kRate + 0.5f * kVolatility * kVolatility) * t) / (kVolatility * root);
    const float d2 = d1 - kVolatility * root;
    const float now = x * expf(-kRate * t), cnd1 = normal(d1), cnd2 = normal(d2);
    call[i] = s * cnd1 - now * cnd2;
    put[i] = now * (1 - cnd2) - s * (1 - cnd1);
  }
}

bool options(const Repeat& repeat) {
  constexpr int n = 1 << 18;
  const auto stock = some_floats(n, 5, 30), years = some_floats(n, 0.25f, 10);
  auto strike = some_floats(n + 17, 1, 100);
  strike.erase(strike.begin(), strike.begin() + 17);
  const Array<float> s(stock), x(strike), t(years), call(n), put(n);
  repeat([&] { price<<<64, 256>>>(s.data(), x.data(), t.data(), call.data(), put.data(), n); });
  std::vector<float> calls(n), puts(n);
  for (int i = 0; i < n; ++i) {
    const double root = std::sqrt(double{years[i]});
    const double d1 = (std::log(double{stock[i]} / strike[i]) + 0.065 * years[i]) / (0.3 * root);
    const double d2 = d1 - 0.3 * root, now = strike[i] * std::exp(-0.02 * years[i]);
    const auto under = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); };
    calls[i] = static_cast<float>(stock[i] * under(d1) - now * under(d2));
    puts[i] = static_cast<float>(now * under(-d2) - stock[i] * under(-d1));
  }
  return near(call.host(), calls, 2e-4f) && near(put.host(), puts, 2e-4f);
}

// --- the Mandelbrot set: lanes leave a loop one by one
// --------------------------------------------

__host__ __device__ int steps(float cx, float cy) {
  float x = 0, y = 0;
  int n = 0;
  for (; n < 128; ++n) {
    const float xx = x * x, yy = y * y;
    if (xx + yy > 4) break;
    y = fmaf(2 * x, y, cy);
    x = (xx - yy) + cx;
  }
  return n;
}

__global__ void mandelbrot(int* image, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  image[y * width + x] = steps(fmaf(static_cast<float>(x), 3.0f / 512, -2.0f),
                               fmaf(static_cast<float>(y), 2.0f / 256, -1.0f));
}

bool fractal(const Repeat& repeat) {
  constexpr int width = 512, height = 256;
  const Array<int> image(width * height);
  const dim3 block(16, 16), grid(width / 16, height / 16);
  repeat([&] { mandelbrot<<<grid, block>>>(image.data(), width, height); });
  const auto got = image.host();
  int other = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      other += got[y * width + x] != steps(std::fma(static_cast<float>(x), 3.0f / 512, -2.0f),
                                           std::fma(static_cast<float>(y), 2.0f / 256, -1.0f));
    }
  }
  return other < width * height / 100;  // nvcc makes an fma of xx + yy, and g++ doesn't
}

// --- a sparse matrix times a vector: a row per thread
// ---------------------------------------------

__global__ void sparse(const int* begin, const int* column, const float* value, const float* x,
                       float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = begin[row]; k < begin[row + 1]; ++k) sum += value[k] * x[column[k]];
  y[row] = sum;
}

bool sparse_product(const Repeat& repeat) {
  constexpr int rows = 20000;
  std::vector<int> begin{0}, column;
  std::uint32_t state = 31;
  for (int row = 0; row < rows; ++row) {
    for (unsigned k = 8 + (xorshift(state) >> 8) % 48; k > 0; --k) {
      column.push_back(static_cast<int>((xorshift(state) >> 8) % rows));
    }
    begin.push_back(static_cast<int>(column.size()));
  }
  const auto value = some_floats(column.size()), x = some_floats(rows, 0, 3);
  const Array<int> b(begin), c(column);
  const Array<float> v(value), in(x), out(rows);
  repeat([&] {
    sparse<<<(rows + 127) / 128, 128>>>(b.data(), c.data(), v.data(), in.data(), out.data(), rows);
  });
  std::vector<float> expected(rows);
  for (int row = 0; row < rows; ++row) {
    for (int k = begin[row]; k < begin[row + 1]; ++k) {
      expected[row] = std::fma(value[k], x[column[k]], expected[row]);
    }
  }
  return out.host() == expected;
}

// --- prefix sums by shuffles
// ----------------------------------------------------------------------

__global__ void scan_pieces(const int* in, int* out, int n) {
  __shared__ int of_warp[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int sum = in[i];
    for (int by = 1; by < 32; by *= 2) {
      const int below = __shfl_up_sync(~0u, sum, by);
      if (lane >= by) sum += below;
    }
    if (lane == 31) of_warp[warp] = sum;
    __syncthreads();
    int before = 0;
    for (int w = 0; w < warp; ++w) before += of_warp[w];
    out[i] = sum + before;
    __syncthreads();
  }
}

bool scan(const Repeat& repeat) {
  constexpr int n = 1 << 20;
  std::vector<int> in(n), expected(n);
  std::uint32_t state = 5;
  for (int& v : in) v = static_cast<int>(xorshift(state) % 100);
  for (int i = 0; i < n; i += 256) {
    std::partial_sum(in.begin() + i, in.begin() + i + 256, expected.begin() + i);
  }
  const Array<int> device_in(in), out(n);
  repeat([&] { scan_pieces<<<64, 256>>>(device_in.data(), out.data(), n); });
  return out.host() == expected;
}

// --- a Monte Carlo sum: hashes and xorshift
// -------------------------------------------------------

__host__ __device__ unsigned darts(unsigned thread, int throws) {
  std::uint32_t state = thread * 0x9e37'79b9u + 0x7f4a'7c15u;
  state = (state ^ state >> 16) * 0x85eb'ca6bu;
  state = (state ^ state >> 13) * 0xc2b2'ae35u;
  state = state ^ state >> 16 | 1;
  unsigned inside = 0;
  for (int i = 0; i < throws; ++i) {
    const std::uint32_t x = xorshift(state) >> 16, y = xorshift(state) >> 16;
    inside += static_cast<std::uint64_t>(x) * x + static_cast<std::uint64_t>(y) * y < 1ull << 32;
  }
  return inside;
}

__global__ void throw_darts(unsigned* inside, int throws) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  inside[thread] = darts(thread, throws);
}

bool monte_carlo(const Repeat& repeat) {
  constexpr int threads = 16384, throws = 200;
  const Array<unsigned> inside(threads);
  repeat([&] { throw_darts<<<threads / 256, 256>>>(inside.data(), throws); });
  std::vector<unsigned> expected(threads);
  for (unsigned t = 0; t < threads; ++t) expected[t] = darts(t, throws);
  return inside.host() == expected;
}

struct Program {
  const char* name;
  std::function<bool(const Repeat&)> run;
};

}  // namespace

int main(int count, char** arguments) {
  const int launches = count > 1 ? std::max(1, std::atoi(arguments[1])) : 5;
  const auto counters =
      reinterpret_cast<decltype(&emu_counters)>(dlsym(RTLD_DEFAULT, "emu_counters"));
  const auto reset =
      reinterpret_cast<decltype(&emu_reset_counters)>(dlsym(RTLD_DEFAULT, "emu_reset_counters"));
  if (!counters || !reset) {
    std::fprintf(stderr, "the embedded device isn't there: start it by tools/emulate\n");
    return 1;
  }
  const auto instructions = [&] {
    std::vector<emu_counter> all(static_cast<std::size_t>(counters(nullptr, 0)));
    counters(all.data(), static_cast<int>(all.size()));
    for (const emu_counter& c : all) {
      if (std::strcmp(c.name, "source__warp_instructions.sum") == 0) return c.value;
    }
    return std::uint64_t{0};
  };
  const Program programs[] = {
      {"matrix_straight", [](const Repeat& r) { return matrix(r, false); }},
      {"matrix_tiles", [](const Repeat& r) { return matrix(r, true); }},
      {"stencil", stencil},
      {"bitonic", bitonic},
      {"bodies", bodies},
      {"histogram", histogram},
      {"options", options},
      {"mandelbrot", fractal},
      {"sparse", sparse_product},
      {"scan", scan},
      {"monte_carlo", monte_carlo},
  };
  bool right = true;
  std::printf("%-16s %12s %22s\n", "kernel", "instructions", "million per second");
  for (const Program& program : programs) {
    if (count > 2 && std::strcmp(program.name, arguments[2]) != 0) continue;
    double best = 1e9;
    std::uint64_t executed = 0;
    const bool this_one = program.run([&](const std::function<void()>& launch) {
      for (int i = 0; i < launches; ++i) {
        reset();
        const std::clock_t start = std::clock();
        launch();
        check(cudaDeviceSynchronize());
        best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
        executed = instructions();
      }
    });
    std::printf("%-16s %12llu %22.1f%s\n", program.name, static_cast<unsigned long long>(executed),
                static_cast<double>(executed) / best / 1e6, this_one ? "" : "  WRONG");
    right = right && this_one;
  }
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
