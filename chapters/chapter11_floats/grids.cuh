/// \file
/// The grids of this chapter: as many blocks as the device holds at once.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>

#include "book/check.hpp"
#include "book/variant.hpp"
#include "kernels.cuh"

namespace chapter11 {

constexpr std::size_t kLoads = 4;

// begin float-grid
/// As many blocks as the device holds at once, with the shared memory that they ask for, and no
/// more than n elements need, so many of which each thread loads at once.
template <class... Args>
std::function<unsigned(std::size_t, unsigned)> full_grid(void (*(*kernel)(unsigned))(Args...),
                                                         std::size_t (*shared_bytes)(unsigned),
                                                         std::size_t at_once = 4 * kLoads) {
  return [=](std::size_t n, unsigned block) {
    int device = 0;
    int sm_count = 0;
    int fit = 0;
    BOOK_CUDA(cudaGetDevice(&device));
    BOOK_CUDA(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
    BOOK_CUDA(cudaFuncSetAttribute(kernel(block), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes(block))));
    BOOK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &fit, kernel(block), static_cast<int>(block), shared_bytes(block)));
    return std::min(static_cast<unsigned>(sm_count) * static_cast<unsigned>(fit),
                    book::grid_for(n, block, at_once));
  };
}
// end float-grid

inline std::size_t no_bins(unsigned) {
  return 0;
}
inline std::size_t bins_of(unsigned block) {
  return sizeof(long long) * kBins * block;
}

}  // namespace chapter11
