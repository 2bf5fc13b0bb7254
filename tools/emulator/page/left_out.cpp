// What every reader would wait for, and no page has. Instructions that a page refuses by name,
// since no listing has them; and the sum check, of which page_device.cpp says that there is none.
#include "isa/table.hpp"

namespace emu {

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
