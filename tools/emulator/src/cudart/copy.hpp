/// \file
/// What copies have in common, whatever they copy.
#pragma once
#include <cstddef>
#include <optional>

#include "cudart/runtime.hpp"

namespace emu {

/// Rows of bytes, and what those who look on are told of them.
cudaError_t copy_rows(Runtime& runtime, const StreamCall& call, void* to, std::size_t to_pitch,
                      const void* from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind);

/// Where a part of a volume begins, and how its rows and planes lie.
struct Part {
  std::byte* first = nullptr;
  std::size_t pitch = 0, plane = 0;
};
/// Empty where the part reaches past its volume's rows or planes, or past all numbers.
std::optional<Part> part_of(const cudaPitchedPtr& volume, const cudaPos& at,
                            const cudaExtent& extent);

/// cudaMemcpy3D where one side or both is a CUDA array.
cudaError_t copy_arrays(Runtime& runtime, const cudaMemcpy3DParms& p, const StreamCall& call);

/// The frame of a call that gives a stream something to do.
template <class Body>
cudaError_t operation(const StreamCall& call, const Body& body) {
  return api(call.waits ? Needs::kWaits : Needs::kDevice, [&](Runtime& runtime) {
    return runtime.operate(call, [&] { return body(runtime); });
  });
}

}  // namespace emu
