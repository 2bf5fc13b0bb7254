#include "containers.hpp"

namespace emu {

std::vector<std::vector<FatbinEntry>> containers(std::span<const std::byte> section) {
  std::vector<std::vector<FatbinEntry>> all;
  while (section.size() >= 16) {
    try {
      const std::size_t size = fatbin_size(section.first<16>());
      if (size > section.size()) throw FatbinError("a fat binary that is cut short");
      all.push_back(read_fatbin(section.first(size)));
      section = section.subspan(size);
    } catch (const FatbinError&) {
      section = section.subspan(8);
    }
  }
  return all;
}

}  // namespace emu
