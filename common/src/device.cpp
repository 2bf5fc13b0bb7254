#include "book/device.hpp"

#include <cuda_runtime.h>

#include "book/check.hpp"
#include "book/embedded.hpp"
#include "kernels.hpp"

namespace book {
namespace {

int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  BOOK_CUDA(cudaDeviceGetAttribute(&value, which, index));
  return value;
}

int count_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return count;
  if (status == cudaErrorNoDevice) return 0;
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    int runtime = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    if (driver == 0) return 0;  // this error is also what a machine without a driver gives
    throw not_available("the NVIDIA driver is too old: it takes CUDA " + version_text(driver) +
                        ", this program was built with " + version_text(runtime) +
                        "; update the driver, or build with an older toolkit");
  }
  BOOK_CUDA(status);
  return 0;
}

}  // namespace

double Device::peak_gb_per_s() const {
  // kHz × 1000 cycles per second, two transfers per cycle (double data rate), bits / 8 bytes.
  return memory_clock_khz * 1e3 * 2 * (memory_bus_bits / 8.0) * 1e-9;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Device choose_device(const DeviceRequest& request) {
  using Kind = DeviceRequest::Kind;
  const bool embedded = on_embedded_device();
  if (request.kind == Kind::kEmbedded && !embedded) {
    start_on_embedded_device("--device embedded was asked for");
  }
  if (request.kind == Kind::kGpu && embedded) {
    throw not_available("--device gpu: this program runs on the embedded device");
  }
  if (embedded) show_embedded_devices(request.most);
  const int count = count_devices();
  if (count == 0) {
    const std::string why = "no NVIDIA GPU answers here (is there one, and its driver?)";
    if (request.kind == Kind::kAuto && !embedded) {
      start_on_embedded_device(why,
                               "no NVIDIA GPU answers here: run on the embedded device, with "
                               "counters in place of times");
    }
    throw not_available(why + ": nothing was run");
  }
  const auto of_rank = static_cast<int>(request.alone || count == 1 ? 0 : request.local_rank);
  if (!request.index && of_rank >= count) {
    throw not_available("process " + std::to_string(of_rank) +
                        " of this machine, counted from 0, has no GPU of its own: there are " +
                        std::to_string(count));
  }
  const int index = request.index.value_or(of_rank);
  if (index < 0 || index >= count) {
    throw bad_argument(
        "--device gpu:" + std::to_string(index) + ": this machine has " +
        (count == 1 ? "one GPU, gpu:0"
                    : std::to_string(count) + " GPUs, gpu:0 to gpu:" + std::to_string(count - 1)));
  }
  BOOK_CUDA(cudaSetDevice(index));

  Device device;
  device.index = index;
  device.count = count;
  cudaDeviceProp properties{};
  BOOK_CUDA(cudaGetDeviceProperties(&properties, index));
  device.embedded = embedded;
  device.name = embedded ? "embedded device (" + std::string(properties.name) + ")"
                         : std::string(properties.name);
  device.major = properties.major;
  device.minor = properties.minor;
  device.sm_count = properties.multiProcessorCount;
  device.max_threads_per_sm = properties.maxThreadsPerMultiProcessor;
  device.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  device.global_bytes = properties.totalGlobalMem;
  device.shared_per_block = properties.sharedMemPerBlock;
  device.shared_per_sm = properties.sharedMemPerMultiprocessor;
  device.shared_optin = properties.sharedMemPerBlockOptin;
  device.shared_reserved = properties.reservedSharedMemPerBlock;
  // CUDA 13 took the clocks out of cudaDeviceProp; as attributes they are in every version.
  device.sm_clock_khz = attribute(cudaDevAttrClockRate, index);
  device.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate, index);
  device.memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, index);
  device.ecc = properties.ECCEnabled != 0;
  BOOK_CUDA(cudaDriverGetVersion(&device.driver_version));
  BOOK_CUDA(cudaRuntimeGetVersion(&device.runtime_version));

  cudaFuncAttributes ignored{};
  const cudaError_t loaded = cudaFuncGetAttributes(&ignored, internal::any_kernel());
  const std::string built = "this program was built for " + built_for();
  const std::string here = device.name + " (compute capability " + std::to_string(device.major) +
                           "." + std::to_string(device.minor) + ")";
  if (loaded == cudaErrorNoKernelImageForDevice || loaded == cudaErrorInvalidDeviceFunction) {
    throw not_available(built + " and holds no code for " + here + "; build again with " +
                        "-DCMAKE_CUDA_ARCHITECTURES=" + std::to_string(device.major) +
                        std::to_string(device.minor) + (embedded ? "-virtual" : "-real"));
  }
  if (loaded == cudaErrorUnsupportedPtxVersion) {
    throw not_available("the driver, for CUDA " + version_text(device.driver_version) +
                        ", is older than this program's PTX (" +
                        version_text(device.runtime_version) + "), and it has no code for " + here +
                        "; build again with -DCMAKE_CUDA_ARCHITECTURES=" +
                        std::to_string(device.major) + std::to_string(device.minor) + "-real");
  }
  BOOK_CUDA(loaded);
  return device;
}

std::size_t free_device_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  BOOK_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

}  // namespace book
