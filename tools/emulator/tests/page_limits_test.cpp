// The limits of the device in a page are those of the runtime's H200.
#include "../page/limits.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "cudart/profile.hpp"

namespace {

TEST(PageLimits, AreTheProfiles) {
  const emu::Profile p = *emu::find_profile("h200");
  const emu::PageLimits limits;
  const auto is = [&](std::uint64_t value, cudaDeviceAttr attribute) {
    EXPECT_EQ(value, static_cast<std::uint64_t>(p.attribute(attribute))) << attribute;
  };
  is(limits.grid.x, cudaDevAttrMaxGridDimX);
  is(limits.grid.y, cudaDevAttrMaxGridDimY);
  is(limits.grid.z, cudaDevAttrMaxGridDimZ);
  is(limits.block.x, cudaDevAttrMaxBlockDimX);
  is(limits.block.y, cudaDevAttrMaxBlockDimY);
  is(limits.block.z, cudaDevAttrMaxBlockDimZ);
  is(limits.threads, cudaDevAttrMaxThreadsPerBlock);
  is(limits.multiprocessors, cudaDevAttrMultiProcessorCount);
  is(limits.blocks, cudaDevAttrMaxBlocksPerMultiprocessor);
  is(limits.warps * 32, cudaDevAttrMaxThreadsPerMultiProcessor);
  is(limits.shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  is(limits.shared_opt_in, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  is(limits.shared_reserved, cudaDevAttrReservedSharedMemoryPerBlock);
  EXPECT_EQ(limits.shared_unit, p.shared_unit);
}

TEST(PageLimits, RefuseWhatTheRuntimeDoes) {
  const emu::PageLimits limits;
  emu::Kernel kernel;
  kernel.static_shared_bytes = 4096;
  kernel.max_threads = 512;
  const auto refuse = [&](emu::Dim3 grid, emu::Dim3 block, std::uint64_t shared = 0,
                          bool cooperative = false) {
    const char* why = limits.refuse(kernel, grid, block, shared, cooperative);
    return std::string(why == nullptr ? "" : why);
  };
  EXPECT_EQ(refuse({1, 1, 1}, {512, 1, 1}), "");
  EXPECT_EQ(refuse({1, 1, 1}, {513, 1, 1}), "invalid argument");
  EXPECT_EQ(refuse({1, 1, 1}, {2, 2, 65}), "invalid argument");
  EXPECT_EQ(refuse({0, 1, 1}, {1, 1, 1}), "invalid argument");
  EXPECT_EQ(refuse({1, 65536, 1}, {1, 1, 1}), "invalid argument");
  EXPECT_EQ(refuse({1, 1, 1}, {1, 1, 1}, 232'448 - 4096), "");
  EXPECT_EQ(refuse({1, 1, 1}, {1, 1, 1}, 232'449 - 4096), "invalid argument");
  EXPECT_EQ(refuse({132 * 4, 1, 1}, {512, 1, 1}, 0, true), "");
  EXPECT_EQ(refuse({132 * 4 + 1, 1, 1}, {512, 1, 1}, 0, true),
            "too many blocks in cooperative launch");
}

}  // namespace
