// Libraries: PTX or a fat binary that a program loads by itself, and the kernels in it.
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "cudart/report.hpp"
#include "cudart/runtime.hpp"
#include "watch/kernel_name.hpp"

namespace {

using emu::api;
using emu::FatBinary;
using emu::Needs;
using emu::Runtime;

/// Takes text for PTX: what nvcc -ptx writes. A fat binary is left to the program's own loader. As
/// on a GPU, nothing is read before a kernel is asked for.
cudaError_t load_library(Runtime& runtime, cudaLibrary_t* library, std::string code) {
  if (library == nullptr) return cudaErrorInvalidValue;
  auto binary = std::make_unique<FatBinary>();
  binary->text = std::move(code);
  *library = reinterpret_cast<cudaLibrary_t>(binary.get());
  runtime.libraries.insert(binary.get());
  runtime.binaries.insert(binary.release());
  return cudaSuccess;
}

FatBinary* find_library(const Runtime& runtime, cudaLibrary_t library) {
  auto* binary = reinterpret_cast<FatBinary*>(library);
  return runtime.libraries.contains(binary) ? binary : nullptr;
}

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const auto* text = static_cast<const char*>(code);
    return text == nullptr ? cudaErrorInvalidValue : load_library(runtime, library, text);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* name, cudaJitOption*,
                                    void**, unsigned, cudaLibraryOption*, void**, unsigned) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (name == nullptr) return cudaErrorInvalidValue;
    std::ifstream file(name, std::ios::binary);
    if (!file) return cudaErrorFileNotFound;
    return load_library(runtime, library, std::string(std::istreambuf_iterator<char>(file), {}));
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (kernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
    FatBinary* binary = find_library(runtime, library);
    if (binary == nullptr) return cudaErrorInvalidResourceHandle;
    // An H200 tells other text from PTX with a fault in it.
    if (binary->text.find(".version") == std::string::npos) return cudaErrorInvalidKernelImage;
    const cudaError_t status = runtime.load(*binary);  // and again after a reset
    if (status != cudaSuccess) return status;
    const auto& kernels = binary->here().module->kernels;
    if (!kernels.contains(name)) return cudaErrorSymbolNotFound;
    for (const auto& [handle, function] : runtime.functions) {
      if (function.binary == binary && function.name == name) {
        *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(handle));
        return cudaSuccess;
      }
    }
    // A handle stands where another kernel has its stub: any address that is the kernel's alone.
    const void* handle = &kernels.find(name)->second;
    runtime.functions.try_emplace(handle, emu::HostKernel{binary, name});
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(handle));
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    FatBinary* binary = find_library(runtime, library);
    if (binary == nullptr) return cudaErrorInvalidResourceHandle;
    runtime.libraries.erase(binary);
    runtime.binaries.erase(binary);
    runtime.unload(*binary);
    std::erase_if(runtime.functions, [&](const auto& f) { return f.second.binary == binary; });
    delete binary;
    return cudaSuccess;
  });
}

}  // extern "C"
