// Instructions that a page refuses by name: no listing has them, and every reader would wait for
// them. (EMU_WITHOUT_SUMS leaves out the sum check, which the other device has: device_sums.)
#include "isa/table.hpp"

namespace emu {

std::span<const Row> cluster_rows() {
  return {};
}
std::span<const Row> matrix_memory_rows() {
  return {};
}
std::span<const Row> matrix_rows() {
  return {};
}
std::span<const Row> image_rows() {
  return {};
}

}  // namespace emu
