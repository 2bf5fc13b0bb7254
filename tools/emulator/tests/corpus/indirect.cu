// Device functions by pointer, virtual functions, recursion: calls whose target is data.
#include "check.cuh"

using Function = int (*)(int);
__device__ int twice(int v) {
  return 2 * v;
}
__device__ int square(int v) {
  return v * v;
}
__device__ int negate(int v) {
  return -v;
}
__device__ Function functions[] = {twice, square, negate};

__global__ void by_pointer(int* data) {
  data[threadIdx.x] = functions[threadIdx.x % 3](data[threadIdx.x]);
}

struct Shape {
  __device__ virtual int area() const = 0;
};
struct Box : Shape {
  int a, b;
  __device__ Box(int a, int b) : a(a), b(b) {}
  __device__ int area() const override { return a * b; }
};
struct Line : Shape {
  __device__ int area() const override { return 0; }
};
__global__ void by_table(int* data) {
  Box box(threadIdx.x, 3);
  Line line;
  const Shape* const shapes[] = {&box, &line};
  data[threadIdx.x] = shapes[data[threadIdx.x] % 2]->area();
}

__device__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recursive(int* data) {
  data[threadIdx.x] = fibonacci(threadIdx.x % 12);
}

int main() {
  std::vector<int> values(64);
  for (int i = 0; i < 64; ++i) values[i] = i;
  Buffer<int> data(values);
  by_pointer<<<1, 64>>>(data.get());
  LAUNCHED();
  auto got = data.host();
  for (int i = 0; i < 64; ++i) CHECK(got[i] == (i % 3 == 0 ? 2 * i : i % 3 == 1 ? i * i : -i));
  Buffer<int> which(values);
  by_table<<<1, 64>>>(which.get());
  LAUNCHED();
  got = which.host();
  for (int i = 0; i < 64; ++i) CHECK(got[i] == (i % 2 == 0 ? 3 * i : 0));
  recursive<<<1, 64>>>(data.get());
  LAUNCHED();
  got = data.host();
  const int expected[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (int i = 0; i < 64; ++i) CHECK(got[i] == expected[i % 12]);
  return done();
}
