// The rest of the CUDA runtime: functions that the device doesn't have. A program that merely links
// to one runs; one that calls it is told its name. No header here, for the parameters don't matter.
#include <string>

namespace emu {
int refused(const char* function);  // both in runtime_device.cpp
int ignored();
}  // namespace emu

#define REFUSED(function)           \
  extern "C" int function() {       \
    return emu::refused(#function); \
  }
#include "refused.inc"

// Mere advice, some with parameters that differ between CUDA 12 and 13: right, and without effect
// here.
#define IGNORED(function)     \
  extern "C" int function() { \
    return emu::ignored();    \
  }
IGNORED(cudaDeviceFlushGPUDirectRDMAWrites)
IGNORED(cudaDeviceGraphMemTrim)
IGNORED(cudaDeviceSetSharedMemConfig)
IGNORED(cudaFuncSetSharedMemConfig)
IGNORED(cudaMemAdvise)
IGNORED(cudaMemDiscardAndPrefetchBatchAsync)
IGNORED(cudaMemDiscardBatchAsync)
IGNORED(cudaMemPrefetchAsync)
IGNORED(cudaMemPrefetchAsync_ptsz)
IGNORED(cudaMemPrefetchBatchAsync)
