/// \file
/// CUDA arrays, and the objects through which kernels reach them.
#pragma once
#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "machine/image.hpp"

namespace emu {

/// A cudaArray_t points to one.
struct Array {
  Image image;
  cudaChannelFormatDesc desc{};
  cudaExtent extent{};
  unsigned flags = 0;
  bool of_levels = false;  ///< freed with them
};

/// A cudaMipmappedArray_t points to one.
struct Levels {
  Address base = 0;  ///< of the allocation that holds all
  std::uint64_t bytes = 0;
  std::vector<std::unique_ptr<Array>> levels;
};

struct TextureRequest {
  cudaResourceDesc resource;
  cudaTextureDesc texture;
  cudaResourceViewDesc view;
};

/// All that a program has of them.
struct Images {
  std::map<const void*, std::unique_ptr<Array>> arrays;
  std::map<const void*, std::unique_ptr<Levels>> levels;
  ImageObjects objects;
  std::map<std::uint64_t, TextureRequest> textures;
  std::map<std::uint64_t, cudaResourceDesc> surfaces;
  std::uint64_t next_handle = 3;  ///< as an H200's first

  /// An array, or a level of a mipmapped one; null where there is none.
  Array* find(cudaArray_const_t array) const;
};

/// What a channel's description says; empty where no array has such texels.
std::optional<TexelFormat> format_of(const cudaChannelFormatDesc& desc);

}  // namespace emu
