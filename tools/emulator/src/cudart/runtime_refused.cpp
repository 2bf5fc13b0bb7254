// The rest of the CUDA runtime: functions that the device doesn't have. A program that merely links
// to one runs; one that calls it is told its name. No header here, for the parameters don't matter.
#include <string>

namespace emu {
int refused(const char* function);  // both in runtime_device.cpp
int ignored();
int advised(const void* pointer);
}  // namespace emu

#define REFUSED(function)           \
  extern "C" int function() {       \
    return emu::refused(#function); \
  }
#include "cudart/refused.inc"

// Mere advice, some with parameters that differ between CUDA 12 and 13: right, and without effect
// here.
#define IGNORED(function)     \
  extern "C" int function() { \
    return emu::ignored();    \
  }
IGNORED(cudaDeviceFlushGPUDirectRDMAWrites)
IGNORED(cudaDeviceGraphMemTrim)
IGNORED(cudaFuncSetSharedMemConfig)
IGNORED(cudaMemDiscardAndPrefetchBatchAsync)
IGNORED(cudaMemDiscardBatchAsync)
IGNORED(cudaMemPrefetchBatchAsync)

// Advice about managed memory, and wrong about any other.
#define ADVISED(function)                       \
  extern "C" int function(const void* memory) { \
    return emu::advised(memory);                \
  }
ADVISED(cudaMemAdvise)
ADVISED(cudaMemPrefetchAsync)
ADVISED(cudaMemPrefetchAsync_ptsz)
