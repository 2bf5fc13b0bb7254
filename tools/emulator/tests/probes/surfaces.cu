// What hardware reads and writes through surfaces, and which of it is a fault.
//
// By hand, on a machine with an H200:
//   nvcc -std=c++17 -arch=sm_90 -o probe surfaces.cu && ./probe
// surfaces.h200.txt is what that printed, after a line with the GPU and the driver. What may end
// the context is asked in a process of its own.
#include <sys/wait.h>
#include <unistd.h>

#include "texels.cuh"

namespace {

struct Place {
  int x, y, z;  // x in bytes
};
enum Shape { kLine, kFlat, kDeep, kLines, kSheets };
const char* const kShapes[] = {"1d", "2d", "3d", "1d layered", "2d layered"};
enum Mode { kZero, kClamp, kTrap };
const char* const kModes[] = {"zero", "clamp", "trap"};

template <class T>
__device__ void read_one(T* got, cudaSurfaceObject_t s, Shape shape, Place p,
                         cudaSurfaceBoundaryMode mode) {
  switch (shape) {
    case kLine: surf1Dread(got, s, p.x, mode); break;
    case kFlat: surf2Dread(got, s, p.x, p.y, mode); break;
    case kDeep: surf3Dread(got, s, p.x, p.y, p.z, mode); break;
    case kLines: surf1DLayeredread(got, s, p.x, p.z, mode); break;
    case kSheets: surf2DLayeredread(got, s, p.x, p.y, p.z, mode); break;
  }
}
template <class T>
__device__ void write_one(T value, cudaSurfaceObject_t s, Shape shape, Place p,
                          cudaSurfaceBoundaryMode mode) {
  switch (shape) {
    case kLine: surf1Dwrite(value, s, p.x, mode); break;
    case kFlat: surf2Dwrite(value, s, p.x, p.y, mode); break;
    case kDeep: surf3Dwrite(value, s, p.x, p.y, p.z, mode); break;
    case kLines: surf1DLayeredwrite(value, s, p.x, p.z, mode); break;
    case kSheets: surf2DLayeredwrite(value, s, p.x, p.y, p.z, mode); break;
  }
}

template <class T>
__global__ void access(cudaSurfaceObject_t s, Shape shape, Mode mode, bool write, const Place* at,
                       int n, T* to) {
  for (int i = 0; i < n; ++i) {
    T value = to[i];
    if (write) {
      if (mode == kZero) write_one(value, s, shape, at[i], cudaBoundaryModeZero);
      if (mode == kClamp) write_one(value, s, shape, at[i], cudaBoundaryModeClamp);
      if (mode == kTrap) write_one(value, s, shape, at[i], cudaBoundaryModeTrap);
    } else {
      if (mode == kZero) read_one(&value, s, shape, at[i], cudaBoundaryModeZero);
      if (mode == kClamp) read_one(&value, s, shape, at[i], cudaBoundaryModeClamp);
      if (mode == kTrap) read_one(&value, s, shape, at[i], cudaBoundaryModeTrap);
      to[i] = value;
    }
  }
}

// A surface of a shape: 13 wide, 7 high, 5 deep, of texels with any bits.
struct Surface {
  Shape shape;
  Texels texels;
  Source source;
  cudaSurfaceObject_t object = 0;
  int height, depth;
  Surface(Shape the_shape, const Texels& the_texels) : shape(the_shape), texels(the_texels) {
    const bool flat = shape == kLine || shape == kLines;
    const unsigned layered = shape == kLines || shape == kSheets ? cudaArrayLayered : 0u;
    height = flat ? 1 : 7, depth = shape == kLine || shape == kFlat ? 1 : 5;
    make_array(source, texels, 13, flat ? 0 : 7, depth == 1 ? 0 : 5,
               layered | cudaArraySurfaceLoadStore, 1);
    const cudaError_t status = cudaCreateSurfaceObject(&object, &source.resource);
    if (status != cudaSuccess) std::printf("create: %s\n", cudaGetErrorName(status));
  }
  void print(const char* before) {
    std::vector<unsigned char> back(static_cast<size_t>(13 * texels.bytes() * height * depth));
    cudaMemcpy3DParms copy = {};
    copy.srcArray = source.array;
    copy.dstPtr = make_cudaPitchedPtr(back.data(), static_cast<size_t>(13 * texels.bytes()), 13,
                                      static_cast<size_t>(height));
    copy.extent = make_cudaExtent(13, static_cast<size_t>(height), static_cast<size_t>(depth));
    copy.kind = cudaMemcpyDeviceToHost;
    const cudaError_t status = cudaMemcpy3D(&copy);
    std::printf("%s: %s %016llx\n", before, cudaGetErrorName(status),
                static_cast<unsigned long long>(hash(back.data(), back.size())));
  }
};

template <class T>
void run(Surface& s, Mode mode, bool write, const std::vector<Place>& places,
         const std::string& name) {
  Place* at;
  T* to;
  const size_t n = places.size();
  cudaMalloc(&at, n * sizeof(Place)), cudaMalloc(&to, n * sizeof(T));
  cudaMemcpy(at, places.data(), n * sizeof(Place), cudaMemcpyDefault);
  std::vector<unsigned char> values(n * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<unsigned char>(i * 37 + 11);
  cudaMemcpy(to, values.data(), values.size(), cudaMemcpyDefault);
  access<<<1, 1>>>(s.object, s.shape, mode, write, at, static_cast<int>(n), to);
  const cudaError_t status = cudaMemcpy(values.data(), to, values.size(), cudaMemcpyDefault);
  if (write && status == cudaSuccess) {
    s.print(name.c_str());
  } else {
    std::printf("%s: %s", name.c_str(), cudaGetErrorName(status));
    for (size_t i = 0; status == cudaSuccess && i < values.size(); ++i)
      std::printf("%s%02x", i % sizeof(T) ? "" : " ", values[i]);
    std::printf("\n");
  }
  cudaFree(at), cudaFree(to);
}

// Elements from before the first to past the last, each at a multiple of its own size.
std::vector<Place> places(int size, int row) {
  std::vector<Place> to;
  const int last = row / size - 1;  // the last that is whole
  for (const int x : {0, 1, last, last + 2, -1, 3, 1 << 20, -(1 << 20)})
    to.push_back({x * size, 0, 0}), to.push_back({x * size, 3, 2});
  for (const int y : {-1, 6, 7, 8, 1000, -(1 << 30), 1 << 30}) to.push_back({size, y, 1});
  for (const int z : {-1, 4, 5, 6, 1000, -(1 << 30), 1 << 30}) to.push_back({size, 2, z});
  to.push_back({-size, -1, -1}), to.push_back({2 * row, 7, 5});
  return to;
}

constexpr Texels kU16x2 = {16, cudaChannelFormatKindUnsigned, 2},
                 kU32x2 = {32, cudaChannelFormatKindUnsigned, 2},
                 kU32x4 = {32, cudaChannelFormatKindUnsigned, 4};

void all_shapes() {
  for (const Shape shape : {kLine, kFlat, kDeep, kLines, kSheets}) {
    for (const Mode mode : {kZero, kClamp}) {
      const std::string name = std::string(kShapes[shape]) + " " + kModes[mode];
      for (const bool write : {false, true}) {
        const std::string what = name + (write ? " write " : " read ");
        Surface bytes(shape, kU8), shorts(shape, kU16), words(shape, kU32), pairs(shape, kU32x2),
            fours(shape, kU32x4), halves(shape, kU16x2), floats(shape, kFloat1);
        run<unsigned char>(bytes, mode, write, places(1, 13), what + "u8");
        run<unsigned short>(shorts, mode, write, places(2, 26), what + "u16");
        run<unsigned>(words, mode, write, places(4, 52), what + "u32");
        run<uint2>(pairs, mode, write, places(8, 104), what + "u32x2");
        run<uint4>(fours, mode, write, places(16, 208), what + "u32x4");
        run<unsigned>(halves, mode, write, places(4, 52), what + "u16x2 by words");
        run<ushort2>(halves, mode, write, places(4, 52), what + "u16x2");
        run<float>(floats, mode, write, places(4, 52), what + "f32");
        run<unsigned long long>(pairs, mode, write, places(8, 104), what + "u32x2 by 64 bits");
      }
    }
    Surface words(shape, kU32);
    std::vector<Place> inside;
    for (int i = 0; i < 13; ++i) inside.push_back({4 * i, i % 7, i % 5});
    run<unsigned>(words, kTrap, false, inside, std::string(kShapes[shape]) + " trap read");
    run<unsigned>(words, kTrap, true, inside, std::string(kShapes[shape]) + " trap write");
  }
}

template <class T>
void single(const char* name, Shape shape, const Texels& texels, Place place) {
  for (const Mode mode : {kZero, kClamp, kTrap}) {
    for (const bool write : {false, true}) {
      std::fflush(stdout);
      const pid_t child = fork();
      if (child == 0) {
        Surface s(shape, texels);
        run<T>(s, mode, write, {place},
               std::string(name) + ", " + kModes[mode] + (write ? " write" : " read"));
        std::fflush(stdout);
        _exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status) std::printf("%s: ended with %d\n", name, status);
    }
  }
}

void singles() {
  single<unsigned>("outside in x", kFlat, kU32, {52, 3, 0});
  single<unsigned>("outside in x, in the padding", kFlat, kU32, {56, 3, 0});
  single<unsigned>("before in x", kFlat, kU32, {-4, 3, 0});
  single<unsigned>("outside in y", kFlat, kU32, {4, 7, 0});
  single<unsigned>("outside in z", kDeep, kU32, {4, 3, 5});
  single<unsigned>("outside of the layers", kSheets, kU32, {4, 3, 5});
  single<unsigned>("outside of a line", kLine, kU32, {52, 0, 0});
  single<unsigned>("misaligned word", kFlat, kU32, {2, 3, 0});
  single<unsigned>("misaligned word outside", kFlat, kU32, {54, 3, 0});
  single<unsigned>("misaligned word, bytes", kFlat, kU8, {2, 3, 0});
  single<unsigned>("word of bytes", kFlat, kU8, {4, 3, 0});
  single<unsigned>("last word of bytes", kFlat, kU8, {12, 3, 0});
  single<unsigned char>("byte 0 of a word", kFlat, kU32, {4, 3, 0});
  single<unsigned char>("byte 1 of a word", kFlat, kU32, {5, 3, 0});
  single<unsigned char>("byte 2 of a word", kFlat, kU32, {6, 3, 0});
  single<unsigned short>("half 0 of a word", kFlat, kU32, {4, 3, 0});
  single<unsigned short>("half 1 of a word", kFlat, kU32, {6, 3, 0});
  single<uint2>("two words of words", kFlat, kU32, {8, 3, 0});
  single<uint2>("two words of words at an odd one", kFlat, kU32, {4, 3, 0});
  single<uint2>("last two words of words", kFlat, kU32, {48, 3, 0});
  single<unsigned>("a word of two", kFlat, kU32x2, {12, 3, 0});
  single<unsigned short>("misaligned half", kFlat, kU16, {3, 3, 0});
  single<uint4>("misaligned four", kFlat, kU32x4, {8, 3, 0});
  single<unsigned>("misaligned word of a line", kLine, kU32, {2, 0, 0});
  single<unsigned>("misaligned word of a layer", kSheets, kU32, {2, 1, 1});
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  singles();
  all_shapes();
}
