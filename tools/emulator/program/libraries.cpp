#include "libraries.hpp"

#include <algorithm>
#include <string_view>

namespace emu {
namespace {

struct Library {
  std::string_view file;  ///< "libcublas" of "libcublas.so.13"
  std::string_view name;
};
constexpr Library kLibraries[] = {
    {"libcuda", "the CUDA driver API"},
    {"libcublas", "cuBLAS"},
    {"libcublasLt", "cuBLASLt"},
    {"libcudnn", "cuDNN"},
    {"libcufft", "cuFFT"},
    {"libcufftw", "cuFFT"},
    {"libcupti", "CUPTI"},
    {"libcurand", "cuRAND's host functions"},
    {"libcusolver", "cuSOLVER"},
    {"libcusolverMg", "cuSOLVER"},
    {"libcusparse", "cuSPARSE"},
    {"libcusparseLt", "cuSPARSELt"},
    {"libcutensor", "cuTENSOR"},
    {"libnccl", "NCCL"},
    {"libnvJitLink", "nvJitLink"},
    {"libnvjpeg", "nvJPEG"},
    {"libnvidia-ml", "NVML"},
    {"libnvrtc", "NVRTC"},
};

bool contains(std::span<const std::byte> bytes, std::string_view text) {
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  return std::string_view(begin, bytes.size()).find(text) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> libraries_past_the_runtime(const Elf& program) {
  std::vector<std::string> found;
  for (const std::string& file : program.dynamic(DT_NEEDED)) {
    const std::string_view stem = std::string_view(file).substr(0, file.find(".so"));
    const auto at = std::ranges::find(kLibraries, stem, &Library::file);
    if (at != std::end(kLibraries)) {
      found.push_back(std::string(at->name) + " (" + file + ")");
    } else if (stem.starts_with("libnpp")) {
      found.push_back("NPP (" + file + ")");
    }
  }
  return found;
}

bool has_runtime_inside(const Elf& program) {
  // One of the names that it has for cudaGetErrorName.
  return !program.dynamic(DT_NEEDED).empty() &&
         contains(program.section(".rodata"), "cudaErrorMissingConfiguration");
}

}  // namespace emu
