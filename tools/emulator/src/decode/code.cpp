#include "decode/code.hpp"

namespace emu {

std::string Code::inlined_at(std::uint32_t pc) const {
  const Place& place = places[pc];
  const auto file = static_cast<std::size_t>(place.outer_file);
  if (place.outer_line <= 0 || file >= files.size()) return "";
  const std::string& name = files[file];
  return ", inlined at " + name.substr(name.rfind('/') + 1) + ":" +
         std::to_string(place.outer_line);
}

std::string Code::where(std::uint32_t pc) const {
  if (pc >= places.size()) return "the end";
  const Place& place = places[pc];
  std::string text = "PTX line " + std::to_string(place.ptx_line);
  if (place.line > 0) {
    const auto file = static_cast<std::size_t>(place.file);
    const std::string name = file < files.size() ? files[file] : "";
    text += " (" + (name.empty() ? "line" : name.substr(name.rfind('/') + 1)) +
            (name.empty() ? " " : ":") + std::to_string(place.line) + inlined_at(pc) + ")";
  }
  return text;
}

}  // namespace emu
