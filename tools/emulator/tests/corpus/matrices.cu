// Grids and blocks of two and three dimensions: transpose, tiled product, a stencil in 3-D.
#include "check.cuh"

constexpr int kTile = 16;

template <class T>
__global__ void transpose(const T* in, T* out, int rows, int columns) {
  __shared__ T tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < rows && y < columns) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    const int ac = k + threadIdx.x, br = k + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = row < n && ac < n ? a[row * n + ac] : 0;
    bs[threadIdx.y][threadIdx.x] = br < n && column < n ? b[br * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

__global__ void stencil(const int* in, int* out, dim3 size) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x,
                 y = blockIdx.y * blockDim.y + threadIdx.y,
                 z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= size.x || y >= size.y || z >= size.z) return;
  const auto at = [&](unsigned i, unsigned j, unsigned k) {
    return i < size.x && j < size.y && k < size.z ? in[(k * size.y + j) * size.x + i] : 0;
  };
  out[(z * size.y + y) * size.x + x] = at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) +
                                       at(x, y + 1, z) + at(x, y, z - 1) + at(x, y, z + 1);
}

int main() {
  constexpr int kRows = 45, kColumns = 70;
  const auto values = numbers(kRows * kColumns, 1000);
  Buffer<int> in(values), out(kRows * kColumns);
  transpose<<<dim3((kColumns + kTile - 1) / kTile, (kRows + kTile - 1) / kTile),
              dim3(kTile, kTile)>>>(in.get(), out.get(), kRows, kColumns);
  LAUNCHED();
  const auto turned = out.host();
  for (int y = 0; y < kRows; ++y) {
    for (int x = 0; x < kColumns; ++x) CHECK(turned[x * kRows + y] == values[y * kColumns + x]);
  }

  constexpr int kN = 37;
  std::vector<float> a(kN * kN), b(kN * kN);
  for (int i = 0; i < kN * kN; ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5);
  }
  Buffer<float> da(a), db(b), dc(kN * kN);
  const unsigned blocks = (kN + kTile - 1) / kTile;
  multiply<<<dim3(blocks, blocks), dim3(kTile, kTile)>>>(da.get(), db.get(), dc.get(), kN);
  LAUNCHED();
  const auto product = dc.host();
  for (int i = 0; i < kN; ++i) {
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kN; ++k) sum += a[i * kN + k] * b[k * kN + j];
      CHECK(product[i * kN + j] == sum);
    }
  }

  const dim3 size(9, 10, 11);
  const auto cells = numbers(9 * 10 * 11, 50);
  Buffer<int> before(cells), after(cells.size());
  stencil<<<dim3(2, 3, 4), dim3(5, 4, 3)>>>(before.get(), after.get(), size);
  LAUNCHED();
  const auto got = after.host();
  const auto at = [&](int x, int y, int z) {
    return x < 0 || y < 0 || z < 0 || x >= 9 || y >= 10 || z >= 11 ? 0
                                                                   : cells[(z * 10 + y) * 9 + x];
  };
  for (int z = 0; z < 11; ++z) {
    for (int y = 0; y < 10; ++y) {
      for (int x = 0; x < 9; ++x) {
        CHECK(got[(z * 10 + y) * 9 + x] == at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) +
                                               at(x, y + 1, z) + at(x, y, z - 1) + at(x, y, z + 1));
      }
    }
  }
  return done();
}
