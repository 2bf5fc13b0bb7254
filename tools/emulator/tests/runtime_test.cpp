// The runtime's functions as a program calls them, with a fat binary made by hand: no nvcc here.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "emu/counters.h"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* stub, char* device, const char* name, int,
                            uint3*, uint3*, dim3*, dim3*, int*);
void __cudaRegisterVar(void** handle, char* shadow, char* device, const char* name, int, size_t,
                       int, int);
}

namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A program: a container with one entry, its wrapper, and stubs and shadows to know things by. The
/// first two lie in this program's image, as nvcc's do.
class Program {
 public:
  explicit Program(const std::string& ptx, int architecture = 90)
      : wrapper_(*new (image(sizeof(Wrapper))) Wrapper) {
    const std::size_t padded = (ptx.size() + 8) / 8 * 8;
    container_ = {image(16 + 64 + padded), 16 + 64 + padded};
    put(0, std::uint32_t{0xba55ed50});
    put(4, std::uint16_t{1});
    put(6, std::uint16_t{16});
    put(8, std::uint64_t{64 + padded});
    put(16, std::uint16_t{1});
    put(20, std::uint32_t{64});
    put(24, std::uint64_t{padded});
    put(44, static_cast<std::uint32_t>(architecture));
    std::memcpy(container_.data() + 80, ptx.data(), ptx.size());
    wrapper_ = {.magic = 0x466243b1, .version = 1, .container = container_.data()};
    handle_ = __cudaRegisterFatBinary(&wrapper_);
    __cudaRegisterFunction(handle_, &stub_, nullptr, "kernel", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterVar(handle_, &shadow_, nullptr, "variable", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  ~Program() {
    __cudaUnregisterFatBinary(handle_);
    static_cast<void>(cudaGetLastError());
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  template <class T>
  void put(std::size_t offset, T value) {
    std::memcpy(container_.data() + offset, &value, sizeof value);
  }
  const void* stub() const { return &stub_; }
  const void* shadow() const { return &shadow_; }
  cudaError_t launch(std::vector<void*> arguments, dim3 grid = dim3(1, 1, 1),
                     dim3 block = dim3(32, 1, 1)) {
    return cudaLaunchKernel(stub(), grid, block, arguments.data(), 0, nullptr);
  }

 private:
  struct Wrapper {
    std::uint32_t magic, version;
    const void* container;
    void* unused = nullptr;
  };
  /// A place for so many bytes.
  static std::byte* image(std::size_t size) {
    alignas(8) static std::array<std::byte, std::size_t{4} << 20> bytes;
    static std::size_t used = 0;
    std::byte* const at = bytes.data() + used;
    used += (size + 7) / 8 * 8;
    if (used > bytes.size()) throw std::bad_alloc();
    return at;
  }

  Wrapper& wrapper_;
  std::span<std::byte> container_;
  char stub_ = 0, shadow_ = 0;
  void** handle_ = nullptr;
};

/// A kernel that does `body` with the parameter in %rd1 and the thread's number in %r1.
std::string ptx(const std::string& body) {
  return R"(.version 9.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 variable = 42;
.visible .entry kernel(.param .u64 kernel_param_0) {
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [kernel_param_0];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
)" + body +
         "\n  ret;\n}\n";
}

const std::string kStore = ptx(R"(  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;)");

std::uint64_t counter(const std::string& name) {
  std::vector<emu_counter> all(static_cast<std::size_t>(emu_counters(nullptr, 0)));
  emu_counters(all.data(), static_cast<int>(all.size()));
  for (const emu_counter& c : all) {
    if (name == c.name) return c.value;
  }
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

TEST(Runtime, LoadsPtxAsALibrary) {
  cudaLibrary_t library = nullptr;
  const auto load = [&](const char* code) {
    return cudaLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  ASSERT_EQ(load(kStore.c_str()), cudaSuccess);
  cudaKernel_t kernel = nullptr, again = nullptr;
  ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "kernel"), cudaSuccess);
  ASSERT_EQ(cudaLibraryGetKernel(&again, library, "kernel"), cudaSuccess);
  EXPECT_EQ(kernel, again);
  EXPECT_EQ(cudaLibraryGetKernel(&again, library, "another"), cudaErrorSymbolNotFound);

  int* p = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&p), 128), cudaSuccess);
  void* arguments[] = {&p};
  const auto launch = [&] {
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, 32, arguments, 0, nullptr);
  };
  ASSERT_EQ(launch(), cudaSuccess);
  int values[32] = {};
  ASSERT_EQ(cudaMemcpy(values, p, sizeof values, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(values[i], i);
  cudaFree(p);

  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
  EXPECT_EQ(cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "kernel"), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(launch(), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(load(nullptr), cudaErrorInvalidValue);
  // It is read when a kernel is asked for. What an H200 answers, whatever the profile.
  for (const auto& [text, status] : {std::pair{"", cudaErrorInvalidKernelImage},
                                     {"not PTX", cudaErrorInvalidKernelImage},
                                     {".version 8.0\nhello", cudaErrorInvalidPtx}}) {
    ASSERT_EQ(load(text), cudaSuccess);
    EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "kernel"), status) << text;
    EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
  }
  EXPECT_EQ(
      cudaLibraryLoadFromFile(&library, "/no/such/file", nullptr, nullptr, 0, nullptr, nullptr, 0),
      cudaErrorFileNotFound);
  static_cast<void>(cudaGetLastError());
}

TEST(Runtime, RunsAKernelAndCounts) {
  Program program(kStore);
  int* p = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&p), 128), cudaSuccess);
  emu_reset_counters();
  ASSERT_EQ(program.launch({&p}), cudaSuccess);
  int values[32] = {};
  ASSERT_EQ(cudaMemcpy(values, p, sizeof values, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(values[i], i);
  EXPECT_EQ(emu_launches(), 1u);
  EXPECT_EQ(counter("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"), 1u);
  EXPECT_EQ(counter("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), 4u);
  EXPECT_EQ(counter("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 0u);
  emu_reset_counters();
  EXPECT_EQ(emu_launches(), 0u);
  EXPECT_EQ(counter("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), 0u);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
}

TEST(Runtime, VariablesComeBackWithTheirValuesAfterAReset) {
  Program program(kStore);
  int value = 0;
  ASSERT_EQ(cudaMemcpyFromSymbol(&value, program.shadow(), 4, 0, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(value, 42);
  value = 7;
  ASSERT_EQ(cudaMemcpyToSymbol(program.shadow(), &value, 4, 0, cudaMemcpyHostToDevice),
            cudaSuccess);
  void* p = nullptr;
  ASSERT_EQ(cudaMalloc(&p, 4), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaErrorInvalidValue);
  ASSERT_EQ(cudaMemcpyFromSymbol(&value, program.shadow(), 4, 0, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(value, 42);
}

TEST(Runtime, ForgetsWhatIsUnregistered) {
  const void* stub = nullptr;
  {
    Program program(kStore);
    stub = program.stub();
    cudaFuncAttributes attributes{};
    EXPECT_EQ(cudaFuncGetAttributes(&attributes, stub), cudaSuccess);
  }
  EXPECT_EQ(cudaLaunchKernel(stub, dim3(1, 1, 1), dim3(1, 1, 1), nullptr, 0, nullptr),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}

TEST(Runtime, RefusesWhatItCannotReadInOneLineThatNamesIt) {
  int* p = nullptr;
  const auto refused = [&](Program& program) {
    testing::internal::CaptureStderr();
    const cudaError_t status = program.launch({&p});
    return std::to_string(status) + " " + testing::internal::GetCapturedStderr();
  };
  Program text("this is not PTX");
  EXPECT_THAT(refused(text), AllOf(HasSubstr("218 "), HasSubstr("PTX line 1")));
  Program unknown(ptx("  frobnicate.b32 %r2, %r1;"));
  EXPECT_THAT(refused(unknown), AllOf(HasSubstr("801 "), HasSubstr("kernel"),
                                      HasSubstr("frobnicate"), HasSubstr("line")));
  Program newer(kStore, 100);
  EXPECT_THAT(refused(newer), AllOf(HasSubstr("209 "), HasSubstr("PTX for 100")));
  Program broken(kStore);
  broken.put(0, std::uint32_t{0});
  EXPECT_THAT(refused(broken), AllOf(HasSubstr("200 "), HasSubstr("ba55ed50")));
  Program torn(kStore);
  torn.put(24, ~std::uint64_t{0});
  EXPECT_THAT(refused(torn), AllOf(HasSubstr("200 "), HasSubstr("larger than what holds it")));
}

// One device, many host threads: calls take turns, each thread has its own last error.
TEST(Runtime, ThreadsTakeTurns) {
  Program program(kStore);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&program, t] {
      for (int round = 0; round < 50; ++round) {
        int* p = nullptr;
        int values[32] = {};
        EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&p), 128), cudaSuccess);
        EXPECT_EQ(program.launch({&p}), cudaSuccess);
        EXPECT_EQ(cudaMemcpy(values, p, 128, cudaMemcpyDeviceToHost), cudaSuccess);
        EXPECT_EQ(values[31], 31);
        EXPECT_EQ(cudaFree(p), cudaSuccess);
        EXPECT_EQ(cudaSetDevice(t == 0 ? 9 : 0), t == 0 ? cudaErrorInvalidDevice : cudaSuccess);
      }
      EXPECT_EQ(cudaGetLastError(), t == 0 ? cudaErrorInvalidDevice : cudaSuccess);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Runtime, PoolsKnowWhatIsInUse) {
  cudaMemPool_t pool = nullptr, own = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  const auto used = [](cudaMemPool_t of, cudaMemPoolAttr which) {
    std::uint64_t bytes = 77;
    EXPECT_EQ(cudaMemPoolGetAttribute(of, which, &bytes), cudaSuccess);
    return bytes;
  };
  void *p = nullptr, *q = nullptr;
  ASSERT_EQ(cudaMallocAsync(&p, 1000, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&q, 24, nullptr), cudaSuccess);
  EXPECT_EQ(used(pool, cudaMemPoolAttrUsedMemCurrent), 1024u);
  EXPECT_EQ(cudaFreeAsync(p, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFree(q), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(q, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(used(pool, cudaMemPoolAttrUsedMemCurrent), 0u);
  EXPECT_EQ(used(pool, cudaMemPoolAttrUsedMemHigh), 1024u);

  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  ASSERT_EQ(cudaMemPoolCreate(&own, &properties), cudaSuccess);
  ASSERT_EQ(cudaMallocFromPoolAsync(&p, 100, own, nullptr), cudaSuccess);
  EXPECT_EQ(used(own, cudaMemPoolAttrUsedMemCurrent), 100u);
  EXPECT_EQ(cudaMemPoolDestroy(own), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaSuccess) << "it outlives its pool";
  EXPECT_EQ(cudaMemPoolTrimTo(own, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaErrorInvalidValue) << "the device's own";
  static_cast<void>(cudaGetLastError());
}

/// PTX as a compiler of Pascal's days wrote it, on the profile that takes no newer.
void run_on_pascal() {
  setenv("EMU_DEVICE_PROFILE", "gtx1050ti", 1);
  const std::string text = R"(.version 6.1
.target sm_61
.address_size 64
.visible .global .align 4 .u32 variable = 42;
.visible .entry kernel(.param .u64 kernel_param_0) {
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .f32 %f<3>;
  .reg .f64 %fd<2>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [kernel_param_0];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  mov.b32 %r2, %f1;
  shfl.sync.bfly.b32 %r3|%p1, %r2, 16, 31, -1;
  mov.b32 %f2, %r3;
  add.f32 %f1, %f1, %f2;
  cvt.f64.f32 %fd1, %f1;
  red.global.add.f64 [%rd1], %fd1;
  setp.gt.u32 %p2, %r1, 7;
  vote.sync.ballot.b32 %r4, %p2, -1;
  st.global.u32 [%rd1+8], %r4;
  ret;
})";
  Program pascal(text, 61), turing(kStore, 75);
  cudaDeviceProp p{};
  if (cudaGetDeviceProperties(&p, 0) != cudaSuccess || p.major != 6 || p.minor != 1) std::exit(1);
  void* out = nullptr;
  if (cudaMalloc(&out, 128) != cudaSuccess || cudaMemset(out, 0, 128) != cudaSuccess) std::exit(2);
  if (pascal.launch({&out}) != cudaSuccess) std::exit(3);
  struct {
    double sum;
    std::uint32_t ballot;
  } got{};
  if (cudaMemcpy(&got, out, 12, cudaMemcpyDeviceToHost) != cudaSuccess) std::exit(4);
  if (got.sum != 2 * 496 || got.ballot != 0xffffff00) std::exit(5);
  if (turing.launch({&out}) != cudaErrorNoKernelImageForDevice) std::exit(6);
  std::exit(0);
}

TEST(RuntimeDeathTest, APascalTakesItsOwnPtxAndNoNewer) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own: a profile is for good
  EXPECT_EXIT(run_on_pascal(), testing::ExitedWithCode(0),
              AllOf(HasSubstr("PTX for 75"), HasSubstr("gtx1050ti")));
}

TEST(Runtime, ACopyInThreeDimensionsLeavesNothingHalfDone) {
  cudaPitchedPtr volume{};
  ASSERT_EQ(cudaMalloc3D(&volume, {100, 4, 3}), cudaSuccess);
  ASSERT_EQ(cudaMemset3D(volume, 1, {100, 4, 3}), cudaSuccess);
  std::vector<char> host(100 * 4 * 3, 'x');
  cudaMemcpy3DParms p{};
  p.srcPtr = volume;
  p.dstPtr = {host.data(), 100, 100, 4};
  p.kind = cudaMemcpyDeviceToHost;
  p.extent = {100, 4, 4};  // a plane too many
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidValue);
  p.extent = {100, 5, 3};  // a row too many
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidValue);
  p.extent = {SIZE_MAX, 4, 3};  // wider than a row, as an H200 has it
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidPitchValue);
  p.extent = {100, 4, SIZE_MAX};
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset3D(volume, 1, {100, 4, SIZE_MAX / 2}), cudaErrorInvalidValue);
  EXPECT_THAT(host, testing::Each('x'));
  p.extent = {100, 4, 3};
  EXPECT_EQ(cudaMemcpy3D(&p), cudaSuccess);
  EXPECT_THAT(host, testing::Each(1));
  EXPECT_EQ(cudaMalloc3D(&volume, {1, SIZE_MAX, 2}), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(p.srcPtr.ptr), cudaSuccess);
  static_cast<void>(cudaGetLastError());
}

TEST(Runtime, AnswersAboutItself) {
  std::size_t size = 0;
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, 4096), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetLimit(&size, cudaLimitStackSize), cudaSuccess);
  EXPECT_EQ(size, 4096u);
  EXPECT_EQ(cudaDeviceGetLimit(&size, static_cast<cudaLimit>(42)), cudaErrorUnsupportedLimit);
  void* function = &size;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuInit", &function, 13000, 0, &found), cudaSuccess);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(found, cudaDriverEntryPointSymbolNotFound);
  char address[16] = {};
  int device = 7;
  EXPECT_EQ(cudaDeviceGetPCIBusId(address, sizeof address, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, address), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, "ffff:00:00.0"), cudaErrorInvalidDevice);
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_EQ(properties.maxTexture1D, 131072);
  EXPECT_EQ(properties.clusterLaunch, 1);
  Program program(kStore);
  EXPECT_EQ(cudaFuncGetParamInfo(program.stub(), 0, &size, nullptr), cudaSuccess);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(cudaFuncGetParamInfo(program.stub(), 1, &size, nullptr), cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

// Last, for nothing works after it, as on hardware.
TEST(RuntimeBroken, AFaultIsForGood) {
  Program program(kStore);
  int* p = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_EQ(program.launch({&p}), cudaSuccess) << "a launch doesn't wait";
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(program.launch({&p}), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&p), 4), cudaErrorIllegalAddress);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("kernel"), HasSubstr("thread (0, 0, 0)"), HasSubstr("0x0")));
}

}  // namespace
