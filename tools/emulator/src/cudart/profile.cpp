#include "cudart/profile.hpp"

#include <cuda_runtime_api.h>

namespace emu {
namespace {

using Attributes = std::map<int, int>;

/// All of it read with cudaDeviceGetAttribute and cudaGetDeviceProperties from an H200 (driver
/// 580.159, CUDA 13.0) by tests/runtime_probe.cu. Cards differ: on others the memory bus had 6144
/// bits.
Profile h200() {
  return {.key = "h200",
          .name = "NVIDIA H200",
          .global_bytes = 150'109'880'320,
          .shared_unit = 128,  // CUDA occupancy calculator, compute capability 9.0
          .attributes = {
              {1, 1024},         // MaxThreadsPerBlock
              {2, 1024},         // MaxBlockDimX
              {3, 1024},         // MaxBlockDimY
              {4, 64},           // MaxBlockDimZ
              {5, 2147483647},   // MaxGridDimX
              {6, 65535},        // MaxGridDimY
              {7, 65535},        // MaxGridDimZ
              {8, 49152},        // MaxSharedMemoryPerBlock
              {9, 65536},        // TotalConstantMemory
              {10, 32},          // WarpSize
              {11, 2147483647},  // MaxPitch
              {12, 65536},       // MaxRegistersPerBlock
              {13, 1980000},     // ClockRate
              {14, 512},         // TextureAlignment
              {15, 1},           // GpuOverlap
              {16, 132},         // MultiProcessorCount
              {17, 0},           // KernelExecTimeout
              {18, 0},           // Integrated
              {19, 1},           // CanMapHostMemory
              {20, 0},           // ComputeMode
              {21, 131072},      // MaxTexture1DWidth
              {22, 131072},      // MaxTexture2DWidth
              {23, 65536},       // MaxTexture2DHeight
              {24, 16384},       // MaxTexture3DWidth
              {25, 16384},       // MaxTexture3DHeight
              {26, 16384},       // MaxTexture3DDepth
              {27, 32768},       // MaxTexture2DLayeredWidth
              {28, 32768},       // MaxTexture2DLayeredHeight
              {29, 2048},        // MaxTexture2DLayeredLayers
              {30, 512},         // SurfaceAlignment
              {31, 1},           // ConcurrentKernels
              {32, 1},           // EccEnabled
              {33, 0},           // PciBusId
              {34, 6},           // PciDeviceId
              {35, 0},           // TccDriver
              {36, 3201000},     // MemoryClockRate
              {37, 6016},        // GlobalMemoryBusWidth
              {38, 62914560},    // L2CacheSize
              {39, 2048},        // MaxThreadsPerMultiProcessor
              {40, 3},           // AsyncEngineCount
              {41, 1},           // UnifiedAddressing
              {42, 32768},       // MaxTexture1DLayeredWidth
              {43, 2048},        // MaxTexture1DLayeredLayers
              {44, 1},           // without a name in the headers
              {45, 32768},       // MaxTexture2DGatherWidth
              {46, 32768},       // MaxTexture2DGatherHeight
              {47, 8192},        // MaxTexture3DWidthAlt
              {48, 8192},        // MaxTexture3DHeightAlt
              {49, 32768},       // MaxTexture3DDepthAlt
              {50, 0},           // PciDomainId
              {51, 32},          // TexturePitchAlignment
              {52, 32768},       // MaxTextureCubemapWidth
              {53, 32768},       // MaxTextureCubemapLayeredWidth
              {54, 2046},        // MaxTextureCubemapLayeredLayers
              {55, 32768},       // MaxSurface1DWidth
              {56, 131072},      // MaxSurface2DWidth
              {57, 65536},       // MaxSurface2DHeight
              {58, 16384},       // MaxSurface3DWidth
              {59, 16384},       // MaxSurface3DHeight
              {60, 16384},       // MaxSurface3DDepth
              {61, 32768},       // MaxSurface1DLayeredWidth
              {62, 2048},        // MaxSurface1DLayeredLayers
              {63, 32768},       // MaxSurface2DLayeredWidth
              {64, 32768},       // MaxSurface2DLayeredHeight
              {65, 2048},        // MaxSurface2DLayeredLayers
              {66, 32768},       // MaxSurfaceCubemapWidth
              {67, 32768},       // MaxSurfaceCubemapLayeredWidth
              {68, 2046},        // MaxSurfaceCubemapLayeredLayers
              {69, 268435456},   // MaxTexture1DLinearWidth
              {70, 131072},      // MaxTexture2DLinearWidth
              {71, 65000},       // MaxTexture2DLinearHeight
              {72, 2097120},     // MaxTexture2DLinearPitch
              {73, 32768},       // MaxTexture2DMipmappedWidth
              {74, 32768},       // MaxTexture2DMipmappedHeight
              {75, 9},           // ComputeCapabilityMajor
              {76, 0},           // ComputeCapabilityMinor
              {77, 32768},       // MaxTexture1DMipmappedWidth
              {78, 1},           // StreamPrioritiesSupported
              {79, 1},           // GlobalL1CacheSupported
              {80, 1},           // LocalL1CacheSupported
              {81, 233472},      // MaxSharedMemoryPerMultiprocessor
              {82, 65536},       // MaxRegistersPerMultiprocessor
              {83, 1},           // ManagedMemory
              {84, 0},           // IsMultiGpuBoard
              {85, 0},           // MultiGpuBoardGroupID
              {86, 0},           // HostNativeAtomicSupported
              {87, 2},           // SingleToDoublePrecisionPerfRatio
              {88, 0},           // PageableMemoryAccess
              {89, 1},           // ConcurrentManagedAccess
              {90, 1},           // ComputePreemptionSupported
              {91, 1},           // CanUseHostPointerForRegisteredMem
              {92, 0},           // Reserved92
              {93, 0},           // Reserved93
              {94, 0},           // Reserved94
              {95, 1},           // CooperativeLaunch
              {96, 1},           // Reserved96
              {97, 232448},      // MaxSharedMemoryPerBlockOptin
              {98, 0},           // CanFlushRemoteWrites
              {99, 1},           // HostRegisterSupported
              {100, 0},          // PageableMemoryAccessUsesHostPageTables
              {101, 0},          // DirectManagedMemAccessFromHost
              {102, 1},          // without a name in the headers
              {103, 1},          // without a name in the headers
              {104, 0},          // without a name in the headers
              {105, 0},          // without a name in the headers
              {106, 32},         // MaxBlocksPerMultiprocessor
              {107, 1},          // without a name in the headers
              {108, 39321600},   // MaxPersistingL2CacheSize
              {109, 134217728},  // MaxAccessPolicyWindowSize
              {110, 1},          // without a name in the headers
              {111, 1024},       // ReservedSharedMemoryPerBlock
              {112, 1},          // SparseCudaArraySupported
              {113, 1},          // HostRegisterReadOnlySupported
              {114, 1},          // TimelineSemaphoreInteropSupported
              {115, 1},          // MemoryPoolsSupported
              {116, 1},          // GPUDirectRDMASupported
              {117, 1},          // GPUDirectRDMAFlushWritesOptions
              {118, 100},        // GPUDirectRDMAWritesOrdering
              {119, 9},          // MemoryPoolSupportedHandleTypes
              {120, 1},          // ClusterLaunch
              {121, 1},          // DeferredMappingCudaArraySupported
              {122, 1},          // Reserved122
              {123, 1},          // Reserved123
              {124, 1},          // Reserved124
              {125, 1},          // IpcEventSupport
              {126, 4},          // MemSyncDomainCount
              {127, 1},          // Reserved127
              {128, 1},          // Reserved128
              {129, 1},          // Reserved129
              {130, 0},          // NumaConfig
              {131, -1},         // NumaId
              {132, 0},          // Reserved132
              {133, 0},          // MpsEnabled
              {134, 0},          // HostNumaId
              {135, 0},          // D3D12CigSupported
              {136, 0},          // without a name in the headers
              {137, 0},          // without a name in the headers
              {138, 0},          // VulkanCigSupported
              {139, 590680286},  // GpuPciDeviceId
              {140, 415174878},  // GpuPciSubsystemId
              {141, 1},          // Reserved141
              {142, 1},          // HostNumaMemoryPoolsSupported
              {143, 0},          // HostNumaMultinodeIpcSupported
              {144, 1},          // HostMemoryPoolsSupported
              {145, 1},          // Reserved145
              {146, 0},          // without a name in the headers
              {147, 0},          // OnlyPartialHostNativeAtomicSupported
          }};
}

/// Compute capability 7.5 is from the table "Technical specifications per compute capability" of
/// the CUDA C++ Programming Guide, and the limits of an SM are also those of NVIDIA's CCCL
/// (cuda/__device/arch_traits.h); what is the card's own, from its data sheet (T4: 2560 cores of 64
/// an SM, GDDR6, 256 bits) and from published output of NVIDIA's deviceQuery sample on a T4
/// (clocks, bus, L2 and memory of an SM in bottlerocket-os/bottlerocket-core-kit#181, SMs and bytes
/// in NVIDIA/DALI#1813). What neither says is as on the H200.
Profile t4() {
  Profile p = h200();
  p.key = "t4";
  p.name = "Tesla T4";              // deviceQuery
  p.global_bytes = 15'843'721'216;  // deviceQuery; less where ECC takes a part
  p.shared_unit = 256;              // CUDA occupancy calculator, 7.5
  p.attributes[cudaDevAttrComputeCapabilityMajor] = 7;
  p.attributes[cudaDevAttrComputeCapabilityMinor] = 5;
  p.attributes[cudaDevAttrMultiProcessorCount] = 40;                   // deviceQuery
  p.attributes[cudaDevAttrClockRate] = 1'590'000;                      // deviceQuery
  p.attributes[cudaDevAttrMemoryClockRate] = 5'001'000;                // deviceQuery
  p.attributes[cudaDevAttrGlobalMemoryBusWidth] = 256;                 // data sheet
  p.attributes[cudaDevAttrL2CacheSize] = 4'194'304;                    // deviceQuery
  p.attributes[cudaDevAttrMaxThreadsPerMultiProcessor] = 1024;         // guide
  p.attributes[cudaDevAttrMaxBlocksPerMultiprocessor] = 16;            // guide
  p.attributes[cudaDevAttrMaxSharedMemoryPerMultiprocessor] = 65'536;  // guide: 64 KB
  p.attributes[cudaDevAttrMaxSharedMemoryPerBlockOptin] = 65'536;      // guide: 64 KB
  p.attributes[cudaDevAttrReservedSharedMemoryPerBlock] = 0;           // guide: from 8.0 on
  p.attributes[cudaDevAttrSingleToDoublePrecisionPerfRatio] = 32;      // guide: 64 against 2
  p.attributes[cudaDevAttrMaxPersistingL2CacheSize] = 0;               // guide: from 8.0 on
  p.attributes[cudaDevAttrMaxAccessPolicyWindowSize] = 0;              // guide: from 8.0 on
  p.attributes[cudaDevAttrClusterLaunch] = 0;                          // guide: from 9.0 on
  p.attributes[cudaDevAttrMemSyncDomainCount] = 1;                     // guide: 4 from 9.0 on
  return p;
}

/// As above, compute capability 6.1; the card from its data sheet (GTX 1050 Ti: 768 cores of 128 an
/// SM, 4 GB, 7 Gbit/s, 128 bits) and from published clinfo output (name, SMs and clock in
/// fireice-uk/xmr-stak#1707). No document of NVIDIA's that was found gives its L2; reviews of the
/// card do.
Profile gtx1050ti() {
  Profile p = t4();
  p.key = "gtx1050ti";
  p.name = "NVIDIA GeForce GTX 1050 Ti";
  p.global_bytes = std::size_t{4} << 30;  // data sheet: 4 GB
  p.attributes[cudaDevAttrComputeCapabilityMajor] = 6;
  p.attributes[cudaDevAttrComputeCapabilityMinor] = 1;
  p.attributes[cudaDevAttrMultiProcessorCount] = 6;                    // data sheet: 768 / 128
  p.attributes[cudaDevAttrClockRate] = 1'392'000;                      // data sheet: boost clock
  p.attributes[cudaDevAttrMemoryClockRate] = 3'504'000;                // data sheet: 7 Gbit/s
  p.attributes[cudaDevAttrGlobalMemoryBusWidth] = 128;                 // data sheet
  p.attributes[cudaDevAttrL2CacheSize] = 1'048'576;                    // reviews: 1 MB
  p.attributes[cudaDevAttrEccEnabled] = 0;                             // none on this card
  p.attributes[cudaDevAttrMaxThreadsPerMultiProcessor] = 2048;         // guide
  p.attributes[cudaDevAttrMaxBlocksPerMultiprocessor] = 32;            // guide
  p.attributes[cudaDevAttrMaxSharedMemoryPerMultiprocessor] = 98'304;  // guide: 96 KB
  p.attributes[cudaDevAttrMaxSharedMemoryPerBlockOptin] = 49'152;      // guide: 48 KB
  return p;
}

}  // namespace

int Profile::architecture() const {
  return attribute(cudaDevAttrComputeCapabilityMajor) * 10 +
         attribute(cudaDevAttrComputeCapabilityMinor);
}

std::optional<Profile> find_profile(std::string_view key) {
  for (Profile p : {h200(), t4(), gtx1050ti()}) {
    if (p.key == key) return p;
  }
  return std::nullopt;
}

std::vector<std::string_view> profile_names() {
  return {"h200", "t4", "gtx1050ti"};
}

}  // namespace emu
