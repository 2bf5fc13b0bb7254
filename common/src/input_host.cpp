#include <vector>

#include "book/check.hpp"
#include "book/input.hpp"
#include "internal.hpp"

namespace book {

void internal::generate(std::span<int> out, std::uint64_t seed, std::size_t first) {
  on_all_cores(out.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = input_value(seed, first + i);
  });
}

void fill_by_copy(int* data, std::size_t n, std::uint64_t seed) {
  // In pieces, so that the host needs 64 MiB for an input of any size.
  constexpr std::size_t kPiece = std::size_t{1} << 24;
  std::vector<int> piece(std::min(n, kPiece));
  for (std::size_t first = 0; first < n; first += kPiece) {
    const std::size_t count = std::min(kPiece, n - first);
    internal::generate(std::span(piece).first(count), seed, first);
    BOOK_CUDA(cudaMemcpy(data + first, piece.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  }
}

void fill_input(int* data, std::size_t n, std::uint64_t seed, Fill fill) {
  (fill == Fill::kKernel ? fill_on_device : fill_by_copy)(data, n, seed);
}

}  // namespace book
